"""Fuzzing proxy: mutates every Nth frame in either direction.

Each port has its own random stream, from the seed and the port's name. The order of frames depends on the clients and
the broker, so a seed alone does not reproduce a run; each mutation is reported.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from kmirror.fuzz.field_offsets import CORRELATION_SPOT, REQUEST_SPOTS, response_spots, spots_in
from kmirror.fuzz.mutations import Step, mutate
from kmirror.fuzz.pending_requests import PendingRequests
from kmirror.fuzz.spots import RawSpot, SpotKind
from kmirror.kernel.clock import Instant
from kmirror.kernel.events import (
    Chunk,
    CloseLink,
    Effect,
    Event,
    InboundLink,
    LinkClosed,
    Node,
    Reply,
    RequestReceived,
    Send,
)
from kmirror.kernel.wrapping import Wrapper
from kmirror.protocol.headers import RequestHead, try_peek_request
from kmirror.protocol.registry import find_key, find_request


@dataclass(frozen=True, slots=True)
class MutatedFrame:
    """A frame that was mutated."""

    number: int
    """Number of the frame among those of its port, from 1 on."""
    port: str
    receiver: str
    """The receiver: "broker" or "client"."""
    api: str
    """The API and its version."""
    data: bytes
    steps: list[Step]

    def __str__(self) -> str:
        text = ", ".join(map(str, self.steps))
        return f"frame {self.number} at {self.port}, {self.api} to the {self.receiver}: {text}"


OnMutated = Callable[[MutatedFrame], object]


class MutatingNode(Wrapper):
    """A port that mutates one of `every` frames."""

    def __init__(self, name: str, inner: Node, seed: int, every: int, on_mutated: OnMutated) -> None:
        super().__init__(inner)
        self._name = name
        self._random = Random(f"{seed}/{name}").random
        self._every = every
        self._on_mutated = on_mutated
        self._count = 0
        self._pending = PendingRequests()

    def handle(self, now: Instant, event: Event) -> list[Effect]:
        """Return the effects of `event`, with some frames mutated."""
        match event:
            case RequestReceived(name, frame):
                self._pending.add(name, try_peek_request(frame))
            case LinkClosed(InboundLink() as name):
                self._pending.forget(name)
        return [self._mutate_effect(effect) for effect in self.inner.handle(now, event)]

    def _mutate_effect(self, effect: Effect) -> Effect:
        match effect:
            case Send(link, chunks):
                return Send(link, self._mutate("broker", chunks, None))
            case Reply(name, chunks):
                return Reply(name, self._mutate("client", chunks, self._pending.take_request(name, chunks[0])))
            case CloseLink(InboundLink() as name):
                self._pending.forget(name)
        return effect

    def _mutate(self, receiver: str, chunks: tuple[Chunk, ...], head: RequestHead | None) -> tuple[Chunk, ...]:
        self._count += 1
        if self._count % self._every:
            return chunks
        frame = b"".join(chunks)
        if receiver == "broker":
            head = try_peek_request(frame)
            spots = [(SpotKind.BYTES, 0, len(frame), None)] if head is None else _request_spots(frame, head)
        else:
            spots = [
                CORRELATION_SPOT,
                *([(SpotKind.BYTES, 0, len(frame), None)] if head is None else _spots(frame, head)),
            ]
        data, steps = mutate(self._random, bytearray(frame), [spot for spot in spots if spot[2] <= len(frame)])
        if not steps or bytes(data) == frame:
            return chunks
        mutated = MutatedFrame(self._count, self._name, receiver, _api_text(head), bytes(data), steps)
        self._on_mutated(mutated)
        return (mutated.data,)


def _api_text(head: RequestHead | None) -> str:
    api = None if head is None else find_key(head.api_key)
    return "bytes" if head is None or api is None else f"{api.name} v{head.api_version}"


def _request_spots(frame: bytes, head: RequestHead) -> list[RawSpot]:
    request = find_request(head.api_key)
    body = [] if request is None else spots_in(request, frame, head.api_version, head.body_position)
    return [*REQUEST_SPOTS, *body]


def _spots(frame: bytes, head: RequestHead) -> list[RawSpot]:
    return response_spots(frame, head.api_key, head.api_version)
