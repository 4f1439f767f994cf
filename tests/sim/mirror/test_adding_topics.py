"""Topics are added to a mirror again: only from STOPPED; a temporary error can be retried (D6)."""

from __future__ import annotations

import pytest

from kmirror.errors import KafkaError
from kmirror.kernel.ids import TopicPartition
from kmirror.mirror.state_records import StateKey
from kmirror.mirror.states import MirrorState
from kmirror.protocol.gen.add_topics_to_mirror_request import AddTopicsToMirrorRequest, TopicData
from kmirror.protocol.gen.add_topics_to_mirror_response import AddTopicsToMirrorResponse
from kmirror.protocol.gen.metadata_request import MetadataRequest, MetadataRequestTopic
from kmirror.protocol.gen.metadata_response import MetadataResponse
from kmirror.spec.error_codes import ErrorCode as E
from kmirror.spec.topics import SYSTEM_TOPICS
from tests.sim.stage import TOPIC, TP, Pair, WrittenLogs, assert_equal, pair, plain, wait_until_mirrored

pytestmark = pytest.mark.decision("D6")
LOGS = {TOPIC: [plain(0, 0, "r0", "r1")]}


def start_mirror() -> Pair:
    p = pair(logs=WrittenLogs(LOGS))
    p.begin()
    return p


def coordinator(p: Pair) -> int:
    """Return the broker of B that stores the state of the partition."""
    [broker_id] = p.b.living()[:1]
    key = StateKey("m", p.b.image.topics[TOPIC].topic_id, TP.partition)
    shard = p.b.component(broker_id).context.coordinator.shard_of(key)
    assert isinstance(shard, TopicPartition)
    return p.b.await_leader(shard).broker_id


def add(p: Pair, *, to: int) -> AddTopicsToMirrorResponse:
    """Send the request to one broker of B, once."""
    request = AddTopicsToMirrorRequest(mirror_name="m", topics=[TopicData(topic_name=TOPIC)])
    reply = p.b.client.call(p.b.endpoint(to), request)
    assert isinstance(reply, AddTopicsToMirrorResponse)
    return reply


def test_an_unreadable_state_returns_a_retriable_error() -> None:
    """The request is valid, so the error must be retriable; an admin client repeats it."""
    p = start_mirror()
    p.fail_over()
    victim = coordinator(p)
    p.b.kill(victim)
    refused = add(p, to=p.b.living()[0])
    assert refused.error_code == E.COORDINATOR_NOT_AVAILABLE
    assert refused.error_message == "The states of orders-0 cannot be read now."
    p.there.add_topics([TOPIC])
    p.b.restart(victim)
    assert_equal(p.there)


def test_adding_a_partition_that_is_not_stopped_yet_is_an_error() -> None:
    p = start_mirror()
    p.b.kill(next(b for b in p.b.broker_ids if b != p.b.await_leader().broker_id))  # The stop waits for the ISR.
    p.there.remove_topics([TOPIC])
    p.run_until(lambda: p.b.persisted().state is MirrorState.STOPPING, "STOPPING")
    refused = add(p, to=p.b.living()[0])
    assert refused.error_code == E.INVALID_REQUEST
    assert refused.error_message == "Every partition must be UNKNOWN or STOPPED: orders-0 is STOPPING."


@pytest.mark.decision("D26")
def test_internal_topics_and_invalid_names_are_in_no_mirror() -> None:
    p = start_mirror()
    names = [*SYSTEM_TOPICS, "or/ders"]
    request = AddTopicsToMirrorRequest(mirror_name="m", topics=[TopicData(topic_name=name) for name in names])
    reply = p.b.client.call(p.b.endpoint(1), request)
    assert isinstance(reply, AddTopicsToMirrorResponse)
    assert "__cluster_metadata" in SYSTEM_TOPICS
    assert {row.name: row.error_code for row in reply.topics} == dict.fromkeys(names, E.INVALID_TOPIC_EXCEPTION)


def test_a_paused_topic_is_in_its_mirror_still() -> None:
    p = start_mirror()
    p.there.pause([TOPIC])
    assert [row.error_code for row in add(p, to=p.b.living()[0]).topics] == [E.TOPIC_ALREADY_IN_MIRROR]
    assert p.b.delete(TOPIC) == [E.READ_ONLY_TOPIC]


@pytest.mark.decision("D26")
def test_a_client_cannot_create_a_topic_that_a_mirror_will_create() -> None:
    """With a new id it would be another topic, and the mirror FAILED."""
    p = pair(logs=WrittenLogs(LOGS), b_configs={"auto.create.topics.enable": "true"})
    p.there.create()
    p.there.add_topics([TOPIC])
    asked = MetadataRequest(topics=[MetadataRequestTopic(name=TOPIC)], allow_auto_topic_creation=True)
    assert isinstance(p.b.client.call(p.b.endpoint(p.b.living()[0]), asked), MetadataResponse)
    with pytest.raises(KafkaError, match="is in mirror 'm'; remove it from the mirror first") as refused:
        p.b.create_topic(TOPIC)
    assert refused.value.code is E.READ_ONLY_TOPIC
    wait_until_mirrored(p.there)
    assert_equal(p.there)
    with pytest.raises(KafkaError) as refused:
        p.b.create_topic(TOPIC)
    assert refused.value.code is E.TOPIC_ALREADY_EXISTS, "as for any existing topic"
    p.fail_over()


@pytest.mark.decision("D26")
def test_a_topic_that_was_removed_before_its_mirror_created_it_is_anybodys() -> None:
    p = pair()
    p.there.create()
    p.there.add_topics([TOPIC])
    p.there.remove_topics([TOPIC])
    p.b.create_topic(TOPIC)
    assert p.b.write("ours") == 0
