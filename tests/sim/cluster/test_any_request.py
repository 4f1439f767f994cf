"""A node answers every well-formed request or closes its link, and survives every frame.

Every response is decoded in the version of its request, to the last byte.
"""

from __future__ import annotations

import pytest

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.errors import ProtocolError
from kmirror.kernel.clock import Instant
from kmirror.kernel.events import CloseLink, Effect, Event, Link, Reply, RequestReceived
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.rng import Rng
from kmirror.protocol.gen.envelope_response import EnvelopeResponse
from kmirror.protocol.gen.list_offsets_request import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kmirror.protocol.gen.list_offsets_response import ListOffsetsResponse
from kmirror.protocol.gen.produce_request import ProduceRequest
from kmirror.protocol.headers import decode_request, encode_request
from kmirror.protocol.message import Message
from kmirror.protocol.registry import by_key
from kmirror.sim.cluster import Cluster
from kmirror.spec.apis import ROWS, ApiRow
from kmirror.spec.error_codes import ErrorCode
from tests.client_links import envelope_of, link_opened
from tests.sim.cluster.random_requests import LOGS, MIRRORED, Generator, RawClient, read_back, start
from tests.sim.stage import T0_MS

MESSAGES_PER_VERSION = 20
FRAMES_PER_API = 52


def wants_answer(body: Message) -> bool:
    return not (isinstance(body, ProduceRequest) and body.acks == 0)


def is_owed_an_answer(frame: bytes) -> bool:
    """Return whether a frame must be answered or close its link: not if the rest of it is a Produce with acks=0."""
    try:
        return wants_answer(decode_request(frame).body)
    except ProtocolError:
        return True


def name_of(row: ApiRow) -> str:
    return row.name


def generators(cluster: Cluster, rng: Rng) -> list[Generator]:
    return [Generator(rng.split(str(flag)), cluster, well_meant=flag) for flag in (True, False)]


class Frames:
    """Garbled requests of one API, drawn separately: another API in the table changes none of them."""

    def __init__(self, row: ApiRow, cluster: Cluster, rng: Rng) -> None:
        self.row = row
        self._rng = rng
        self._generators = generators(cluster, rng.split("messages"))

    def garbled(self, correlation_id: int) -> bytes:
        """Return a request with up to three bytes changed, and perhaps truncated."""
        rng, row = self._rng, self.row
        version = rng.between(row.first, row.last)
        body = rng.choice(self._generators).message(by_key(row.key).request, version)
        frame = bytearray(encode_request(body, version, correlation_id=correlation_id, client_id="c"))
        for _ in range(rng.between(1, 3)):
            frame[rng.below(len(frame))] = rng.below(256)
        return bytes(frame[: rng.below(len(frame) + 1)] if rng.chance(1, 3) else frame)


@pytest.mark.parametrize(
    ("row", "role"), [pytest.param(row, role, id=f"{row.name}-{role}") for row in ROWS for role in row.roles]
)
def test_any_well_formed_request_is_answered_or_its_link_closed(row: ApiRow, role: str) -> None:
    cluster = start(row.key)
    raw = RawClient(cluster)
    nodes = (CONTROLLER_ID,) if role == "controller" else cluster.broker_ids
    answered = 0
    for generator in generators(cluster, Rng(row.key).split(role)):
        for version in range(row.first, row.last + 1):
            for turn in range(MESSAGES_PER_VERSION):
                body = generator.message(by_key(row.key).request, version)
                endpoint = cluster.endpoint(nodes[turn % len(nodes)])
                answer = raw.ask(endpoint, body, version, wants_answer=wants_answer(body))
                answered += answer is not None
    assert answered, "not one request was answered"
    cluster.simulation.run_for(span_s=15)  # Decisions reach every broker, and timers fire.


@pytest.mark.parametrize("row", [row for row in ROWS if "controller" in row.roles], ids=name_of)
def test_any_request_inside_an_envelope_is_answered(row: ApiRow) -> None:
    cluster = start(row.key)
    raw = RawClient(cluster)
    for generator in generators(cluster, Rng(row.key).split("envelope")):
        for version in range(row.first, row.last + 1):
            for _ in range(5):
                body = generator.message(by_key(row.key).request, version)
                inner = encode_request(body, version, correlation_id=7, client_id="c")
                envelope = envelope_of(inner)
                answer = raw.ask(cluster.endpoint(CONTROLLER_ID), envelope, 0)
                assert isinstance(answer, EnvelopeResponse), "the link was closed"
                if answer.response_data is not None:
                    read_back(bytes(answer.response_data), row.key, version)
    cluster.simulation.run_for(span_s=15)


@pytest.mark.parametrize("node_id", [1, CONTROLLER_ID])
def test_any_frame_is_answered_or_its_link_closed(node_id: int, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = start(3)
    world = cluster.simulation.world
    drawn = [Frames(row, cluster, Rng(node_id).split(row.name)) for row in ROWS]
    node = cluster.controller if node_id == CONTROLLER_ID else cluster.broker(node_id)
    ends: dict[Link, list[Effect]] = {}
    handle = node.handle

    def watched(now: Instant, event: Event) -> list[Effect]:
        effects = handle(now, event)
        for effect in effects:
            if isinstance(effect, Reply | CloseLink) and effect.link in ends:
                ends[effect.link].append(effect)
        return effects

    monkeypatch.setattr(node, "handle", watched)
    sent: dict[Link, bytes] = {}
    for turn in range(FRAMES_PER_API):
        for frames in drawn:
            client, frame = link_opened("stranger", "raw", frames.row.name, turn), frames.garbled(turn)
            ends[client.link], sent[client.link] = [], frame
            effects = node.handle(world.now, client) + node.handle(world.now, RequestReceived(client.link, frame))
            world.perform(cluster.process(node_id), effects)
    cluster.simulation.run_for(span_s=15)
    assert [(sent[link], found) for link, found in ends.items() if len(found) > 1] == []
    assert [sent[link] for link, found in ends.items() if not found and is_owed_an_answer(sent[link])] == []
    replies = {link: found[0] for link, found in ends.items() if found and isinstance(found[0], Reply)}
    assert 0 < len(replies) < len(sent), "some are answered, and some lose their link"
    for link, reply in replies.items():
        assert b"".join(reply.chunks)[:4] == sent[link][4:8], "the answer has the request's correlation id"


@pytest.mark.parametrize("version", range(1, 12))
def test_offsets_of_topics_with_records_are_listed_in_every_version(version: int) -> None:
    """Versions 1 to 3 have no field for the leader epoch; their response omits it."""
    cluster = start(1)
    raw = RawClient(cluster)
    for topic in (*LOGS, *MIRRORED):
        leader = cluster.leader(TopicPartition(topic, 0))
        assert leader is not None
        by_time = -1 if topic == "v0" else 0  # Messages of format 0 have no timestamp.
        for timestamp, offset in ((-1, leader.log.high_watermark), (-2, 0), (T0_MS, by_time)):
            asked = ListOffsetsPartition(partition_index=0, timestamp=timestamp)
            request = ListOffsetsRequest(replica_id=-1, topics=[ListOffsetsTopic(name=topic, partitions=[asked])])
            answer = raw.ask(cluster.endpoint(leader.broker_id), request, version)
            assert isinstance(answer, ListOffsetsResponse)
            found = answer.topics[0].partitions[0]
            assert (found.error_code, found.offset) == (0, offset), topic
            if version >= 4 and timestamp == -2:
                assert found.leader_epoch == leader.log.epochs.epoch_for_offset(0)


SPECIAL = {-1: 1, -2: 1, -3: 7, -4: 8, -5: 9, -6: 11, -7: 99}
"""Special timestamp to the first version of ListOffsets with it (ReplicaManager.timestampMinSupportedVersion)."""


@pytest.mark.parametrize("version", range(1, 12))
def test_a_special_timestamp_that_the_version_does_not_know_is_refused(version: int) -> None:
    cluster = start(1)
    raw = RawClient(cluster)
    leader = cluster.leader(TopicPartition("plain", 0))
    assert leader is not None
    for timestamp, first in SPECIAL.items():
        asked = ListOffsetsPartition(partition_index=0, timestamp=timestamp)
        topic = ListOffsetsTopic(name="plain", partitions=[asked])
        endpoint = cluster.endpoint(leader.broker_id)
        once = raw.ask(endpoint, ListOffsetsRequest(replica_id=-1, topics=[topic]), version)
        assert isinstance(once, ListOffsetsResponse)
        expected = ErrorCode.NONE if version >= first else ErrorCode.UNSUPPORTED_VERSION
        assert once.topics[0].partitions[0].error_code == expected, timestamp
        twice = raw.ask(endpoint, ListOffsetsRequest(replica_id=-1, topics=[topic, topic]), version)
        assert isinstance(twice, ListOffsetsResponse)
        told = [[row.error_code for row in t.partitions] for t in twice.topics]
        assert told == [[ErrorCode.INVALID_REQUEST]], "as Kafka tells it, once"
