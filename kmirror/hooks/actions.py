"""Actions and criteria of hooks, as values that the hooked node executes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kmirror.hooks.received import ReceivedRequest
from kmirror.kernel.clock import Duration
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode


@dataclass(frozen=True, slots=True)
class Watch:
    """Report the request, and pass it on."""

    call: Callable[[ReceivedRequest], object]


@dataclass(frozen=True, slots=True)
class Delay:
    """Delay the request, or with `is_applied` its response."""

    span: Duration
    is_applied: bool


@dataclass(frozen=True, slots=True)
class Hold:
    """Hold the request until the hook is released, or with `is_applied` its response."""

    is_applied: bool


@dataclass(frozen=True, slots=True)
class Throttle:
    """Set the throttle time of the response."""

    ms: int


@dataclass(frozen=True, slots=True)
class Slow:
    """Make the request and its response take as long as on a slow link."""

    bytes_per_s: int


@dataclass(frozen=True, slots=True)
class RespondWithError:
    """Respond with an error, instead of the broker or, with `is_applied`, after it has applied the request."""

    error: ErrorCode
    message: str
    is_applied: bool


@dataclass(frozen=True, slots=True)
class RespondWithMessage:
    """Respond with a message."""

    make: Callable[[ReceivedRequest], Message]


@dataclass(frozen=True, slots=True)
class Drop:
    """Never respond, nor to later requests on the link."""

    is_applied: bool


@dataclass(frozen=True, slots=True)
class Close:
    """Close the link without a response."""

    is_applied: bool


Action = Watch | Delay | Hold | Throttle | Slow | RespondWithError | RespondWithMessage | Drop | Close


@dataclass(frozen=True, slots=True)
class Criteria:
    """Criteria for the requests that a hook takes."""

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
    """First and last version, both inclusive."""
    nth: int = 1
    """The first matching request that is taken, counted from 1."""
    every: int = 1
    """After that one, every Nth matching request is taken."""
