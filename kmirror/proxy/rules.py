"""Rule files of the proxy: TOML, one table for each rule, with the terms of `Hooks`.

seed = 7

[[rule]]
api = "Produce"
topic = "orders"
times = 2
error = "NOT_LEADER_OR_FOLLOWER"

[[rule]]
api = "Fetch"
probability = 0.1
delay_ms = 500
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kmirror.errors import UsageError, did_you_mean
from kmirror.experiments.toml_file import read_toml
from kmirror.hooks.hook import Hook
from kmirror.hooks.hooks import Hooks, On
from kmirror.protocol.registry import by_api_name
from kmirror.spec.error_codes import ErrorCode

Words = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of a file; `number` counts from 1."""

    number: int
    words: Words
    hook: Hook | None
    """The hook of the rule; None for one that caps versions."""

    def __str__(self) -> str:
        told = ", ".join(f"{word} = {value}" for word, value in self.words.items())
        taken = "" if self.hook is None else f": taken {self.hook.count} times"
        return f"rule {self.number} ({told}){taken}"


def _error(on: On, words: Words) -> Hook:
    name = words["error"]
    code = ErrorCode.__members__.get(name) if isinstance(name, str) else None
    if code is None:
        hint = did_you_mean(str(name), ErrorCode.__members__)
        raise UsageError(f"no error is named {name!r}" + (f"; {hint}" if hint else ""))
    return (on.apply_then if words.get("applied") else on.answer)(code, words.get("message"))


def _disconnect(on: On, words: Words) -> Hook:
    when = words["disconnect"]
    if when not in ("before", "after"):
        raise UsageError(f'disconnect is "before" or "after" the broker acts, not {when!r}')
    return on.close(applied=when == "after")


def _flag(words: Words, word: str) -> bool:
    value = words.get(word, False)
    if not isinstance(value, bool):
        raise UsageError(f"{word} is true or false, not {value!r}")
    return value


def _ordered(words: Words, word: str) -> None:
    if not _flag(words, word):
        raise UsageError(f"{word} is true, or left out")


def _hold(on: On, words: Words) -> Hook:
    _ordered(words, "hold")
    return on.hold(applied=_flag(words, "applied"))


def _drop(on: On, words: Words) -> Hook:
    _ordered(words, "drop")
    return on.drop(applied=_flag(words, "applied"))


ACTIONS: Mapping[str, tuple[Callable[[On, Words], Hook], tuple[str, ...]]] = {
    "error": (_error, ("message", "applied")),
    "delay_ms": (lambda on, words: on.delay(words["delay_ms"], applied=_flag(words, "applied")), ("applied",)),
    "hold": (_hold, ("applied",)),
    "drop": (_drop, ("applied",)),
    "disconnect": (_disconnect, ()),
    "throttle_ms": (lambda on, words: on.throttle(words["throttle_ms"]), ()),
    "bytes_per_s": (lambda on, words: on.slow(words["bytes_per_s"]), ()),
}
"""Key of the action to the function that adds it and the keys that may accompany it."""
CHOICES = ("node", "topic", "partition", "client_id", "times", "probability", "nth", "every")
"""Keys that `Hooks.on` takes unchanged."""
CAPS = ("cap", "release")


def read_rules(path: Path) -> tuple[int, list[Words]]:
    """Return the seed and the checked rules of a file; raises UsageError with the error and its place."""
    return read_toml(path, parse_rules)


def parse_rules(table: Mapping[str, Any]) -> tuple[int, list[Words]]:
    """Return the seed and the checked rules of a file's content; raises UsageError for invalid content."""
    for key in table:
        if key not in ("seed", "rule"):
            raise UsageError(f"unknown key {key!r}: there are seed and [[rule]]")
    seed, rules = table.get("seed", 0), table.get("rule", [])
    if not isinstance(rules, list) or not all(isinstance(words, dict) for words in rules):
        raise UsageError("rules are tables: begin each with [[rule]]")
    order(Hooks(seed), rules)
    return seed, rules


def order(hooks: Hooks, rules: list[Words]) -> list[Rule]:
    """Add the rules to `hooks`, and return them; raises UsageError with the number of an invalid rule."""
    found = []
    for number, words in enumerate(rules, 1):
        try:
            found.append(Rule(number, words, _add(hooks, words)))
        except UsageError as error:
            raise UsageError(f"rule {number}: {error}") from None
    return found


def _add(hooks: Hooks, words: Words) -> Hook | None:
    known = ("api", "versions", *CHOICES, *CAPS, *ACTIONS, "message", "applied")
    for word in words:
        if word not in known:
            hint = did_you_mean(word, known)
            raise UsageError(f"unknown word {word!r}" + (f"; {hint}" if hint else f": there are {', '.join(known)}"))
    actions = [word for word in (*ACTIONS, *CAPS) if word in words]
    if len(actions) != 1:
        told = " and ".join(actions) or "none"
        raise UsageError(f"a rule does one thing of {', '.join((*ACTIONS, *CAPS))}; this one has {told}")
    action = actions[0]
    _flag(words, "applied")
    if action in CAPS:
        _cap(hooks, words, action)
        return None
    act, companions = ACTIONS[action]
    for word in ("message", "applied"):
        if word in words and word not in companions:
            raise UsageError(f"{word} does not go with {action}")
    chosen = {word: words[word] for word in CHOICES if word in words}
    if "versions" in words:
        chosen["versions"] = _versions(words["versions"])
    return act(hooks.on(_request(words), **chosen), words)


def _cap(hooks: Hooks, words: Words, action: str) -> None:
    alone = {"cap", "api"} if action == "cap" else {"release"}
    others = sorted(words.keys() - alone)
    if others:
        raise UsageError(f"{action} is for all requests: leave out {', '.join(others)}")
    if action == "release":
        hooks.play(words["release"])
        return
    request = _request(words)
    if request is None:
        raise UsageError('cap is the last version of an API: name it, as in api = "Produce"')
    hooks.cap(request, words["cap"])


def _request(words: Words) -> Any:
    name = words.get("api")
    if name is None:
        return None
    if not isinstance(name, str):
        raise UsageError(f'api is the name of one, such as "Produce", not {name!r}')
    return by_api_name(name).request


def _versions(value: object) -> tuple[int, int]:
    """Return the first and last of versions such as "0-8", "12" or 12."""
    first, dash, last = str(value).partition("-")
    if not first.isdecimal() or not (last.isdecimal() if dash else not last) or isinstance(value, bool):
        raise UsageError(f'versions are such as "0-8", or one number, not {value!r}')
    return int(first), int(last or first)
