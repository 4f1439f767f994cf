"""First difference between two logs of a compacted topic that compaction does not explain (D46).

Each log is compacted independently. So a record that only one log has is explained if either log has a later record
with the same key, if it is a tombstone, if its transaction was aborted, or if it has no key. Records with the same
offset in both logs must be equal. Control records and the division into batches are ignored.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from kmirror.records.control import ControlType
from kmirror.records.legacy import AnyBatch
from kmirror.records.record import Header

NOTHING = "nothing"


class Gap(NamedTuple):
    """The first record that differs or is missing on one side without an explanation."""

    offset: int
    expected: str
    found: str


class _Row(NamedTuple):
    epoch: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...]

    def __str__(self) -> str:
        return f"key {self.key!r}, value {self.value!r}, timestamp {self.timestamp}, leader epoch {self.epoch}"


@dataclass(slots=True)
class _Side:
    rows: dict[int, _Row] = field(default_factory=dict)
    aborted: dict[int, None] = field(default_factory=dict)
    """Offsets of records in transactions with an ABORT marker."""


def _read(batches: Iterable[AnyBatch]) -> _Side:
    side, open_at = _Side(), dict[int, list[int]]()
    for batch in batches:
        control = batch.control()
        if control is not None or batch.is_control:
            decided = open_at.pop(batch.producer_id, [])
            if control is not None and control.type is ControlType.ABORT:
                side.aborted.update(dict.fromkeys(decided))
            continue
        for record in batch.records():
            row = _Row(batch.partition_leader_epoch, record.timestamp, record.key, record.value, tuple(record.headers))
            side.rows[record.offset] = row
            if batch.is_transactional:
                open_at.setdefault(batch.producer_id, []).append(record.offset)
    return side


def gap(expected: Iterable[AnyBatch], found: Iterable[AnyBatch]) -> Gap | None:
    """Return the first difference between two logs that compaction does not explain, or None.

    Both logs are read into memory completely. Raises `CorruptBatch` as the batches do.
    """
    sides = _read(expected), _read(found)
    aborted = sides[0].aborted | sides[1].aborted
    newest: dict[bytes | None, int] = {}
    for side in sides:
        for offset, row in side.rows.items():
            if offset not in aborted:
                newest[row.key] = max(offset, newest.get(row.key, -1))
    for offset in sorted(sides[0].rows.keys() | sides[1].rows.keys()):
        one, other = (side.rows.get(offset) for side in sides)
        present = one or other
        assert present is not None, "one side has it"
        if one is not None and other is not None:
            is_explained = one == other
        else:
            may_be_removed = present.key is None or present.value is None or offset in aborted
            is_explained = may_be_removed or newest[present.key] > offset
        if not is_explained:
            return Gap(offset, str(one or NOTHING), str(other or NOTHING))
    return None
