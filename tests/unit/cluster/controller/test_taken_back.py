"""A decision whose records cannot be replayed: a controller that continues has neither the records nor their traces."""

from __future__ import annotations

from collections.abc import Mapping

from kmirror.cluster.authorizer import Rights
from kmirror.cluster.controller.context import ControllerContext
from kmirror.cluster.controller.controller import Controller, ControllerOptions
from kmirror.cluster.controller.decisions import Decide, Decision
from kmirror.kernel.clock import Instant
from kmirror.kernel.events import Effect, Reply, RequestReceived, Started
from kmirror.kernel.failures import OnFailure
from kmirror.kernel.ids import Endpoint
from kmirror.kernel.rng import Rng
from kmirror.kernel.uuid import Uuid
from kmirror.log.disk import MemoryDisk
from kmirror.protocol.gen.config_record import ConfigRecord
from kmirror.protocol.gen.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from kmirror.protocol.gen.delete_topics_response import DeleteTopicsResponse
from kmirror.protocol.gen.remove_topic_record import RemoveTopicRecord
from kmirror.protocol.gen.topic_record import TopicRecord
from kmirror.protocol.headers import decode_response, encode_request
from kmirror.protocol.message import Message
from kmirror.protocol.registry import key_of
from kmirror.spec.error_codes import ErrorCode
from tests.client_links import handle_with_disk, link_opened

VERSION = 6
UNKNOWN = Uuid.from_ints(7, 7)
DELETE = encode_request(
    DeleteTopicsRequest(topics=[DeleteTopicState(topic_id=UNKNOWN)]), VERSION, correlation_id=1, client_id="c"
)


class Careless:
    """Deletes any topic, whether there is one or not, after a change that could be replayed."""

    def decisions(self) -> Mapping[type[Message], Decide]:
        return {DeleteTopicsRequest: self._delete}

    def _delete(
        self, context: ControllerContext, now: Instant, request: DeleteTopicsRequest, version: int, rights: Rights
    ) -> Decision:
        record = ConfigRecord(resource_type=4, resource_name="", name="log.retention.ms", value="1")
        topic = TopicRecord(name="half", topic_id=Uuid.from_ints(1, 1))
        gone = [RemoveTopicRecord(topic_id=row.topic_id) for row in request.topics]
        return Decision([record, topic, *gone], DeleteTopicsResponse())


def started(disk: MemoryDisk) -> Controller:
    options = ControllerOptions(100, "cluster", Endpoint("controller", 9093), on_failure=OnFailure.CONTINUE)
    node = Controller(options, disk, Rng(1), [Careless()])
    handle_with_disk(node, 0, Started())
    return node


def errors(effects: list[Effect]) -> list[int]:
    [reply] = [effect for effect in effects if isinstance(effect, Reply)]
    body = decode_response(b"".join(reply.chunks), key_of(DeleteTopicsRequest), VERSION).body
    assert isinstance(body, DeleteTopicsResponse)
    return [row.error_code for row in body.responses]


def test_records_that_cannot_be_replayed_are_reverted() -> None:
    disk = MemoryDisk()
    node, client = started(disk), link_opened("c")
    node.commit(0, [TopicRecord(name="t", topic_id=UNKNOWN)])
    node.commit(0, [RemoveTopicRecord(topic_id=UNKNOWN)])
    end_offset = node.quorum.end_offset
    handle_with_disk(node, 0, client)
    assert errors(handle_with_disk(node, 0, RequestReceived(client.link, DELETE))) == [ErrorCode.UNKNOWN_SERVER_ERROR]
    assert not node.image.topics and not node.image.configs
    assert node.image.offset + 1 == node.quorum.end_offset == node.quorum.committed_end == end_offset
    node.commit(0, [TopicRecord(name="t", topic_id=UNKNOWN)])
    assert errors(handle_with_disk(node, 0, RequestReceived(client.link, DELETE))) == []
    again = started(disk)
    assert list(again.image.topics) == ["half"] and again.image.configs.broker(1) == {"log.retention.ms": "1"}
