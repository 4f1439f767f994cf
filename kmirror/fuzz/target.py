"""Interface of a target, which is given frames and returns an outcome for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from kmirror.fuzz.stream import Frame

TAKEN = "taken"
"""Prefix of the outcome that `judge` returns for an accepted frame."""


def without_numbers(text: str, words: int = 10) -> str:
    """Return the first plain words of a text, without numbers, so that it does not depend on offsets or sizes."""
    return " ".join(word for word in text.split()[:words] if word.isalpha())


class Target(Protocol):
    """Something that is fuzzed. It is used by one thread, and closed at the end."""

    name: str
    """Its name on the command line of `kmirror fuzz`."""

    @property
    def remarks(self) -> Sequence[str]:
        """Return remarks for the user before the first frame, a line each."""
        ...

    @property
    def before(self) -> Sequence[bytes]:
        """Return the frames put to it since `reset`, without the last; a finding may need them."""
        ...

    def judge(self, frame: Frame) -> str:
        """Return the outcome of the frame in a few stable words: "taken", or the field that was refused.

        Raises `Fault` for a forbidden reaction. The feedback mode treats frames with the same outcome as alike.
        """
        ...

    def reset(self) -> None:
        """Forget all frames: return to the initial state."""
        ...

    def close(self) -> None:
        """Release processes, links and files."""
        ...


class Stateless:
    """Base of targets without state between frames."""

    @property
    def remarks(self) -> Sequence[str]:
        """Return no remarks."""
        return ()

    @property
    def before(self) -> Sequence[bytes]:
        """Return no frames: none are kept."""
        return ()

    def reset(self) -> None:
        """Do nothing: there is no state."""

    def close(self) -> None:
        """Do nothing: there are no resources."""
