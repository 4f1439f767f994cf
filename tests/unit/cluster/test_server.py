"""The server of a node, with handlers of the test."""

from __future__ import annotations

from collections.abc import Sequence

from kmirror.cluster.authorizer import ALLOW_ALL
from kmirror.cluster.server import Handler, Inbound, Server
from kmirror.kernel.clock import Instant
from kmirror.kernel.events import Chunk, CloseLink, Effect, LinkOpened, Reply, ResumeReading, StopReading
from kmirror.kernel.link_queue import WAITING_BYTES_MAX, WAITING_MAX
from kmirror.kernel.outbox import Outbox
from kmirror.protocol.gen.api_versions_request import ApiVersionsRequest
from kmirror.protocol.gen.api_versions_response import ApiVersionsResponse
from kmirror.protocol.gen.fetch_request import FetchRequest
from kmirror.protocol.gen.fetch_response import FetchableTopicResponse, FetchResponse, PartitionData
from kmirror.protocol.headers import encode_request
from kmirror.protocol.message import Message
from kmirror.protocol.registry import key_of
from tests.client_links import link_opened

FETCH_VERSION = 12
VERSIONS = {key_of(ApiVersionsRequest): (0, 4), key_of(FetchRequest): (4, 18)}


class Waiting:
    """A handler that keeps requests until a test answers them."""

    def __init__(self) -> None:
        self.kept: list[Inbound] = []

    def __call__(self, now: Instant, inbound: Inbound) -> None:
        self.kept.append(inbound)


def server(handler: Handler) -> Server:
    made = Server(lambda: VERSIONS, dict, Outbox(), ALLOW_ALL)
    made.serve({ApiVersionsRequest: handler, FetchRequest: handler})
    made.accept()
    return made


def connect(to: Server, *name: str) -> LinkOpened:
    client = link_opened(*name)
    to.on_opened(client)
    return client


def frame(body: Message | None = None, version: int = 0, number: int = 0) -> bytes:
    return encode_request(body or ApiVersionsRequest(), version, correlation_id=number, client_id="c")


def replies(effects: Sequence[Effect]) -> list[tuple[Chunk, ...]]:
    return [effect.chunks for effect in effects if isinstance(effect, Reply)]


def test_records_are_put_into_a_response_without_a_copy() -> None:
    log = bytes(1000)
    kept = Waiting()
    s = server(kept)
    client = connect(s, "c")
    s.on_frame(0, client.link, frame(FetchRequest(), FETCH_VERSION))
    records = memoryview(log)[100:900]
    topic = FetchableTopicResponse(topic="t", partitions=[PartitionData(partition_index=0, records=records)])
    kept.kept[0].reply(FetchResponse(responses=[topic]))
    [chunks] = replies(s.outbox.drain())
    assert any(isinstance(chunk, memoryview) and chunk.obj is log for chunk in chunks)


def test_a_request_has_its_sender() -> None:
    kept = Waiting()
    s = server(kept)
    client = connect(s, "c")
    s.on_frame(0, client.link, frame())
    assert kept.kept[0].client is client


def test_frames_of_a_link_that_was_closed_are_passed_over() -> None:
    kept = Waiting()
    s = server(kept)
    client = connect(s, "c")
    s.on_frame(0, client.link, frame())
    kept.kept[0].drop()
    assert CloseLink(client.link) in s.outbox.drain()
    s.on_frame(0, client.link, frame(number=1))
    assert not s.run_ready(0) and len(kept.kept) == 1


def test_requests_of_a_link_are_answered_one_after_the_other() -> None:
    kept = Waiting()
    s = server(kept)
    client = connect(s, "c")
    for number in range(3):
        s.on_frame(0, client.link, frame(number=number))
    for number in range(3):
        assert [inbound.head.correlation_id for inbound in kept.kept] == list(range(number + 1))
        kept.kept[-1].reply(ApiVersionsResponse())
        s.run_ready(0)
    assert len(replies(s.outbox.drain())) == 3


def reading(effects: Sequence[Effect]) -> list[type[Effect]]:
    return [type(effect) for effect in effects if isinstance(effect, StopReading | ResumeReading)]


def test_a_link_with_too_many_requests_is_read_again_when_the_last_one_starts() -> None:
    kept = Waiting()
    s = server(kept)
    client = connect(s, "c")
    for number in range(WAITING_MAX):  # One of them is being processed.
        s.on_frame(0, client.link, frame(number=number))
    assert reading(s.outbox.drain()) == []
    s.on_frame(0, client.link, frame(number=WAITING_MAX))
    assert reading(s.outbox.drain()) == [StopReading]
    for number in range(WAITING_MAX):
        assert reading(s.outbox.drain()) == [], f"{WAITING_MAX - number} wait"
        kept.kept[-1].reply(ApiVersionsResponse())
        s.run_ready(0)
    assert reading(s.outbox.drain()) == [ResumeReading]
    assert [inbound.head.correlation_id for inbound in kept.kept] == list(range(WAITING_MAX + 1))


def test_a_link_on_which_too_many_bytes_wait_is_not_read() -> None:
    kept = Waiting()
    s = server(kept)
    client = connect(s, "c")
    large = frame() + bytes(WAITING_BYTES_MAX)
    s.on_frame(0, client.link, large)
    assert reading(s.outbox.drain()) == [], "a request in work does not wait"
    s.on_frame(0, client.link, large)
    assert reading(s.outbox.drain()) == [StopReading]
    kept.kept[0].no_reply()
    s.run_ready(0)
    assert reading(s.outbox.drain()) == [ResumeReading]
