"""Phase two of a transaction: write a marker to each of its partitions.

At most one marker is in flight to a partition: below transaction.version 2 a second one could arrive in the producer's
next transaction, which has the same epoch, and end it.
"""

from __future__ import annotations

from collections.abc import Callable

from kmirror.cluster.coordinators.transactions.state import PREPARING, Status, Transaction
from kmirror.cluster.node.context import BrokerContext
from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.protocol.gen.write_txn_markers_request import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from kmirror.protocol.gen.write_txn_markers_response import WriteTxnMarkersResponse
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode

RETRY_MS = 100
TIMER = "markers"
WRITTEN = (
    ErrorCode.NONE,
    ErrorCode.INVALID_PRODUCER_EPOCH,
    ErrorCode.READ_ONLY_TOPIC,
    ErrorCode.TRANSACTION_COORDINATOR_FENCED,
)
"""Errors after which a marker is not sent again. READ_ONLY_TOPIC: the topic is mirrored, and the truncation has removed

the transaction (D11, D41).
"""

PendingMarkers = dict[TopicPartition, bool]
"""The partitions without a marker; True while a marker is in flight."""


class TransactionMarkers:
    """The markers that one coordinator still has to write."""

    def __init__(
        self,
        context: BrokerContext,
        timer: str,
        find: Callable[[str], Transaction | None],
        epoch_of: Callable[[str], int],
        complete: Callable[[Instant, Transaction, PendingMarkers], None],
    ) -> None:
        """Take functions for the committed state of an id, its coordinator epoch, and the step after all markers."""
        self._context = context
        self._timer = timer
        self._find = find
        self._epoch_of = epoch_of
        self._complete = complete
        self._pending: dict[str, PendingMarkers] = {}
        """Transactional id -> its partitions without a marker."""

    def ids(self) -> list[str]:
        """Return the transactional ids in phase two."""
        return list(self._pending)

    def end_markers(self, transactional_id: str) -> None:
        """End phase two of an id on this broker."""
        del self._pending[transactional_id]

    def is_current(self, transactional_id: str, pending: PendingMarkers) -> bool:
        """Return whether `pending` belongs to the current transaction of an id, not to an earlier one."""
        return self._pending.get(transactional_id) is pending

    def begin(self, now: Instant, transaction: Transaction) -> None:
        """Begin phase two, unless it is already running."""
        if transaction.transactional_id not in self._pending:
            self._pending[transaction.transactional_id] = dict.fromkeys(transaction.partitions, False)
            self.send(now, transaction.transactional_id)

    def send(self, now: Instant, transactional_id: str) -> None:
        """Send the markers that are not in flight; if none is left, complete the transaction."""
        transaction = self._find(transactional_id)
        pending = self._pending.get(transactional_id)
        if transaction is None or transaction.status not in PREPARING or pending is None:
            self._pending.pop(transactional_id, None)
            return
        by_leader: dict[int, list[TopicPartition]] = {}
        for tp in [tp for tp, in_flight in pending.items() if not in_flight]:
            image = self._context.image.topics.partition(tp)
            if image is None:
                del pending[tp]  # The topic was deleted; it needs no marker.
            else:
                by_leader.setdefault(image.leader, []).append(tp)
        if not pending:
            self._complete(now, transaction, pending)
            return
        for leader, partitions in by_leader.items():
            self._send_to(now, leader, transaction, pending, partitions)

    def _send_to(
        self,
        now: Instant,
        leader: int,
        transaction: Transaction,
        pending: PendingMarkers,
        partitions: list[TopicPartition],
    ) -> None:
        topics: dict[str, WritableTxnMarkerTopic] = {}
        for tp in partitions:
            entry = topics.setdefault(tp.topic, WritableTxnMarkerTopic(name=tp.topic, partition_indexes=[]))
            entry.partition_indexes.append(tp.partition)
        request = WriteTxnMarkersRequest(
            markers=[
                WritableTxnMarker(
                    producer_id=transaction.producer_id,
                    producer_epoch=transaction.producer_epoch,
                    transaction_result=transaction.status is Status.PREPARE_COMMIT,
                    topics=list(topics.values()),
                    coordinator_epoch=self._epoch_of(transaction.transactional_id),
                    transaction_version=transaction.client_version,
                )
            ]
        )

        def on_reply(later: Instant, reply: Message | None) -> None:
            pending.update(dict.fromkeys(partitions, False))
            self._on_markers(later, transaction.transactional_id, pending, reply)

        if self._context.ask_broker(now, leader, "markers", request, on_reply):
            pending.update(dict.fromkeys(partitions, True))
        else:
            self.retry(now, transaction.transactional_id)

    def _on_markers(self, now: Instant, transactional_id: str, pending: PendingMarkers, reply: Message | None) -> None:
        transaction = self._find(transactional_id)
        if not self.is_current(transactional_id, pending) or transaction is None:
            return  # The response belongs to an earlier transaction of this id.
        if isinstance(reply, WriteTxnMarkersResponse):
            for topic in reply.markers[0].topics:
                for partition in topic.partitions:
                    if partition.error_code in WRITTEN:
                        pending.pop(TopicPartition(topic.name, partition.partition_index), None)
        if not pending:
            self._complete(now, transaction, pending)
        elif not all(pending.values()):
            self.retry(now, transactional_id)

    def retry(self, now: Instant, transactional_id: str) -> None:
        """Send the markers again later."""
        at = now + RETRY_MS * MILLISECOND
        self._context.outbox.set_timer((self._timer, TIMER, transactional_id), at)
