"""What is a rule machine? Rules that draw requests, and a pure model that says what a broker may do with each.

Two kinds of state are kept apart. What the clients know (`K`) comes from answers alone, and requests are drawn from it.
What the broker may have in mind (`S`) is a hashable value that nobody changes: `outcomes` returns the states that may
follow, and what is answered then. The session keeps every state that explains the answers so far (`possible.py`), so
that a machine thinks of one request at a time, whatever is late, repeated, lost or out of order.
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
    """Where the choices of a session come from: a seed, or Hypothesis."""

    def pick(self, options: Sequence[T]) -> T:
        """Return one of the options; there has to be one."""
        ...

    def chance(self, share: float) -> bool:
        """Return True as often as `share` says, from 0 to 1."""
        ...


# -- requests -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Step:
    """A request that a client sends."""

    actor: str
    """Who sends it, as the story and `learn` have it."""
    body: Message
    version: int
    at: str = ""
    """Which broker is asked, where there is more than one: a name of the session's link."""

    def __str__(self) -> str:
        return f"{self.actor}: {self.name} v{self.version}{self.at and f' at {self.at}'}"

    @property
    def name(self) -> str:
        """Return the name of the API, as in JoinGroup."""
        return self.body.NAME.removesuffix("Request")


@dataclass(frozen=True)
class Pause:
    """Nothing is sent for so long; only where time can be moved (`World.moves_time`)."""

    seconds: int

    def __str__(self) -> str:
        return f"{self.seconds} s pass"


class Rule(NamedTuple, Generic[K]):
    """A way to go on: `draw(known, choose)` returns what to send, or None if it is not possible now."""

    name: str
    weight: int
    draw: Callable[[K, Choose], Step | Pause | None]


@dataclass(frozen=True, eq=False)
class Call:
    """A step under way, as the model is given it."""

    number: int
    """Of the steps of its session; what the broker makes up in its answer is named by it."""
    step: Step | Pause
    others: list[Call] = field(default_factory=list)
    """Calls that are or were under way together with this one: the broker may be busy with them."""


# -- answers ------------------------------------------------------------------------------------


class Symbol(NamedTuple):
    """Something that the broker makes up, such as a member id: by the call that it was made for, and which it is."""

    call: int
    what: str = ""
    is_unique: bool = True
    """Whether no other symbol has the same value, as with ids; leader epochs, for one, are shared."""


class OneOf(NamedTuple):
    """Any of these values."""

    values: frozenset[Any]


class Bag(NamedTuple):
    """These items, in any order."""

    items: tuple[Any, ...]


class Anything:
    """Any value at all; there is one, `ANYTHING`."""

    def __repr__(self) -> str:
        return "anything"


ANYTHING = Anything()


@dataclass(frozen=True)
class Expected:
    """What an answer may be: a value, `Symbol`, `OneOf`, `Bag` or `ANYTHING` for each place that the model speaks of.

    Tuples are compared item by item. Places that are not named may hold what they like. `is_optional` says that there
    may be no answer at all.
    """

    places: tuple[tuple[str, Any], ...] = ()
    is_optional: bool = False


def expected(*, is_optional: bool = False, **places: Any) -> Expected:
    """Return what an answer may be, place by place."""
    return Expected(tuple(places.items()), is_optional)


class Outcome(NamedTuple, Generic[S]):
    """What a broker may have done: the state after it, and the calls that are answered now, this one or others."""

    state: S
    answers: Mapping[int, Expected]


class Names(Protocol):
    """What is known of values that the broker made up, as of one possible state."""

    def symbol(self, value: Any) -> Symbol | None:
        """Return what the value stands for; None if the broker never gave it to anybody."""
        ...


# -- machines -----------------------------------------------------------------------------------


class Asks(Protocol):
    """A broker that is asked something before a session begins."""

    def ask(self, body: Message, version: int, at: str = "") -> Message:
        """Return the answer to a request that prepares the session, such as CreateTopics."""
        ...

    def rest(self) -> None:
        """Let a moment pass before something is asked again."""
        ...


class World(Asks, Protocol):
    """What a machine is told of the broker when a session begins."""

    prefix: str
    """Of all names in the session: nobody else uses it."""
    moves_time: bool
    """Whether steps may be pauses."""


class Machine(Protocol[K, S]):
    """A model and its rules. It holds nothing: what changes is in `K` and `S`."""

    name: str
    rules: Sequence[Rule[K]]
    aged: frozenset[str]
    """Fields at the top of requests that the session may set to what they were in an earlier request."""

    def begin(self, world: World) -> tuple[K, S]:
        """Return what the clients know, and the state of the broker, when nothing of the session has happened."""
        ...

    def outcomes(self, state: S, call: Call, names: Names) -> Iterable[Outcome[S]]:
        """Yield what the broker may do with a request when it comes to it, or when time passes.

        An outcome that answers other calls only lets this one wait.
        """
        ...

    def drifts(self, state: S) -> Iterable[Outcome[S]]:
        """Yield what the broker may do next by itself, such as end what it has begun."""
        ...

    def read(self, known: K, step: Step, answer: Message) -> Mapping[str, Any]:
        """Return what stands in an answer, by the places that `Expected` names; lists as tuples.

        Places of error codes end with "error". What is of other sessions is left out.
        """
        ...

    def learn(self, known: K, step: Step, answer: Message) -> None:
        """Note what the client learns from an answer, which may be an old one."""
        ...

    def last(self, known: K) -> Iterator[Step | Pause]:
        """Yield the requests that end a session, when nothing else is under way: each is answered before the next."""
        ...


AnyMachine = Machine[Any, Any]
