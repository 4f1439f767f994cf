"""Classes of values that are made by the million.

A frozen dataclass costs three times as much to make as one that is not, since each field is set through
`object.__setattr__`. Events and effects are made for everything that happens, and dropped at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True)
def value(cls: type[T]) -> type[T]:
    """Make a dataclass with slots, equality and a hash, whose instances nobody changes: type checkers refuse that."""
    return dataclass(slots=True, unsafe_hash=True)(cls)
