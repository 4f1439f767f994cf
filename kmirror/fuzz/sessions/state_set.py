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
_ALLOWED_MAX = 6


class TooManyStates(Exception):
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


class Mismatch(NamedTuple):
    """Error in a response: the full text, and a cause without variable parts."""

    text: str
    cause: str


@dataclass(frozen=True)
class Config(Generic[S]):
    """A state, the calls that have not taken effect in it, and the responses not received yet."""

    state: S
    waiting: frozenset[int] = frozenset()
    due: frozenset[tuple[int, Expected]] = frozenset()
    names: Names = field(default_factory=Names)
    _hash: int = field(init=False, repr=False, compare=False)
    """Hash, computed once: states are deep, and each is looked up often."""

    def __post_init__(self) -> None:
        """Compute the hash."""
        object.__setattr__(self, "_hash", hash((self.state, self.waiting, self.due, self.names)))

    def __hash__(self) -> int:
        return self._hash

    def response(self, number: int) -> Expected | None:
        """Return the allowed response to a call; None if it has not taken effect yet, or waits for others."""
        return next((allowed for other, allowed in self.due if other == number), None)

    def without_response(self, number: int) -> Config[S]:
        """Return the configuration without the response to a call."""
        return replace(self, due=frozenset((other, allowed) for other, allowed in self.due if other != number))


@dataclass
class StateSet(Generic[S]):
    """All possible configurations; `machine` yields those that may follow."""

    machine: Machine[Any, S]
    configs: list[Config[S]]
    calls: dict[int, Call] = field(default_factory=dict)
    """Calls that may still take effect, or have no response yet."""
    cut: set[int] = field(default_factory=set)
    """Calls whose responses will not be read."""

    @classmethod
    def initial(cls, machine: Machine[Any, S], state: S) -> StateSet[S]:
        """Return the single initial configuration."""
        return cls(machine, [Config(state)])

    @property
    def count(self) -> int:
        """Return the number of configurations."""
        return len(self.configs)

    # -- events -------------------------------------------------------------------------------

    def add_call(self, call: Call) -> None:
        """Add a call that may take effect from now on."""
        call.others.extend(self.calls.values())
        for other in self.calls.values():
            other.others.append(call)
        self.calls[call.number] = call
        self.configs = [replace(config, waiting=config.waiting | {call.number}) for config in self.configs]

    def lose(self, number: int) -> None:
        """Record that a response will never be read."""
        self.cut.add(number)
        self.configs = list(dict.fromkeys(config.without_response(number) for config in self.configs))

    def settle(self, number: int) -> None:
        """Record that a call whose link was cut has taken effect by now, or never will."""
        processed = {config: None for config in self._reachable() if number not in config.waiting}
        lost = (replace(config, waiting=config.waiting - {number}) for config in self.configs)
        self.configs = list(processed | dict.fromkeys(lost))
        del self.calls[number]

    def apply_response(self, number: int, observed: Mapping[str, Any]) -> Mismatch | None:
        """Keep the configurations that explain a response; if there are none, keep all, and return the error."""
        found: dict[Config[S], None] = {}
        allowed_responses: list[tuple[Expected, Names]] = []
        for config in self._reachable(number):
            expected = config.response(number)
            if expected is None:
                continue
            for names in unify(expected, observed, config.names):
                found[replace(config.without_response(number), names=names)] = None
            allowed_responses.append((expected, config.names))
        if not found:
            return _describe_mismatch(allowed_responses, observed)
        self.configs = list(found)
        del self.calls[number]
        return None

    def may_block(self, number: int) -> bool:
        """Return whether a call may have no response once all calls have taken effect and nothing changes by itself."""
        for config in self._reachable(number):
            if number not in config.waiting and config.waiting <= self.cut:
                expected = config.response(number)
                if (expected is None or expected.is_optional) and not any(
                    True for _ in self.machine.autonomous_outcomes(config.state)
                ):
                    return True
        return False

    def pause(self, call: Call) -> None:
        """Let time pass: outstanding calls take effect before it, calls of cut links before it or never."""
        assert isinstance(call.step, Pause), "only a pause has no response"
        found: dict[Config[S], None] = {}
        for config in self._reachable():
            if config.waiting <= self.cut:
                idle = replace(config, waiting=frozenset())
                found.update(dict.fromkeys(self._apply(idle, self._outcomes(config, call))))
        for number in self.cut & self.calls.keys():
            del self.calls[number]
        assert found, f"the model {self.machine.name} has no next state, from any state, for {call.step}"
        self.configs = list(found)

    # -- possible successors ------------------------------------------------------------------

    def _reachable(self, number: int | None = None) -> list[Config[S]]:
        """Return the configurations, and all that may follow from calls and autonomous changes.

        A configuration with a response to call `number` is not followed further, so that later effects stay open.
        """
        found = dict.fromkeys(self.configs)
        left = list(found)
        while left:
            config = left.pop()
            allowed = None if number is None else config.response(number)
            if allowed is not None and not allowed.is_optional:
                continue
            for successor in self._successors(config):
                if successor not in found:
                    found[successor] = None
                    left.append(successor)
            if len(found) > STATES_MAX:
                raise TooManyStates
        return list(found)

    def _successors(self, config: Config[S]) -> Iterator[Config[S]]:
        for number in sorted(config.waiting):
            after = Config(config.state, config.waiting - {number}, config.due, config.names)
            yield from self._apply(after, self._outcomes(config, self.calls[number]))
        yield from self._apply(config, self.machine.autonomous_outcomes(config.state))

    def _outcomes(self, config: Config[S], call: Call) -> Iterable[Outcome[S]]:
        return self.machine.outcomes(config.state, call, config.names)

    def _apply(self, config: Config[S], outcomes: Iterable[Outcome[S]]) -> Iterator[Config[S]]:
        for state, responses in outcomes:
            due = config.due
            if responses:  # A response not received yet may be replaced.
                kept = {(number, allowed) for number, allowed in due if number not in responses}
                due = frozenset(
                    kept | {(number, allowed) for number, allowed in responses.items() if number not in self.cut}
                )
            yield Config(state, config.waiting, due, config.names)


# -- expected and observed ----------------------------------------------------------------------


def unify(expected: Expected, observed: Mapping[str, Any], names: Names) -> Iterator[Names]:
    """Yield the names with the values from the response, for each way in which it matches."""
    value_names = tuple(name for name, _ in expected.values)
    assert observed.keys() >= set(value_names), f"the machine reads {', '.join(observed)}, and not all of {value_names}"
    return _unify(tuple(value for _, value in expected.values), tuple(observed[name] for name in value_names), names)


def _unify(expected: Any, observed: Any, names: Names) -> Iterator[Names]:
    match expected:
        case Anything():
            yield names
        case OneOf(values):
            if observed in values:
                yield names
        case Symbol():
            found = names.with_value(expected, observed)
            if found is not None:
                yield found
        case Bag(items):
            if isinstance(observed, tuple) and len(items) == len(observed):
                yield from _unify_in_any_order(items, observed, names)
        case tuple():
            if isinstance(observed, tuple) and len(expected) == len(observed):
                yield from _unify_in_order(expected, observed, names)
        case _:
            if expected == observed:
                yield names


def _unify_in_order(expected: tuple[Any, ...], observed: tuple[Any, ...], names: Names) -> Iterator[Names]:
    if not expected:
        yield names
        return
    for found in _unify(expected[0], observed[0], names):
        yield from _unify_in_order(expected[1:], observed[1:], found)


def _unify_in_any_order(expected: tuple[Any, ...], observed: tuple[Any, ...], names: Names) -> Iterator[Names]:
    if not expected:
        yield names
        return
    for index, value in enumerate(observed):
        for found in _unify(expected[0], value, names):
            yield from _unify_in_any_order(expected[1:], observed[:index] + observed[index + 1 :], found)


def _describe_mismatch(allowed_responses: list[tuple[Expected, Names]], observed: Mapping[str, Any]) -> Mismatch:
    """Return the wrong values of a response, compared with the nearest of the allowed responses."""
    if not allowed_responses:
        return Mismatch("answered, though it has to wait", "answered")
    wrong: dict[tuple[str, ...], list[Expected]] = {}
    for expected, names in allowed_responses:
        value_names = tuple(
            name for name, value in expected.values if not any(True for _ in _unify(value, observed[name], names))
        )
        wrong.setdefault(value_names or tuple(name for name, _ in expected.values), []).append(expected)
    value_names = max(wrong, key=lambda each: (-len(each), len(wrong[each])))
    allowed = list(dict.fromkeys(show_values(dict(expected.values), value_names) for expected in wrong[value_names]))
    suffix = f" or {len(allowed) - _ALLOWED_MAX} others" if len(allowed) > _ALLOWED_MAX else ""
    text = f"{show_values(observed, value_names)}; it may be {' or '.join(allowed[:_ALLOWED_MAX])}{suffix}"
    return Mismatch(text, ", ".join(show_values(observed, [p]) if p.endswith("error") else p for p in value_names))


def show_values(values: Mapping[str, Any], value_names: Iterable[str]) -> str:
    """Return the named values of a response as text for a story."""
    return ", ".join(f"{name} {_show_value(name, values[name])}" for name in value_names)


def _show_value(name: str, value: Any) -> str:
    if isinstance(value, OneOf):
        return "/".join(sorted(_show_value(name, each) for each in value.values))
    if isinstance(value, Bag):
        return _show_value(name, value.items)
    if isinstance(value, Symbol):
        return f"<{value.kind or 'made'} in step {value.call}>"
    if isinstance(value, tuple):
        return f"({', '.join(_show_value(name, each) for each in value)})"
    return ErrorCode(value).name if name.endswith("error") and value in iter(ErrorCode) else repr(value)
