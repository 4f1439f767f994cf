"""Seeded randomness: one seed, many streams, the same numbers on every Python version.

Streams are split by name, so a new draw in one part does not shift the others. The generator is SplitMix64: Python
guarantees a stable sequence only for `random.random()`, not for `shuffle` or `choice`, and the core must not import
`random`.
"""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence
from typing import TypeVar

_MASK = (1 << 64) - 1
_STEP = 0x9E3779B97F4A7C15
SEED_MAX = _MASK
"""Maximum seed: the generator uses 64 bits, so all seeds from 0 to this one give different runs."""
T = TypeVar("T")


class Rng:
    """A stream of pseudo-random integers; not for secrets."""

    __slots__ = ("_seed", "_state")

    def __init__(self, seed: int) -> None:
        self._seed = seed & _MASK
        self._state = self._seed

    @property
    def seed(self) -> int:
        """The seed; `Rng(seed)` starts the same stream."""
        return self._seed

    def split(self, name: str) -> Rng:
        """Return an independent stream that depends only on this stream's seed and `name`."""
        value = self._seed ^ 0xCBF29CE484222325
        for byte in name.encode():  # FNV-1a: `hash()` differs from run to run.
            value = ((value ^ byte) * 0x100000001B3) & _MASK
        return Rng(Rng(value - _STEP).next64())

    def next64(self) -> int:
        """Return 64 random bits."""
        self._state = value = (self._state + _STEP) & _MASK
        value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _MASK
        return value ^ (value >> 31)

    def below(self, bound: int) -> int:
        """Return an integer in [0, bound)."""
        assert bound > 0, f"bound {bound}"
        return (self.next64() * bound) >> 64

    def between(self, first: int, last: int) -> int:
        """Return an integer in [first, last]."""
        assert first <= last, f"from {first} to {last}"
        # `next64` inlined: there is a draw for every frame of a simulation.
        self._state = value = (self._state + _STEP) & _MASK
        value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _MASK
        return first + (((value ^ (value >> 31)) * (last - first + 1)) >> 64)

    def chance(self, numerator: int, denominator: int) -> bool:
        """Return True with probability numerator / denominator."""
        return self.below(denominator) < numerator

    def choice(self, items: Sequence[T]) -> T:
        return items[self.below(len(items))]

    def shuffle(self, items: MutableSequence[T]) -> None:
        """Put `items` in random order, in place (Fisher-Yates)."""
        for last in range(len(items) - 1, 0, -1):
            other = self.below(last + 1)
            items[last], items[other] = items[other], items[last]

    def octets(self, count: int) -> bytes:
        """Return `count` random bytes."""
        words = (count + 7) // 8
        return b"".join(self.next64().to_bytes(8, "big") for _ in range(words))[:count]
