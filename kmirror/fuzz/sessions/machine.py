"""Interface of a rule machine: rules that draw requests, and a pure model of the broker's possible reactions.

Two kinds of state are kept apart. The knowledge of the clients (`K`) comes from responses alone, and requests are drawn
from it. The state of the broker (`S`) is an immutable, hashable value: `outcomes` returns the states that may follow,
with their responses. The session keeps every state that explains the responses so far (`state_set.py`), so a machine
handles one request at a time, however late, repeated, lost or reordered requests are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from kmirror.protocol.message import Message

K = TypeVar("K")
S = TypeVar("S")
K_contra = TypeVar("K_contra", contravariant=True)
T = TypeVar("T")


class Choose(Protocol):
    """Source of a session's random choices: a seed, or Hypothesis."""

    def pick(self, options: Sequence[T]) -> T:
        """Return one of the options, which must not be empty."""
        ...

    def chance(self, share: float) -> bool:
        """Return True with probability `share`, from 0 to 1."""
        ...


# -- requests -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Step:
    """A request that a client sends."""

    actor: str
    """The sender, for the story and for `learn`."""
    body: Message
    version: int
    broker: str = ""
    """The broker, where there is more than one: a name of the session's link."""

    def __str__(self) -> str:
        return f"{self.actor}: {self.name} v{self.version}{self.broker and f' at {self.broker}'}"

    @property
    def name(self) -> str:
        """Return the name of the API, as in JoinGroup."""
        return self.body.NAME.removesuffix("Request")


@dataclass(frozen=True)
class Pause:
    """A span without requests; only where time can be moved (`World.moves_time`)."""

    seconds: int

    def __str__(self) -> str:
        return f"{self.seconds} s pass"


class Rule(NamedTuple, Generic[K]):
    """A kind of step: `draw(known, choose)` returns the next request, or None if it is not possible now."""

    name: str
    weight: int
    draw: Callable[[K, Choose], Step | Pause | None]


@dataclass(frozen=True, eq=False)
class Call:
    """An outstanding step, as passed to the model."""

    number: int
    """Number of the step in its session; values made by the broker in its response are named by it."""
    step: Step | Pause
    others: list[Call] = field(default_factory=list)
    """Calls outstanding at some time together with this one: the broker may be busy with them."""


# -- responses ----------------------------------------------------------------------------------


class Symbol(NamedTuple):
    """A value made by the broker, such as a member id, named by the call that it was made for, and its kind."""

    call: int
    kind: str = ""
    is_unique: bool = True
    """Whether no other symbol has the same value, as for ids; leader epochs, for example, are shared."""


class OneOf(NamedTuple):
    """Any of these values."""

    values: frozenset[Any]


class Bag(NamedTuple):
    """These items, in any order."""

    items: tuple[Any, ...]


class Anything:
    """Any value; `ANYTHING` is the only instance."""

    def __repr__(self) -> str:
        return "anything"


ANYTHING = Anything()


@dataclass(frozen=True)
class Expected:
    """An allowed response: for the name of each checked value a value, `Symbol`, `OneOf`, `Bag` or `ANYTHING`.

    Tuples are compared item by item. Other values may be anything. `is_optional` means that there may be no response.
    """

    values: tuple[tuple[str, Any], ...] = ()
    is_optional: bool = False


def expected(*, is_optional: bool = False, **values: Any) -> Expected:
    """Return an allowed response with these values."""
    return Expected(tuple(values.items()), is_optional)


class Outcome(NamedTuple, Generic[S]):
    """A possible reaction of a broker: the state after it, and the responses sent then, to this call or others."""

    state: S
    responses: Mapping[int, Expected]


class Names(Protocol):
    """Known values made by the broker, in one possible state."""

    def symbol(self, value: Any) -> Symbol | None:
        """Return the symbol of a value; None if the broker never sent it."""
        ...


# -- machines -----------------------------------------------------------------------------------


class Requester(Protocol):
    """Access to a broker before a session begins."""

    def ask(self, body: Message, version: int, broker: str = "") -> Message:
        """Return the response to a request that prepares the session, such as CreateTopics."""
        ...

    def wait_briefly(self) -> None:
        """Let a moment pass before a request is repeated."""
        ...


class World(Requester, Protocol):
    """Access of a machine to the broker when a session begins."""

    prefix: str
    """Prefix of all names in the session, used by no other session."""
    moves_time: bool
    """Whether steps may be pauses."""


class Machine(Protocol[K, S]):
    """A model and its rules. It has no state: that is in `K` and `S`."""

    name: str
    rules: Sequence[Rule[K]]
    stale_fields: frozenset[str]
    """Top-level fields of requests that the session may set to the value of an earlier request."""

    def begin(self, world: World) -> tuple[K, S]:
        """Return the knowledge of the clients and the state of the broker before the first step."""
        ...

    def outcomes(self, state: S, call: Call, names: Names) -> Iterable[Outcome[S]]:
        """Yield the possible reactions of the broker when it processes a request, or when time passes.

        In an outcome without a response to this call, the call waits.
        """
        ...

    def autonomous_outcomes(self, state: S) -> Iterable[Outcome[S]]:
        """Yield the next autonomous changes of the broker, such as the completion of an operation."""
        ...

    def read(self, known: K, step: Step, response: Message) -> Mapping[str, Any]:
        """Return the values of a response by the names that `Expected` uses; lists as tuples.

        Names of error codes end with "error". Values of other sessions are left out.
        """
        ...

    def learn(self, known: K, step: Step, response: Message) -> None:
        """Update the knowledge of the client with a response, which may be an old one."""
        ...

    def last_steps(self, known: K) -> Iterator[Step | Pause]:
        """Yield the requests that end a session, when no other is outstanding; each gets its response first."""
        ...


AnyMachine = Machine[Any, Any]
