"""Splitting of long lists into requests of bounded size."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


def _one(_: object) -> int:
    return 1


def in_batches(items: Iterable[T], most: int, size: Callable[[T], int] = _one) -> list[list[T]]:
    """Return `items` in lists whose sizes sum up to at most `most`; an item that is larger has a list of its own."""
    batches: list[list[T]] = []
    total = 0
    for item in items:
        if not batches or total + size(item) > most:
            batches.append([])
            total = 0
        batches[-1].append(item)
        total += size(item)
    return batches
