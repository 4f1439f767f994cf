"""Traffic of the proxy, reported for each request and counted: client, API, version, latency, errors."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from kmirror.errors import ProtocolError
from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.kernel.events import (
    Chunk,
    CloseLink,
    Effect,
    Event,
    InboundLink,
    LinkClosed,
    LinkOpened,
    Node,
    Reply,
    RequestReceived,
)
from kmirror.kernel.ids import Endpoint
from kmirror.kernel.wrapping import Wrapper
from kmirror.protocol.careful import is_within
from kmirror.protocol.gen.produce_request import ProduceRequest
from kmirror.protocol.headers import RequestHead, decode_response, try_peek_request
from kmirror.protocol.message import Message
from kmirror.protocol.produce_acks import produce_acks
from kmirror.protocol.registry import find_key, key_of
from kmirror.protocol.structs import Struct
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import Acks

STEPS = 16
"""Buckets of a latency histogram for each power of two: a value is accurate to 4.5 %."""
TOKEN = "SASL token"
_PRODUCE = key_of(ProduceRequest)


@dataclass(slots=True)
class Exchange:
    """A request and its response."""

    port: str
    """Port of the proxy, such as "broker 1"."""
    client: Endpoint
    link: int
    """Number of the client's connection, from 1 on."""
    at: Instant
    head: RequestHead | None
    """None for a SASL token without a header."""
    frame: Chunk
    responded_at: Instant | None = None
    """None without a response: for a Produce with acks=0, or on a link that was closed."""
    response_chunks: tuple[Chunk, ...] = ()
    body: Message | None = None
    """The decoded response; None if there is none, or if it cannot be decoded."""
    errors: tuple[str, ...] = ()
    """Names of the error codes in the response, each once."""
    is_cut: bool = False
    """Whether the link was closed before an expected response."""

    @property
    def api(self) -> str:
        """Return the name of the API, or its key as text if unknown."""
        if self.head is None:
            return TOKEN
        api = find_key(self.head.api_key)
        return str(self.head.api_key) if api is None else api.name

    @property
    def latency_ms(self) -> float | None:
        """Return the time that the client waited for the response, in ms."""
        return None if self.responded_at is None else (self.responded_at - self.at) / MILLISECOND


OnExchange = Callable[[Exchange], object]


class TrafficNode(Wrapper):
    """A port that reports each exchange when it is over."""

    def __init__(self, name: str, inner: Node, on_exchange: OnExchange) -> None:
        super().__init__(inner)
        self._name = name
        self._on_exchange = on_exchange
        self._links: dict[InboundLink, tuple[LinkOpened, int, deque[Exchange]]] = {}
        self._opened = 0

    def handle(self, now: Instant, event: Event) -> list[Effect]:
        """Return the effects of `event`."""
        match event:
            case RequestReceived(name, frame) if name in self._links:
                self._begin(now, name, frame)
            case LinkOpened(name):
                self._opened += 1
                self._links[name] = event, self._opened, deque()
        effects = self.inner.handle(now, event)
        for effect in effects:
            match effect:
                case Reply(name) if name in self._links:
                    self._end(now, name, effect.chunks)
                case CloseLink(InboundLink() as name):
                    self._cut(name)
        if isinstance(event, LinkClosed) and isinstance(event.link, InboundLink):
            self._cut(event.link)
        return effects

    def _begin(self, now: Instant, name: InboundLink, frame: Chunk) -> None:
        opened, number, waiting = self._links[name]
        head = try_peek_request(frame)
        exchange = Exchange(self._name, opened.address, number, now, head, frame)
        if head is not None and head.api_key == _PRODUCE and _acks(frame, head) == Acks.NONE:
            self._on_exchange(exchange)
        else:
            waiting.append(exchange)

    def _end(self, now: Instant, name: InboundLink, chunks: tuple[Chunk, ...]) -> None:
        waiting = self._links[name][2]
        if not waiting:
            return
        exchange = waiting.popleft()
        exchange.responded_at, exchange.response_chunks = now, chunks
        if exchange.head is not None and find_key(exchange.head.api_key) is not None:
            try:
                exchange.body = decode_response(b"".join(chunks), exchange.head.api_key, exchange.head.api_version).body
            except ProtocolError:
                exchange.errors = ("cannot be decoded",)
            else:
                exchange.errors = tuple(dict.fromkeys(errors_in(exchange.body, exchange.head.api_version)))
        self._on_exchange(exchange)

    def _cut(self, name: InboundLink) -> None:
        found = self._links.pop(name, None)
        for exchange in () if found is None else found[2]:
            exchange.is_cut = True
            self._on_exchange(exchange)


def _acks(frame: Chunk, head: RequestHead) -> int | None:
    try:
        return produce_acks(frame, head)
    except ProtocolError:
        return None


def errors_in(struct: Struct, version: int) -> Iterator[str]:
    """Yield the names of the error codes in a message other than NONE; the number of an unknown code."""
    for row in type(struct).FIELDS:
        if not is_within(version, row.versions):
            continue
        value = getattr(struct, row.attribute)
        if row.attribute.endswith("error_code"):
            if value:
                yield ErrorCode(value).name if value in ErrorCode.__members__.values() else str(value)
        elif row.type == "struct" and value is not None:
            for element in value if row.is_array else (value,):
                yield from errors_in(element, version)


class CountKey(NamedTuple):
    """Key under which exchanges are counted."""

    api: str
    version: int
    client_id: str


@dataclass(slots=True)
class RequestCounts:
    """Counts and latencies of the requests with one key."""

    requests: int = 0
    cut: int = 0
    """Links closed before the response."""
    errors: Counter[str] = field(default_factory=Counter)
    latencies: Counter[int] = field(default_factory=Counter)
    """Number of responses in each bucket."""

    def add(self, exchange: Exchange) -> None:
        """Count an exchange."""
        self.requests += 1
        self.cut += exchange.is_cut
        self.errors.update(exchange.errors)
        if exchange.responded_at is not None:
            self.latencies[_bucket(exchange.responded_at - exchange.at)] += 1

    def latency_ms(self, part: float) -> float | None:
        """Return the latency in ms below which this share of the responses arrived; None if there were none."""
        left = part * self.latencies.total()
        for bucket, count in sorted(self.latencies.items()):
            left -= count
            if left <= 0:
                return _middle(bucket) / MILLISECOND
        return None


def _bucket(span: int) -> int:
    """Return the bucket number of a span in microseconds."""
    if span < STEPS:
        return max(span, 0)
    power = span.bit_length() - STEPS.bit_length()
    return (power << (STEPS.bit_length() - 1)) + (span >> power)


def _middle(bucket: int) -> float:
    power, place = max(bucket // STEPS - 1, 0), bucket
    place -= power * STEPS
    return (place + 0.5) * (1 << power) if power else float(place)


class Summary:
    """Counts of all traffic, by API, version and client."""

    def __init__(self) -> None:
        self.counts: dict[CountKey, RequestCounts] = {}

    def add(self, exchange: Exchange) -> None:
        """Count an exchange."""
        head = exchange.head
        key = CountKey(exchange.api, -1 if head is None else head.api_version, (head and head.client_id) or "")
        found = self.counts.get(key)
        if found is None:
            found = self.counts[key] = RequestCounts()
        found.add(exchange)
