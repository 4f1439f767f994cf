"""Delivery of a response to a client: the drawn faults, and the bytes on a link over time."""

from __future__ import annotations

from random import Random

import pytest

from kmirror.fuzz.clients.deliveries import HELD_MAX, Deliveries
from kmirror.fuzz.clients.delivery_faults import (
    DELIVERY_FAULTS,
    BrokenResponse,
    Delivery,
    apply_delivery_fault,
    read_number,
    with_number,
)
from kmirror.fuzz.clients.response_interceptor import ResponseInterceptor
from kmirror.fuzz.clients.session import Session, StoredPlan
from kmirror.fuzz.clients.stored_responses import Entry, Names
from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.kernel.events import (
    CancelTimer,
    CloseLink,
    Effect,
    Event,
    InboundLink,
    LinkClosed,
    Reply,
    ReplyBytes,
    RequestReceived,
    SetTimer,
    TimerFired,
    TimerKey,
)
from kmirror.protocol.gen.heartbeat_request import HeartbeatRequest
from kmirror.protocol.gen.heartbeat_response import HeartbeatResponse
from kmirror.protocol.gen.metadata_response import MetadataResponse, MetadataResponseBroker
from kmirror.protocol.headers import RequestHead, decode_response, encode_request, encode_response
from kmirror.protocol.registry import key_of

LINK, OTHER = InboundLink(("client", 1)), InboundLink(("client", 2))
HEAD = RequestHead(key_of(MetadataResponse), 9, 5, "me", 0)
FRAME = encode_response(
    MetadataResponse(brokers=[MetadataResponseBroker(node_id=1, host="127.0.0.1", port=9_092)]), 9, correlation_id=5
)
SIZE = len(FRAME)
ROWS = {row.name: row for row in DELIVERY_FAULTS}


def draw_results(name: str) -> list[BrokenResponse]:
    """Return the results of a row for the response, without those that leave it unchanged."""
    random = Random(1).random
    found = [ROWS[name].make(random, FRAME, HEAD, 700) for _ in range(200)]
    return [each for each in found if each is not None]


def lengths(name: str) -> list[int]:
    return [read_number(each.data) for each in draw_results(name)]


def test_every_delivery_fault_is_drawn() -> None:
    assert len(ROWS) == len(DELIVERY_FAULTS)
    random = Random(1).random
    found = [apply_delivery_fault(random, FRAME, HEAD, 700) for _ in range(500)]
    assert {each.delivery for each in found if each is not None} == set(Delivery)


def test_lengths_are_wrong_as_in_their_rows() -> None:
    assert {True} == {number < 0 for number in lengths("a length below zero")}
    assert {0} == set(lengths("a length of zero"))
    assert {True} == {0 < number < SIZE for number in lengths("a length that is too short")}
    assert {True} == {SIZE < number < 2 * SIZE + 400 for number in lengths("a length that is too long")}
    assert {True} == {number > SIZE for number in lengths("a length whose rest never comes")}
    huge = lengths("a length near 2^31")
    assert 2**31 - 1 in huge and min(huge) >= 10**9
    assert {each.delivery for each in draw_results("a length that is too long")} == {Delivery.LENGTH}
    assert {each.delivery for each in draw_results("a length near 2^31")} == {Delivery.LENGTH_AND_END}


def test_a_response_is_truncated_anywhere_or_complete_before_the_link_is_closed() -> None:
    cut = lengths("cut, then closed")
    assert min(cut) == 0 and max(cut) == SIZE + 3 and any(0 < number < 4 for number in cut)
    assert set(lengths("closed after it")) == {SIZE + 4}


def test_a_response_has_an_unknown_correlation_id() -> None:
    ids = {each.data[:4] for each in draw_results("a correlation id that is not asked for")}
    assert FRAME[:4] not in ids and {(4).to_bytes(4, "big"), (6).to_bytes(4, "big")} < ids
    assert all(each.data[4:] == FRAME[4:] for each in draw_results("a correlation id that is not asked for"))


def test_a_response_is_written_in_another_version_than_requested() -> None:
    found = draw_results("another version")
    versions = set()
    for each in found:
        version = int(each.story[0].split()[1])
        versions.add(version)
        body = decode_response(each.data, HEAD.api_key, version).body
        assert isinstance(body, MetadataResponse) and body.brokers[0].port == 9_092
        assert each.data[:4] == FRAME[:4]
    assert versions == set(range(MetadataResponse.MIN_VERSION, MetadataResponse.MAX_VERSION + 1)) - {9}


def test_delivery_faults_accept_unreadable_responses() -> None:
    random = Random(1).random
    for row in DELIVERY_FAULTS:
        row.make(random, b"", HEAD, 700)
        row.make(random, b"\1\2", RequestHead(9_999, 0, 5, None, 0), 700)


# -- bytes on a link ------------------------------------------------------------------------------


class Streams:
    """Carries out effects; `streams` has the bytes for clients, `times` their times."""

    def __init__(self) -> None:
        self.now: Instant = 0
        self.timers: dict[TimerKey, Instant] = {}
        self.streams: dict[InboundLink, bytes] = {}
        self.times: list[Instant] = []
        self.closed: list[InboundLink] = []

    def carry_out(self, effects: list[Effect]) -> None:
        for effect in effects:
            match effect:
                case Reply(link, chunks):
                    frame = b"".join(chunks)
                    self._write(link, len(frame).to_bytes(4, "big") + frame)
                case ReplyBytes(link, data):
                    self._write(link, bytes(data))
                case CloseLink(InboundLink() as link):
                    self.closed.append(link)
                case SetTimer(key, at):
                    self.timers[key] = at
                case CancelTimer(key):
                    self.timers.pop(key, None)

    def _write(self, link: InboundLink, data: bytes) -> None:
        if link not in self.closed:
            self.streams[link] = self.streams.get(link, b"") + data
            self.times.append(self.now)

    def next_timer(self) -> TimerKey:
        key = min(self.timers, key=self.timers.__getitem__)
        self.now = self.timers.pop(key)
        return key


class Links(Streams):
    """Those of `Deliveries`."""

    def __init__(self) -> None:
        super().__init__()
        self.deliveries = Deliveries("test")

    def send(self, delivery: Delivery, data: bytes, frame: bytes = FRAME, link: InboundLink = LINK) -> None:
        self.carry_out(self.deliveries.send(self.now, link, delivery, data, frame))

    def send_whole(self, frame: bytes = b"whole", link: InboundLink = LINK) -> None:
        self.send(Delivery.WHOLE, b"", frame, link)

    def run(self) -> bytes:
        while self.timers:
            key = self.next_timer()
            self.carry_out(self.deliveries.fire(self.now, key))
        return self.streams.get(LINK, b"")


def sized(*frames: bytes) -> bytes:
    return b"".join(len(frame).to_bytes(4, "big") + frame for frame in frames)


def test_a_wrong_length_precedes_the_response() -> None:
    links = Links()
    links.send(Delivery.LENGTH, with_number(Delivery.LENGTH, -7, "").data)
    links.send_whole()
    assert links.run() == (-7).to_bytes(4, "big", signed=True) + FRAME + sized(b"whole")


def test_nothing_follows_a_length_without_its_bytes() -> None:
    links = Links()
    links.send(Delivery.LENGTH_AND_END, with_number(Delivery.LENGTH_AND_END, 2**31 - 1, "").data)
    links.send_whole()
    links.send_whole(link=OTHER)
    assert links.run() == b"\x7f\xff\xff\xff" + FRAME
    assert links.streams[OTHER] == sized(b"whole")
    assert not links.closed


@pytest.mark.parametrize("kept", [0, 3, 4, 9, SIZE + 4])
def test_a_link_is_closed_within_a_response_or_after_it(kept: int) -> None:
    links = Links()
    links.send(Delivery.CUT, with_number(Delivery.CUT, kept, "").data)
    links.send_whole()
    assert links.run() == sized(FRAME)[:kept]
    assert links.closed == [LINK]


def test_a_response_is_lost_duplicated_or_reordered() -> None:
    links = Links()
    links.send(Delivery.NEVER, b"")
    links.send(Delivery.TWICE, b"", b"two")
    links.send(Delivery.AFTER_NEXT, b"", b"later")
    links.send(Delivery.AFTER_NEXT, b"", b"sooner")
    links.send_whole()
    assert links.run() == sized(b"two", b"two", b"sooner", b"later", b"whole")


def test_a_response_that_waits_for_the_next_is_sent_alone_if_there_is_none() -> None:
    links = Links()
    links.send(Delivery.AFTER_NEXT, b"")
    assert links.run() == sized(FRAME)
    assert links.now == HELD_MAX


def test_a_response_that_waits_for_the_next_is_lost_with_its_link() -> None:
    links = Links()
    links.send(Delivery.AFTER_NEXT, b"", b"lost")
    links.send(Delivery.CUT, with_number(Delivery.CUT, 4, "").data)
    assert links.run() == sized(FRAME)[:4]


def test_bytes_after_a_late_response_wait_for_it() -> None:
    links = Links()
    links.send(Delivery.LATE, with_number(Delivery.LATE, 700, "").data)
    links.send_whole()
    assert LINK not in links.streams
    assert links.run() == sized(FRAME, b"whole")
    assert links.times == [700 * MILLISECOND] * 2
    links.send_whole()
    assert links.streams[LINK].endswith(sized(b"whole", b"whole"))


def test_a_response_is_sent_byte_by_byte_up_to_a_limit() -> None:
    links = Links()
    links.send(Delivery.BYTE_BY_BYTE, b"")
    links.send_whole()
    assert links.run() == sized(FRAME, b"whole")
    assert len(set(links.times)) == SIZE + 5 == len(links.times)
    links = Links()
    links.send(Delivery.BYTE_BY_BYTE, b"", bytes(1 << 20))
    assert links.run() == sized(bytes(1 << 20))
    assert 150 < len(links.times) < 250


@pytest.mark.parametrize("delivery", [Delivery.LATE, Delivery.AFTER_NEXT, Delivery.BYTE_BY_BYTE])
def test_no_timer_is_left_of_a_closed_link(delivery: Delivery) -> None:
    links = Links()
    links.send(delivery, with_number(Delivery.LATE, 700, "").data)
    assert links.timers
    links.carry_out(links.deliveries.forget(LINK))
    assert not links.timers


# -- through the interceptor -----------------------------------------------------------------------

KEY = key_of(HeartbeatResponse)


class Broker:
    """A node that answers each request with a Heartbeat, and records the links that were closed."""

    def __init__(self) -> None:
        self.closed_links: list[InboundLink] = []
        self.fired: list[TimerKey] = []

    def handle(self, now: Instant, event: Event) -> list[Effect]:
        match event:
            case RequestReceived(link, frame):
                return [Reply(link, (frame[4:8], b"body")), SetTimer(("own",), now)]
            case LinkClosed(InboundLink() as link):
                self.closed_links.append(link)
            case TimerFired(key):
                self.fired.append(key)
        return []


class InterceptedBroker(Streams):
    """That broker behind an interceptor, and a session for all links."""

    def __init__(self, *entries: Entry) -> None:
        super().__init__()
        self.inner = Broker()
        self.ends: list[Session] = []
        interceptor = ResponseInterceptor()
        self.session = Session(0, StoredPlan(entries, Names()), Names())
        interceptor.get_session, interceptor.on_link_closed = lambda: self.session, self.ends.append
        self.node = interceptor.interpose("broker", self.inner)

    def request(self, number: int, link: InboundLink = LINK) -> None:
        frame = encode_request(HeartbeatRequest(), 4, correlation_id=number, client_id="me")
        self.put(RequestReceived(link, frame))

    def put(self, event: Event) -> None:
        self.carry_out(self.node.handle(self.now, event))

    def run(self) -> None:
        while self.timers:
            key = self.next_timer()
            self.put(TimerFired(key))


def response_frame(number: int) -> bytes:
    return sized(number.to_bytes(4, "big") + b"body")


def test_a_broker_is_notified_of_a_link_closed_by_a_fault() -> None:
    broker = InterceptedBroker(Entry(KEY, 4, 1, (6).to_bytes(4, "big"), Delivery.CUT))
    broker.request(1)
    broker.request(2)
    assert broker.streams[LINK] == response_frame(1) + response_frame(2)[:6]
    assert broker.closed == broker.inner.closed_links == [LINK]
    assert broker.ends == [broker.session]


def test_a_broker_gets_only_its_own_timers() -> None:
    broker = InterceptedBroker(Entry(KEY, 4, 0, (50).to_bytes(4, "big"), Delivery.LATE))
    broker.request(1)
    broker.request(2)
    assert not broker.streams
    broker.run()
    assert broker.streams[LINK] == response_frame(1) + response_frame(2)
    assert broker.inner.fired == [("own",)]


def test_a_late_response_is_dropped_with_a_link_that_the_client_closes() -> None:
    broker = InterceptedBroker(Entry(KEY, 4, 0, (50).to_bytes(4, "big"), Delivery.LATE))
    broker.request(1)
    broker.put(LinkClosed(LINK))
    broker.run()
    assert not broker.streams
    assert broker.inner.closed_links == [LINK] and broker.inner.fired == [("own",)]


def test_two_responses_change_places() -> None:
    broker = InterceptedBroker(Entry(KEY, 4, 0, b"", Delivery.AFTER_NEXT))
    broker.request(1)
    broker.request(2)
    broker.request(3)
    assert broker.streams[LINK] == response_frame(2) + response_frame(1) + response_frame(3)
