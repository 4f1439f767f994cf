"""What does a hook look for in a request, and what does it do with it? Values, which the node around a node obeys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kmirror.cluster.hooks.received import ReceivedRequest
from kmirror.kernel.clock import Duration
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode


@dataclass(frozen=True, slots=True)
class Watch:
    """Tell of the request, and let it go on."""

    call: Callable[[ReceivedRequest], object]


@dataclass(frozen=True, slots=True)
class Delay:
    """Let it go on later."""

    span: Duration


@dataclass(frozen=True, slots=True)
class Hold:
    """Let it go on when the hook is released."""


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


Action = Watch | Delay | Hold | Answer | Respond | Silence | Close


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
