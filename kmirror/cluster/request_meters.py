"""How often is a node asked, how long do its answers take, and which errors have they? Kafka's RequestMetrics."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from kmirror.client.remote_cluster import code_of
from kmirror.cluster.metrics import Sample, histogram, meter
from kmirror.kernel.clock import Duration, Instant
from kmirror.kernel.events import Timed
from kmirror.kernel.meters import Histogram, Meter
from kmirror.kernel.told_by_runner import RequestTimes
from kmirror.protocol.careful import within
from kmirror.protocol.structs import Struct
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.metrics import row

_TIMES = (
    ("TotalTimeMs", "total_ms"),
    ("RequestQueueTimeMs", "queue_ms"),
    ("LocalTimeMs", "local_ms"),
    ("RemoteTimeMs", "remote_ms"),
    ("ResponseQueueTimeMs", "answer_queue_ms"),
    ("ResponseSendTimeMs", "answer_send_ms"),
)
"""Kafka's name of each part of the time that a request takes, and its field in `RequestTimes`."""


class RequestClock:
    """How long one request waited, and how long the node was at work on it; nothing else looks at `clock`."""

    def __init__(self, name: str, clock: Callable[[], Instant], arrived: Instant, begun: Instant) -> None:
        self.name = name
        self._clock = clock
        self._arrived = arrived
        self._begun = begun
        self._started = clock()
        self._local: Duration | None = None

    def handled(self) -> None:
        """Say that the node's own work is over; what comes from now on is waited for."""
        if self._local is None:
            self._local = self._clock() - self._started

    def timed(self) -> Timed:
        """Return what the answer has to say of it, which ends the node's own work if nothing has."""
        self.handled()
        assert self._local is not None, "just said"
        return Timed(self.name, self._arrived, self._begun, self._local)


class RequestMeters:
    """Counts the requests of a node, by API."""

    def __init__(self) -> None:
        self._requests: dict[tuple[str, int], Meter] = {}
        self._errors: dict[tuple[str, str], Meter] = {}
        self._sizes: dict[str, Histogram] = {}

    def asked(self, now: Instant, name: str, version: int, size: int) -> None:
        """Count a request of `size` bytes."""
        self._requests.setdefault((name, version), Meter()).mark(now)
        self._sizes.setdefault(name, Histogram()).add(size)

    def answered(self, now: Instant, name: str, version: int, answer: Struct) -> None:
        """Count the error codes in an answer."""
        for error in errors_in(answer, version):
            self._errors.setdefault((name, error.name), Meter()).mark(now)

    def samples(self, now: Instant, times: Mapping[str, RequestTimes]) -> Iterator[Sample]:
        """Yield what was counted, and the `times` that the node's runner has told."""
        for (name, version), requests in self._requests.items():
            yield meter(
                row("RequestMetrics", "RequestsPerSec", "request", "version"), requests, now, name, str(version)
            )
        for (name, error), errors in self._errors.items():
            yield meter(row("RequestMetrics", "ErrorsPerSec", "request", "error"), errors, now, name, error)
        for name, sizes in self._sizes.items():
            yield histogram(row("RequestMetrics", "RequestBytes", "request"), sizes, name)
        for name, parts in times.items():
            for metric, part in _TIMES:
                yield histogram(row("RequestMetrics", metric, "request"), getattr(parts, part), name)


def errors_in(answer: Struct, version: int) -> Iterator[ErrorCode]:
    """Yield the error codes of an answer and of its rows, NONE too (AbstractResponse.errorCounts)."""
    for field in answer.FIELDS:
        if not within(version, field.versions):
            continue
        if field.type == "struct":
            value = getattr(answer, field.attribute)
            for element in value or () if field.is_array else (value,) if value is not None else ():
                yield from errors_in(element, version)
        elif field.attribute == "error_code":
            yield code_of(getattr(answer, field.attribute))
