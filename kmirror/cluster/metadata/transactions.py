"""Which records of the metadata log count? Those of a metadata transaction only once it has ended (KIP-868).

A controller of Kafka writes what does not fit into one batch, and what a new cluster begins with, between a
BeginTransactionRecord and an EndTransactionRecord. If it dies in between, its successor aborts them.
"""

from __future__ import annotations

from collections.abc import Sequence

from kmirror.protocol.gen.abort_transaction_record import AbortTransactionRecord
from kmirror.protocol.gen.begin_transaction_record import BeginTransactionRecord
from kmirror.protocol.gen.end_transaction_record import EndTransactionRecord
from kmirror.protocol.keyed_records import VersionedMessage


class MetadataTransactions:
    """Holds the records of the transaction that is open, if one is."""

    __slots__ = ("_held",)

    def __init__(self) -> None:
        self._held: list[VersionedMessage] | None = None

    @property
    def is_open(self) -> bool:
        """Return whether a transaction has begun that was neither ended nor aborted."""
        return self._held is not None

    def take(self, record: VersionedMessage) -> Sequence[VersionedMessage]:
        """Return the records that count now that `record` was read, in their order."""
        match record.message:
            case BeginTransactionRecord():
                self._held = []
                return ()
            case EndTransactionRecord():
                ended, self._held = self._held, None
                return ended or ()
            case AbortTransactionRecord():
                self._held = None
                return ()
        if self._held is None:
            return (record,)
        self._held.append(record)
        return ()
