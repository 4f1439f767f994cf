"""Set of the broker states that explain all responses so far.

A request takes effect at one moment between its sending and its response, as in a test for linearizability; one whose
link was cut may take effect at any time, or never. A state that does not explain a response is removed. If none is
left, the response is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, NamedTuple, TypeVar

from kmirror.fuzz.sessions.machine import Anything, Bag, Call, Expected, Machine, OneOf, Outcome, Pause, Symbol
from kmirror.spec.error_codes import ErrorCode

S = TypeVar("S")
STATES_MAX = 8_000
_TOLD_MAX = 6


class TooMany(Exception):
    """More states are possible than can be followed, so the session cannot be judged any further."""


@dataclass(frozen=True)
class Names:
    """Values of the symbols that the broker made; a symbol without a value may get any."""

    pairs: frozenset[tuple[Symbol, Any]] = frozenset()

    def symbol(self, value: Any) -> Symbol | None:
        """Return the symbol of `value`, or None."""
        return next((symbol for symbol, known in self.pairs if known == value), None)

    def with_value(self, symbol: Symbol, value: Any) -> Names | None:
        """Return the names with one more pair; None if it conflicts with a pair of the symbol, or of a unique value."""
        if (symbol, value) in self.pairs:
            return self
        for other, known in self.pairs:
            if symbol == other or (value == known and symbol.is_unique and other.is_unique):
                return None
        return Names(self.pairs | {(symbol, value)})


class Wrong(NamedTuple):
    """Error in a response: the full text, and a cause without variable parts."""

    told: str
    cause: str


@dataclass(frozen=True)
class Config(Generic[S]):
    """A state, the calls that have not taken effect in it, and the responses not received yet."""

    state: S
    waiting: frozenset[int] = frozenset()
    due: frozenset[tuple[int, Expected]] = frozenset()
    names: Names = field(default_factory=Names)
    _hash: int = field(init=False, repr=False, compare=False)
    """Computed once: states are deep, and each is looked up often."""

    def __post_init__(self) -> None:
        """Compute the hash."""
        object.__setattr__(self, "_hash", hash((self.state, self.waiting, self.due, self.names)))

    def __hash__(self) -> int:
        return self._hash

    def answer(self, number: int) -> Expected | None:
        """Return the allowed response to a call; None if it has not taken effect yet, or waits for others."""
        return next((told for other, told in self.due if other == number), None)

    def without_answer(self, number: int) -> Config[S]:
        """Return the configuration without the response to a call."""
        return replace(self, due=frozenset((other, told) for other, told in self.due if other != number))


@dataclass
class Possible(Generic[S]):
    """All possible configurations; `machine` yields those that may follow."""

    machine: Machine[Any, S]
    configs: list[Config[S]]
    calls: dict[int, Call] = field(default_factory=dict)
    """Calls that may still take effect, or have no response yet."""
    cut: set[int] = field(default_factory=set)
    """Calls whose responses will not be read."""

    @classmethod
    def of(cls, machine: Machine[Any, S], state: S) -> Possible[S]:
        """Return the single initial configuration."""
        return cls(machine, [Config(state)])

    @property
    def count(self) -> int:
        """Return the number of configurations."""
        return len(self.configs)

    # -- events -------------------------------------------------------------------------------

    def sent(self, call: Call) -> None:
        """Add a call that may take effect from now on."""
        call.others.extend(self.calls.values())
        for other in self.calls.values():
            other.others.append(call)
        self.calls[call.number] = call
        self.configs = [replace(one, waiting=one.waiting | {call.number}) for one in self.configs]

    def lose(self, number: int) -> None:
        """Record that a response will never be read."""
        self.cut.add(number)
        self.configs = list(dict.fromkeys(one.without_answer(number) for one in self.configs))

    def settle(self, number: int) -> None:
        """Record that a call whose link was cut has taken effect by now, or never will."""
        acted = {one: None for one in self._reach() if number not in one.waiting}
        never = (replace(one, waiting=one.waiting - {number}) for one in self.configs)
        self.configs = list(acted | dict.fromkeys(never))
        del self.calls[number]

    def answered(self, number: int, observed: Mapping[str, Any]) -> Wrong | None:
        """Keep the configurations that explain a response; if there are none, keep all, and return the error."""
        found: dict[Config[S], None] = {}
        near: list[tuple[Expected, Names]] = []
        for config in self._reach(number):
            wanted = config.answer(number)
            if wanted is None:
                continue
            for names in unified(wanted, observed, config.names):
                found[replace(config.without_answer(number), names=names)] = None
            near.append((wanted, config.names))
        if not found:
            return _told(near, observed)
        self.configs = list(found)
        del self.calls[number]
        return None

    def may_block(self, number: int) -> bool:
        """Return whether a call may have no response once all calls have taken effect and nothing changes by itself."""
        for config in self._reach(number):
            if number not in config.waiting and config.waiting <= self.cut:
                wanted = config.answer(number)
                if (wanted is None or wanted.is_optional) and not any(True for _ in self.machine.drifts(config.state)):
                    return True
        return False

    def pause(self, call: Call) -> None:
        """Let time pass: outstanding calls take effect before it, calls of cut links before it or never."""
        assert isinstance(call.step, Pause), "only time passes without an answer"
        found: dict[Config[S], None] = {}
        for config in self._reach():
            if config.waiting <= self.cut:
                quiet = replace(config, waiting=frozenset())
                found.update(dict.fromkeys(self._after(quiet, self._outcomes(config, call))))
        for number in self.cut & self.calls.keys():
            del self.calls[number]
        assert found, f"the model {self.machine.name} has no next state, from any state, for {call.step}"
        self.configs = list(found)

    # -- possible successors ------------------------------------------------------------------

    def _reach(self, number: int | None = None) -> list[Config[S]]:
        """Return the configurations, and all that may follow from calls and autonomous changes.

        A configuration with a response to call `number` is not followed further, so that later effects stay open.
        """
        found = dict.fromkeys(self.configs)
        left = list(found)
        while left:
            config = left.pop()
            told = None if number is None else config.answer(number)
            if told is not None and not told.is_optional:
                continue
            for one in self._next(config):
                if one not in found:
                    found[one] = None
                    left.append(one)
            if len(found) > STATES_MAX:
                raise TooMany
        return list(found)

    def _next(self, config: Config[S]) -> Iterator[Config[S]]:
        for number in sorted(config.waiting):
            acted = Config(config.state, config.waiting - {number}, config.due, config.names)
            yield from self._after(acted, self._outcomes(config, self.calls[number]))
        yield from self._after(config, self.machine.drifts(config.state))

    def _outcomes(self, config: Config[S], call: Call) -> Iterable[Outcome[S]]:
        return self.machine.outcomes(config.state, call, config.names)

    def _after(self, config: Config[S], outcomes: Iterable[Outcome[S]]) -> Iterator[Config[S]]:
        for state, answers in outcomes:
            due = config.due
            if answers:  # A response not received yet may be replaced.
                kept = {(number, told) for number, told in due if number not in answers}
                due = frozenset(kept | {(number, told) for number, told in answers.items() if number not in self.cut})
            yield Config(state, config.waiting, due, config.names)


# -- expected and observed ----------------------------------------------------------------------


def unified(wanted: Expected, observed: Mapping[str, Any], names: Names) -> Iterator[Names]:
    """Yield the names with the values from the response, for each way in which it matches."""
    places = tuple(place for place, _ in wanted.places)
    assert observed.keys() >= set(places), f"the machine reads {', '.join(observed)}, and not all of {places}"
    return _unified(tuple(value for _, value in wanted.places), tuple(observed[place] for place in places), names)


def _unified(wanted: Any, observed: Any, names: Names) -> Iterator[Names]:
    match wanted:
        case Anything():
            yield names
        case OneOf(values):
            if observed in values:
                yield names
        case Symbol():
            found = names.with_value(wanted, observed)
            if found is not None:
                yield found
        case Bag(items):
            if isinstance(observed, tuple) and len(items) == len(observed):
                yield from _in_any_order(items, observed, names)
        case tuple():
            if isinstance(observed, tuple) and len(wanted) == len(observed):
                yield from _in_order(wanted, observed, names)
        case _:
            if wanted == observed:
                yield names


def _in_order(wanted: tuple[Any, ...], observed: tuple[Any, ...], names: Names) -> Iterator[Names]:
    if not wanted:
        yield names
        return
    for found in _unified(wanted[0], observed[0], names):
        yield from _in_order(wanted[1:], observed[1:], found)


def _in_any_order(wanted: tuple[Any, ...], observed: tuple[Any, ...], names: Names) -> Iterator[Names]:
    if not wanted:
        yield names
        return
    for place, value in enumerate(observed):
        for found in _unified(wanted[0], value, names):
            yield from _in_any_order(wanted[1:], observed[:place] + observed[place + 1 :], found)


def _told(near: list[tuple[Expected, Names]], observed: Mapping[str, Any]) -> Wrong:
    """Return the wrong places, compared with the nearest allowed responses."""
    if not near:
        return Wrong("answered, though it has to wait", "answered")
    wrong: dict[tuple[str, ...], list[Expected]] = {}
    for wanted, names in near:
        places = tuple(
            place for place, value in wanted.places if not any(True for _ in _unified(value, observed[place], names))
        )
        wrong.setdefault(places or tuple(place for place, _ in wanted.places), []).append(wanted)
    places = max(wrong, key=lambda each: (-len(each), len(wrong[each])))
    allowed = list(dict.fromkeys(shown(dict(wanted.places), places) for wanted in wrong[places]))
    more = f" or {len(allowed) - _TOLD_MAX} others" if len(allowed) > _TOLD_MAX else ""
    told = f"{shown(observed, places)}; it may be {' or '.join(allowed[:_TOLD_MAX])}{more}"
    return Wrong(told, ", ".join(shown(observed, [p]) if p.endswith("error") else p for p in places))


def shown(values: Mapping[str, Any], places: Iterable[str]) -> str:
    """Return some places of a response as text for a story."""
    return ", ".join(f"{place} {_shown(place, values[place])}" for place in places)


def _shown(place: str, value: Any) -> str:
    if isinstance(value, OneOf):
        return "/".join(sorted(_shown(place, one) for one in value.values))
    if isinstance(value, Bag):
        return _shown(place, value.items)
    if isinstance(value, Symbol):
        return f"<{value.what or 'made'} in step {value.call}>"
    if isinstance(value, tuple):
        return f"({', '.join(_shown(place, one) for one in value)})"
    return ErrorCode(value).name if place.endswith("error") and value in iter(ErrorCode) else repr(value)
