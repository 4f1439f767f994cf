"""What is a target? Something that is given frames, and says of each what became of it."""

from __future__ import annotations

from typing import Protocol

from kmirror.fuzz.stream import Frame


class Target(Protocol):
    """One that is fuzzed. It is used by one thread, and closed at the end."""

    name: str
    """As it is given to `kmirror fuzz`."""

    def judge(self, frame: Frame) -> str:
        """Return what became of the frame in a few words that repeat: "taken", or the field that was refused.

        What the target may not do raises `Fault`. Frames with the same words are alike to the feedback mode.
        """
        ...

    def close(self) -> None:
        """Let go of processes, links and files."""
        ...
