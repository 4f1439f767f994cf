"""Faults planted in kmirror's code, one function each, for the fuzzer to find."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, NamedTuple
from unittest.mock import patch

from kmirror.cluster.controller.apis import create_topics
from kmirror.cluster.coordinators.groups.classic import requests
from kmirror.cluster.coordinators.groups.classic.group import ClassicGroup
from kmirror.cluster.coordinators.transactions.apis import init_producer_id
from kmirror.cluster.server import Handler, Inbound, Routes, Server, inbound
from kmirror.errors import LocalProtocolError, ProtocolError
from kmirror.fuzz.findings import FaultKind
from kmirror.fuzz.requests import TOPIC
from kmirror.kernel.clock import Instant
from kmirror.protocol import careful, headers, wire
from kmirror.protocol.gen.heartbeat_response import HeartbeatResponse
from kmirror.protocol.gen.list_offsets_request import ListOffsetsRequest
from kmirror.protocol.gen.metadata_request import MetadataRequest
from kmirror.protocol.gen.offset_commit_response import OffsetCommitResponse
from kmirror.protocol.gen.produce_response import ProduceResponse
from kmirror.protocol.message import Message
from kmirror.protocol.wire import Malformed
from kmirror.spec.error_codes import ErrorCode
from tests.sim.fuzz.planted_batches import BATCH
from tests.sim.fuzz.planted_effects import EFFECTS
from tests.sim.fuzz.planted_files import INTERNAL_TOPICS, LOG, LOG_DIR

SEED = 1
Patch = AbstractContextManager[object]


class Planted(NamedTuple):
    """A fault: the target that finds it, the names of the requests, the maximum number of frames, and the finding."""

    name: str
    target: str
    plant: Callable[[], Patch]
    kinds: tuple[FaultKind, ...]
    frames: int
    messages: tuple[str, ...] = ()


# -- the decoder --------------------------------------------------------------------------------


def _uvarint(limit: int = 0x80, *, longest: int = 5) -> Callable[[wire.Buffer, int], tuple[int, int]]:
    def read(buf: wire.Buffer, pos: int) -> tuple[int, int]:
        result = 0
        for index in range(longest):
            octet = buf[pos]
            pos += 1
            result |= (octet & 0x7F) << 7 * index
            if octet < limit:
                return result & wire.INT32_MAX, pos
        raise Malformed

    return read


def varint_off_by_one() -> Patch:
    """127 is read as the first byte of two."""
    return patch.object(wire, "read_uvarint", _uvarint(0x7F))


def varint_of_three_bytes() -> Patch:
    """The third of three bytes is ignored: lengths from 16 KiB on are wrong."""
    read = wire.read_uvarint

    def read_two_bytes(buf: wire.Buffer, pos: int) -> tuple[int, int]:
        value, end = read(buf, pos)
        return (value & 0x3FFF if end - pos == 3 and len(buf) > 2**14 else value), end

    return patch.object(wire, "read_uvarint", read_two_bytes)


def long_text_cut_off() -> Patch:
    """A text is cut after 8 KiB."""
    read = wire.read_string

    def read_prefix(buf: wire.Buffer, pos: int) -> tuple[str, int]:
        text, end = read(buf, pos)
        return text[: 2**13], end

    return patch.object(wire, "read_string", read_prefix)


def varint_without_bound() -> Patch:
    """A varint of up to ten bytes is read."""
    return patch.object(wire, "read_uvarint", _uvarint(longest=10))


def null_text_accepted() -> Patch:
    """A null is read as an empty string where it is forbidden; the slow reader refuses it."""
    read = wire.read_nullable_string

    def read_null_as_empty(buf: wire.Buffer, pos: int) -> tuple[str, int]:
        text, end = read(buf, pos)
        return text or "", end

    return patch.object(wire, "read_string", read_null_as_empty)


def null_array_accepted() -> Patch:
    """Both readers accept a null for an array."""
    count = careful.MessageReader.read_count

    def read_nullable_count(self: careful.MessageReader, path: str, flexible: bool, nullable: bool) -> int:
        return count(self, path, flexible, True)

    return patch.object(careful.MessageReader, "read_count", read_nullable_count)


def length_unchecked() -> Patch:
    """Missing bytes are ignored."""

    def read_bytes(self: careful.MessageReader, n: int, path: str) -> memoryview:
        found = self.view[self.position : self.position + n]
        self.position += n
        return found.cast("B") if len(found) == n else memoryview(bytes(found).ljust(n, b"\0"))

    return patch.object(careful.MessageReader, "read_bytes", read_bytes)


def index_error() -> Patch:
    """The end of the bytes within a varint raises an IndexError."""

    def read_uvarint(self: careful.MessageReader, path: str) -> int:
        value, self.position = wire.read_uvarint(self.view, self.position)
        return value

    return patch.object(careful.MessageReader, "read_uvarint", read_uvarint)


def repeated_tag_read_differently() -> Patch:
    """The fast reader keeps only the last of two unknown tags with the same number."""
    read = wire.read_unknown_tags

    def read_last_tags(buf: wire.Buffer, pos: int) -> tuple[tuple[wire.UnknownTag, ...], int]:
        tags, end = read(buf, pos)
        return tuple({each.tag: each for each in tags}.values()), end

    return patch.object(wire, "read_unknown_tags", read_last_tags)


def memory_allocated_first() -> Patch:
    """Memory for a count is allocated before it is compared with the remaining bytes."""
    length = careful.MessageReader.read_length

    def allocate_length(self: careful.MessageReader, flexible: bool, width: int, path: str) -> int:
        found = length(self, flexible, width, path)
        bytearray(max(0, min(found, 1 << 26)))
        return found

    return patch.object(careful.MessageReader, "read_length", allocate_length)


def null_written_as_empty() -> Patch:
    """A null string is written as an empty one."""
    return patch.object(wire, "compact_nullable_string", lambda value: wire.compact_string(value or ""))


def wrong_position() -> Patch:
    """An error names a byte behind the end."""
    fail = careful.MessageReader.make_error

    def make_error_beyond_end(
        self: careful.MessageReader, message: str, path: str, position: int | None = None
    ) -> ProtocolError:
        return fail(self, message, path, len(self.view) + 4)

    return patch.object(careful.MessageReader, "make_error", make_error_beyond_end)


def lenient_is_stricter() -> Patch:
    """The lenient reader requires UTF-8 for text, although even the strict reader does not."""
    read_variable = careful.MessageReader.read_variable

    def require_utf8(self: careful.MessageReader, type_: str, path: str, flexible: bool, nullable: bool) -> object:
        found = read_variable(self, type_, path, flexible, nullable)
        if self.lenient and isinstance(found, str) and any("\ud800" <= each <= "\udfff" for each in found):
            raise self.make_error("no UTF-8", path)
        return found

    return patch.object(careful.MessageReader, "read_variable", require_utf8)


# -- whole requests -----------------------------------------------------------------------------


def header_tags_not_skipped() -> Patch:
    """The fast reader of the header reads its tags as the beginning of the body."""
    return patch.object(headers, "_skip_tags", lambda frame, position: position + 1)


def version_without_a_field() -> Patch:
    """The error for an unknown version lacks the field and the byte of the header."""

    def decode_without_header(frame: wire.Buffer, head: headers.RequestHead) -> Message:
        request = headers.find_request(head.api_key)
        assert request is not None
        return request.decode_prefix(frame, head.api_version, head.body_position)[0]

    return patch.object(headers, "decode_request_body", decode_without_header)


# -- a broker -----------------------------------------------------------------------------------


def _check_requests(request: type[Message], check: Callable[[Any], object]) -> Patch:
    """Return a patch that calls `check` with each request of this class before its handler."""
    serve = Server.serve

    def with_check(handler: Handler) -> Handler:
        def handle(now: Instant, inbound: Inbound) -> None:
            check(inbound)
            handler(now, inbound)

        return handle

    def serve_checked(self: Server, routes: Routes) -> None:
        serve(self, {cls: with_check(handler) if cls is request else handler for cls, handler in routes.items()})

    return patch.object(Server, "serve", serve_checked)


def _change_responses(response: type[Message], change: Callable[[Any], Message | None]) -> Patch:
    """Return a patch that changes responses of this class before they are sent; None sends nothing."""
    reply = Inbound.reply

    def reply_changed(self: Inbound, body: Message) -> None:
        changed = change(body) if isinstance(body, response) else body
        if changed is not None:
            reply(self, changed)

    return patch.object(Inbound, "reply", reply_changed)


def response_of_another_version() -> Patch:
    """Responses are written in the previous version."""
    encode = inbound.encode_response_chunks

    def encode_older(body: Message, version: int, **options: Any) -> Any:
        try:
            return encode(body, max(body.MIN_VERSION, version - 1), **options)
        except LocalProtocolError:  # That version cannot express it.
            return encode(body, version, **options)

    return patch.object(inbound, "encode_response_chunks", encode_older)


def byte_after_the_response() -> Patch:
    """Each response has one byte more than its schema allows."""
    encode = inbound.encode_response_chunks

    def encode_longer(body: Message, version: int, **options: Any) -> Any:
        return [*encode(body, version, **options), b"\0"]

    return patch.object(inbound, "encode_response_chunks", encode_longer)


def link_closed_for_a_valid_request() -> Patch:
    """The link is closed instead of an error response."""
    reply = Inbound.reply

    def drop_or_reply(self: Inbound, body: Message) -> None:
        if isinstance(body, HeartbeatResponse):
            self.drop()
        else:
            reply(self, body)

    return patch.object(Inbound, "reply", drop_or_reply)


def wrong_correlation_id() -> Patch:
    """The correlation id loses its sign."""
    encode = inbound.encode_response_chunks

    def encode_unsigned(body: Message, version: int, *, correlation_id: int) -> Any:
        return encode(body, version, correlation_id=abs(correlation_id) & 0x7FFFFFFF)

    return patch.object(inbound, "encode_response_chunks", encode_unsigned)


def heartbeat_without_response() -> Patch:
    """A Heartbeat of an unknown member is not answered."""
    return _change_responses(HeartbeatResponse, lambda body: None if body.error_code == 25 else body)


def produce_without_response() -> Patch:
    """A Produce that is refused is not answered."""
    return _change_responses(ProduceResponse, lambda body: None if _has_error(body) else body)


def acks_0_gets_a_response() -> Patch:
    """A Produce with acks=0 is answered."""
    return patch.object(Inbound, "no_reply", lambda inbound: inbound.reply(ProduceResponse()))


def _has_error(body: ProduceResponse) -> bool:
    return any(row.error_code for topic in body.responses for row in topic.partition_responses)


def no_such_error_code() -> Patch:
    """The response has an undefined error code."""

    def negate_error(body: HeartbeatResponse) -> HeartbeatResponse:
        body.error_code = -body.error_code
        return body

    return _change_responses(HeartbeatResponse, negate_error)


def refused_produce_writes() -> Patch:
    """A Produce whose records were appended is answered with an error."""

    def set_errors(body: ProduceResponse) -> ProduceResponse:
        for topic in body.responses:
            for row in topic.partition_responses:
                row.error_code = row.error_code or ErrorCode.INVALID_RECORD
        return body

    return _change_responses(ProduceResponse, set_errors)


def refused_create_topics_writes() -> Patch:
    """A topic that was created is answered with an error."""

    describe = create_topics._describe

    def describe_with_error(context: Any, result: Any, created: Any, *, is_described: bool) -> None:
        describe(context, result, created, is_described=is_described)
        if result.name != TOPIC:  # That topic exists from the beginning.
            result.error_code = ErrorCode.POLICY_VIOLATION

    return patch.object(create_topics, "_describe", describe_with_error)


def refused_offset_commit_writes() -> Patch:
    """Offsets that were committed are answered with an error."""

    def set_errors(body: OffsetCommitResponse) -> OffsetCommitResponse:
        for topic in body.topics:
            for row in topic.partitions:
                row.error_code = row.error_code or ErrorCode.ILLEGAL_GENERATION
        return body

    return _change_responses(OffsetCommitResponse, set_errors)


def refused_producer_has_its_epoch() -> Patch:
    """A producer gets the error that it is fenced, but its transactional id has the next epoch nevertheless."""

    def persist(coordinator: Any, inbound: Inbound, before: Any, transaction: Any) -> None:
        def on_done(now: Instant, error: ErrorCode) -> None:
            init_producer_id._reject(inbound, ErrorCode.INVALID_PRODUCER_EPOCH)

        coordinator.write(before, transaction, on_done)

    return patch.object(init_producer_id, "_persist", persist)


def refused_member_stays() -> Patch:
    """A client that must join again with its member id is a member already."""
    join_new = requests._join_new

    def add_and_reject(group: ClassicGroup, now_ms: int, join: requests.Join) -> None:
        if join.request.group_instance_id is None and join.version >= requests.MEMBER_ID_REQUIRED_FROM:
            requests._add(group, now_ms, replace(join, waiter=lambda body: None), join.new_member_id)
            requests._reject(group, join, ErrorCode.MEMBER_ID_REQUIRED, join.new_member_id)
        else:
            join_new(group, now_ms, join)

    return patch.object(requests, "_join_new", add_and_reject)


def handler_raises_on_null() -> Patch:
    """The handler ignores that Metadata may request all topics."""
    return _check_requests(MetadataRequest, lambda inbound: len(inbound.body.topics))


def handler_raises_on_a_number() -> Patch:
    """A partition's number is used as an index."""

    def check(inbound: Inbound) -> None:
        body: Any = inbound.body
        for topic in body.topics:
            for row in topic.partitions:
                assert (True, True)[row.partition_index]

    return _check_requests(ListOffsetsRequest, check)


def controller_raises() -> Patch:
    """The controller divides by a replication factor."""
    records = create_topics.topic_records

    def divide_first(context: Any, topic: Any) -> Any:
        assert topic.num_partitions // topic.replication_factor < 1 << 32
        return records(context, topic)

    return patch.object(create_topics, "topic_records", divide_first)


_DECODER = (
    (varint_off_by_one, (FaultKind.REFUSED, FaultKind.CHANGED), ()),
    (varint_of_three_bytes, (FaultKind.REFUSED, FaultKind.CHANGED, FaultKind.TAKEN), ()),
    (long_text_cut_off, (FaultKind.CHANGED, FaultKind.DIFFERS), ("HeartbeatRequest",)),
    (varint_without_bound, (FaultKind.TAKEN,), ()),
    (null_text_accepted, (FaultKind.TAKEN,), ()),
    (null_array_accepted, (FaultKind.TAKEN, FaultKind.RAISED), ()),
    (length_unchecked, (FaultKind.TAKEN,), ()),
    (index_error, (FaultKind.RAISED,), ()),
    (repeated_tag_read_differently, (FaultKind.DIFFERS,), ()),
    (memory_allocated_first, (FaultKind.MEMORY,), ()),
    (null_written_as_empty, (FaultKind.CHANGED,), ()),
    (wrong_position, (FaultKind.RAISED,), ()),
    (lenient_is_stricter, (FaultKind.DIFFERS,), ()),
)
_REQUEST = (
    (header_tags_not_skipped, (FaultKind.REFUSED, FaultKind.DIFFERS), ()),
    (version_without_a_field, (FaultKind.RAISED,), ()),
)
_NODE: tuple[tuple[Callable[[], Patch], tuple[FaultKind, ...], tuple[str, ...]], ...] = (
    (response_of_another_version, (FaultKind.REFUSED,), ()),
    (byte_after_the_response, (FaultKind.REFUSED,), ()),
    (link_closed_for_a_valid_request, (FaultKind.REFUSED,), ("HeartbeatRequest",)),
    (wrong_correlation_id, (FaultKind.DIFFERS,), ()),
    (heartbeat_without_response, (FaultKind.SILENT,), ("HeartbeatRequest",)),
    (produce_without_response, (FaultKind.SILENT,), ("ProduceRequest",)),
    (acks_0_gets_a_response, (FaultKind.TAKEN,), ("ProduceRequest",)),
    (no_such_error_code, (FaultKind.TAKEN,), ("HeartbeatRequest",)),
    (refused_produce_writes, (FaultKind.STATE,), ("ProduceRequest",)),
    (refused_create_topics_writes, (FaultKind.STATE,), ("CreateTopicsRequest",)),
    (refused_offset_commit_writes, (FaultKind.STATE,), ("OffsetCommitRequest",)),
    (refused_producer_has_its_epoch, (FaultKind.STATE,), ("InitProducerIdRequest",)),
    (refused_member_stays, (FaultKind.STATE,), ("JoinGroupRequest",)),
    (handler_raises_on_null, (FaultKind.RAISED,), ("MetadataRequest",)),
    (handler_raises_on_a_number, (FaultKind.RAISED,), ("ListOffsetsRequest",)),
    (controller_raises, (FaultKind.RAISED,), ("CreateTopicsRequest",)),
)
_TCP: tuple[tuple[Callable[[], Patch], tuple[FaultKind, ...], tuple[str, ...]], ...] = (
    (byte_after_the_response, (FaultKind.REFUSED,), ("FindCoordinatorRequest",)),
    (link_closed_for_a_valid_request, (FaultKind.REFUSED,), ("HeartbeatRequest",)),
)
FRAMES = {
    "decoder": 20_000,
    "request": 2_000,
    "batch": 10_000,
    "log": 500,
    "log-dir": 600,
    "internal-topics": 2_000,
    "node": 1_000,
    "bootstrap-server": 1_000,
}


def _rows(target: str, rows: Any) -> Iterator[Planted]:
    for plant, kinds, messages in rows:
        yield Planted(plant.__name__.replace("_", " "), target, plant, kinds, FRAMES[target], messages)


PLANTED = (
    *_rows("decoder", _DECODER),
    *_rows("request", _REQUEST),
    *_rows("batch", BATCH),
    *_rows("log", LOG),
    *_rows("log-dir", LOG_DIR),
    *_rows("internal-topics", INTERNAL_TOPICS),
    *_rows("node", _NODE),
    *_rows("node", EFFECTS),
    *_rows("bootstrap-server", _TCP),
)
