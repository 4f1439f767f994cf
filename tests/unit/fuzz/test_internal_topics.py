"""The grammar of internal topics: valid records are loaded, and a seed gives the same ones in any order."""

from __future__ import annotations

import pytest

from kmirror.cluster.images import Delta, MetadataImage
from kmirror.errors import UsageError
from kmirror.fuzz.findings import Fault
from kmirror.fuzz.internal_topics import INCONSISTENT, TOPICS, InternalTopicStream
from kmirror.fuzz.targets.internal_topics import InternalTopicsTarget, check_image
from kmirror.fuzz.targets.rows import TargetOptions, open_target
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.partition_record import PartitionRecord
from kmirror.protocol.gen.registry import COORDINATOR_RECORDS, METADATA_RECORDS
from kmirror.protocol.gen.topic_record import TopicRecord
from kmirror.protocol.keyed_records import decode_metadata_record, decode_record
from kmirror.records.batch import iter_batches
from kmirror.spec.topics import METADATA_TOPIC


@pytest.mark.parametrize("topic", dict.fromkeys(TOPICS))
def test_valid_logs_have_records_of_every_type_and_are_loaded(topic: str) -> None:
    stream, target = InternalTopicStream(2, (topic,)), InternalTopicsTarget()
    types: set[str] = set()
    for number in range(60):
        first, second, *_ = stream.block(number)
        assert first.is_valid and not second.is_valid
        assert target.judge(first) == "taken"
        for frame in (first, second):
            for batch in iter_batches(frame.data, check_crc=True):
                for record in () if batch.is_control or not frame.is_valid else batch.records():
                    if topic == METADATA_TOPIC:
                        types.add(decode_metadata_record(record.value or b"").message.NAME)
                    else:
                        types.add(decode_record(topic, record.key or b"", record.value).key.NAME)
    if topic == METADATA_TOPIC:
        assert len(types) >= 12 and types < set(METADATA_RECORDS.values())
        assert INCONSISTENT in second.steps
    else:
        assert types == {key for key, _ in COORDINATOR_RECORDS[topic].values()}


def test_logs_of_a_seed_are_the_same_in_any_order() -> None:
    one, other = InternalTopicStream(5), InternalTopicStream(5)
    blocks = [one.block(number) for number in range(6)]
    assert [other.block(number) for number in reversed(range(6))] == blocks[::-1]


def test_an_image_that_counts_wrongly_is_found() -> None:
    image, topic_id = MetadataImage(), Uuid.from_ints(1, 1)
    for record in (
        TopicRecord(name="t", topic_id=topic_id),
        PartitionRecord(partition_id=0, topic_id=topic_id, replicas=[1], isr=[1], leader=1),
    ):
        image.apply(record, Delta())
    check_image(image)
    image.topics._leads[1] = 2
    with pytest.raises(Fault, match=r"broker 1 has .* and leads 2, a count finds .* 1"):
        check_image(image)


def test_only_topics_that_are_loaded_can_be_named() -> None:
    with pytest.raises(UsageError, match="__share_group_state"):
        open_target("internal-topics", TargetOptions(messages=("__share_group_state",)))
