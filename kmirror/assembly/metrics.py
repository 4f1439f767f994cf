"""Metrics of the nodes of a cluster, by name or as a page for Prometheus.

The page uses the names that Prometheus' JMX exporter gives to Kafka's metrics by its usual rules, in lower case; the
label `node_id` distinguishes nodes of one process.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kmirror.cluster.metrics import COUNT, QUANTILES, VALUE, Sample
from kmirror.errors import UsageError, did_you_mean
from kmirror.spec.metrics import ROWS, Kind, MetricRow

NODE_LABEL = "node_id"
PLAIN_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
OPEN_METRICS_CONTENT_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"
_COUNTERS = (Kind.METER, Kind.TOTAL)
_TYPES = {
    Kind.GAUGE: "gauge",
    Kind.COUNT: "gauge",
    Kind.TOTAL: "counter",
    Kind.METER: "counter",
    Kind.HISTOGRAM: "summary",
}


@dataclass(frozen=True, slots=True)
class Reading:
    """One metric of one node, at the time of the request."""

    node_id: int
    mbean: str
    """Kafka's full name, such as `kafka.server:type=ReplicaManager,name=LeaderCount`."""
    name: str
    """The short name, such as `LeaderCount`."""
    tags: Mapping[str, str]
    attributes: Mapping[str, float]
    """`Value` of a gauge; `Count`, `OneMinuteRate` etc. of a meter; `99thPercentile` etc. of a histogram."""

    @property
    def value(self) -> float:
        """The number of a gauge, or the count of a counter, meter or histogram."""
        return next(iter(self.attributes.values()))


class Metrics:
    """All metrics of some nodes at one point in time."""

    def __init__(self, samples: Mapping[int, Sequence[Sample]]) -> None:
        self._samples = samples

    def __iter__(self) -> Iterator[Reading]:
        for node_id, samples in self._samples.items():
            for sample in samples:
                tags = dict(zip(sample.row.tags, sample.tags, strict=True))
                yield Reading(node_id, sample.row.mbean(sample.tags), sample.row.name, tags, sample.attributes)

    def find(self, name: str, **tags: object) -> list[Reading]:
        """Return the readings of a metric, such as `find("ConsumerLag", topic="orders", partition=0)`.

        Only readings with the given tags are returned; `node_id` is one of the tags, and `_` replaces `-` in tag names.
        UsageError for an unknown metric.
        """
        names = dict.fromkeys(row.name for row in ROWS if not row.omission_reason)
        if name not in names:
            hint = did_you_mean(name, names)
            raise UsageError(f"unknown metric {name!r}{hint and f': {hint}'}")
        labels = {key: str(value) for key, value in tags.items()}
        return [reading for reading in self if reading.name == name and labels.items() <= _labels_of(reading).items()]

    def total(self, name: str, **tags: object) -> float:
        """Return the sum of the values that `find` returns."""
        return sum(reading.value for reading in self.find(name, **tags))

    def page(self, *, open_metrics: bool = False) -> str:
        """Return all metrics as text for Prometheus: exposition format 0.0.4, or OpenMetrics 1.0."""
        families: dict[str, list[tuple[int, Sample]]] = {}
        for node_id, samples in self._samples.items():
            for sample in samples:
                families.setdefault(sample.row.page_name, []).append((node_id, sample))
        lines: list[str] = []
        for name, members in families.items():
            row = members[0][1].row
            family = name.removesuffix("_total") if open_metrics and row.kind in _COUNTERS else name
            lines.append(f"# HELP {family} {_help(row)}")
            lines.append(f"# TYPE {family} {_TYPES[row.kind]}")
            for node_id, sample in members:
                lines.extend(_lines(name, node_id, sample))
        if open_metrics:
            lines.append("# EOF")
        return "".join(f"{line}\n" for line in lines)


def _labels_of(reading: Reading) -> dict[str, str]:
    return _labels(reading.node_id, reading.tags)


def _labels(node_id: int, tags: Mapping[str, str]) -> dict[str, str]:
    return {NODE_LABEL: str(node_id), **{key.replace("-", "_"): value for key, value in tags.items()}}


def _help(row: MetricRow) -> str:
    return f"{row.about} [{row.unit}] {row.mbean()}".replace("\\", "\\\\").replace("\n", " ")


def _lines(name: str, node_id: int, sample: Sample) -> Iterator[str]:
    row, attributes = sample.row, sample.attributes
    labels = list(_labels(node_id, dict(zip(row.tags, sample.tags, strict=True))).items())
    if row.kind is Kind.HISTOGRAM:
        for attribute, share in QUANTILES.items():
            yield f"{name}{_label_text([*labels, ('quantile', f'{share:g}')])} {_number(attributes[attribute])}"
        yield f"{name}_count{_label_text(labels)} {_number(attributes[COUNT])}"
        return
    attribute = COUNT if row.kind is Kind.METER else row.name if row.is_attribute else VALUE
    yield f"{name}{_label_text(labels)} {_number(attributes[attribute])}"


def _number(value: float) -> str:
    """Return the shortest text that is read as the same number; whole numbers have no decimal point."""
    return f"{value:.17g}" if float(value).is_integer() else repr(float(value))


def _label_text(labels: Sequence[tuple[str, str]]) -> str:
    return "{" + ",".join(f'{key}="{_escaped(value)}"' for key, value in labels) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
