"""Values of the strategies match their description: they can be decoded, are consistent, and shrink well."""

from __future__ import annotations

import tempfile
from typing import Any

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from kmirror.errors import UsageError
from kmirror.kernel.ids import TopicPartition
from kmirror.log.config import LogConfig
from kmirror.log.memory_store import MemoryStore
from kmirror.log.partition_log import CLEAN_SHUTDOWN, PartitionLog
from kmirror.log.state_files import file_name
from kmirror.logdir.store import LogFolder
from kmirror.protocol.gen.create_mirror_request import CreateMirrorRequest
from kmirror.protocol.gen.fetch_request import FetchRequest
from kmirror.protocol.gen.fetch_response import FetchResponse
from kmirror.protocol.gen.metadata_response import MetadataResponse
from kmirror.protocol.gen.produce_request import ProduceRequest
from kmirror.protocol.message import Message
from kmirror.protocol.registry import all_apis, by_name, names, released_versions
from kmirror.records.batch import Batch
from kmirror.records.legacy import LegacyBatch, iter_any_batches
from kmirror.testing.strategies import (
    Setting,
    any_message,
    any_plausible_message,
    classes,
    log_batches,
    message_sets,
    partition_logs,
    plausible_messages,
    record_batches,
    segments,
    settings_of_messages,
    versioned,
    versions,
)
from kmirror.testing.strategies.logs import NOW_MS
from tests.folder_checks import assert_verified

TP = TopicPartition("drawn", 0)
GENERATED = settings(derandomize=True, database=None, phases=[Phase.generate])
SHAPES = st.fixed_dictionaries({"legacy": st.booleans(), "gaps": st.booleans(), "base_offset": st.integers(0, 9)})


def smallest(strategy: st.SearchStrategy[Any], condition: Any) -> Any:
    quick = settings(derandomize=True, database=None, max_examples=300, phases=[Phase.generate, Phase.shrink])
    return find(strategy, condition, settings=quick)


# One release


@given(any_message(release="4.3.1"))
def test_messages_of_a_release_use_its_brokers_versions(drawn: tuple[Message, int]) -> None:
    message, version = drawn
    assert type(message).decode(message.encode(version), version) == message
    assert version in released_versions(type(message))
    assert not message.unknown_tags


def test_a_release_has_nothing_of_the_kip_and_nothing_unstable() -> None:
    for api in all_apis():
        stable = api.kafka_versions[:-1] if api.latest_version_unstable else api.kafka_versions
        for message in (api.request, api.response):
            assert list(released_versions(message)) == list(stable), api.name
    spoken = [name for name in names() if released_versions(by_name(name))]
    assert [name for name in spoken if "Mirror" in name] == []
    assert {"FetchRequest", "TopicRecord", "TransactionLogValue", "RequestHeader"} <= set(spoken)
    assert released_versions(FetchRequest).stop - 1 == 18 < FetchRequest.MAX_VERSION


def test_another_release_or_none_of_it_is_named() -> None:
    with pytest.raises(UsageError, match=r"Apache Kafka '3.9.0' are not known here, only those of 4.3.1"):
        versions(FetchRequest, release="3.9.0")
    with pytest.raises(UsageError, match=r"Apache Kafka 4.3.1 supports no version of CreateMirrorRequest"):
        versions(CreateMirrorRequest, release="4.3.1")
    assert smallest(versioned(FetchRequest, release="4.3.1"), lambda _: True)[1] == FetchRequest.MIN_VERSION
    assert smallest(classes(release="4.3.1"), lambda _: True)


# Batches


@given(record_batches(control=True))
def test_a_batch_is_read_back(data: bytes) -> None:
    batch = Batch(data)
    batch.verify_crc()
    assert len(list(batch.records())) == batch.record_count and batch.size_in_bytes == len(data)


@pytest.mark.parametrize("magic", [0, 1, None])
def test_messages_of_the_old_formats_are_read_back(magic: int | None) -> None:
    @given(message_sets(magic=magic))
    def check(data: bytes) -> None:
        for one in iter_any_batches(data, check_crc=True):
            assert isinstance(one, LegacyBatch) and (magic is None or one.magic == magic)
            assert all(message.is_valid for message in one.messages())

    check()


def test_batches_shrink() -> None:
    batch = Batch(smallest(record_batches(), lambda data: True))
    (record,) = batch.records()
    assert (record.key, record.value, record.headers, batch.base_offset, batch.producer_id) == (None, None, [], 0, -1)
    assert Batch(smallest(record_batches(control=True), lambda data: Batch(data).is_control)).producer_id == 0
    assert len(smallest(log_batches(), lambda found: any(Batch(one).is_control for one in found))) <= 3


# Logs


@given(SHAPES, st.data())
def test_a_segment_continues_from_batch_to_batch(shape: dict[str, Any], data: st.DataObject) -> None:
    drawn = data.draw(segments(**shape))
    end, epoch = shape["base_offset"], 0
    for one in iter_any_batches(drawn, check_crc=True):
        assert one.base_offset == end or (shape["gaps"] and one.base_offset > end)
        assert isinstance(one, Batch) or shape["legacy"]
        if isinstance(one, Batch):
            assert one.partition_leader_epoch >= epoch
            epoch = one.partition_leader_epoch
        end = one.next_offset


@given(SHAPES, st.data())
def test_whole_logs_are_sound(shape: dict[str, Any], data: st.DataObject) -> None:
    store = data.draw(partition_logs(**shape))
    config = LogConfig()
    trusted, read = (
        PartitionLog.open(TP, store.fork(), config, now_ms=NOW_MS, recovery_point=point)
        for point in (CLEAN_SHUTDOWN, 0)
    )
    assert (trusted.log_start_offset, trusted.log_end_offset) == (read.log_start_offset, read.log_end_offset)
    assert trusted.log_start_offset == shape["base_offset"] and trusted.high_watermark == trusted.log_end_offset
    with tempfile.TemporaryDirectory() as path, LogFolder(path) as folder:
        copy = folder.open(TP)
        for base in store.segments():
            copy.create(base)
            copy.append(base, store.view(base))
        for name in store.files():
            copy.write_file(name, store.read_file(name) or b"")
        assert_verified(path, "--deep")


@pytest.mark.parametrize("suffix", [".txnindex", "00001.log", ".snapshot", "leader-epoch-checkpoint"])
def test_drawn_logs_have_all_features_of_logs(suffix: str) -> None:
    def has(store: MemoryStore) -> bool:
        names = [*store.files(), *(file_name(base, ".log") for base in store.segments())]
        return any(name.endswith(suffix) for name in names)

    assert find(partition_logs(), has, settings=settings(GENERATED, max_examples=1000))


# Plausible messages


@given(any_plausible_message())
def test_a_plausible_message_is_read_back(drawn: tuple[Message, int]) -> None:
    message, version = drawn
    assert type(message).decode(message.encode(version), version) == message


@pytest.mark.parametrize("name", names())
@settings(max_examples=5, phases=[Phase.generate])
@given(data=st.data())
def test_every_message_has_plausible_ones(name: str, data: st.DataObject) -> None:
    cls = by_name(name)
    version = data.draw(versions(cls))
    message = data.draw(plausible_messages(cls, version))
    assert cls.decode(message.encode(version), version) == message


@given(settings_of_messages(), st.data())
def test_a_request_and_its_response_are_about_one_cluster(setting: Setting, data: st.DataObject) -> None:
    by_id = {topic.topic_id: topic for topic in setting.topics}
    fetch = data.draw(plausible_messages(FetchRequest, 18, setting=setting))
    assert len({topic.topic_id for topic in fetch.topics}) == len(fetch.topics), "each topic once"
    for asked in fetch.topics:
        numbers = [partition.partition for partition in asked.partitions]
        assert numbers == sorted(set(numbers)) and all(n < by_id[asked.topic_id].partitions for n in numbers)
    answer = data.draw(plausible_messages(FetchResponse, 18, setting=setting))
    for given_ in answer.responses:
        for row in given_.partitions:
            assert row.partition_index < by_id[given_.topic_id].partitions
            assert row.log_start_offset <= row.last_stable_offset <= row.high_watermark
            list(iter_any_batches(row.records or b"", check_crc=True))
    told = data.draw(plausible_messages(MetadataResponse, 13, setting=setting))
    for topic in told.topics:
        assert topic.name is None or setting.topic(topic.name).topic_id == topic.topic_id
        assert all({p.leader_id, *p.replica_nodes, *p.isr_nodes} <= set(setting.brokers) for p in topic.partitions)
    assert {broker.node_id for broker in told.brokers} <= set(setting.brokers)


def test_plausible_messages_shrink() -> None:
    found = smallest(
        plausible_messages(ProduceRequest, 9), lambda message: any(t.partition_data for t in message.topic_data)
    )
    (topic,) = found.topic_data
    (row,) = topic.partition_data
    assert (topic.name, row.index) == ("orders", 0)
