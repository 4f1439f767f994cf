"""Observation of unclean elections of `__transaction_state`: producers whose latest records are lost.

When the new leader begins, its log is compared with those of all other replicas, including brokers that are down. The
previous leader may continue for a while without knowing that it was deposed; its later records are lost as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from kmirror.histories.group_account import LostTransactions
from kmirror.histories.scene import Scene
from kmirror.histories.stores import whole_batches
from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.log.store import PartitionStore
from kmirror.protocol.gen.transaction_log_key import TransactionLogKey
from kmirror.protocol.gen.transaction_log_value import TransactionLogValue
from kmirror.protocol.keyed_records import decode_key, decode_value
from kmirror.spec.topics import TRANSACTION_TOPIC


class TransactionRecord(NamedTuple):
    """A record of `__transaction_state`; a tombstone has producer id -1."""

    offset: int
    value: bytes | None
    producer_id: int
    updated_ms: int


History = dict[str, list[TransactionRecord]]
"""Records of each transactional id, in the order of their offsets."""


@dataclass(frozen=True, slots=True)
class _DeposedLeader:
    """A broker that still leads a partition after another one was elected."""

    cluster: str
    tp: TopicPartition
    broker: int
    successor: History
    """Records in the new leader's log when it began to lead."""


class TransactionObserver:
    """Records the losses of unclean elections of `__transaction_state`."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._awaited: dict[tuple[str, TopicPartition], int] = {}
        """Leader epochs of unclean elections whose leaders have not begun yet."""
        self._deposed: list[_DeposedLeader] = []

    def on_unclean_election(self, cluster: str, tp: TopicPartition, leader_epoch: int) -> None:
        """Wait for the leader of an unclean election, to compare its log."""
        self._awaited[cluster, tp] = leader_epoch

    def after_event(self) -> None:
        """Compare the logs of leaders that have begun, and of deposed ones that have stopped, since the last event."""
        for (cluster, tp), epoch in list(self._awaited.items()) if self._awaited else ():
            leader = self._scene.leader(cluster, tp)
            if leader is not None and leader.leader_epoch >= epoch:
                del self._awaited[cluster, tp]
                self._on_leader_begins(cluster, tp, leader.broker_id)
        for one in list(self._deposed) if self._deposed else ():
            if not self._leads(one.cluster, one.tp, one.broker):
                self._deposed.remove(one)
                self._compare(one.cluster, one.tp, one.successor, one.broker)

    def _on_leader_begins(self, cluster: str, tp: TopicPartition, successor_id: int) -> None:
        successor = self._history(cluster, tp, successor_id)
        for broker_id in self._scene.clusters[cluster].broker_ids:
            if broker_id == successor_id:
                continue
            self._compare(cluster, tp, successor, broker_id)
            if self._leads(cluster, tp, broker_id):
                self._deposed.append(_DeposedLeader(cluster, tp, broker_id, successor))

    def _leads(self, cluster: str, tp: TopicPartition, broker_id: int) -> bool:
        found = self._scene.clusters[cluster]
        return found.runs(broker_id) and found.broker(broker_id).parts.replicas.partitions.find_led(tp) is not None

    def _compare(self, cluster: str, tp: TopicPartition, successor: History, broker_id: int) -> None:
        """Record the producers for which another replica has later records than the new leader."""
        scene, producers = self._scene, dict[int, Instant]()
        for name, rows in self._history(cluster, tp, broker_id).items():
            known = successor.get(name, [])
            if known and rows[-1] == known[-1]:
                continue  # Compaction keeps the latest record of a key, so only that one counts.
            lacking = [row for row in rows if row not in known]
            since = min((row.updated_ms * MILLISECOND - scene.began for row in lacking if row.value), default=0)
            for row in lacking:
                if row.value is not None:
                    producers[row.producer_id] = min(since, producers.get(row.producer_id, since))
        if producers:
            scene.account.groups.transactions_lost.append(LostTransactions(cluster, producers, scene.now))

    def _history(self, cluster: str, tp: TopicPartition, broker_id: int) -> History:
        found: History = {}
        for disk in self._scene.clusters[cluster].log_dirs[broker_id]:
            store = disk.written(tp)
            for name, row in () if store is None else _transaction_records(store):
                found.setdefault(name, []).append(row)
        return found


def _transaction_records(store: PartitionStore) -> Iterator[tuple[str, TransactionRecord]]:
    """Yield transactional id and record, for each record in a log of `__transaction_state`."""
    for batch in whole_batches(store):
        if batch.is_control:
            continue
        for record in batch.records():
            key = decode_key(TRANSACTION_TOPIC, record.key or b"")
            assert isinstance(key, TransactionLogKey)
            value = decode_value(TRANSACTION_TOPIC, key, record.value)
            if value is None:
                yield key.transactional_id, TransactionRecord(record.offset, None, -1, -1)
                continue
            data = value.message
            assert isinstance(data, TransactionLogValue)
            yield (
                key.transactional_id,
                TransactionRecord(
                    record.offset, record.value, data.producer_id, data.transaction_last_update_timestamp_ms
                ),
            )
