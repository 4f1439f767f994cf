"""What do batches hold for a client that reads them? Values, and which of them a read_committed one is given.

The filter is the consumer's own: a transaction counts as aborted from the first offset that the broker names until
its ABORT marker. So a look into a log shows what a client of that log would be shown.

A tombstone has no value; what names it is in a header, `NAME`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kmirror.log.committed import with_aborted
from kmirror.records.batch import Batch
from kmirror.records.record import Header

NAME = "name"


class ValueRow(NamedTuple):
    offset: int
    epoch: int
    value: str
    """Of a control record its type and producer id in angle brackets."""
    producer_id: int
    is_control: bool
    is_aborted: bool
    crc: int
    """Of the batch."""
    key: str
    is_tombstone: bool


Content = tuple[int, str, str, bool]
"""Offset, value, key, and whether it is a tombstone."""
Contents = tuple[Content, ...]
_Key = tuple[int, int, int]


class ValueReader:
    """Reads batches; what a batch holds is decoded once, however often it is read."""

    def __init__(self) -> None:
        self._known: dict[_Key, Contents] = {}

    def rows(self, batches: Iterable[Batch], aborted: Iterable[tuple[int, int]]) -> Iterator[ValueRow]:
        """Yield the records of `batches` in order; `aborted` is (producer id, first offset), as a fetch has it."""
        for batch, is_aborted in with_aborted(batches, aborted):
            epoch, producer_id, crc = batch.partition_leader_epoch, batch.producer_id, batch.crc
            is_control = batch.is_control
            for offset, value, key, is_tombstone in self._contents(batch):
                yield ValueRow(
                    offset, epoch, value, producer_id, is_control, is_aborted, crc, key, is_tombstone
                )  # fmt: skip

    def _contents(self, batch: Batch) -> Contents:
        # A checksum covers neither the offset nor the epoch; the epoch is not part of what is remembered.
        key = (batch.crc, batch.last_offset, batch.size_in_bytes)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = tuple(_decode(batch))
        return found


def _decode(batch: Batch) -> Iterator[Content]:
    if not batch.record_count:
        return  # The cleaner keeps a producer's last batch, without records.
    if batch.is_control:
        said = batch.control()
        kind = said.type.name if said is not None and said.type is not None else "UNKNOWN"
        yield batch.base_offset, f"<{kind} {batch.producer_id}>", "", False
        return
    for record in batch.records():
        name = name_of(record.value, record.headers)
        key = (record.key or b"").decode("utf-8", "replace")
        yield record.offset, name, key, record.value is None


def name_of(value: bytes | None, headers: Iterable[Header]) -> str:
    """Return what names a record: its value, or for a tombstone what a header says."""
    if value is None:
        value = next((header for name, header in headers if name == NAME and header), b"")
    return value.decode("utf-8", "replace")
