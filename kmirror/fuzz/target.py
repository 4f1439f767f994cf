"""What is a target? Something that is given frames, and says of each what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from kmirror.fuzz.stream import Frame

TAKEN = "taken"
"""How what `judge` returns of a frame begins in which nothing was wrong."""


def without_numbers(text: str, words: int = 10) -> str:
    """Return how a text begins, by its plain words: the same for any offset, size or checksum in it."""
    return " ".join(word for word in text.split()[:words] if word.isalpha())


class Target(Protocol):
    """One that is fuzzed. It is used by one thread, and closed at the end."""

    name: str
    """As it is given to `kmirror fuzz`."""

    @property
    def remarks(self) -> Sequence[str]:
        """Return what has to be known of the target before it is given frames, a line each."""
        ...

    @property
    def before(self) -> Sequence[bytes]:
        """Return the frames that it was given since it was fresh, without the last: a finding may need them."""
        ...

    def judge(self, frame: Frame) -> str:
        """Return what became of the frame in a few words that repeat: "taken", or the field that was refused.

        What the target may not do raises `Fault`. Frames with the same words are alike to the feedback mode.
        """
        ...

    def fresh(self) -> None:
        """Forget all frames: begin with the state of the beginning."""
        ...

    def close(self) -> None:
        """Let go of processes, links and files."""
        ...


class Stateless:
    """What targets have in common to which no frame matters but the last."""

    @property
    def remarks(self) -> Sequence[str]:
        """Return none: there is nothing to be known."""
        return ()

    @property
    def before(self) -> Sequence[bytes]:
        """Return none: nothing is kept of a frame."""
        return ()

    def fresh(self) -> None:
        """There is nothing to forget."""

    def close(self) -> None:
        """Nothing is held."""
