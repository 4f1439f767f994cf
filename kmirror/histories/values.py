"""Decoding of batches into values, with the records that a read_committed client would not receive.

The filter is the consumer's: a transaction counts as aborted from the first offset that the broker names until its
ABORT marker. So an observed log has the records that a client of that log would receive.

A tombstone has no value; its header `NAME` identifies it.
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
    """Value, or for a control record its type and producer id in angle brackets."""
    producer_id: int
    is_control: bool
    is_aborted: bool
    crc: int
    """Checksum of the batch."""
    key: str
    is_tombstone: bool


Content = tuple[int, str, str, bool]
"""Offset, value, key, and whether it is a tombstone."""
Contents = tuple[Content, ...]
_Key = tuple[int, int, int]


class ValueReader:
    """Decoder of batches; it decodes each batch once and caches the result."""

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
        # A checksum covers neither the offset nor the epoch; the cached contents do not have the epoch.
        key = (batch.crc, batch.last_offset, batch.size_in_bytes)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = tuple(_decode(batch))
        return found


def _decode(batch: Batch) -> Iterator[Content]:
    if not batch.record_count:
        return  # The cleaner keeps a producer's last batch, without records.
    if batch.is_control:
        control = batch.control()
        kind = control.type.name if control is not None and control.type is not None else "UNKNOWN"
        yield batch.base_offset, f"<{kind} {batch.producer_id}>", "", False
        return
    for record in batch.records():
        name = name_of(record.value, record.headers)
        key = (record.key or b"").decode("utf-8", "replace")
        yield record.offset, name, key, record.value is None


def name_of(value: bytes | None, headers: Iterable[Header]) -> str:
    """Return the name of a record: its value, or for a tombstone the header `NAME`."""
    if value is None:
        value = next((header for name, header in headers if name == NAME and header), b"")
    return value.decode("utf-8", "replace")
