"""Splitting of long lists into requests of bounded size."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


def _unit_size(_: object) -> int:
    return 1


def in_batches(items: Iterable[T], size_max: int, size: Callable[[T], int] = _unit_size) -> list[list[T]]:
    """Return `items` in lists with a total size of at most `size_max` each; a larger item has a list of its own."""
    batches: list[list[T]] = []
    total = 0
    for item in items:
        if not batches or total + size(item) > size_max:
            batches.append([])
            total = 0
        batches[-1].append(item)
        total += size(item)
    return batches
