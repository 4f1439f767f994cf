"""Indexes of a metadata image equal the result of a scan over all partitions."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from kmirror.cluster.images import LEADER_UNCHANGED, NO_LEADER, Delta, MetadataImage
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.config_record import ConfigRecord
from kmirror.protocol.gen.partition_change_record import PartitionChangeRecord
from kmirror.protocol.gen.partition_record import PartitionRecord
from kmirror.protocol.gen.remove_topic_record import RemoveTopicRecord
from kmirror.protocol.gen.topic_record import TopicRecord
from kmirror.spec.wire_values import ResourceType

BROKERS = (1, 2, 3, 4)
TOPICS = st.integers(0, 2)
MEMBERS = st.lists(st.sampled_from(BROKERS), min_size=1, unique=True)
LEADERS = st.sampled_from((NO_LEADER, *BROKERS))
STEPS = st.one_of(
    st.tuples(st.just("set"), TOPICS, st.sampled_from((0, 1, 70)), MEMBERS, LEADERS),
    st.tuples(st.just("change"), TOPICS, st.sampled_from((0, 1, 70)), st.none() | MEMBERS, LEADERS | st.just(-2)),
    st.tuples(st.just("remove"), TOPICS, st.none(), st.none(), st.none()),
    st.tuples(st.just("config"), TOPICS, st.sampled_from("ab"), st.none() | st.just("v"), st.none()),
)


def carry_out(image: MetadataImage, number: int, step: tuple[object, ...]) -> None:
    what, topic, key, value, leader = step
    name, topic_id, delta = f"t{topic}", Uuid.from_ints(number + 1, int(str(topic))), Delta()
    known = image.topics.get(name)
    if what == "config":
        resource = ConfigRecord(
            resource_type=ResourceType.TOPIC, resource_name=name, name=str(key), value=value and str(value)
        )
        image.apply(resource, delta)
    elif what == "set":
        if known is None:
            image.apply(TopicRecord(name=name, topic_id=topic_id), delta)
        assert isinstance(key, int) and isinstance(value, list) and isinstance(leader, int)
        record = PartitionRecord(
            partition_id=key, topic_id=image.topics[name].topic_id, replicas=value, isr=value, leader=leader
        )
        image.apply(record, delta)
    elif known is not None and what == "remove":
        image.apply(RemoveTopicRecord(topic_id=known.topic_id), delta)
    elif known is not None and key in known.partitions:
        assert isinstance(key, int) and isinstance(leader, int)
        assert value is None or isinstance(value, list)
        change = PartitionChangeRecord(
            partition_id=key, topic_id=known.topic_id, replicas=value, isr=value, leader=LEADER_UNCHANGED
        )
        change.leader = leader
        image.apply(change, delta)


@given(st.lists(STEPS, max_size=40))
@example([("set", 0, 0, [1, 2], 1), ("set", 0, 0, [1], 1), ("remove", 0, None, None, None)])
def test_the_indexes_agree_with_a_walk_over_everything(steps: list[tuple[object, ...]]) -> None:
    image = MetadataImage()
    for number, step in enumerate(steps):
        carry_out(image, number, step)
    every = {
        TopicPartition(topic.name, index): partition
        for topic in image.topics.values()
        for index, partition in topic.partitions.items()
    }
    for broker in BROKERS:
        held = [TopicPartition(topic.name, index) for topic, index in image.topics.hosted_by(broker)]
        assert held == list(dict.fromkeys(held)), "each once"
        assert set(held) == {tp for tp, partition in every.items() if broker in partition.replicas}
        assert image.topics.leads(broker) == sum(partition.leader == broker for partition in every.values())
    assert set(image.topics.leaderless) == {tp for tp, partition in every.items() if partition.leader == NO_LEADER}
    names = {name for kind, name in image.configs if kind == ResourceType.TOPIC}
    assert set(image.configs.names(ResourceType.TOPIC)) == names


def test_equal_lists_of_brokers_are_one_object() -> None:
    image, delta = MetadataImage(), Delta()
    image.apply(TopicRecord(name="t", topic_id=Uuid.from_ints(1, 1)), delta)
    for index in range(2):
        image.apply(
            PartitionRecord(
                partition_id=index, topic_id=Uuid.from_ints(1, 1), replicas=[3, 1, 2], isr=[3, 1, 2], leader=3
            ),
            delta,
        )
    one, other = image.topics["t"].partitions.values()
    assert one.replicas is other.replicas is one.isr is other.isr
