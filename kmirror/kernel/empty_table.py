"""Shared empty table for objects whose tables are usually empty.

A node has a hundred thousand partitions, each with tables that few of them need, such as for producers or for followers
that must truncate. Until the first entry, they share one read-only empty table.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, TypeVar

K = TypeVar("K")
V = TypeVar("V")

EMPTY: Mapping[Any, Any] = MappingProxyType({})


def writable(table: Mapping[K, V]) -> dict[K, V]:
    """Return a writable table: `table` itself, or a new one for EMPTY."""
    return table if isinstance(table, dict) else {}
