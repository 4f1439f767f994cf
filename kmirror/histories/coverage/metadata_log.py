"""Rows of the metadata log at the end of a history: elections, ISRs, topics, configs, brokers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from kmirror.cluster.images import NO_LEADER, Delta, MetadataImage, PartitionImage
from kmirror.cluster.metadata.batches import metadata_records
from kmirror.cluster.metadata.log import MetadataLog
from kmirror.histories.coverage.row import Origin, Row
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.naming import MIRROR_NAME, parse
from kmirror.mirror.states import Wish
from kmirror.protocol.gen.broker_registration_change_record import BrokerRegistrationChangeRecord
from kmirror.protocol.gen.config_record import ConfigRecord
from kmirror.protocol.gen.partition_change_record import PartitionChangeRecord
from kmirror.protocol.gen.partition_record import PartitionRecord
from kmirror.protocol.gen.register_broker_record import RegisterBrokerRecord
from kmirror.protocol.gen.registry import METADATA_RECORDS
from kmirror.protocol.gen.topic_record import TopicRecord
from kmirror.protocol.message import Message
from kmirror.records.batch import iter_batches
from kmirror.spec.topics import is_internal
from kmirror.spec.wire_values import ResourceType

Count = Callable[[str], None]

_NO_RIGHTS = "the clusters of a history have neither ACLs nor client quotas"
_NOT_REASSIGNED = "AlterPartitionReassignments is not served"
_UNREACHABLE = {
    "DelegationTokenRecord": _NO_RIGHTS,
    "RemoveDelegationTokenRecord": _NO_RIGHTS,
    "UserScramCredentialRecord": _NO_RIGHTS,
    "RemoveUserScramCredentialRecord": _NO_RIGHTS,
    "AccessControlEntryRecord": _NO_RIGHTS,
    "RemoveAccessControlEntryRecord": _NO_RIGHTS,
    "ClientQuotaRecord": _NO_RIGHTS,
    "ZkMigrationStateRecord": "our controllers write none: only migrated clusters have it",
    "FenceBrokerRecord": "our controllers write BrokerRegistrationChangeRecord instead",
    "UnfenceBrokerRecord": "our controllers write BrokerRegistrationChangeRecord instead",
    "NoOpRecord": "our controllers write none: nothing waits for the metadata log to move",
    "RegisterControllerRecord": "our controllers write none: there is one, and it has no feature of its own",
    "BeginTransactionRecord": "our controllers write such records as one batch",
    "EndTransactionRecord": "our controllers write such records as one batch",
    "AbortTransactionRecord": "our controllers write such records as one batch",
    "UnregisterBrokerRecord": "UnregisterBroker is not served",
}

ROWS: tuple[Row, ...] = (
    *(
        Row(f"record.{name.removesuffix('Record')}", f"The metadata log has a {name}.", Origin.METADATA,
            unreachable=_UNREACHABLE.get(name, ""))
        for name in METADATA_RECORDS.values()
    ),
    *(
        Row(name, doc, Origin.METADATA, unreachable=unreachable)
        for name, doc, unreachable in (
            ("election.clean", "Another member of the ISR leads.", ""),
            ("election.unclean", "A replica from outside the ISR leads.", ""),
            ("election.unclean-mirrored", "The same, in a topic that is in a mirror.", ""),
            ("election.unclean-internal", "The same, in an internal topic.", ""),
            ("election.eligible", "An eligible replica leads, as the ISR has no other that may (KIP-966).", ""),
            ("election.last-known", "The last leader leads again, as no replica is eligible (KIP-966).", ""),
            ("election.none", "A partition loses its leader.", ""),
            ("election.after-none", "A partition without a leader gets one.", ""),
            ("election.same", "A leader remains leader in a higher epoch: a bump, or its restart.", ""),
            ("election.far", "A leader epoch rises by more than one, above that of the source.", ""),
            ("election.preferred", "The preferred replica leads again, although the current leader is alive.",
             "ElectLeaders is not served, and leaders are not balanced"),
            ("isr.shrink", "An ISR shrinks, and the leader remains.", ""),
            ("isr.shrink-to-one", "An ISR shrinks to the leader alone.", ""),
            ("isr.eligible", "A replica that leaves the ISR stays eligible (KIP-966).", ""),
            ("isr.empty", "An ISR becomes empty (KIP-966).", ""),
            ("isr.grow", "An ISR grows.", ""),
            ("isr.grow-mirrored", "The ISR of a mirrored partition grows.", ""),
            ("topic.created", "A topic is created.", ""),
            ("topic.deleted", "A topic is deleted.", ""),
            ("topic.created-again", "A topic is created under the name of one that was deleted.", ""),
            ("topic.same-id-again", "A topic is created with the id of one that was deleted.", ""),
            ("topic.grown", "A topic gets more partitions.", ""),
            ("topic.uneven", "A new topic has fewer replicas than there are brokers.", ""),
            ("reassignment.begun", "A partition gets adding or removing replicas.", _NOT_REASSIGNED),
            ("reassignment.done", "The replicas of a partition change.", _NOT_REASSIGNED),
            ("directory.moved", "A replica moves to another log directory.", ""),
            ("mirror.asked-mirror", "A topic is added to a mirror, or resumed.", ""),
            ("mirror.asked-pause", "A topic is paused in its mirror.", ""),
            ("mirror.asked-remove", "A topic is removed from its mirror.", ""),
            ("mirror.asked-other", "A topic moves from one mirror to another.", ""),
            ("mirror.forgotten", "A topic leaves its mirror, which is deleted.", ""),
            ("mirror.configs-set", "The configs of a mirror are set.", ""),
            ("mirror.configs-gone", "A config of a mirror is removed.", ""),
            ("config.topic-set", "A config of a topic is set, other than its mirror.", ""),
            ("config.topic-removed", "A config of a topic is removed.", ""),
            ("config.topic-mirrored", "A config of a mirrored topic is set, as at its source.", ""),
            ("config.broker-set", "A dynamic config of a broker or of the cluster is set.", ""),
            ("config.broker-removed", "A dynamic config of a broker or of the cluster is removed.", ""),
            ("config.compacted", "A topic is compacted.", ""),
            ("config.throttled", "Replicas of a topic are throttled.", ""),
            ("config.throttle-rate", "The rate of throttled replicas is set.", ""),
            ("config.unclean", "A topic, or all of a cluster, allows unclean elections.", ""),
            ("node.registered-again", "A broker registers again.", ""),
            ("node.directories-changed", "A broker's log directories change.", ""),
        )
    ),
)  # fmt: skip


def count_rows(metadata: MetadataLog, count: Count) -> None:
    """Count the rows in a metadata log; in one that was truncated, those after its first snapshot."""
    replay, log = _Replay(count), metadata.log
    for id_ in metadata.snapshots:
        data = metadata.snapshot_data(id_)
        if id_.end_offset == log.log_start_offset and data is not None:
            replay.begin(record for batch in iter_batches(memoryview(data)) for record, _ in metadata_records(batch))
    for batch in log.batches():
        replay.begin_batch()
        for record, _ in metadata_records(batch):
            count(f"record.{record.NAME.removesuffix('Record')}")
            replay.add(record)


class _Replay:
    def __init__(self, count: Count) -> None:
        self._count = count
        self._image = MetadataImage()
        self._deleted: dict[str, None] = {}
        self._ids: dict[Uuid, None] = {}
        self._new: dict[Uuid, None] = {}
        """Topics created by the current batch."""

    def begin(self, records: Iterable[Message]) -> None:
        """Begin with the records of a snapshot."""
        for record in records:
            self._image.apply(record, Delta())

    def begin_batch(self) -> None:
        """Begin a new change with the following records."""
        self._new.clear()

    def add(self, record: Message) -> None:
        """Count the changes of a record, and replay it."""
        for name in self._record_rows(record):
            self._count(name)
        before = self._partition(record)
        self._image.apply(record, Delta())
        if before is not None:
            after = self._partition(record)
            assert after is not None, "a change leaves the partition there"
            for name in self._partition_rows(record, before, after):
                self._count(name)

    def _partition(self, record: Message) -> PartitionImage | None:
        """Return the partition that a record changes; a bump of its leader epoch is a PartitionRecord (D14)."""
        if not isinstance(record, PartitionChangeRecord | PartitionRecord):
            return None
        return self._image.topics[self._image.topics.names[record.topic_id]].partitions.get(record.partition_id)

    def _is_mirrored(self, topic: str) -> bool:
        assignment = parse(self._image.configs.topic(topic).get(MIRROR_NAME, ""))
        return assignment is not None and assignment.wish is not Wish.REMOVE

    def _record_rows(self, record: Message) -> Iterator[str]:
        image = self._image
        match record:
            case TopicRecord():
                yield "topic.created"
                if record.name in self._deleted:
                    yield "topic.created-again"
                if record.topic_id in self._ids:
                    yield "topic.same-id-again"
                self._ids[record.topic_id] = self._new[record.topic_id] = None
            case PartitionRecord():
                if len(record.replicas) < len(image.brokers):
                    yield "topic.uneven"
                topic = image.topics[image.topics.names[record.topic_id]]
                if topic.topic_id not in self._new and record.partition_id not in topic.partitions:
                    yield "topic.grown"
            case RegisterBrokerRecord() if record.broker_id in image.brokers:
                yield "node.registered-again"
            case BrokerRegistrationChangeRecord() if record.log_dirs:
                yield "node.directories-changed"
            case ConfigRecord():
                yield from self._config_rows(record)
        if record.NAME == "RemoveTopicRecord":
            yield "topic.deleted"
            self._deleted[image.topics.names[record.topic_id]] = None  # type: ignore[attr-defined]

    def _partition_rows(self, record: Message, before: PartitionImage, after: PartitionImage) -> Iterator[str]:
        assert isinstance(record, PartitionChangeRecord | PartitionRecord)
        topic = self._image.topics.names[record.topic_id]
        if after.leader_epoch != before.leader_epoch:
            yield f"election.{_election(before, after)}"
            if _election(before, after) == "unclean":
                if self._is_mirrored(topic):
                    yield "election.unclean-mirrored"
                if is_internal(topic):
                    yield "election.unclean-internal"
            if after.leader_epoch > before.leader_epoch + 1:
                yield "election.far"
            preferred = after.replicas[0]
            if after.leader == preferred != before.leader and self._image.brokers.is_alive(before.leader) and (
                before.leader in after.isr
            ):  # fmt: skip
                yield "election.preferred"
        elif len(after.isr) < len(before.isr):
            yield "isr.shrink"
            if len(after.isr) == 1:
                yield "isr.shrink-to-one"
        if len(after.eligible) > len(before.eligible):
            yield "isr.eligible"
        if before.isr and not after.isr:
            yield "isr.empty"
        if len(after.isr) > len(before.isr):
            yield "isr.grow"
            if self._is_mirrored(topic):
                yield "isr.grow-mirrored"
        if record.adding_replicas or record.removing_replicas:
            yield "reassignment.begun"
        if after.replicas != before.replicas:
            yield "reassignment.done"
        elif after.directories != before.directories:
            yield "directory.moved"

    def _config_rows(self, record: ConfigRecord) -> Iterator[str]:
        key, value = record.name, record.value
        match record.resource_type:
            case ResourceType.TOPIC if key == MIRROR_NAME:
                before = parse(self._image.configs.topic(record.resource_name).get(key, ""))
                after = parse(value or "")
                yield "mirror.forgotten" if after is None else f"mirror.asked-{after.wish.name.lower()}"
                if before is not None and after is not None and before.mirror != after.mirror:
                    yield "mirror.asked-other"
            case ResourceType.TOPIC:
                yield "config.topic-removed" if value is None else "config.topic-set"
                if self._is_mirrored(record.resource_name):
                    yield "config.topic-mirrored"
                if key == "cleanup.policy" and "compact" in (value or "") and not is_internal(record.resource_name):
                    yield "config.compacted"
                if key.endswith("replication.throttled.replicas") and value:
                    yield "config.throttled"
            case ResourceType.BROKER:
                yield "config.broker-removed" if value is None else "config.broker-set"
                if key.endswith("replication.throttled.rate"):
                    yield "config.throttle-rate"
            case _:
                yield "mirror.configs-gone" if value is None else "mirror.configs-set"
        if key == "unclean.leader.election.enable" and value == "true":
            yield "config.unclean"


def _election(before: PartitionImage, after: PartitionImage) -> str:
    """Return the kind of election: none, eligible, last-known, unclean, after-none, same, clean."""
    if after.leader == NO_LEADER:
        return "none"
    if not before.isr and after.leader in before.eligible:
        return "eligible"
    if not before.isr and after.leader in before.last_known:
        return "last-known"
    if after.leader not in before.isr:
        return "unclean"
    if before.leader == NO_LEADER:
        return "after-none"
    return "same" if after.leader == before.leader else "clean"
