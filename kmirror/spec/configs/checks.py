"""Check of one value against the row of its key."""

from __future__ import annotations

import re

from kmirror.spec.configs.key import ConfigKey, Kind, Scope
from kmirror.spec.configs.lists import BLANKS, split_entries
from kmirror.spec.configs.registry import config_keys
from kmirror.spec.configs.rules import invalid_value, throttled_replicas

BOUNDS = {Kind.SHORT: 1 << 15, Kind.INT: 1 << 31, Kind.LONG: 1 << 63}
VALUE_LENGTH_MAX = 32767
_NUMBER = re.compile(r"[+-]?\d{1,1000}")
_DOUBLE = re.compile(r"[+-]?(\d{1,1000}\.?\d{0,1000}|\.\d{1,1000})([eE][+-]?\d{1,4})?[dDfF]?")


def problem_with(scope: Scope, name: str, value: str) -> str | None:
    """Return why `name` cannot be set to `value`, in Kafka's words, or None.

    Unknown names are an error for topics and brokers; a mirror accepts unknown security settings.
    """
    row = config_keys(scope).get(name)
    if len(value) > VALUE_LENGTH_MAX:
        return (
            "The configuration value cannot be added because it exceeds the maximum value size of "
            f"{VALUE_LENGTH_MAX} bytes."
        )
    if row is None:
        if scope is Scope.MIRROR and name.partition(".")[0] in ("sasl", "ssl", "security"):
            return None
        return f"Unknown {scope.value} config name: {name}"
    if row.hidden:
        return f"{name} is managed by the mirror APIs and cannot be set"
    if row.kind in BOUNDS or row.kind is Kind.DOUBLE:
        problem = _problem_with_number(row, value)
        return row.rule(name, [value.strip(BLANKS)]) if problem is None and row.rule is not None else problem
    if row.kind is Kind.BOOLEAN and value.strip(BLANKS).lower() not in ("true", "false"):
        return invalid_value(name, value, "Expected value to be either true or false")
    entries = split_entries(value, are_patterns=row.holds_patterns) if row.kind is Kind.LIST else [value.strip(BLANKS)]
    for entry in entries:
        if row.kind is Kind.LIST and not entry and row.rule is not throttled_replicas:
            return f"Configuration '{name}' values must not be empty."
        if row.choices and entry not in row.choices:
            return invalid_value(name, entry, f"String must be one of: {', '.join(row.choices)}")
    return None if row.rule is None else row.rule(name, entries)


def _problem_with_number(row: ConfigKey, value: str) -> str | None:
    text = value.strip(BLANKS)
    number: float | None = None
    if row.kind is Kind.DOUBLE:
        number = float(text.rstrip("dDfF")) if _DOUBLE.fullmatch(text) else None
    elif _NUMBER.fullmatch(text) and -BOUNDS[row.kind] <= int(text) < BOUNDS[row.kind]:
        number = int(text)
    if number is None:
        return invalid_value(row.name, value, f"Not a number of type {row.kind.name}")
    if row.minimum is not None and number < row.minimum:
        return invalid_value(row.name, number, f"Value must be at least {row.minimum}")
    if row.maximum is not None and number > row.maximum:
        return invalid_value(row.name, number, f"Value must be no more than {row.maximum}")
    return None
