"""Decorator for value classes with millions of instances.

A frozen dataclass takes three times as long to create, since each field is set with `object.__setattr__`. Events and
effects are created for everything that happens, and dropped at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True)
def value(cls: type[T]) -> type[T]:
    """Return a dataclass with slots, equality and a hash; type checkers reject changes of its instances."""
    return dataclass(slots=True, unsafe_hash=True)(cls)
