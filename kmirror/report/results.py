"""Results of a sweep: its runs, the varied options, and aggregates of groups of runs."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any, NamedTuple

from kmirror.experiments.estimates import Estimate, estimate
from kmirror.experiments.failover_options import OPTION_NAMES
from kmirror.experiments.results import NUMBERS
from kmirror.experiments.sweep_run import FAILED, OK


class FigureLabel(NamedTuple):
    """Short name of a figure, its unit, and its meaning."""

    short: str
    unit: str
    long: str = ""


FIGURES: Mapping[str, FigureLabel] = {
    "rpo_records": FigureLabel("RPO", "records", "acknowledged by a before the failure, but not readable on b"),
    "rpo_ms": FigureLabel("RPO, age of the oldest lost record", "ms", "since its acknowledgement, at the failure"),
    "rpo_transactional_records": FigureLabel("RPO, in transactions", "records", "those that were in transactions"),
    "lost_transactions": FigureLabel("Lost transactions", "commits", "acknowledged by a, but not complete on b"),
    "torn_transactions": FigureLabel(
        "Torn transactions", "commits", "transactions visible on b in some of their partitions only"
    ),
    "open_transaction_ms": FigureLabel("Oldest open transaction", "ms", "time open at the failure"),
    "undecided_at_failure": FigureLabel("Undecided on a", "records", "above a's last stable offset at the failure"),
    "failover_cut_records": FigureLabel(
        "Truncated on b at failover", "records", "mirrored, and above b's last stable offset"
    ),
    "rto_ms": FigureLabel("RTO", "ms", "from the failure to the first write on b, slowest partition"),
    "stop_ms": FigureLabel("Failover itself", "ms", "from the order until every partition is STOPPED"),
    "failback_cut_records": FigureLabel(
        "Truncated on a at failback", "records", "records that the failback truncated on a"
    ),
    "failback_ms": FigureLabel("Failback", "ms", "from the failback order until a has all records of b"),
    "lag_max": FigureLabel(
        "Largest lag before the failure", "records", "most records below a's high watermark that b lacked"
    ),
    "mirrored_bytes": FigureLabel("Mirrored", "bytes", "record batches on b that came from a"),
    "wire_bytes": FigureLabel("On the wire", "bytes", "sent between the clusters, both ways"),
    "refused_produces": FigureLabel("Rejected produce requests", "batches", "to which b responded with an error"),
}
AXES: Mapping[str, str] = {
    "seed": "seed",
    "brokers": "brokers in each cluster",
    "partitions": "partitions",
    "latency_ms": "one-way latency (ms)",
    "jitter_ms": "jitter (ms)",
    "bandwidth_kbps": "bandwidth (kbit/s, 0: no limit)",
    "loss_ppm": "packets lost (per million)",
    "reorder_ppm": "packets reordered (per million)",
    "batch_records": "records in a batch",
    "record_bytes": "bytes in a record",
    "records_per_second": "records a second",
    "producers": "producers",
    "transaction_ms": "transaction open for (ms, 0: none)",
    "transactional_percent": "producers that use transactions (%)",
    "codec": "codec",
    "fetchers": "fetchers",
    "refresh_ms": "metadata refresh interval (ms)",
    "failure": "kind of failure",
    "failure_ms": "failure after (ms)",
    "failure_spread_ms": "failure up to this much later (ms)",
    "detect_ms": "from failure to failover order (ms)",
    "after_ms": "load on b before the failback (ms)",
    "fault": "broker killed during the load",
}
GROUPS_MAX = 120


@dataclass(frozen=True, slots=True)
class Group:
    """The runs of one combination of axes."""

    point: tuple[Any, ...]
    rows: list[dict[str, Any]]

    def estimate(self, figure: str) -> Estimate:
        """Return the estimate of a figure over these runs.

        A seed draws the same at every point. If runs of several points are combined, those of one seed count as one
        observation, and the interval is that of the seeds' means.
        """
        by_seed: dict[int, list[float]] = {}
        for row in self.rows:
            by_seed.setdefault(row["seed"], []).append(row[figure])
        estimated = estimate([row[figure] for row in self.rows])
        if len(by_seed) == len(self.rows):
            return estimated
        return replace(estimated, half=estimate([fmean(values) for values in by_seed.values()]).half)


class SweepResults:
    """The rows of a sweep, one for each run."""

    def __init__(self, rows: Sequence[dict[str, Any]], location: str) -> None:
        self.location = location
        self.rows = list(rows)
        self.completed = [row for row in self.rows if row["status"] != FAILED]
        self.failed_or_broken = [row for row in self.rows if row["status"] != OK]
        self.axes = tuple(name for name in OPTION_NAMES if name != "seed" and len({row[name] for row in self.rows}) > 1)

    @property
    def name(self) -> str:
        return ", ".join(sorted({row["sweep"] for row in self.rows}))

    def groups(self, axes: Sequence[str]) -> list[Group]:
        """Return the runs grouped by their values on `axes`, in order of the values."""
        estimated: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
        for row in self.completed:
            estimated.setdefault(tuple(row[axis] for axis in axes), []).append(row)
        return [Group(point, estimated[point]) for point in sorted(estimated)]

    def aggregates(self) -> list[dict[str, Any]]:
        """Return one row for each combination of all axes: number of runs, and mean, interval, p95 and maximum of each
        figure.
        """
        table = []
        for group in self.groups(self.axes):
            row: dict[str, Any] = dict(zip(self.axes, group.point, strict=True))
            row["runs"] = len(group.rows)
            for figure in FIGURES:
                estimated = group.estimate(figure)
                row |= {figure: estimated.mean, f"{figure}_ci95": estimated.half, f"{figure}_p95": estimated.p95}
                row[f"{figure}_max"] = estimated.maximum
            table.append(row)
        return table

    def largest(self, figure: str, count: int = 5) -> list[dict[str, Any]]:
        """Return the runs with the largest values of `figure`."""
        return sorted(self.completed, key=lambda row: (-row[figure], row["run_id"]))[:count]

    def to_json(self) -> str:
        """Return the aggregates, and the failed or broken runs, as one JSON object."""
        failed_or_broken = [
            {k: row[k] for k in ("run_id", "status", "seed", "broken", "error", "options_json")}
            for row in self.failed_or_broken
        ]
        results = {
            "sweep": self.name,
            "runs": len(self.rows),
            "axes": list(self.axes),
            "versions": sorted({row["kmirror_version"] for row in self.rows}),
            "aggregates": self.aggregates(),
            "failed_or_broken": failed_or_broken,
        }
        return json.dumps(results, indent=1)

    def to_csv(self) -> str:
        """Return one line for each run: options, figures, digest."""
        columns = ["run_id", "status", *OPTION_NAMES, *NUMBERS, "digest", "kmirror_version"]
        out = io.StringIO()
        writer = csv.DictWriter(out, columns, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted(self.rows, key=lambda row: row["run_id"]))
        return out.getvalue()
