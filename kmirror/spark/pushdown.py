"""The parts of a WHERE clause that save work.

Topic and partition choose folders, offsets choose segments and batches, and timestamps choose batches. Spark applies
every filter once more: a source that leaves out too little is slow, but one that is trusted and wrong returns wrong
rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from kmirror.kernel.ids import TopicPartition
from kmirror.spark.rows import RowQuery

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_OFFSET_OF = {"record": "offset", "batch": "baseOffset"}


@dataclass(frozen=True, slots=True)
class Partitions:
    """The partitions to read; None means all."""

    topics: frozenset[str] | None = None
    numbers: frozenset[int] | None = None

    def contains(self, tp: TopicPartition) -> bool:
        return (self.topics is None or tp.topic in self.topics) and (
            self.numbers is None or tp.partition in self.numbers
        )


def push_down(filters: Iterable[Any], partitions: Partitions, query: RowQuery) -> tuple[Partitions, RowQuery]:
    """Return the partitions and the query that remain when all `filters` hold."""
    for filter_ in filters:
        name, kind = ".".join(filter_.attribute), type(filter_).__name__
        values = {"EqualTo": lambda f: [f.value], "EqualNullSafe": lambda f: [f.value], "In": lambda f: list(f.value)}
        if name in ("topic", "partition") and kind in values:
            selected = frozenset(values[kind](filter_))
            if name == "topic":
                topics = selected if partitions.topics is None else partitions.topics & selected
                partitions = replace(partitions, topics=topics)
            else:
                numbers = selected if partitions.numbers is None else partitions.numbers & selected
                partitions = replace(partitions, numbers=numbers)
        elif name == _OFFSET_OF[query.level]:
            query = _narrow_offsets(kind, filter_, query)
        elif name == "timestamp" and query.level == "record":
            query = _narrow_times(kind, filter_, query)
    return partitions, query


def _bounds(kind: str, value: Any) -> tuple[int | None, int | None]:
    """Return the range [first, end) of whole numbers that a comparison lets through."""
    match kind:
        case "EqualTo" | "EqualNullSafe" if value is not None:
            return value, value + 1
        case "In":
            known = [v for v in value if v is not None]
            return (min(known), max(known) + 1) if known else (None, None)
        case "GreaterThan":
            return value + 1, None
        case "GreaterThanOrEqual":
            return value, None
        case "LessThan":
            return None, value
        case "LessThanOrEqual":
            return None, value + 1
    return None, None


def _narrow_offsets(kind: str, filter_: Any, query: RowQuery) -> RowQuery:
    first, end = _bounds(kind, getattr(filter_, "value", None))
    return replace(query, offset_first=_higher(query.offset_first, first), offset_end=_lower(query.offset_end, end))


def _narrow_times(kind: str, filter_: Any, query: RowQuery) -> RowQuery:
    """Narrow the time range: timestamps are whole milliseconds and Spark compares microseconds, so round outwards."""
    value = getattr(filter_, "value", None)
    values = list(value) if isinstance(value, list | tuple) else [value]
    micros = [_micros(v) for v in values if isinstance(v, datetime)]
    if len(micros) < len(values) or not micros:
        return query
    first, end = _bounds(kind, micros if kind == "In" else micros[0])
    return replace(
        query,
        timestamp_first=_higher(query.timestamp_first, None if first is None else first // 1000),
        timestamp_end=_lower(query.timestamp_end, None if end is None else -(-end // 1000)),
    )


def _micros(value: datetime) -> int:
    aware = value if value.tzinfo is not None else value.astimezone(UTC)
    return (aware - _EPOCH) // timedelta(microseconds=1)


def _higher(one: int | None, other: int | None) -> int | None:
    return max((v for v in (one, other) if v is not None), default=None)


def _lower(one: int | None, other: int | None) -> int | None:
    return min((v for v in (one, other) if v is not None), default=None)
