"""Examples of a page of the manual.

A page is Markdown. Each fenced block is an example, and the word after the opening fence says how it is used when the
page is run (`manual.run`):

    python   is executed
    output   is the expected output of the Python block before it
    console  is a shell session: `$ ` before each command, then its output
    toml     is a file; its title is the name of the file
    text     is a picture or a form, and is not run

A title after the word is printed above the block. Two titles have a meaning: `title="exit code 1"` on a console block,
and `title="not run: REASON"` on a block that no test can run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

RUN_LANGUAGES = ("python", "console", "toml")
LANGUAGES = (*RUN_LANGUAGES, "output", "text")

_FENCE = re.compile(r'(?P<indent> *)```(?P<language>[^\s`]*)(?: +title="(?P<title>[^"]*)")?(?P<rest>.*)')
_NOT_RUN = "not run:"
_EXIT = "exit code "


@dataclass(frozen=True, slots=True)
class Block:
    """An example; `line` is the line of its opening fence, counted from 1."""

    line: int
    language: str
    title: str
    text: str

    @property
    def reason_not_run(self) -> str | None:
        """The reason why no test runs the block, or None."""
        return self.title.removeprefix(_NOT_RUN).strip() if self.title.startswith(_NOT_RUN) else None

    @property
    def is_run(self) -> bool:
        return self.language in RUN_LANGUAGES and self.reason_not_run is None

    @property
    def exit_code(self) -> int:
        """Expected exit code of the last command of a console block."""
        return int(self.title.removeprefix(_EXIT)) if self.title.startswith(_EXIT) else 0


@dataclass(frozen=True, slots=True)
class Command:
    """A command of a console block, and its expected output lines."""

    line: int
    text: str
    expected: tuple[str, ...]


def blocks_of(markdown: str) -> Iterator[Block]:
    """Yield the fenced blocks of a page in order; raises ValueError for a fence that is never closed."""
    lines = markdown.split("\n")
    index = 0
    while index < len(lines):
        opening = _FENCE.fullmatch(lines[index])
        if opening is None:
            index += 1
            continue
        indent = len(opening["indent"])
        try:
            end = next(n for n in range(index + 1, len(lines)) if lines[n].strip() == "```")
        except StopIteration:
            raise ValueError(f"line {index + 1}: the fence is never closed") from None
        body = [line[indent:] for line in lines[index + 1 : end]]
        title = opening["title"] or ""
        language = opening["language"] + opening["rest"]
        yield Block(index + 1, language, title, "\n".join(body) + "\n")
        index = end + 1


def commands_of(block: Block) -> Iterator[Command]:
    """Yield the commands of a console block; a backslash at the end of a line continues a command on the next."""
    found: list[tuple[int, str, list[str]]] = []
    continues = False
    for number, line in enumerate(block.text.splitlines(), block.line + 1):
        if continues:
            first_line, text, expected = found[-1]
            found[-1] = (first_line, text + "\n" + line, expected)
        elif line.startswith("$ "):
            found.append((number, line[2:], []))
        elif found:
            found[-1][2].append(line)
        else:
            raise ValueError(f"line {number}: a console block begins with '$ ' and a command")
        continues = found[-1][1].endswith("\\")
    for first_line, text, expected in found:
        yield Command(first_line, text, tuple(expected))


def find_problems(markdown: str, *, languages: tuple[str, ...] = LANGUAGES) -> Iterator[str]:
    """Yield the faults that prevent the examples of a page from being run or read, with their lines."""
    previous: Block | None = None
    for block in blocks_of(markdown):
        if block.language not in languages:
            yield f"line {block.line}: a block is one of {', '.join(languages)}, not {block.language!r}"
        if block.reason_not_run == "":
            yield f"line {block.line}: give the reason why it is not run"
        if block.language == "toml" and not block.title:
            yield f"line {block.line}: the title of a toml block is the name of its file"
        if block.title.startswith(_EXIT) and not (
            block.language == "console" and block.title.removeprefix(_EXIT).isdecimal()
        ):
            yield f"line {block.line}: an exit code is a number, and of a console block"
        if block.language == "output" and (previous is None or previous.language != "python"):
            yield f"line {block.line}: output follows a python block"
        if block.language == "console":
            try:
                list(commands_of(block))
            except ValueError as error:
                yield str(error)
        previous = block
    yield from _indented_code(markdown)


def _indented_code(markdown: str) -> Iterator[str]:
    """Yield indented code that is not fenced, as it would not be run."""
    fenced = {
        number for block in blocks_of(markdown) for number in range(block.line, block.line + block.text.count("\n") + 2)
    }
    lines = ["", *markdown.split("\n")]
    in_list = False
    for number in range(1, len(lines)):
        line = lines[number]
        if number in fenced:
            continue
        if line and not line.startswith(" "):
            in_list = re.match(r"([-*]|\d+\.) ", line) is not None
        elif line.startswith("    ") and not lines[number - 1].strip() and not in_list:
            yield f"line {number}: fence the code, so that it is run"
