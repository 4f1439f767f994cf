"""Metadata sync creates topics with the source's id and number of partitions (D17)."""

from __future__ import annotations

import pytest

from kmirror.mirror.naming import MIRROR_NAME
from kmirror.protocol.gen.add_topics_to_mirror_request import AddTopicsToMirrorRequest, TopicData
from kmirror.protocol.gen.add_topics_to_mirror_response import AddTopicsToMirrorResponse
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import ResourceType
from tests.sim.stage import TOPIC, assert_equal, pair


@pytest.mark.decision("D26")
@pytest.mark.decision("D17")
def test_a_topic_is_added_before_it_exists_and_created_like_the_sources() -> None:
    p = pair()
    topic_id = p.a.place_topic(replicas=((1, 2, 3), (2, 3, 1)))
    p.a.write("r0")
    p.simulation.line(p.a, p.b).take_down()
    p.there.create()
    request = AddTopicsToMirrorRequest(mirror_name="m", topics=[TopicData(topic_name=TOPIC)])
    reply = p.b.client.call(p.b.endpoints()[0], request, 0)
    assert isinstance(reply, AddTopicsToMirrorResponse)
    assert [(row.name, row.error_code) for row in reply.topics] == [(TOPIC, ErrorCode.NONE)]
    p.simulation.run_for(span_s=5)
    assert p.b.image.configs[ResourceType.TOPIC, TOPIC] == {MIRROR_NAME: "m"}, "ahead of the topic"
    assert TOPIC not in p.b.image.topics, "only the source knows its id"
    p.simulation.line(p.a, p.b).bring_up()
    p.run_until(lambda: TOPIC in p.b.image.topics, "the topic")
    made = p.b.image.topics[TOPIC]
    assert (made.topic_id, list(made.partitions)) == (topic_id, [0, 1])
    assert_equal(p.there)
