"""Streams: the frames of a seed, in blocks of a valid message and its broken variants.

A block depends on the seed and its own number only, so any frame can be made again without those before it, and workers
can share a stream by blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple, Protocol

from kmirror.fuzz.field_offsets import spots_in
from kmirror.fuzz.grammar import Template, grammar
from kmirror.fuzz.mutations import DEFAULT_TABLE, Step, Table, mutate
from kmirror.fuzz.spots import RawSpot
from kmirror.fuzz.vocabulary import ARBITRARY, Vocabulary
from kmirror.protocol.gen.request_header import RequestHeader
from kmirror.protocol.headers import peek_request
from kmirror.protocol.message import Message
from kmirror.protocol.registry import by_key, key_of

BROKEN_HEADS_SHARE = 0.05
"""Share of blocks in which the spots of the request header may be broken too."""
BLOCK_FRAMES = 32
"""A valid message, and 31 frames made of it."""


class Frame(NamedTuple):
    """Bytes to try, with their `number` in the stream. Valid if there are no steps.

    `name` is the message's, as in FetchRequest, or that of another kind of frame, as in RecordBatch, whose `version` is
    its magic. `message` is the message class, None for anything else. `is_canonical` means that a writer must write
    these bytes.
    """

    number: int
    name: str
    version: int
    data: bytes
    steps: Sequence[Step | str]
    is_canonical: bool
    message: type[Message] | None = None

    @property
    def is_valid(self) -> bool:
        """Return whether nothing was broken."""
        return not self.steps

    @property
    def story(self) -> list[str]:
        """Return the steps that broke the valid message, a line each."""
        return [str(step) for step in self.steps]


class Source(Protocol):
    """A source of frames."""

    @property
    def seed(self) -> int:
        """Return the seed, which determines all frames."""
        ...

    def block(self, number: int) -> list[Frame]:
        """Return the frames of a block, the first of them valid; blocks can be made in any order."""
        ...

    def mutate_again(self, parent: Frame, random: Callable[[], float]) -> Frame:
        """Return the frame broken once more, for the feedback mode."""
        ...


@dataclass(frozen=True)
class Stream:
    """The frames of a seed: bodies of these messages, in all their versions."""

    seed: int
    messages: tuple[type[Message], ...]
    vocabulary: Vocabulary = ARBITRARY
    records: tuple[bytes, ...] = ()
    """Contents for fields of type records; arbitrary bytes if empty."""
    has_headers: bool = False
    """Whether each frame is a whole request with its header; then the messages are requests."""
    mutations: Table = DEFAULT_TABLE
    valid_share: float = 0.0
    """Share of a block's frames after the first that are new valid frames, from 0 to 1."""

    def frames(self, first: int = 0) -> Iterator[Frame]:
        """Yield the frames from number `first` on, without end."""
        block, skipped = divmod(first, BLOCK_FRAMES)
        yield from self.block(block)[skipped:]
        while True:
            block += 1
            yield from self.block(block)

    def frame(self, number: int) -> Frame:
        """Return the frame of this number."""
        return next(self.frames(number))

    def block(self, number: int) -> list[Frame]:
        """Return the frames of a block: the first is valid."""
        random = Random(f"{self.seed}/{number}").random
        template = self.template(random)
        message, version, data, spots, _ = template
        first = number * BLOCK_FRAMES
        found = [_valid_frame(first, template)]
        for frame_number in range(first + 1, first + BLOCK_FRAMES):
            if self.valid_share and random() < self.valid_share:
                found.append(_valid_frame(frame_number, self.template(random)))
                continue
            broken, steps = mutate(random, data, spots, self.mutations)
            found.append(Frame(frame_number, message.NAME, version, bytes(broken), steps, False, message))
        return found

    def mutate_again(self, parent: Frame, random: Callable[[], float]) -> Frame:
        """Return the frame with more of its spots broken; the spots are those of the valid message."""
        template = self.template(Random(f"{self.seed}/{parent.number // BLOCK_FRAMES}").random)
        spots = template.spots
        if parent.is_valid and parent.data != template.data:  # Another valid frame of the block.
            spots = _spots_of(parent, has_head=self.has_headers)
        data, steps = mutate(random, bytearray(parent.data), spots, self.mutations)
        return parent._replace(data=bytes(data), steps=[*parent.steps, *steps], is_canonical=False)

    def template(self, random: Callable[[], float]) -> Template:
        """Return a valid frame of one of the messages in one of its versions."""
        message = self.messages[int(random() * len(self.messages))]
        version = message.MIN_VERSION + int(random() * (message.MAX_VERSION - message.MIN_VERSION + 1))
        body = grammar(message, version, self.vocabulary, self.records).draw(random)
        return self._with_head(random, body) if self.has_headers else body

    def _with_head(self, random: Callable[[], float], body: Template) -> Template:
        """Return the request with a header before it; the header's spots are rarely included."""
        message, version, data, spots, is_canonical = body
        key = key_of(message)
        head = grammar(RequestHeader, by_key(key).request_header_version(version), self.vocabulary, ()).draw(random)
        head.data[:4] = key.to_bytes(2, "big") + version.to_bytes(2, "big")
        size = len(head.data)
        moved: list[RawSpot] = [(kind, size + start, size + end, field) for kind, start, end, field in spots]
        kept = head.spots if random() < BROKEN_HEADS_SHARE else []
        return Template(message, version, head.data + data, [*kept, *moved], is_canonical)


def _valid_frame(number: int, template: Template) -> Frame:
    message, version, data, _, is_canonical = template
    return Frame(number, message.NAME, version, bytes(data), (), is_canonical, message)


def _spots_of(frame: Frame, *, has_head: bool) -> list[RawSpot]:
    assert frame.message is not None, "of a stream of messages"
    position = peek_request(frame.data).body_position if has_head else 0
    return spots_in(frame.message, frame.data, frame.version, position)
