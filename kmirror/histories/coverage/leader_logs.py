"""Rows of the logs at the end of a history: records of coordinators, and contents of topics."""

from __future__ import annotations

from collections.abc import Callable

from kmirror.cluster.coordinators.transactions.state import Status
from kmirror.cluster.node.partition import Partition
from kmirror.histories.coverage import transitions
from kmirror.histories.coverage.row import Origin, Row
from kmirror.histories.scene import Scene
from kmirror.kernel.ids import TopicPartition
from kmirror.log.partition_log import PartitionLog
from kmirror.mirror.states import MirrorState
from kmirror.protocol.gen.mirror_partition_state_value import MirrorPartitionStateValue
from kmirror.protocol.gen.registry import COORDINATOR_RECORDS
from kmirror.protocol.gen.transaction_log_value import TransactionLogValue
from kmirror.protocol.keyed_records import decode_record
from kmirror.protocol.message import Message
from kmirror.protocol.wire import Buffer
from kmirror.records.control import ControlType
from kmirror.spec.topics import is_internal

Count = Callable[[str], None]
_RECORD_TYPES = {
    "__consumer_offsets": (1, 2),
    "__transaction_state": (0,),
    "__mirror_state": (1, 2),
}
"""Records that are written here; those of KIP-848, share groups and streams groups are only read."""
_NO_TOMBSTONES = {"TransactionLog": "no history lasts as long as transactional.id.expiration.ms"}
_CONTROLS = (ControlType.ABORT, ControlType.COMMIT, ControlType.MIRROR_PID_RESET)


def _type_name(key: Message) -> str:
    return key.NAME.removesuffix("Key")


ROWS: tuple[Row, ...] = (
    *(
        row
        for topic, types in _RECORD_TYPES.items()
        for kind in (COORDINATOR_RECORDS[topic][number][0].removesuffix("Key") for number in types)
        for row in (
            Row(f"record.{kind}", f"{topic} has a record {kind}.", Origin.LOG),
            Row(f"record.{kind}-tombstone", f"{topic} has a tombstone of {kind}.", Origin.LOG,
                unreachable=_NO_TOMBSTONES.get(kind, "")),
        )
    ),
    *(Row(f"topic.control-{kind.name}", f"A topic has a control record {kind.name}.", Origin.LOG)
      for kind in _CONTROLS),
    Row("transaction.timed-out", "A coordinator aborts a transaction that timed out.", Origin.LOG),
    Row("topic.segments", "A leader's log has more than one segment.", Origin.LOG),
    Row("topic.start-above-0", "A leader's log begins above 0.", Origin.LOG),
    Row("topic.epochs", "A leader's log has more than three leader epochs.", Origin.LOG),
    Row("topic.gap", "A log has missing offsets because it was compacted.", Origin.LOG),
    Row("topic.tombstone", "A log has a record with a key and no value.", Origin.LOG),
    Row("topic.repeated-key", "A log has several records of one key.", Origin.LOG),
    Row("topic.old-format", "A log has batches of a format before version 2.", Origin.LOG,
        unreachable="logs begin empty, and Produce is served from version 3 on, which accepts only format 2"),
    Row("topic.delete-horizon", "The cleaner has given a batch its delete horizon.", Origin.LOG),
    Row("topic.empty-batch", "The cleaner has left a batch without records.", Origin.LOG),
)  # fmt: skip


def count_rows(scene: Scene, coordinators: Coordinators, count: Count) -> None:
    """Count the rows in the logs of all leaders of all clusters."""
    for name in scene.clusters:
        for topic in sorted(scene.image(name).topics):
            for index in scene.image(name).topics[topic].partitions:
                leader = scene.leader(name, TopicPartition(topic, index))
                if leader is not None and is_internal(topic):
                    coordinators.read_new_records(name, leader)
                elif leader is not None:
                    _count_topic_rows(leader.log, count)


class Coordinators:
    """Reads the logs of coordinators while they grow, because the cleaner removes records later."""

    def __init__(self, count: Count) -> None:
        self._count = count
        self._read: dict[tuple[str, TopicPartition], int] = {}
        """(cluster, partition) to the offset up to which it was read."""
        self._gaps: dict[tuple[str, TopicPartition], None] = {}
        """Logs with missing records: the first record of a key seen after a gap need not be its first."""
        self._states: dict[tuple[str, TopicPartition], dict[bytes, MirrorState]] = {}
        self._transactions: dict[tuple[str, TopicPartition], dict[bytes, Status]] = {}

    def read_new_records(self, cluster: str, leader: Partition) -> None:
        """Count the records committed since the last call; states are dropped where records are missing."""
        log, place = leader.log, (cluster, leader.tp)
        at = self._read.get(place, 0)
        if log.high_watermark <= at:
            return
        for batch in log.batches(at, log.high_watermark):
            if batch.base_offset != at:
                self._gaps[place] = None
                self._states[place], self._transactions[place] = {}, {}
            at = batch.last_offset + 1
            for record in () if batch.is_control else batch.records():
                assert record.key is not None, f"a record of {leader.tp} has a key"
                self._add(place, bytes(record.key), record.value)
        self._read[place] = at

    def _add(self, place: tuple[str, TopicPartition], raw: bytes, data: Buffer | None) -> None:
        key, value, _ = decode_record(place[1].topic, raw, data)
        name = _type_name(key)
        self._count(f"record.{name}" if value is not None else f"record.{name}-tombstone")
        if isinstance(value, MirrorPartitionStateValue):
            states = self._states.setdefault(place, {})
            if raw in states or place not in self._gaps:
                self._count(transitions.mirror_row(states.get(raw, MirrorState.UNKNOWN), MirrorState(value.state)))
            states[raw] = MirrorState(value.state)
        elif name == "MirrorPartitionState":
            self._states.setdefault(place, {})[raw] = MirrorState.UNKNOWN
        elif isinstance(value, TransactionLogValue):
            known = self._transactions.setdefault(place, {})
            if raw in known:
                self._count(transitions.transaction_row(known[raw], Status(value.transaction_status)))
            lasted_ms = value.transaction_last_update_timestamp_ms - value.transaction_start_timestamp_ms
            if value.transaction_status == Status.PREPARE_ABORT and lasted_ms >= value.transaction_timeout_ms:
                self._count("transaction.timed-out")
            known[raw] = Status(value.transaction_status)


def _count_topic_rows(log: PartitionLog, count: Count) -> None:
    if len(log.segment_base_offsets) > 1:
        count("topic.segments")
    if log.log_start_offset > 0:
        count("topic.start-above-0")
    if len(log.epochs.entries) > 3:
        count("topic.epochs")
    keys: dict[bytes, None] = {}
    at = log.log_start_offset
    for batch in log.any_batches():
        if batch.magic < 2:
            count("topic.old-format")
            continue
        if batch.base_offset > at and at > log.log_start_offset:
            count("topic.gap")
        at = batch.last_offset + 1
        if batch.is_control:
            control = batch.control()
            if control is not None and control.type is not None:
                count(f"topic.control-{control.type.name}")
            continue
        if batch.delete_horizon_ms is not None:
            count("topic.delete-horizon")
        if batch.record_count == 0:
            count("topic.empty-batch")
        for record in batch.records():
            if record.key is not None:
                key = bytes(record.key)
                if key in keys:
                    count("topic.repeated-key")
                keys[key] = None
                if record.value is None:
                    count("topic.tombstone")
