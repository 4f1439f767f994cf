"""Base of the readers that call other projects' libraries.

An error of the library is the verdict; an accepted value is converted to JSON.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from kmirror.fuzz.differential.verdicts import Form, Verdict, refusal
from kmirror.fuzz.stream import Frame


class LibraryReader(ABC):
    """A reader that calls a library. Any exception that is not in `documented_errors` is a fault."""

    name: str
    version: str
    documented_errors: tuple[type[Exception], ...]
    """Errors that the library documents for invalid bytes."""
    form: Form
    """Conversion of the library's objects to JSON."""

    @abstractmethod
    def can_read(self, frame: Frame) -> bool:
        """Return whether the library reads this message in this version, or such batches."""

    @abstractmethod
    def batches(self, data: bytes) -> list[dict[str, Any]]:
        """Return the record batches as JSON; raises the library's errors."""

    @abstractmethod
    def message(self, cls: Any, version: int, data: bytes) -> Any:
        """Return the library's object for a message; raises the library's errors."""

    def to_json(self, cls: Any, version: int, found: Any) -> Any:
        """Return the result of `message` as JSON."""
        return self.form.struct(cls, version, found)

    def read(self, frame: Frame) -> Verdict | None:
        """Return the verdict, None for an unknown message."""
        if not self.can_read(frame):
            return None
        cls: Any = frame.message
        try:
            if cls is None:
                return Verdict(self.batches(frame.data))
            found = self.message(cls, frame.version, frame.data)
        except Exception as error:
            return refusal(error, is_typed=isinstance(error, self.documented_errors))
        return Verdict(self.to_json(cls, frame.version, found))

    def close(self) -> None:  # noqa: B027 a class with resources overrides it.
        """Do nothing: there are no resources."""
