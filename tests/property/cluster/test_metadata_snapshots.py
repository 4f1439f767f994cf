"""A snapshot of the metadata log is equivalent to the log: for any log, at any offset, snapshot upon snapshot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kmirror.cluster.images import Delta, MetadataImage
from kmirror.cluster.metadata.batches import metadata_records
from kmirror.cluster.metadata.snapshots import merge_chunks
from kmirror.cluster.metadata.transactions import MetadataTransactions
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen import client_quota_record as quotas
from kmirror.protocol.gen import register_broker_record as registered
from kmirror.protocol.gen.abort_transaction_record import AbortTransactionRecord
from kmirror.protocol.gen.access_control_entry_record import AccessControlEntryRecord
from kmirror.protocol.gen.begin_transaction_record import BeginTransactionRecord
from kmirror.protocol.gen.broker_registration_change_record import BrokerRegistrationChangeRecord
from kmirror.protocol.gen.clear_elr_record import ClearElrRecord
from kmirror.protocol.gen.client_quota_record import ClientQuotaRecord
from kmirror.protocol.gen.config_record import ConfigRecord
from kmirror.protocol.gen.delegation_token_record import DelegationTokenRecord
from kmirror.protocol.gen.end_transaction_record import EndTransactionRecord
from kmirror.protocol.gen.feature_level_record import FeatureLevelRecord
from kmirror.protocol.gen.fence_broker_record import FenceBrokerRecord
from kmirror.protocol.gen.no_op_record import NoOpRecord
from kmirror.protocol.gen.partition_change_record import PartitionChangeRecord
from kmirror.protocol.gen.partition_record import PartitionRecord
from kmirror.protocol.gen.producer_ids_record import ProducerIdsRecord
from kmirror.protocol.gen.register_broker_record import RegisterBrokerRecord
from kmirror.protocol.gen.register_controller_record import RegisterControllerRecord
from kmirror.protocol.gen.registry import METADATA_RECORDS
from kmirror.protocol.gen.remove_access_control_entry_record import RemoveAccessControlEntryRecord
from kmirror.protocol.gen.remove_delegation_token_record import RemoveDelegationTokenRecord
from kmirror.protocol.gen.remove_topic_record import RemoveTopicRecord
from kmirror.protocol.gen.remove_user_scram_credential_record import RemoveUserScramCredentialRecord
from kmirror.protocol.gen.topic_record import TopicRecord
from kmirror.protocol.gen.unfence_broker_record import UnfenceBrokerRecord
from kmirror.protocol.gen.unregister_broker_record import UnregisterBrokerRecord
from kmirror.protocol.gen.user_scram_credential_record import UserScramCredentialRecord
from kmirror.protocol.gen.zk_migration_state_record import ZkMigrationStateRecord
from kmirror.protocol.keyed_records import VersionedMessage, encode_metadata_record
from kmirror.protocol.message import Message
from kmirror.protocol.registry import by_name
from kmirror.records.batch import iter_batches
from kmirror.records.build import build_batch
from kmirror.records.control import ControlType, control_key, parse_control
from kmirror.records.record import RecordData
from kmirror.spec.features import METADATA_VERSION, MIRROR_VERSION
from kmirror.spec.wire_values import ResourceType

SECURED = (
    "AccessControlEntryRecord",
    "ClientQuotaRecord",
    "DelegationTokenRecord",
    "RegisterControllerRecord",
    "UserScramCredentialRecord",
)
BROKERS = (1, 2, 3)
DIRECTORIES = [Uuid.from_ints(9, number) for number in range(3)]
MEMBERS = st.lists(st.sampled_from(BROKERS), unique=True)
SMALL = st.integers(0, 2)
KINDS = sorted({*METADATA_RECORDS.values()})
OFTEN = [
    "TopicRecord",
    "PartitionRecord",
    "PartitionChangeRecord",
    "RemoveTopicRecord",
    "ConfigRecord",
    "ClearElrRecord",
]
NOT_SAID = "_tuples", "_directories", "_topics", "_features", "_aspect"
"""Attributes of an aspect that are not part of the cluster's state: shared values, and other aspects."""
BEGINNING = ["FeatureLevelRecord", "RegisterBrokerRecord", "TopicRecord", "PartitionRecord", "PartitionChangeRecord"]


class Log:
    """A metadata log that grows by records that fit its state, each in some version."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.records: list[tuple[VersionedMessage, ...]] = []
        """Topics and ids in the log; each batch is complete, so that a snapshot may end after any of them."""
        self.topics: dict[str, Uuid] = {}
        self.former: list[Uuid] = []
        self.partitions: dict[Uuid, set[int]] = {}
        self.brokers: set[int] = set()
        self.mirroring = False

    def add(self, kind: str) -> None:
        """Add a record of this kind, if the state of the log allows one."""
        draw = self.draw
        made = self.make(kind)
        if made is None:
            return
        known = by_name(kind)
        version = draw(st.integers(known.MIN_VERSION, known.MAX_VERSION))
        if isinstance(made, PartitionRecord | PartitionChangeRecord):
            version = 2
        elif isinstance(made, RegisterBrokerRecord):
            version = 4
        elif isinstance(made, BrokerRegistrationChangeRecord):
            version = 3
        self.records.append((VersionedMessage(made, version),))

    def make(self, kind: str) -> Message | None:
        draw = self.draw
        match kind:
            case "TopicRecord":
                name = draw(st.sampled_from(["a.b", "a_b", "c"]))
                if name in self.topics:
                    return None
                fresh = Uuid.from_ints(1, len(self.records))
                again = [one for one in self.former if one not in self.topics.values()] if self.mirroring else []
                self.topics[name] = topic_id = draw(st.sampled_from([fresh, *again]))
                self.partitions[topic_id] = set()
                return TopicRecord(name=name, topic_id=topic_id)
            case "PartitionRecord" | "PartitionChangeRecord" | "RemoveTopicRecord" if self.topics:
                return self.make_of_topic(kind, draw(st.sampled_from(sorted(self.topics))))
            case "ConfigRecord":
                topics: list[tuple[int, str]] = [(ResourceType.TOPIC, name) for name in self.topics]
                type_, resource = draw(st.sampled_from([*topics, (ResourceType.BROKER, ""), (64, "mirror")]))
                value = draw(st.none() | st.sampled_from(["1", "2"]))
                name = draw(st.sampled_from("xy"))
                return ConfigRecord(resource_type=type_, resource_name=resource, name=name, value=value)
            case "FeatureLevelRecord":
                name = draw(st.sampled_from([METADATA_VERSION, MIRROR_VERSION, "group.version"]))
                level = draw(st.sampled_from([0, 1]))
                if name == MIRROR_VERSION:
                    self.mirroring = level == 1
                return FeatureLevelRecord(name=name, feature_level=level)
            case "RegisterBrokerRecord":
                return self.make_broker(draw(st.sampled_from(BROKERS)))
            case "ClearElrRecord":
                return ClearElrRecord(topic_name=draw(st.sampled_from(["", *self.topics])))
            case _ if self.brokers:
                return self.make_of_broker(kind, draw(st.sampled_from(sorted(self.brokers)))) or self.make_secured(kind)
        return self.make_secured(kind)

    def make_of_topic(self, kind: str, name: str) -> Message | None:
        draw, topic_id = self.draw, self.topics[name]
        if kind == "RemoveTopicRecord":
            self.former.append(self.topics.pop(name))
            return RemoveTopicRecord(topic_id=topic_id)
        index, replicas = draw(SMALL), draw(MEMBERS)
        some: dict[str, Any] = {
            "partition_id": index,
            "topic_id": topic_id,
            "leader": draw(st.sampled_from((-1, *BROKERS))),
            "eligible_leader_replicas": draw(st.none() | MEMBERS),
            "last_known_elr": draw(st.none() | MEMBERS),
        }
        if kind == "PartitionRecord":
            self.partitions[topic_id].add(index)
            epochs = {"leader_epoch": draw(SMALL), "partition_epoch": draw(SMALL)}
            return PartitionRecord(
                replicas=replicas, isr=replicas, directories=DIRECTORIES[: len(replicas)], **some, **epochs
            )
        if not self.partitions[topic_id]:
            return None
        some["partition_id"] = draw(st.sampled_from(sorted(self.partitions[topic_id])))
        some["leader"] = draw(st.sampled_from((-2, -1, *BROKERS)))
        directories = draw(st.none() | st.just(DIRECTORIES[: len(replicas)]))
        return PartitionChangeRecord(
            replicas=replicas,
            isr=draw(st.none() | MEMBERS),
            directories=directories,
            adding_replicas=draw(st.none() | MEMBERS),
            leader_recovery_state=draw(st.sampled_from((-1, 0, 1))),
            **some,
        )

    def make_broker(self, broker_id: int) -> RegisterBrokerRecord:
        self.brokers.add(broker_id)
        return RegisterBrokerRecord(
            broker_id=broker_id,
            broker_epoch=len(self.records),
            incarnation_id=Uuid.from_ints(2, len(self.records)),
            end_points=[registered.BrokerEndpoint(name="PLAINTEXT", host="h", port=9092, security_protocol=0)],
            features=[registered.BrokerFeature(name="f", min_supported_version=0, max_supported_version=1)],
            log_dirs=DIRECTORIES,
            fenced=self.draw(st.booleans()),
        )

    def make_of_broker(self, kind: str, broker_id: int) -> Message | None:
        draw = self.draw
        match kind:
            case "BrokerRegistrationChangeRecord":
                changes = {"fenced": draw(st.integers(-1, 1)), "in_controlled_shutdown": draw(st.integers(0, 1))}
                log_dirs = draw(st.sampled_from([[], DIRECTORIES[:1]]))
                return BrokerRegistrationChangeRecord(broker_id=broker_id, log_dirs=log_dirs, **changes)
            case "FenceBrokerRecord":
                return FenceBrokerRecord(id=broker_id)
            case "UnfenceBrokerRecord":
                return UnfenceBrokerRecord(id=broker_id)
            case "UnregisterBrokerRecord":
                self.brokers.remove(broker_id)
                return UnregisterBrokerRecord(broker_id=broker_id)
        return None

    def make_secured(self, kind: str) -> Message | None:
        draw = self.draw
        name = draw(st.sampled_from("xy"))
        match kind:
            case "AccessControlEntryRecord":
                return AccessControlEntryRecord(id=draw(st.sampled_from(DIRECTORIES)), principal=name)
            case "RemoveAccessControlEntryRecord":
                return RemoveAccessControlEntryRecord(id=draw(st.sampled_from(DIRECTORIES)))
            case "UserScramCredentialRecord":
                return UserScramCredentialRecord(name=name, mechanism=1, iterations=draw(SMALL))
            case "RemoveUserScramCredentialRecord":
                return RemoveUserScramCredentialRecord(name=name, mechanism=1)
            case "DelegationTokenRecord":
                return DelegationTokenRecord(token_id=name, issue_timestamp=draw(SMALL))
            case "RemoveDelegationTokenRecord":
                return RemoveDelegationTokenRecord(token_id=name)
            case "ClientQuotaRecord":
                entity = [quotas.EntityData(entity_type="user", entity_name=draw(st.none() | st.just("u")))]
                return ClientQuotaRecord(entity=entity, key=name, value=float(draw(SMALL)), remove=draw(st.booleans()))
            case "ProducerIdsRecord":
                return ProducerIdsRecord(next_producer_id=len(self.records))
            case "RegisterControllerRecord":
                return RegisterControllerRecord(controller_id=draw(SMALL))
            case "ZkMigrationStateRecord":
                return ZkMigrationStateRecord(zk_migration_state=draw(SMALL))
            case "NoOpRecord":
                return NoOpRecord()
        return None


@st.composite
def logs(draw: st.DrawFn, often: Sequence[str] = OFTEN) -> list[tuple[VersionedMessage, ...]]:
    """Return the records of a metadata log, batch by batch; some are in a transaction that was committed or aborted."""
    log = Log(draw)
    if draw(st.booleans()):
        log.records.append((VersionedMessage(FeatureLevelRecord(name=MIRROR_VERSION, feature_level=1), 0),))
        log.mirroring = True
    for kind in [*BEGINNING, *draw(st.lists(st.sampled_from(often) | st.sampled_from(KINDS), max_size=25))]:
        log.add(kind)
    lost = (BeginTransactionRecord(name="x"), TopicRecord(name="lost", topic_id=Uuid.from_ints(5, 5)))
    aborted = tuple(VersionedMessage(record, 0) for record in (*lost, AbortTransactionRecord()))
    place, size = draw(st.integers(0, len(log.records))), draw(st.integers(0, 3))
    joined = tuple(record for batch in log.records[place : place + size] for record in batch)
    around = VersionedMessage(BeginTransactionRecord(name="y"), 0), VersionedMessage(EndTransactionRecord(), 0)
    log.records[place : place + size] = [aborted, (around[0], *joined, around[1])]
    return log.records


def encoded(log: Sequence[tuple[VersionedMessage, ...]], base_offset: int = 0) -> list[bytes]:
    found = []
    for batch in log:
        rows = [RecordData(value=encode_metadata_record(*record), timestamp=base_offset) for record in batch]
        found.append(build_batch(rows, base_offset=base_offset, partition_leader_epoch=base_offset // 4))
        base_offset += len(rows)
    return found


def image_of(chunks: Sequence[bytes], delta: Delta | None = None) -> MetadataImage:
    image, transactions = MetadataImage(), MetadataTransactions()
    for chunk in chunks:
        for batch in iter_batches(chunk):
            for record in metadata_records(batch):
                for valid in transactions.add(record):
                    image.apply(valid.message, Delta() if delta is None else delta)
    return image


def facts(image: MetadataImage) -> dict[str, object]:
    """Return the state of an image, without the counters of its construction, and without empty sets."""
    found: dict[str, object] = {}
    for name, aspect in image.aspects().items():
        found[name] = dict(aspect) if isinstance(aspect, dict) else None
        found.update({f"{name}.{key}": value for key, value in vars(aspect).items() if key not in NOT_SAID})
    for name in ("topics._partition_bits", "topics._leads", "topics._by_collision_key", "configs._names"):
        values = found[name]
        assert isinstance(values, dict), name
        found[name] = {key: value for key, value in values.items() if value}
    held = {
        key: {topic: bits for topic, bits in value.items() if bits}
        for key, value in image.topics._partition_bits.items()
    }
    found["topics._partition_bits"] = {key: value for key, value in held.items() if value}
    found["order of topics"] = list(image.topics)
    del found["acls.version"]  # It counts the changes of this image.
    return found


@given(logs(), st.data())
def test_log_and_snapshot_make_the_same_image(log: list[tuple[VersionedMessage, ...]], data: st.DataObject) -> None:
    batches = encoded(log)
    whole = merge_chunks(batches)
    assert facts(image_of([whole.data])) == facts(image_of(batches))
    last = list(iter_batches(batches[-1]))[-1]
    assert whole.id == (last.last_offset + 1, last.partition_leader_epoch) and whole.timestamp_ms == last.max_timestamp
    cut = data.draw(st.integers(1, len(batches)))
    first = merge_chunks(batches[:cut])
    assert facts(image_of([first.data, *batches[cut:]])) == facts(image_of(batches))
    if cut < len(batches):
        assert merge_chunks([first.data, *batches[cut:]]) == whole, "a snapshot of a snapshot loses nothing"


def records_outside_image(chunks: Sequence[bytes]) -> dict[object, Message]:
    """Return the records that are not part of an image, by subject, unless a later record removes them."""
    found: dict[object, Message] = {}
    for chunk in chunks:
        for batch in iter_batches(chunk):
            for record, _ in metadata_records(batch):
                kind = record.NAME.removeprefix("Remove")
                names = "id", "name", "token_id", "entity", "key", "controller_id"
                about = kind, *(str(getattr(record, name, "")) for name in names)
                if kind in SECURED:
                    found.pop(about, None)
                    if kind == record.NAME and not getattr(record, "remove", False):
                        found[about] = record
    return found


@given(logs([kind for kind in KINDS if kind.removeprefix("Remove") in SECURED]))
def test_records_outside_the_image_stay_as_written(log: list[tuple[VersionedMessage, ...]]) -> None:
    batches = encoded(log)
    assert records_outside_image([merge_chunks(batches).data]) == records_outside_image(batches)


@given(logs())
def test_a_snapshot_is_framed_as_kafka_frames_it(log: list[tuple[VersionedMessage, ...]]) -> None:
    voters = [
        RecordData(control_key(kind), b"\0" * 4) for kind in (ControlType.KRAFT_VERSION, ControlType.KRAFT_VOTERS)
    ]
    told = build_batch(voters, is_control=True)
    snapshot = merge_chunks([told, *encoded(log, 2)])
    batches = list(iter_batches(snapshot.data, check_crc=True))
    kinds = [[parse_control(one.key, one.value).type for one in b.records()] for b in batches if b.is_control]
    header = [ControlType.SNAPSHOT_HEADER, ControlType.KRAFT_VERSION, ControlType.KRAFT_VOTERS]
    assert kinds == [header, [ControlType.SNAPSHOT_FOOTER]] and batches[0].is_control and batches[-1].is_control
    assert [batch.base_offset for batch in batches] == [0, *(batch.next_offset for batch in batches[:-1])]
    assert {batch.partition_leader_epoch for batch in batches} == {snapshot.id.epoch}


@given(logs(), st.data())
def test_the_difference_of_two_images_equals_the_records_between_them(
    log: list[tuple[VersionedMessage, ...]], data: st.DataObject
) -> None:
    batches = encoded(log)
    cut = data.draw(st.integers(0, len(batches)))
    before, after = image_of(batches[:cut]), image_of(batches)
    found, replayed = image_of(batches[:cut]).replace_by(image_of(batches)), Delta()
    aside = image_of(batches[:cut])
    for batch in log[cut:]:
        if not isinstance(batch[-1].message, AbortTransactionRecord):
            for record, _ in batch:
                if not isinstance(record, BeginTransactionRecord | EndTransactionRecord):
                    aside.apply(record, replayed)
    for one in fields(Delta):
        if one.name != "topics_created":  # A topic that came back with its id is new, under any name.
            assert getattr(found, one.name).keys() <= getattr(replayed, one.name).keys(), one.name
    for name in {*before.topics} | {*after.topics}:
        old, new = before.topics.get(name), after.topics.get(name)
        gone = old is not None and (new is None or name in found.topics_deleted)
        assert gone == (old is not None and old.topic_id in replayed.topics_deleted.get(name, {}))
        assert (new is not None and (old is None or gone)) == (name in found.topics_created)
        for index in {*(old.partitions if old else ()), *(new.partitions if new else ())}:
            was, is_now = old and old.partitions.get(index), new and new.partitions.get(index)
            if was != is_now or gone:
                assert TopicPartition(name, index) in found.partitions
    assert found.is_empty() or cut < len(batches)


def test_the_epochs_of_deleted_topics_stay_when_mirroring_is_switched_off_and_on() -> None:
    topic_id = Uuid.from_ints(1, 1)
    off, on = (FeatureLevelRecord(name=MIRROR_VERSION, feature_level=level) for level in (0, 1))
    records = [
        on,
        TopicRecord(name="t", topic_id=topic_id),
        PartitionRecord(partition_id=0, topic_id=topic_id, leader_epoch=7),
        RemoveTopicRecord(topic_id=topic_id),
        off,
    ]
    image = image_of([merge_chunks(encoded([tuple(VersionedMessage(record, 0) for record in records)])).data])
    assert image.topics.first_leader_epoch(topic_id) == 8 and image.features == {} and not image.topics
