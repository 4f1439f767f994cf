"""Could these bytes be the message? Walks them without making anything of them.

Objects take several times the memory of the bytes that they are read from, also if those turn out at their very end to
be no message. So large input is walked first. What this walk refuses, reading would have refused too, with the same
words.
"""

from __future__ import annotations

from typing import Any

from kmirror.protocol.careful import WIDTHS, MessageReader, within
from kmirror.protocol.message import Field, Message, Policy, Struct


def skim(cls: type[Message], view: memoryview, version: int, position: int = 0, policy: Policy = Policy.STRICT) -> int:
    """Return the position after the message; raises `ProtocolError` with byte and path if there is none."""
    walker = _Walker(view, position, version, cls.FLEXIBLE_FROM, policy, None)
    walker.struct(cls, "")
    return walker.position


class _Walker(MessageReader):
    def struct(self, cls: type[Any], path: str) -> Any:
        prefix = f"{path}." if path else ""
        for field in cls.FIELDS:
            if within(self.version, field.versions) and not within(self.version, field.tagged):
                self.field(field, prefix + field.attribute)
        if self.flexible:
            if self.position < len(self.view) and self.view[self.position] == 0:
                self.position += 1
            else:
                # Tags are few, so they may be made, on an object that is dropped at once.
                nothing: Any = _Nothing(cls)
                self.tags(nothing, prefix)

    def array(self, field: Field, path: str, flexible: bool, nullable: bool) -> list[Any] | None:
        n = self.count(path, flexible, nullable)
        width = self.fixed_width(field)
        end = self.position + n * width
        if n > 0 and width and end <= len(self.view):
            last = self.view[self.position + width - 1 : end : width].tobytes()
            if field.type != "struct" or not self.flexible or last.count(0) == n:
                self.position = end
                return None
        for i in range(n):
            where = f"{path}[{i}]"
            if field.type == "struct":
                self.struct(field.struct, where)
            else:
                self.scalar(field.type, where, flexible, self.lenient)
        return None

    def fixed_width(self, field: Field) -> int:
        """Return the width that all elements without tags have, 0 if they may differ."""
        if field.type != "struct":
            return WIDTHS.get(field.type, 0)
        total = 1 if self.flexible else 0
        for inner in field.struct.FIELDS:
            if not within(self.version, inner.versions) or within(self.version, inner.tagged):
                continue
            if inner.is_array or inner.type not in WIDTHS:
                return 0
            total += WIDTHS[inner.type]
        return total

    def scalar(self, type_: str, path: str, flexible: bool, nullable: bool) -> Any:
        if type_ in WIDTHS:
            self.take(WIDTHS[type_], path)
        else:
            self.variable_length(type_, path, flexible, nullable)


class _Nothing:
    """Stands in for a struct where only its tags are read."""

    def __init__(self, cls: type[Struct]) -> None:
        self.FIELDS = cls.FIELDS
