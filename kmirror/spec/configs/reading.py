"""Typed reading of configs over the defaults of their keys."""

from __future__ import annotations

from collections.abc import Mapping

from kmirror.spec.configs.key import Scope
from kmirror.spec.configs.lists import BLANKS, split_entries
from kmirror.spec.configs.registry import config_keys, default_of


class Configs:
    """Typed reading of one resource's configs over the defaults of the rows.

    `values` must not change while this is in use: each number is read once.
    """

    __slots__ = ("_fallback", "_numbers", "_rows", "_values")

    def __init__(self, scope: Scope, values: Mapping[str, str], fallback: Configs | None = None) -> None:
        self._rows = config_keys(scope)
        self._values = values
        self._fallback = fallback
        self._numbers: dict[str, int] = {}

    def text(self, name: str) -> str:
        """Return the value as text; a topic key without a value of its own falls back to the broker's."""
        row = self._rows[name]
        if row.test_key is not None and row.test_key in self._values:
            name = row.test_key
        value = self._values.get(name)
        if value is None and row.broker_key is not None and self._fallback is not None:
            return self._fallback.text(row.broker_key)
        if value is None and row.fallback is not None:
            other, units = row.fallback
            return str(self.integer(other) * units)
        return default_of(row) if value is None else value.strip(BLANKS)

    def is_set(self, name: str) -> bool:
        """Return whether a value is set for the key, even if it equals the default."""
        return name in self._values

    def integer(self, name: str) -> int:
        number = self._numbers.get(name)
        if number is None:
            number = self._numbers[name] = int(self.text(name))
        return number

    def double(self, name: str) -> float:
        return float(self.text(name).rstrip("dDfF"))

    def names(self, name: str) -> list[str]:
        """Return the entries of a list."""
        return [
            entry for entry in split_entries(self.text(name), are_patterns=self._rows[name].holds_patterns) if entry
        ]

    def flag(self, name: str) -> bool:
        return self.text(name).lower() == "true"


def broker_configs(static_values: Mapping[str, str], dynamic_values: Mapping[str, str]) -> Configs:
    """Return the configs in force at a node: dynamic ones override its properties file.

    As in Kafka, stored values of keys that cannot change dynamically are ignored.
    """
    rows = config_keys(Scope.BROKER)
    return Configs(
        Scope.BROKER, {**static_values, **{n: v for n, v in dynamic_values.items() if n in rows and rows[n].dynamic}}
    )
