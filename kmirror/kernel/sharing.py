"""What has an object in the place of a table into which nothing was put yet?

A node has a hundred thousand partitions, each with tables for what few of them ever meet: a producer, a follower that
has to cut. All share one empty table, which cannot be written to, until the first entry comes.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, TypeVar

K = TypeVar("K")
V = TypeVar("V")

NOTHING: Mapping[Any, Any] = MappingProxyType({})


def own(table: Mapping[K, V]) -> dict[K, V]:
    """Return a table to write to: `table` itself, a new one in the place of NOTHING."""
    return table if isinstance(table, dict) else {}
