"""Request metrics of a node: request counts and sizes, times, and errors (Kafka's RequestMetrics)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from kmirror.client.remote_cluster import code_of
from kmirror.cluster.metrics import Sample, histogram, meter
from kmirror.kernel.clock import Duration, Instant
from kmirror.kernel.events import RequestTiming
from kmirror.kernel.meters import Histogram, Meter
from kmirror.kernel.runner_metrics import RequestTimes
from kmirror.protocol.careful import is_within
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
"""Kafka's name of each part of a request's time, and its field in `RequestTimes`."""


class RequestMeters:
    """Counts and times the requests of a node, by API.

    `clock` measures the processing time within an event and is used for nothing else. Virtual time does not advance
    within an event.
    """

    def __init__(self, clock: Callable[[], Instant] | None = None) -> None:
        self.now: Instant = 0
        """Time of the current event; set by the node, because responses may be sent during any event."""
        self.clock = clock or (lambda: self.now)
        self._requests: dict[tuple[str, int], Meter] = {}
        self._errors: dict[tuple[str, str], Meter] = {}
        self._sizes: dict[str, Histogram] = {}

    def begin(self, now: Instant, name: str, version: int, size: int, arrived_at: Instant) -> RequestClock:
        """Count a request of `size` bytes when its processing begins, and return its clock."""
        self._requests.setdefault((name, version), Meter()).mark(now)
        self._sizes.setdefault(name, Histogram()).add(size)
        return RequestClock(self, name, version, arrived_at, now)

    def count_errors(self, name: str, version: int, response: Struct) -> None:
        """Count the error codes in a response."""
        for error in errors_in(response, version):
            self._errors.setdefault((name, error.name), Meter()).mark(self.now)

    def samples(self, now: Instant, times: Mapping[str, RequestTimes]) -> Iterator[Sample]:
        """Yield the metrics counted here and the `times` measured by the node's runner."""
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


class RequestClock:
    """Waiting time and processing time of one request."""

    def __init__(self, meters: RequestMeters, name: str, version: int, arrived_at: Instant, begun_at: Instant) -> None:
        self._meters = meters
        self._name = name
        self._version = version
        self._arrived_at = arrived_at
        self._begun_at = begun_at
        self._clock_start = meters.clock()
        self._local: Duration | None = None

    def end_local(self) -> None:
        """End the local processing time; the remaining time counts as waiting."""
        if self._local is None:
            self._local = self._meters.clock() - self._clock_start

    def finish(self, response: Struct) -> RequestTiming:
        """Count the errors of the response and return its times; local processing ends here at the latest."""
        self._meters.count_errors(self._name, self._version, response)
        self.end_local()
        assert self._local is not None, "just set"
        return RequestTiming(self._name, self._arrived_at, self._begun_at, self._local)


def errors_in(response: Struct, version: int) -> Iterator[ErrorCode]:
    """Yield the error codes of a response and of its rows, including NONE (AbstractResponse.errorCounts)."""
    for field in response.FIELDS:
        if not is_within(version, field.versions):
            continue
        if field.type == "struct":
            value = getattr(response, field.attribute)
            for element in value or () if field.is_array else (value,) if value is not None else ():
                yield from errors_in(element, version)
        elif field.attribute == "error_code":
            yield code_of(getattr(response, field.attribute))
