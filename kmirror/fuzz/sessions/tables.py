"""Immutable, hashable mapping for models, whose states are compared by the thousand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Table(Mapping[K, V]):
    """A mapping with a hash, whose values are hashable; it keeps the order of insertion."""

    __slots__ = ("_hash", "_values")

    def __init__(self, values: Mapping[K, V] | None = None) -> None:
        self._values: dict[K, V] = dict(values or {})
        self._hash: int | None = None

    def put(self, key: K, value: V) -> Table[K, V]:
        """Return the table with a changed value."""
        return Table({**self._values, key: value})

    def drop(self, key: K) -> Table[K, V]:
        """Return the table without a key, if present."""
        return Table({other: value for other, value in self._values.items() if other != key})

    def __getitem__(self, key: K) -> V:
        return self._values[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Table) and self._values == other._values

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self._values.items()))
        return self._hash

    def __repr__(self) -> str:
        return f"Table({self._values!r})"
