"""Responses to clients: their mutations, their storage and replay, and the client's next requests."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from kmirror.errors import UsageError
from kmirror.fuzz.clients.breaking import break_response
from kmirror.fuzz.clients.delivery_faults import BrokenResponse, Delivery
from kmirror.fuzz.clients.response_interceptor import ResponseInterceptor
from kmirror.fuzz.clients.session import (
    BROKEN_MAX,
    RandomPlan,
    Reaction,
    ReactionKey,
    Session,
    StoredPlan,
    UnbrokenPlan,
)
from kmirror.fuzz.clients.stored_responses import Entry, Names, read_entry, with_xored_id
from kmirror.kernel.clock import Instant
from kmirror.kernel.events import Effect, Event, InboundLink, LinkClosed, Reply, RequestReceived
from kmirror.kernel.ids import Endpoint
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.fetch_response import FetchableTopicResponse, FetchResponse, PartitionData
from kmirror.protocol.gen.heartbeat_request import HeartbeatRequest
from kmirror.protocol.gen.heartbeat_response import HeartbeatResponse
from kmirror.protocol.gen.metadata_response import MetadataResponse, MetadataResponseBroker
from kmirror.protocol.headers import RequestHead, decode_response, encode_request, encode_response
from kmirror.protocol.message import Message
from kmirror.protocol.registry import key_of
from kmirror.spec.error_codes import ErrorCode

LINK, OTHER = InboundLink(("client", 1)), InboundLink(("client", 2))
NO_NAMES = Names()
LATE_MS = 3_000
RECORDS = (77).to_bytes(8, "big") + bytes(60)


def head(message: type[Message], version: int, number: int = 5) -> RequestHead:
    return RequestHead(key_of(message), version, number, "me", 0)


def frame_of(body: Message, version: int, number: int = 5) -> bytes:
    return encode_response(body, version, correlation_id=number)


METADATA = frame_of(MetadataResponse(brokers=[MetadataResponseBroker(node_id=1, host="127.0.0.1", port=9_092)]), 9)
FETCH = frame_of(
    FetchResponse(
        responses=[FetchableTopicResponse(topic="t", partitions=[PartitionData(partition_index=3, records=RECORDS)])]
    ),
    11,
)


def test_every_kind_of_break_is_drawn() -> None:
    random = Random(1).random
    drawn = [break_response(random, METADATA, head(MetadataResponse, 9), LATE_MS) for _ in range(3_000)]
    assert all(each.story for each in drawn)
    assert {each.delivery for each in drawn} == set(Delivery)
    found = [each.data for each in drawn if each.delivery is Delivery.WHOLE]
    assert 0.6 * len(drawn) < len(found) < 0.9 * len(drawn)
    kept = sum(data[:4] == METADATA[:4] for data in found)
    assert 0.9 * len(found) < kept < len(found)
    words = Counter(each.story[0].partition(":")[0] for each in drawn)
    assert {"one more", "broken UTF-8", "cut inside", "off by one", "another number", "very many tags"} <= set(words)


def test_an_error_is_put_in_the_error_field_of_a_response() -> None:
    random, seen = Random(1).random, set()
    frame = frame_of(HeartbeatResponse(), 4)
    for _ in range(2_000):
        data, story, _ = break_response(random, frame, head(HeartbeatResponse, 4), LATE_MS)
        if story[0].startswith("error "):
            body = decode_response(data, key_of(HeartbeatResponse), 4).body
            assert isinstance(body, HeartbeatResponse)
            assert story[0] == f"error {ErrorCode(body.error_code).name} at 9"
            seen.add(body.error_code)
    assert len(seen) > 50 and 0 not in seen


def test_replaced_records_have_the_same_start_and_can_be_read() -> None:
    random, count = Random(1).random, 0
    for _ in range(300):
        data, story, _ = break_response(random, FETCH, head(FetchResponse, 11), LATE_MS)
        if story[0] == "other records of partition 3":
            body = decode_response(data, key_of(FetchResponse), 11).body
            assert isinstance(body, FetchResponse)
            records = body.responses[0].partitions[0].records
            assert records is not None and bytes(records[:8]) == RECORDS[:8] and bytes(records) != RECORDS
            count += 1
    assert count > 50


@pytest.mark.parametrize("data", [b"", b"\1\2\3", METADATA[:9], b"\0\0\0\5" + bytes(3)])
def test_unreadable_responses_are_mutated_too(data: bytes) -> None:
    random = Random(1).random
    for message in (MetadataResponse, FetchResponse):
        for _ in range(50):
            break_response(random, data, head(message, message.MAX_VERSION), LATE_MS)
    for _ in range(50):
        break_response(random, data, RequestHead(9_999, 0, 5, None, 0), LATE_MS)


# -- storage ----------------------------------------------------------------------------------------


def test_a_stored_response_is_repeated_with_other_ports_and_ids() -> None:
    first = Names([Endpoint("127.0.0.1", 9_092)], [Uuid(b"a" * 16)])
    second = Names([Endpoint("127.0.0.1", 40_001)], [Uuid(b"b" * 16)])
    data = METADATA + b"a" * 16
    stored = first.to_stored(with_xored_id(data, METADATA[:4]))
    assert len(stored) == len(data)  # Placeholders are as long as the values that they replace.
    assert stored[:4] == bytes(4) and (9_092).to_bytes(4, "big") not in stored
    data_sent = with_xored_id(second.from_stored(stored), (77).to_bytes(4, "big"))
    assert data_sent == (77).to_bytes(4, "big") + data[4:].replace(b"#\x84", b"\x9cA").replace(b"a" * 16, b"b" * 16)
    assert with_xored_id(first.from_stored(stored), METADATA[:4]) == data


def test_a_response_without_the_clients_id_is_stored_by_the_difference() -> None:
    assert with_xored_id(with_xored_id(b"\0\0\0\7rest", b"\0\0\0\5"), b"\0\0\1\5") == b"\0\0\1\7rest"
    assert with_xored_id(b"\1\2", b"\0\0\0\5") == b"\1\2"  # It was truncated inside the mask.


def test_an_entry_is_read_back() -> None:
    for delivery in Delivery:
        entry = Entry(3, 12, 70_000, b"data", delivery)
        assert read_entry(entry.to_bytes()) == entry
    assert str(Entry(3, 12, 70_000, b"")) == "MetadataResponse v12, number 70000"
    assert str(Entry(3, 12, 0, b"", Delivery.NEVER)) == "MetadataResponse v12, number 0 that never came"
    with pytest.raises(UsageError, match="unknown delivery: 99"):
        read_entry(bytes(8) + b"\x63")
    assert Entry(9_999, 0, 0, b"").name == "the response of API 9999"


def test_a_script_responds_only_to_the_same_request() -> None:
    plan = StoredPlan([Entry(3, 9, 1, b"\0\0\0\0body")], NO_NAMES)
    assert plan.answer(head(MetadataResponse, 9), 0, METADATA) is None
    assert plan.answer(head(MetadataResponse, 8), 1, METADATA) is None
    assert plan.answer(head(FetchResponse, 9), 1, METADATA) is None
    response = plan.answer(head(MetadataResponse, 9), 1, METADATA)
    assert response is not None and response.data == METADATA[:4] + b"body"


def test_a_script_repeats_the_delivery_fault_of_a_response() -> None:
    plan = RandomPlan(1, 0, late_s=0.5)
    session = Session(0, plan, NO_NAMES)
    for _ in range(2_000):
        session.answer(LINK, head(MetadataResponse, 9), METADATA)
    entries = [read_entry(sent.entry.to_bytes()) for sent in session.broken]
    assert {entry.delivery for entry in entries} == set(Delivery)
    assert BrokenResponse((500).to_bytes(4, "big"), ("as stored",), Delivery.LATE) in {
        StoredPlan([entry], NO_NAMES).answer(head(MetadataResponse, 9), entry.nth, METADATA) for entry in entries
    }
    again = Session(0, StoredPlan(entries, NO_NAMES), NO_NAMES)
    for _ in range(2_000):
        again.answer(LINK, head(MetadataResponse, 9), METADATA)
    assert [sent.entry for sent in again.broken] == entries


# -- sessions ---------------------------------------------------------------------------------------


def play(plan: RandomPlan) -> list[tuple[int, bytes]]:
    session = Session(0, plan, NO_NAMES)
    for _ in range(20):
        session.answer(LINK, head(MetadataResponse, 9), METADATA)
        session.answer(LINK, head(FetchResponse, 11), FETCH)
    return [(each.entry.key, each.entry.data) for each in session.broken]


def test_a_session_is_drawn_from_its_seed_and_number() -> None:
    seen = [(key_of(MetadataResponse), 20), (key_of(FetchResponse), 20)]
    sessions = [play(RandomPlan(1, number, seen)) for number in range(60)]
    assert sessions == [play(RandomPlan(1, number, seen)) for number in range(60)]
    assert sessions != [play(RandomPlan(2, number, seen)) for number in range(60)]
    sizes = [len(each) for each in sessions]
    assert sizes.count(1) > 15 and max(sizes) > 10  # Single responses, and long series.
    assert sum(len({key for key, _ in each}) == 1 for each in sessions) > 30


def test_the_clients_next_action_is_counted_by_link() -> None:
    session = Session(0, UnbrokenPlan(), NO_NAMES)
    for link in (LINK, OTHER):
        session.add_request(link)
        assert session.answer(link, head(MetadataResponse, 9), METADATA) == BrokenResponse(METADATA, ())
    session.add_request(LINK)
    session.add_close(OTHER)
    session.answer(LINK, head(FetchResponse, 11), FETCH)
    assert session.is_open
    session.finish()
    assert not session.is_open
    assert session.reactions == Counter(
        [
            ReactionKey("MetadataResponse", 9, False, Reaction.SENT_REQUEST),
            ReactionKey("MetadataResponse", 9, False, Reaction.CLOSED_LINK),
            ReactionKey("FetchResponse", 11, False, Reaction.NOTHING),
        ]
    )
    assert session.api_counts == [(key_of(FetchResponse), 1), (key_of(MetadataResponse), 2)]


def test_a_client_that_never_ends_gets_unchanged_responses_at_last() -> None:
    plan = StoredPlan([Entry(3, 9, nth, b"\0\0\0\0") for nth in range(BROKEN_MAX + 5)], NO_NAMES)
    session = Session(0, plan, NO_NAMES)
    responses = [session.answer(LINK, head(MetadataResponse, 9), METADATA) for _ in range(BROKEN_MAX + 5)]
    assert [each.data == METADATA for each in responses] == [False] * BROKEN_MAX + [True] * 5


class Broker:
    """A node that answers each request with an empty Heartbeat."""

    def handle(self, now: Instant, event: Event) -> list[Effect]:
        if isinstance(event, RequestReceived):
            number = int.from_bytes(event.frame[4:8], "big")
            frame = frame_of(HeartbeatResponse(), 4, number)
            return [Reply(event.link, (frame[:4], frame[4:]))]
        return []


def ask(client_id: str, number: int) -> bytes:
    return encode_request(HeartbeatRequest(), 4, correlation_id=number, client_id=client_id)


def test_responses_on_client_links_are_mutated_until_the_link_ends() -> None:
    interceptor, ends = ResponseInterceptor(), list[Session]()
    session = Session(1, StoredPlan([Entry(key_of(HeartbeatResponse), 4, 1, b"\0\0\0\0no")], NO_NAMES), NO_NAMES)
    interceptor.get_session, interceptor.on_link_closed = lambda: session, ends.append
    node, now = interceptor.interpose("broker", Broker()), 0

    def responses_to(link: InboundLink, frame: bytes) -> list[bytes]:
        effects = node.handle(now, RequestReceived(link, frame))
        return [b"".join(each.chunks) for each in effects if isinstance(each, Reply)]

    body = frame_of(HeartbeatResponse(), 4)[4:]
    assert responses_to(OTHER, ask("broker-1", 7)) == [(7).to_bytes(4, "big") + body]  # Brokers' links have no session.
    assert responses_to(LINK, ask("me", 8)) == [(8).to_bytes(4, "big") + body]
    assert responses_to(LINK, ask("me", 9)) == [(9).to_bytes(4, "big") + b"no"]
    assert responses_to(OTHER, ask("broker-1", 9)) == [(9).to_bytes(4, "big") + body]
    assert session.response_count == 2
    for link in (OTHER, LINK):
        node.handle(now, LinkClosed(link))
    assert ends == [session]
    assert [row.reaction for row in session.reactions] == [Reaction.SENT_REQUEST, Reaction.CLOSED_LINK]
