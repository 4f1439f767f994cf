"""Rows of index files and snapshots, in the text form of Kafka's tool and as JSON."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from kmirror.kernel import java
from kmirror.log.state_files import ProducerRow
from kmirror.records.layout import subtract_from_sequence


class Row(Protocol):
    """One row of any of these files."""

    def text(self) -> str:
        """Return the line that Kafka's tool prints."""

    def as_json(self) -> dict[str, Any]:
        """Return the row as a dict of its fields; `type` is its kind."""


class OffsetRow(NamedTuple):
    offset: int
    position: int

    def text(self) -> str:
        return f"offset: {self.offset} position: {self.position}"

    def as_json(self) -> dict[str, Any]:
        return {"type": "offset_index_entry", **self._asdict()}


class TimeRow(NamedTuple):
    timestamp: int
    offset: int

    def text(self) -> str:
        return f"timestamp: {self.timestamp} offset: {self.offset}"

    def as_json(self) -> dict[str, Any]:
        return {"type": "time_index_entry", **self._asdict()}


class AbortedRow(NamedTuple):
    version: int
    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int

    def text(self) -> str:
        return (
            f"version: {self.version} producerId: {self.producer_id} firstOffset: {self.first_offset} "
            f"lastOffset: {self.last_offset} lastStableOffset: {self.last_stable_offset}"
        )

    def as_json(self) -> dict[str, Any]:
        return {"type": "aborted_transaction", **self._asdict()}


class PrintableProducer(ProducerRow):
    """A row of a `.snapshot` file."""

    __slots__ = ()

    def text(self) -> str:
        text = (
            f"producerId: {self.producer_id} producerEpoch: {self.producer_epoch} "
            f"coordinatorEpoch: {self.coordinator_epoch} "
            f"currentTxnFirstOffset: {java.optional_long(self._first_offset)} lastTimestamp: {self.timestamp}"
        )
        if self.last_offset < 0:
            return text
        first_sequence = subtract_from_sequence(self.last_sequence, self.offset_delta)
        return (
            f"{text} firstSequence: {first_sequence} lastSequence: {self.last_sequence} "
            f"lastOffset: {self.last_offset} offsetDelta: {self.offset_delta} timestamp: {self.timestamp}"
        )

    def as_json(self) -> dict[str, Any]:
        return {"type": "producer", **self._asdict(), "txn_first_offset": self._first_offset}

    @property
    def _first_offset(self) -> int | None:
        """First offset of the producer's open transaction, or None."""
        return None if self.txn_first_offset < 0 else self.txn_first_offset
