"""Options that a sweep can vary, and their bounds."""

from __future__ import annotations

from dataclasses import dataclass, fields

from kmirror.records.codecs import Compression

CODECS = tuple(codec.name.lower() for codec in Compression)
FAILURES = ("network", "site")
FAULTS = ("none", "source_broker", "destination_broker", "both")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentOptions:
    """Options of a sweep; all numbers are integers, with the unit as suffix. WAN is the line between the clusters."""

    seed: int = 0
    """Distinguishes runs with the same other options; a sweep file sets it with `seeds`."""
    brokers: int = 1
    """Brokers in each cluster; they hold min(brokers, 3) replicas."""
    partitions: int = 2
    """Partitions of the one mirrored topic."""
    latency_ms: int = 25
    """One-way latency of the WAN."""
    jitter_ms: int = 5
    """Each frame on the WAN takes `latency_ms` plus or minus up to this value, uniformly distributed."""
    bandwidth_kbps: int = 0
    """Bandwidth of the WAN in each direction, in kilobits per second; 0 means unlimited."""
    loss_ppm: int = 0
    """Packets lost on the WAN, per million."""
    reorder_ppm: int = 0
    """Frames on the WAN, per million, that are delayed by up to 50 ms, so that other connections overtake them."""
    batch_records: int = 10
    """Records in each batch that a producer sends."""
    record_bytes: int = 200
    """Size of key and value together."""
    records_per_second: int = 500
    """Rate of all producers together, over all partitions."""
    producers: int = 4
    """Number of producers. Each writes to all partitions in turn; its start is drawn from the seed."""
    transaction_ms: int = 0
    """Time between the start of a transaction and its commit; 0 means no transactions."""
    transactional_percent: int = 100
    """Share of the producers, rounded up, that use one transaction after another, if `transaction_ms` is not 0."""
    codec: str = "none"
    """Compression codec of the producers."""
    fetchers: int = 1
    """`mirror.num.replica.fetchers`: fetchers of a mirror for each broker of the source."""
    refresh_ms: int = 30_000
    """`mirror.metadata.refresh.interval.ms`: interval at which a mirror refreshes its source's metadata."""
    failure: str = "network"
    """Kind of the failure of a: its line to b goes down while producers still write to it, or all its brokers die."""
    failure_ms: int = 3_000
    """Minimum time that clients write to a before it fails."""
    failure_spread_ms: int = 1_000
    """Maximum extra time before a fails; the actual time is drawn from the seed.

    So runs fail at different phases of the cycles of fetches, producers and timers. It should be longer than a round
    trip and the pause between two batches.
    """
    detect_ms: int = 1_000
    """Time from the failure to the failover order; while the line is down, producers still write to a."""
    after_ms: int = 2_000
    """Time of writing to b before the failback."""
    fault: str = "none"
    """The cluster with a broker that is killed during the load, and restarted."""

    @property
    def transactional_producers(self) -> int:
        """Return the number of producers that use transactions."""
        return -(-self.producers * self.transactional_percent // 100) if self.transaction_ms else 0

    def problem(self) -> str | None:
        """Return the error in these options, or None."""
        for name, choices in (("codec", CODECS), ("failure", FAILURES), ("fault", FAULTS)):
            if getattr(self, name) not in choices:
                return f"{name} must be one of {', '.join(choices)}, not {getattr(self, name)!r}"
        for name, (least, most) in BOUNDS.items():
            value = getattr(self, name)
            if type(value) is not int or not least <= value <= most:
                return f"{name} must be an integer from {least} to {most}, not {value!r}"
        if self.fault != "none" and self.brokers < 2:
            return f"fault {self.fault!r} kills a broker for a while: brokers must be 2 or more"
        return None


BOUNDS: dict[str, tuple[int, int]] = {
    "seed": (0, (1 << 63) - 1),
    "brokers": (1, 9),
    "partitions": (1, 1000),
    "latency_ms": (0, 10_000),
    "jitter_ms": (0, 10_000),
    "bandwidth_kbps": (0, 1 << 40),
    "loss_ppm": (0, 500_000),
    "reorder_ppm": (0, 1_000_000),
    "batch_records": (1, 100_000),
    "record_bytes": (0, 1_000_000),
    "records_per_second": (1, 10_000_000),
    "producers": (1, 1000),
    "transaction_ms": (0, 600_000),
    "transactional_percent": (1, 100),
    "fetchers": (1, 64),
    "refresh_ms": (100, 3_600_000),
    "failure_ms": (0, 3_600_000),
    "failure_spread_ms": (0, 3_600_000),
    "detect_ms": (0, 3_600_000),
    "after_ms": (0, 3_600_000),
}
OPTION_NAMES = tuple(field.name for field in fields(ExperimentOptions))
