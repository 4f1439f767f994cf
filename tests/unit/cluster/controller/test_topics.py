"""The controller's decisions on topics: placement of replicas, refusals, and state after a deletion."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kmirror.cluster.controller.controller import Controller
from kmirror.cluster.controller.decisions import ApiError
from kmirror.cluster.controller.placement import place
from kmirror.cluster.images import Delta, MetadataImage
from kmirror.kernel.rng import Rng
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.broker_registration_change_record import BrokerRegistrationChangeRecord
from kmirror.protocol.gen.create_partitions_request import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from kmirror.protocol.gen.create_partitions_response import CreatePartitionsResponse
from kmirror.protocol.gen.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from kmirror.protocol.gen.create_topics_response import CreatableTopicResult, CreateTopicsResponse
from kmirror.protocol.gen.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from kmirror.protocol.gen.delete_topics_response import DeletableTopicResult, DeleteTopicsResponse
from kmirror.protocol.gen.register_broker_record import BrokerEndpoint, RegisterBrokerRecord
from kmirror.protocol.gen.remove_topic_record import RemoveTopicRecord
from kmirror.protocol.gen.topic_record import TopicRecord
from kmirror.spec.error_codes import ErrorCode as E
from tests.unit.cluster.stage import RIGHTS, TOPIC_ID, TP, controller, fence


def create(target: Controller, *topics: CreatableTopic, validate: bool = False) -> list[CreatableTopicResult]:
    reply = target.decide(0, CreateTopicsRequest(topics=list(topics), validate_only=validate), 7, RIGHTS)
    assert isinstance(reply, CreateTopicsResponse)
    return list(reply.topics)


def errors_of(rows: Sequence[CreatableTopicResult | DeletableTopicResult]) -> list[tuple[E, str | None]]:
    return [(E(row.error_code), row.error_message) for row in rows]


def topic(name: str, partitions: int = 1, factor: int = 1) -> CreatableTopic:
    return CreatableTopic(name=name, num_partitions=partitions, replication_factor=factor)


def placed(name: str, *replicas: Sequence[int]) -> CreatableTopic:
    rows = [CreatableReplicaAssignment(partition_index=n, broker_ids=list(on)) for n, on in enumerate(replicas)]
    return CreatableTopic(name=name, num_partitions=-1, replication_factor=-1, assignments=rows)


def grow(target: Controller, *topics: CreatePartitionsTopic, validate: bool = False) -> list[tuple[E, str | None]]:
    request = CreatePartitionsRequest(topics=list(topics), validate_only=validate)
    reply = target.decide(0, request, 3, RIGHTS)
    assert isinstance(reply, CreatePartitionsResponse)
    return [(E(row.error_code), row.error_message) for row in reply.results]


def delete(target: Controller, *states: DeleteTopicState, version: int = 6) -> list[DeletableTopicResult]:
    names = [state.name or "" for state in states]
    request = DeleteTopicsRequest(topics=list(states)) if version >= 6 else DeleteTopicsRequest(topic_names=names)
    reply = target.decide(0, request, version, RIGHTS)
    assert isinstance(reply, DeleteTopicsResponse)
    return list(reply.responses)


def begin_shutdown(target: Controller, broker_id: int) -> None:
    """Mark a broker as in controlled shutdown, and nothing else."""
    epoch = target.image.brokers[broker_id].epoch
    record = BrokerRegistrationChangeRecord(broker_id=broker_id, broker_epoch=epoch, in_controlled_shutdown=1)
    target.commit(0, [record])


# -- placement ------------------------------------------------------------------------------------


def image_of(alive: Sequence[int], fenced: Sequence[int]) -> MetadataImage:
    image = MetadataImage()
    for broker_id in (*alive, *fenced):
        record = RegisterBrokerRecord(
            broker_id=broker_id, end_points=[BrokerEndpoint(name="P", host="h", port=1)], fenced=broker_id in fenced
        )
        image.apply(record, Delta())
    return image


@given(st.integers(1, 6), st.integers(0, 4), st.integers(1, 30), st.integers(1, 10), st.integers(0, 1000))
def test_fenced_brokers_get_only_replicas_that_live_ones_cannot_take(
    alive: int, fenced: int, count: int, factor: int, seed: int
) -> None:
    living, dead = list(range(alive)), list(range(10, 10 + fenced))
    if factor > alive + fenced:
        with pytest.raises(ApiError, match=f"only {alive + fenced} broker"):
            place(image_of(living, dead), Rng(seed), count, factor)
        return
    placed_on = place(image_of(living, dead), Rng(seed), count, factor)
    assert len(placed_on) == count
    for replicas in placed_on:
        assert len(set(replicas)) == len(replicas) == factor
        assert replicas[0] in living
        assert sum(one in living for one in replicas) == min(factor, alive)
    leaders = [replicas[0] for replicas in placed_on]
    assert max(map(leaders.count, living)) - min(map(leaders.count, living)) <= 1


def test_nothing_is_placed_without_a_live_broker() -> None:
    with pytest.raises(ApiError, match="All brokers are currently fenced") as caught:
        place(image_of([], [1, 2]), Rng(0), 1, 1)
    assert caught.value.error is E.INVALID_REPLICATION_FACTOR


def test_a_topic_may_have_a_replica_on_an_offline_broker_outside_the_isr() -> None:
    target = controller()
    fence(target, 2)
    [row] = create(target, topic("t", 3, 3))
    assert (row.error_code, row.replication_factor) == (E.NONE, 3)
    for partition in target.image.topics["t"].partitions.values():
        assert sorted(partition.replicas) == [1, 2, 3] and sorted(partition.isr) == [1, 3]
        assert partition.leader == partition.isr[0] == partition.replicas[0]


def test_brokers_that_are_about_to_stop_lead_nothing_new() -> None:
    target = controller((1, 2))
    for broker_id in (1, 2):
        begin_shutdown(target, broker_id)
    text = "All brokers are currently fenced or in controlled shutdown."
    refused = (E.INVALID_REPLICATION_FACTOR, f"Unable to replicate the partition 2 time(s): {text}")
    assert errors_of(create(target, topic("t", 1, 2))) == [refused]
    text = (
        "All brokers specified in the manual partition assignment for partition 0 are fenced or in controlled shutdown."
    )
    assert errors_of(create(target, placed("t", [2, 1]))) == [(E.INVALID_REPLICA_ASSIGNMENT, text)]


# -- creating -------------------------------------------------------------------------------------


def test_colliding_topic_names_are_free_again_after_the_deletion() -> None:
    target = controller()
    assert errors_of(create(target, topic("a.b"))) == [(E.NONE, None)]
    refused = (E.INVALID_TOPIC_EXCEPTION, "Topic 'a_b' collides with existing topic: a.b")
    assert errors_of(create(target, topic("a_b"), topic("a-b"))) == [refused, (E.NONE, None)]
    assert errors_of(delete(target, DeleteTopicState(name="a.b"))) == [(E.NONE, None)]
    assert errors_of(create(target, topic("a_b"))) == [(E.NONE, None)]


def test_the_length_of_a_name_is_java_s() -> None:
    [row] = create(controller(), topic("\U0001f600" * 125))
    assert row.error_message is not None and "is longer than the max allowed length 249" in row.error_message


def test_a_created_topic_is_returned_with_its_configs_and_sources() -> None:
    [row] = create(controller(configs={"log.retention.ms": "7"}), topic("t"), validate=True)
    told = {entry.name: (entry.value, entry.config_source) for entry in row.configs or ()}
    assert told["retention.ms"] == ("7", 4) and told["cleanup.policy"] == ("delete", 5)
    assert "mirror.name" not in told


# -- more partitions ------------------------------------------------------------------------------


def test_partitions_are_numbered_on_and_have_as_many_replicas() -> None:
    target = controller(topic=(1, 2))
    wanted = CreatePartitionsTopic(
        name=TP.topic, count=3, assignments=[CreatePartitionsAssignment(broker_ids=[one, 3]) for one in (1, 2)]
    )
    assert grow(target, wanted, validate=True) == [(E.NONE, None)]
    assert len(target.image.topics[TP.topic].partitions) == 1, "it was only tried"
    assert grow(target, wanted) == [(E.NONE, None)]
    partitions = target.image.topics[TP.topic].partitions
    assert {index: one.replicas for index, one in partitions.items()} == {0: (1, 2), 1: (1, 3), 2: (2, 3)}
    assert grow(target, CreatePartitionsTopic(name=TP.topic, count=5, assignments=None)) == [(E.NONE, None)]
    assert all(len(one.replicas) == 2 for one in target.image.topics[TP.topic].partitions.values())


def test_too_many_partitions_fail_without_affecting_other_rows() -> None:
    """A Kafka controller fails here and resigns; in kmirror the other rows of the request must not suffer."""
    target = controller(topic=(1, 2))
    create(target, topic("other"))
    rows = [
        CreatePartitionsTopic(name=name, count=count, assignments=None)
        for name, count in ((TP.topic, 2**31 - 1), ("other", 2))
    ]
    assert grow(target, *rows) == [(E.UNKNOWN_SERVER_ERROR, None), (E.NONE, None)]


# -- deleting -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "error"), [(2, E.INVALID_REQUEST), (3, E.TOPIC_DELETION_DISABLED), (6, E.TOPIC_DELETION_DISABLED)]
)
def test_where_deletion_is_disabled_nothing_is_deleted(version: int, error: E) -> None:
    target = controller(configs={"delete.topic.enable": "false"}, topic=(1, 2))
    [row] = delete(target, DeleteTopicState(name=TP.topic), version=version)
    assert (row.name, row.error_code, row.error_message) == (TP.topic, error, None)
    assert TP.topic in target.image.topics


def test_a_topic_requested_by_name_and_id_is_not_deleted() -> None:
    target = controller(topic=(1, 2))
    by_id = DeleteTopicState(name=None, topic_id=TOPIC_ID)
    [row] = delete(target, by_id, DeleteTopicState(name=TP.topic))
    assert (row.name, row.topic_id, E(row.error_code)) == (TP.topic, TOPIC_ID, E.INVALID_REQUEST)
    rows = delete(target, by_id, by_id, DeleteTopicState(name=TP.topic))
    assert [(row.name, row.error_message) for row in rows] == [
        (None, "Duplicate topic id."),
        (TP.topic, "The provided topic name maps to an ID that was already supplied."),
    ]
    assert TP.topic in target.image.topics


def test_nothing_is_left_of_a_deleted_topic_in_the_image() -> None:
    target = controller(topic=(1, 2))
    fence(target, 2)
    create(target, topic("a.b", 3, 3))
    fresh = controller()
    for name in (TP.topic, "a.b"):
        assert errors_of(delete(target, DeleteTopicState(name=name))) == [(E.NONE, None)]
    image = target.image
    assert (image.topics, image.topics.names, image.topics.leaderless) == ({}, {}, {})
    assert [image.topics.leads(b) for b in (1, 2, 3)] == [0, 0, 0]
    assert [list(image.topics.hosted_by(b)) for b in (1, 2, 3)] == [[], [], []]
    assert image.topics.colliding("a_b") is None
    assert image.configs == fresh.image.configs


@pytest.mark.decision("D49")
@pytest.mark.parametrize("mirror_version", [0, 1])
def test_an_id_begins_above_the_leader_epochs_that_it_had(mirror_version: int) -> None:
    """Without mirrors no id is used again, and nothing need be remembered."""
    target = controller(topic=(1, 2), mirror_version=mirror_version)
    assert target.image.topics.first_leader_epoch(TOPIC_ID) == 0
    for expected in (8, 8):  # A topic without partitions has no epochs.
        target.commit(0, [RemoveTopicRecord(topic_id=TOPIC_ID)])
        assert target.image.topics.first_leader_epoch(TOPIC_ID) == (expected if mirror_version else 0)
        target.commit(0, [TopicRecord(name="again", topic_id=TOPIC_ID)])
    assert target.image.topics.first_leader_epoch(Uuid.from_ints(5, 5)) == 0
