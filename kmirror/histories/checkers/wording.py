"""Wording of findings: one anomaly for a group of records with the same fate, and counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

from kmirror.histories.verdict import Accepted, Anomaly
from kmirror.kernel.clock import SECOND, Instant
from kmirror.kernel.ids import TopicPartition

Finding = Anomaly | Accepted


class RecordFields(Protocol):
    @property
    def offset(self) -> int: ...

    @property
    def value(self) -> str: ...


class LossFields(Protocol):
    """Fields of a loss that the wording needs."""

    @property
    def place(self) -> tuple[str, TopicPartition]: ...

    @property
    def record(self) -> RecordFields: ...

    @property
    def begin(self) -> Instant: ...

    @property
    def end(self) -> Instant: ...

    @property
    def hidden(self) -> bool: ...


L = TypeVar("L", bound=LossFields)


def seconds(at: Instant) -> str:
    """Return a moment as seconds since the clusters were up, to the millisecond."""
    return f"{at // SECOND}.{at % SECOND // 1000:03d} s"


def group_losses(checker: str, rows: Iterable[L], text: Callable[[L, str], str]) -> Iterator[Anomaly]:
    """Yield one anomaly for all records of a partition that were lost between the same two observations.

    `text` gets the first of them and a phrase such as "'a7' at offset 12 and 3 more records".
    """
    together: dict[tuple[tuple[str, TopicPartition], Instant, bool], list[L]] = {}
    for row in rows:
        together.setdefault((row.place, row.end, row.hidden), []).append(row)
    for (place, end, _), group in together.items():
        first = min(group, key=lambda row: row.record.offset)
        more = f" and {len(group) - 1} more" if len(group) > 1 else ""
        many = f"record {first.record.value!r} at offset {first.record.offset}{more}"
        yield Anomaly(checker, *place, first.record.offset, text(first, many), end)


def count_accepted(rows: Iterable[tuple[str, str, TopicPartition]]) -> Iterator[Accepted]:
    """Yield the counts of (decision, cluster, partition)."""
    counts: dict[tuple[str, str, TopicPartition], int] = {}
    for row in rows:
        counts[row] = counts.get(row, 0) + 1
    for (decision, cluster, tp), records in counts.items():
        yield Accepted(decision, cluster, tp, records)
