"""What can a sweep vary, in which bounds?"""

from __future__ import annotations

from dataclasses import dataclass, fields

from kmirror.records.codecs import Compression

CODECS = tuple(codec.name.lower() for codec in Compression)
FAILURES = ("network", "site")
FAULTS = ("none", "source_broker", "destination_broker", "both")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentOptions:
    """What a sweep varies; all numbers are whole, units last. WAN is the line between the clusters."""

    seed: int = 0
    """Names the run among those with the same other options; in a sweep file it is given as `seeds`."""
    brokers: int = 1
    """In each cluster; they hold min(brokers, 3) replicas."""
    partitions: int = 2
    """Of the one topic that is mirrored."""
    latency_ms: int = 25
    """One way, on the WAN."""
    jitter_ms: int = 5
    """A frame on the WAN takes `latency_ms` more or less up to this much, drawn evenly."""
    bandwidth_kbps: int = 0
    """Of the WAN, in each direction, in kilobits per second; 0 stands for no limit."""
    loss_ppm: int = 0
    """Packets lost on the WAN, per million."""
    reorder_ppm: int = 0
    """Frames on the WAN, per million, that are held up by up to 50 ms, so that those of other connections overtake."""
    batch_records: int = 10
    """Records in each batch that a producer sends."""
    record_bytes: int = 200
    """Key and value."""
    records_per_second: int = 500
    """Of all producers, into all partitions together."""
    producers: int = 4
    """Each writes to all partitions in turn; when each begins is drawn from the seed."""
    transaction_ms: int = 0
    """How long a transaction stays open before its commit is asked for; 0 stands for no transactions."""
    transactional_percent: int = 100
    """Of the producers, rounded up: they have one transaction after another, if `transaction_ms` is not 0."""
    codec: str = "none"
    """With which the producers compress."""
    fetchers: int = 1
    """`mirror.num.replica.fetchers`: fetchers of a mirror for each broker of the source."""
    refresh_ms: int = 30_000
    """`mirror.metadata.refresh.interval.ms`: how often a mirror looks at its source's metadata."""
    failure: str = "network"
    """How a fails: its line to b goes down while producers go on writing to it, or all its brokers die."""
    failure_ms: int = 3_000
    """How long a is written to, at least, before it fails."""
    failure_spread_ms: int = 1_000
    """a fails up to this much later, which is drawn from the seed: no two runs fail at the same instant of the cycles
    that fetches, producers and timers have. It should be longer than a round trip and the pause between two batches."""
    detect_ms: int = 1_000
    """From the failure to the order to fail over; while the line is down, producers go on writing to a."""
    after_ms: int = 2_000
    """How long b is written to before the failback."""
    fault: str = "none"
    """A broker of that cluster is killed during the load, and restarted."""

    @property
    def transactional_producers(self) -> int:
        """Return how many of the producers use transactions."""
        return -(-self.producers * self.transactional_percent // 100) if self.transaction_ms else 0

    def problem(self) -> str | None:
        """Say what is wrong with these options, or None."""
        for name, choices in (("codec", CODECS), ("failure", FAILURES), ("fault", FAULTS)):
            if getattr(self, name) not in choices:
                return f"{name} is one of {', '.join(choices)}, not {getattr(self, name)!r}"
        for name, (least, most) in BOUNDS.items():
            value = getattr(self, name)
            if type(value) is not int or not least <= value <= most:
                return f"{name} is a whole number from {least} to {most}, not {value!r}"
        if self.fault != "none" and self.brokers < 2:
            return f"fault {self.fault!r} kills a broker for a while: brokers has to be 2 or more"
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
