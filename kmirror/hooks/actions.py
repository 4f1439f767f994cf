"""What does a hook look for in a request, and what does it do with it? Values, which the node around a node obeys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kmirror.hooks.received import ReceivedRequest
from kmirror.kernel.clock import Duration
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode


@dataclass(frozen=True, slots=True)
class Watch:
    """Tell of the request, and let it go on."""

    call: Callable[[ReceivedRequest], object]


@dataclass(frozen=True, slots=True)
class Delay:
    """Let it go on later, or its answer."""

    span: Duration
    is_applied: bool


@dataclass(frozen=True, slots=True)
class Hold:
    """Let it go on when the hook is released, or its answer."""

    is_applied: bool


@dataclass(frozen=True, slots=True)
class Throttle:
    """Let the answer tell the client that it is throttled."""

    ms: int


@dataclass(frozen=True, slots=True)
class Slow:
    """Let it and its answer take as long as a slow link would."""

    bytes_per_s: int


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer with an error, before or instead of what the broker does."""

    error: ErrorCode
    message: str
    is_applied: bool


@dataclass(frozen=True, slots=True)
class Respond:
    """Answer with a message."""

    make: Callable[[ReceivedRequest], Message]


@dataclass(frozen=True, slots=True)
class Silence:
    """Never answer, nor what comes behind it on its link."""

    is_applied: bool


@dataclass(frozen=True, slots=True)
class Close:
    """Close the link without an answer."""

    is_applied: bool


Action = Watch | Delay | Hold | Throttle | Slow | Answer | Respond | Silence | Close


@dataclass(frozen=True, slots=True)
class Criteria:
    """Which requests a hook takes."""

    request: type[Message] | None
    """None for all."""
    node: int | None
    topic: str | None
    partition: int | None
    times: int | None
    probability: float
    where: Callable[[ReceivedRequest], bool] | None
    from_nodes: bool
    client_id: str | None = None
    versions: tuple[int, int] | None = None
    """First and last, both inclusive."""
    nth: int = 1
    """The first that is taken of those that match, from 1 on."""
    every: int = 1
    """After it, every so manieth of those that match."""
