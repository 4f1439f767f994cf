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

RuleTable = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of a file; `number` counts from 1."""

    number: int
    table: RuleTable
    hook: Hook | None
    """The hook of the rule; None for one that caps versions."""

    def __str__(self) -> str:
        criteria = ", ".join(f"{key} = {value}" for key, value in self.table.items())
        count = "" if self.hook is None else f": applied {self.hook.count} times"
        return f"rule {self.number} ({criteria}){count}"


def _error(on: On, table: RuleTable) -> Hook:
    name = table["error"]
    code = ErrorCode.__members__.get(name) if isinstance(name, str) else None
    if code is None:
        hint = did_you_mean(str(name), ErrorCode.__members__)
        raise UsageError(f"unknown error {name!r}" + (f"; {hint}" if hint else ""))
    return (on.apply_then if table.get("applied") else on.answer)(code, table.get("message"))


def _disconnect(on: On, table: RuleTable) -> Hook:
    position = table["disconnect"]
    if position not in ("before", "after"):
        raise UsageError(f'disconnect must be "before" or "after" (the broker acts), not {position!r}')
    return on.close(applied=position == "after")


def _flag(table: RuleTable, key: str) -> bool:
    value = table.get(key, False)
    if not isinstance(value, bool):
        raise UsageError(f"{key} must be true or false, not {value!r}")
    return value


def _check_is_true(table: RuleTable, key: str) -> None:
    if not _flag(table, key):
        raise UsageError(f"{key} must be true: remove the key otherwise")


def _hold(on: On, table: RuleTable) -> Hook:
    _check_is_true(table, "hold")
    return on.hold(applied=_flag(table, "applied"))


def _drop(on: On, table: RuleTable) -> Hook:
    _check_is_true(table, "drop")
    return on.drop(applied=_flag(table, "applied"))


ACTIONS: Mapping[str, tuple[Callable[[On, RuleTable], Hook], tuple[str, ...]]] = {
    "error": (_error, ("message", "applied")),
    "delay_ms": (lambda on, table: on.delay(table["delay_ms"], applied=_flag(table, "applied")), ("applied",)),
    "hold": (_hold, ("applied",)),
    "drop": (_drop, ("applied",)),
    "disconnect": (_disconnect, ()),
    "throttle_ms": (lambda on, table: on.throttle(table["throttle_ms"]), ()),
    "bytes_per_s": (lambda on, table: on.slow(table["bytes_per_s"]), ()),
}
"""Key of the action to the function that adds it and the keys that may accompany it."""
CRITERIA_KEYS = ("node", "topic", "partition", "client_id", "times", "probability", "nth", "every")
"""Keys that `Hooks.on` takes unchanged."""
CAPS = ("cap", "release")


def read_rules(path: Path) -> tuple[int, list[RuleTable]]:
    """Return the seed and the checked rules of a file; raises UsageError with the error and its place."""
    return read_toml(path, parse_rules)


def parse_rules(content: Mapping[str, Any]) -> tuple[int, list[RuleTable]]:
    """Return the seed and the checked rules of a file's content; raises UsageError for invalid content."""
    for key in content:
        if key not in ("seed", "rule"):
            raise UsageError(f"unknown key {key!r}: use seed and [[rule]]")
    seed, rules = content.get("seed", 0), content.get("rule", [])
    if not isinstance(rules, list) or not all(isinstance(table, dict) for table in rules):
        raise UsageError("each rule must be a [[rule]] table")
    add_rules(Hooks(seed), rules)
    return seed, rules


def add_rules(hooks: Hooks, rules: list[RuleTable]) -> list[Rule]:
    """Add the rules to `hooks`, and return them; raises UsageError with the number of an invalid rule."""
    found = []
    for number, table in enumerate(rules, 1):
        try:
            found.append(Rule(number, table, _add(hooks, table)))
        except UsageError as error:
            raise UsageError(f"rule {number}: {error}") from None
    return found


def _add(hooks: Hooks, table: RuleTable) -> Hook | None:
    known = ("api", "versions", *CRITERIA_KEYS, *CAPS, *ACTIONS, "message", "applied")
    for key in table:
        if key not in known:
            hint = did_you_mean(key, known)
            raise UsageError(f"unknown key {key!r}" + (f"; {hint}" if hint else f": use one of {', '.join(known)}"))
    actions = [key for key in (*ACTIONS, *CAPS) if key in table]
    if len(actions) != 1:
        given = " and ".join(actions) or "none"
        raise UsageError(f"a rule needs exactly one of {', '.join((*ACTIONS, *CAPS))}, this one has {given}")
    action = actions[0]
    _flag(table, "applied")
    if action in CAPS:
        _cap(hooks, table, action)
        return None
    add_action, extra_keys = ACTIONS[action]
    for key in ("message", "applied"):
        if key in table and key not in extra_keys:
            raise UsageError(f"{key} cannot be combined with {action}")
    criteria = {key: table[key] for key in CRITERIA_KEYS if key in table}
    if "versions" in table:
        criteria["versions"] = _versions(table["versions"])
    return add_action(hooks.on(_request(table), **criteria), table)


def _cap(hooks: Hooks, table: RuleTable, action: str) -> None:
    allowed = {"cap", "api"} if action == "cap" else {"release"}
    others = sorted(table.keys() - allowed)
    if others:
        raise UsageError(f"{action} applies to all requests: remove {', '.join(others)}")
    if action == "release":
        hooks.play(table["release"])
        return
    request = _request(table)
    if request is None:
        raise UsageError('cap needs the name of an API, as in api = "Produce"')
    hooks.cap(request, table["cap"])


def _request(table: RuleTable) -> Any:
    name = table.get("api")
    if name is None:
        return None
    if not isinstance(name, str):
        raise UsageError(f'api must be the name of an API, such as "Produce", not {name!r}')
    return by_api_name(name).request


def _versions(value: object) -> tuple[int, int]:
    """Return the first and last of versions such as "0-8", "12" or 12."""
    first, dash, last = str(value).partition("-")
    if not first.isdecimal() or not (last.isdecimal() if dash else not last) or isinstance(value, bool):
        raise UsageError(f'versions must be a range such as "0-8" or one number, not {value!r}')
    return int(first), int(last or first)
