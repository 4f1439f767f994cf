"""A metadata log of Kafka's controllers: transactions, unknown records, levels that are too new."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kmirror.cluster.api_versions import api_versions_response
from kmirror.cluster.controller.controller import Controller, ControllerOptions
from kmirror.cluster.metadata.log import CONFIG, METADATA_PARTITION
from kmirror.kernel.events import Effect, Note, Started, Stopped
from kmirror.kernel.ids import Endpoint
from kmirror.kernel.listeners import ListenerSpec
from kmirror.kernel.rng import Rng
from kmirror.kernel.uuid import Uuid
from kmirror.log.disk import MemoryDisk
from kmirror.log.partition_log import AppendOrigin, PartitionLog
from kmirror.protocol.gen.abort_transaction_record import AbortTransactionRecord
from kmirror.protocol.gen.access_control_entry_record import AccessControlEntryRecord
from kmirror.protocol.gen.api_versions_request import ApiVersionsRequest
from kmirror.protocol.gen.begin_transaction_record import BeginTransactionRecord
from kmirror.protocol.gen.broker_registration_change_record import BrokerRegistrationChangeRecord
from kmirror.protocol.gen.clear_elr_record import ClearElrRecord
from kmirror.protocol.gen.end_transaction_record import EndTransactionRecord
from kmirror.protocol.gen.feature_level_record import FeatureLevelRecord
from kmirror.protocol.gen.fence_broker_record import FenceBrokerRecord
from kmirror.protocol.gen.no_op_record import NoOpRecord
from kmirror.protocol.gen.partition_record import PartitionRecord
from kmirror.protocol.gen.register_broker_record import BrokerEndpoint, RegisterBrokerRecord
from kmirror.protocol.gen.register_controller_record import RegisterControllerRecord
from kmirror.protocol.gen.topic_record import TopicRecord
from kmirror.protocol.gen.unfence_broker_record import UnfenceBrokerRecord
from kmirror.protocol.keyed_records import encode_metadata_record
from kmirror.protocol.message import Message
from kmirror.records.build import build_batch
from kmirror.records.record import RecordData
from tests.client_links import handle_with_disk

LEVEL = FeatureLevelRecord(name="metadata.version", feature_level=30)
KEPT = TopicRecord(name="kept", topic_id=Uuid.from_ints(1, 1))
LOST = TopicRecord(name="lost", topic_id=Uuid.from_ints(1, 2))


def disk_with(values: Sequence[bytes]) -> MemoryDisk:
    """Return a disk with a metadata log that has one record in each batch."""
    disk = MemoryDisk()
    log = PartitionLog.open(METADATA_PARTITION, disk.open(METADATA_PARTITION), CONFIG, now_ms=0)
    for value in values:
        data = build_batch([RecordData(value=value, timestamp=0)])
        log.append_as_leader(data, leader_epoch=0, now_ms=0, origin=AppendOrigin.COORDINATOR)
    log.close()
    return disk


def opened(disk: MemoryDisk) -> tuple[Controller, list[Effect]]:
    node = Controller(
        ControllerOptions(100, "cluster", (ListenerSpec.plain(Endpoint("controller", 9093)),)), disk, Rng(1)
    )
    return node, handle_with_disk(node, 1, Started())


def of(*records: Message, versions: Sequence[int] = ()) -> tuple[Controller, list[Effect]]:
    pairs = zip(records, versions or [0] * len(records), strict=True)
    return opened(disk_with([encode_metadata_record(record, version) for record, version in pairs]))


def notes_text(effects: Sequence[Effect]) -> str:
    return "\n".join(effect.text for effect in effects if isinstance(effect, Note))


def test_records_of_a_transaction_count_when_it_has_ended() -> None:
    node, _ = of(BeginTransactionRecord(name="Bootstrap records"), LEVEL, KEPT, EndTransactionRecord())
    assert list(node.image.topics) == ["kept"] and node.image.features == {"metadata.version": 30}
    assert node.image.offset == 3


def test_records_of_an_aborted_transaction_never_count() -> None:
    node, _ = of(LEVEL, BeginTransactionRecord(), LOST, AbortTransactionRecord(), KEPT)
    assert list(node.image.topics) == ["kept"]


def test_a_transaction_without_an_end_is_aborted_for_all_readers() -> None:
    node, _ = of(LEVEL, KEPT, BeginTransactionRecord(), LOST)
    assert list(node.image.topics) == ["kept"]
    assert node.image.offset == 4, "an abort was appended"
    later, _ = opened(disk_with(_values(node)))
    assert list(later.image.topics) == ["kept"] and later.image.offset == 4, "and once is enough"


def _values(node: Controller) -> list[bytes]:
    batches = node.context.log.log.batches()
    return [record.value or b"" for batch in batches for record in batch.records()]


def test_irrelevant_records_are_skipped() -> None:
    node, effects = of(LEVEL, NoOpRecord(), RegisterControllerRecord(controller_id=1), KEPT)
    assert list(node.image.topics) == ["kept"] and "kept and not enforced" not in notes_text(effects)


def test_acls_in_the_log_are_not_enforced_and_reported() -> None:
    _, effects = of(LEVEL, AccessControlEntryRecord(principal="User:alice", host="*", resource_name="orders"))
    assert "1 records about ACLs, credentials or quotas, which are kept and not enforced" in notes_text(effects)


def test_registrations_may_be_changed_by_records_of_every_age() -> None:
    registered = RegisterBrokerRecord(
        broker_id=1, broker_epoch=1, end_points=[BrokerEndpoint(name="PLAINTEXT", host="b", port=9092)], fenced=True
    )
    node, _ = of(LEVEL, registered, UnfenceBrokerRecord(id=1, epoch=1))
    assert node.image.brokers.is_alive(1)
    node, _ = of(LEVEL, registered, UnfenceBrokerRecord(id=1, epoch=1), FenceBrokerRecord(id=1, epoch=1))
    assert not node.image.brokers.is_alive(1)
    cordoned = BrokerRegistrationChangeRecord(broker_id=1, broker_epoch=1, cordoned_log_dirs=[])
    node, _ = of(LEVEL, registered, UnfenceBrokerRecord(id=1, epoch=1), cordoned, versions=[0, 0, 0, 3])
    assert node.image.brokers.is_alive(1)


def partition_with(isr: list[int], eligible: list[int]) -> list[Message]:
    """Return the records of a topic with one partition, given its ISR and eligible replicas, and two fenced brokers."""
    members = [
        RegisterBrokerRecord(
            broker_id=id_,
            broker_epoch=id_,
            end_points=[BrokerEndpoint(name="PLAINTEXT", host="b", port=id_)],
            fenced=True,
        )
        for id_ in (1, 2)
    ]
    partition = PartitionRecord(
        partition_id=0,
        topic_id=KEPT.topic_id,
        replicas=[1, 2],
        isr=isr,
        leader=-1,
        leader_epoch=5,
        partition_epoch=7,
        eligible_leader_replicas=eligible,
    )
    return [LEVEL, *members, KEPT, partition]


def test_eligible_leaders_lead_after_a_shutdown_has_emptied_the_isr() -> None:
    node, _ = of(*partition_with([], [1, 2]), versions=[0, 0, 0, 0, 2])
    node.sessions.unfence(1, 2)
    found = node.image.topics["kept"].partitions[0]
    assert (found.leader, found.isr, found.eligible, found.leader_epoch) == (2, (2,), (), 6)
    later, _ = opened(disk_with(_values(node)))
    assert later.image.topics["kept"].partitions[0].eligible == (), "the log says so"


def test_a_replica_neither_in_the_isr_nor_eligible_does_not_lead() -> None:
    node, _ = of(*partition_with([], [1]), versions=[0, 0, 0, 0, 2])
    node.sessions.unfence(1, 2)
    assert node.image.topics["kept"].partitions[0].leader == -1
    node, _ = of(*partition_with([], [2]), ClearElrRecord(topic_name="kept"), versions=[0, 0, 0, 0, 2, 0])
    node.sessions.unfence(1, 2)
    assert node.image.topics["kept"].partitions[0].leader == -1, "cleared for the topic"
    node, _ = of(*partition_with([], [2]), ClearElrRecord(), versions=[0, 0, 0, 0, 2, 0])
    node.sessions.unfence(1, 2)
    assert node.image.topics["kept"].partitions[0].leader == -1, "cleared for all topics"


def test_a_member_of_the_isr_precedes_eligible_replicas() -> None:
    node, _ = of(*partition_with([1], [2]), versions=[0, 0, 0, 0, 2])
    node.sessions.unfence(1, 2)
    assert node.image.topics["kept"].partitions[0].leader == -1
    node.sessions.unfence(1, 1)
    assert node.image.topics["kept"].partitions[0].leader == 1


def test_an_unknown_record_type_ends_the_controller_with_its_offset() -> None:
    disk = disk_with([encode_metadata_record(LEVEL, 0), b"\x01\x63\x00"])
    _, effects = opened(disk)
    assert isinstance(effects[-1], Stopped)
    assert "metadata record 1 cannot be read, a later Kafka may have written it" in notes_text(effects)


@pytest.mark.parametrize(
    "record",
    [
        PartitionRecord(topic_id=Uuid.from_ints(9, 9), replicas=[1], isr=[1]),
        PartitionRecord(topic_id=KEPT.topic_id, partition_id=-1, replicas=[1], isr=[1]),
        PartitionRecord(topic_id=KEPT.topic_id, replicas=[1, 2], isr=[1], directories=[Uuid.from_ints(3, 3)]),
        TopicRecord(name="kept", topic_id=Uuid.from_ints(1, 3)),
        TopicRecord(name="other", topic_id=KEPT.topic_id),
        FenceBrokerRecord(id=7),
        BrokerRegistrationChangeRecord(broker_id=7),
        RegisterBrokerRecord(broker_id=7),
        ClearElrRecord(topic_name="unknown"),
    ],
    ids=lambda record: type(record).__name__,
)
def test_a_record_that_does_not_fit_ends_the_controller_with_its_offset(record: Message) -> None:
    version = 1 if isinstance(record, PartitionRecord) else 0
    _, effects = of(LEVEL, KEPT, record, versions=[0, 0, version])
    assert isinstance(effects[-1], Stopped)
    told = f"the batch up to offset 2: {record.NAME} does not match the preceding records"
    assert told in notes_text(effects)


@pytest.mark.parametrize("level", [6, 31])
def test_a_metadata_version_that_is_not_supported_ends_the_controller(level: int) -> None:
    _, effects = of(FeatureLevelRecord(name="metadata.version", feature_level=level))
    assert isinstance(effects[-1], Stopped)
    assert f"of metadata.version {level}, and 7 to 30 are supported" in notes_text(effects)


def test_an_unsupported_feature_level_is_kept_and_not_returned() -> None:
    node, _ = of(LEVEL, FeatureLevelRecord(name="transaction.version", feature_level=99))
    assert node.image.features["transaction.version"] == 99
    request = ApiVersionsRequest(client_software_name="a", client_software_version="1")
    told = api_versions_response({}, node.image, request, 4).finalized_features
    assert [(row.name, row.max_version_level) for row in told] == [("metadata.version", 30)]
