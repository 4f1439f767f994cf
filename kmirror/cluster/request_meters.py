"""How often is a node asked, how long do its answers take, and which errors have they? Kafka's RequestMetrics."""

from __future__ import annotations

from collections.abc import Iterator

from kmirror.client.remote_cluster import code_of
from kmirror.cluster.metrics import Sample, histogram, meter
from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.kernel.meters import Histogram, Meter
from kmirror.protocol.careful import within
from kmirror.protocol.structs import Struct
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.metrics import row


class RequestMeters:
    """Counts the requests of a node, by API."""

    def __init__(self) -> None:
        self._requests: dict[tuple[str, int], Meter] = {}
        self._errors: dict[tuple[str, str], Meter] = {}
        self._sizes: dict[str, Histogram] = {}
        self._times_ms: dict[str, Histogram] = {}

    def asked(self, now: Instant, name: str, version: int, size: int) -> None:
        """Count a request of `size` bytes."""
        self._requests.setdefault((name, version), Meter()).mark(now)
        self._sizes.setdefault(name, Histogram()).add(size)

    def answered(self, now: Instant, name: str, version: int, answer: Struct, arrived: Instant) -> None:
        """Count an answer to a request that arrived then, and the error codes in it."""
        self._times_ms.setdefault(name, Histogram()).add((now - arrived) / MILLISECOND)
        for error in errors_in(answer, version):
            self._errors.setdefault((name, error.name), Meter()).mark(now)

    def samples(self, now: Instant) -> Iterator[Sample]:
        """Yield what was counted."""
        for (name, version), requests in self._requests.items():
            yield meter(
                row("RequestMetrics", "RequestsPerSec", "request", "version"), requests, now, name, str(version)
            )
        for (name, error), errors in self._errors.items():
            yield meter(row("RequestMetrics", "ErrorsPerSec", "request", "error"), errors, now, name, error)
        for name, sizes in self._sizes.items():
            yield histogram(row("RequestMetrics", "RequestBytes", "request"), sizes, name)
        for name, times_ms in self._times_ms.items():
            yield histogram(row("RequestMetrics", "TotalTimeMs", "request"), times_ms, name)
            yield histogram(row("RequestMetrics", "RemoteTimeMs", "request"), times_ms, name)


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
