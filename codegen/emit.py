"""Emitter of Python source: lines with their indentation, in their final formatting."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

WIDTH = 110


class Emitter:
    def __init__(self) -> None:
        self._lines: list[str] = []
        self._depth = 0

    def line(self, text: str = "") -> None:
        self._lines.append("    " * self._depth + text if text else "")

    def lines(self, *texts: str) -> None:
        for text in texts:
            self.line(text)

    def indent(self) -> None:
        self._depth += 1

    def dedent(self) -> None:
        self._depth -= 1

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Write `head`, and indent the lines that are written inside the context by one more level."""
        self.line(head)
        self._depth += 1
        yield
        self._depth -= 1

    def call(self, head: str, arguments: list[str], tail: str = ")") -> None:
        """Write `head(arguments)` on one line if it fits, else with one argument for each line."""
        whole = f"{head}{', '.join(arguments)}{tail}"
        if len(whole) + 4 * self._depth <= WIDTH:
            self.line(whole)
            return
        self.line(head)
        for argument in arguments:
            self.line(f"    {argument},")
        self.line(tail)

    def comment(self, text: str) -> None:
        """Write `text` as comment lines within the line width."""
        room = WIDTH - 4 * self._depth - 2
        line = ""
        for word in text.split():
            if line and len(line) + 1 + len(word) > room:
                self.line(f"# {line}")
                line = word
            else:
                line = f"{line} {word}".strip()
        self.line(f"# {line}")

    @property
    def text(self) -> str:
        return "\n".join(self._lines) + "\n"
