"""Metadata transactions: their records become valid only when the transaction ends (KIP-868).

Kafka's controller uses a BeginTransactionRecord and an EndTransactionRecord around records that do not fit into one
batch, and around the first records of a new cluster. If it dies in between, its successor aborts the transaction.
"""

from __future__ import annotations

from collections.abc import Sequence

from kmirror.protocol.gen.abort_transaction_record import AbortTransactionRecord
from kmirror.protocol.gen.begin_transaction_record import BeginTransactionRecord
from kmirror.protocol.gen.end_transaction_record import EndTransactionRecord
from kmirror.protocol.keyed_records import VersionedMessage


class MetadataTransactions:
    """Holds the records of the open transaction, if any."""

    __slots__ = ("_held",)

    def __init__(self) -> None:
        self._held: list[VersionedMessage] | None = None

    @property
    def is_open(self) -> bool:
        """Whether a transaction has begun and was neither ended nor aborted."""
        return self._held is not None

    def add(self, record: VersionedMessage) -> Sequence[VersionedMessage]:
        """Return the records that become valid with `record`, in order."""
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
