"""What do readers have in common that call other people's libraries?

What the library raises is the verdict; what it takes is told as JSON.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from kmirror.fuzz.differential.verdicts import Form, Verdict, refused
from kmirror.fuzz.stream import Frame


class LibraryReader(ABC):
    """A reader that calls a library; its class says how. Any exception but those of `typed` is a fault."""

    name: str
    version: str
    typed: tuple[type[Exception], ...]
    """What the library says it raises for bytes that it does not take."""
    form: Form
    """How what it makes of a message becomes JSON."""

    @abstractmethod
    def knows(self, frame: Frame) -> bool:
        """Return whether the library reads this message in this version, or such batches."""

    @abstractmethod
    def batches(self, data: bytes) -> list[dict[str, Any]]:
        """Return the record batches as JSON; raises what the library raises."""

    @abstractmethod
    def message(self, cls: Any, version: int, data: bytes) -> Any:
        """Return what the library makes of a message; raises what it raises."""

    def told(self, cls: Any, version: int, found: Any) -> Any:
        """Return as JSON what `message` returned."""
        return self.form.struct(cls, version, found)

    def read(self, frame: Frame) -> Verdict | None:
        """Return what became of the frame, None if it is no message that is known."""
        if not self.knows(frame):
            return None
        cls: Any = frame.message
        try:
            if cls is None:
                return Verdict(self.batches(frame.data))
            found = self.message(cls, frame.version, frame.data)
        except Exception as error:
            return refused(error, is_typed=isinstance(error, self.typed))
        return Verdict(self.told(cls, frame.version, found))

    def close(self) -> None:  # noqa: B027 a class that holds something says so.
        """Nothing is held."""
