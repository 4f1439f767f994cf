"""Runner for the examples of a page.

All blocks of a page are run from top to bottom in one folder. Python blocks share one namespace and run in this
process; each command runs in its own shell. The output must equal the text on the page, except that:

- `...` alone on a line matches any number of lines,
- `...` within a line matches any text in it,
- spaces at the end of a line are ignored.

The folder holds `kmirror/logdir/sample`, `docs/sweeps` and `tests/data/brokers.tar.xz`, as in the repository.
"""

from __future__ import annotations

import contextlib
import difflib
import io
import os
import re
import subprocess
import sys
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path

from manual.blocks import Block, blocks_of, commands_of

ROOT = Path(__file__).resolve().parent.parent
LINKED_FILES = ("kmirror/logdir/sample", "docs/sweeps", "tests/data/brokers.tar.xz")
SECONDS_MAX = 240


class ExampleFailed(AssertionError):
    """The result of an example differs from its page."""


def run_page(page: Path, folder: Path) -> int:
    """Run the examples of `page` in `folder` and return their number; raises ExampleFailed for the first that fails."""
    try:
        blocks = list(blocks_of(page.read_text("utf-8")))
    except (OSError, ValueError) as error:
        raise ExampleFailed(f"{page}: {error}") from error
    for part in LINKED_FILES:
        (folder / part).parent.mkdir(parents=True, exist_ok=True)
        (folder / part).symlink_to(ROOT / part)
    namespace: dict[str, object] = {"__name__": "manual"}
    count = 0
    with contextlib.chdir(folder):
        for block, next_block in zip(blocks, [*blocks[1:], None], strict=False):
            if not block.is_run:
                continue
            count += 1
            if block.language == "toml":
                Path(block.title).write_text(block.text, "utf-8")
            elif block.language == "console":
                _run_session(page, block, folder)
            else:
                expected = next_block.text if next_block is not None and next_block.language == "output" else ""
                _run_python(page, block, namespace, expected.splitlines())
    return count


def matches(expected: Sequence[str], printed: Sequence[str]) -> bool:
    """Return whether the printed lines match the expected ones, where `...` matches any text."""
    pattern = "".join(_pattern(line) for line in expected)
    text = "".join(line.rstrip() + "\n" for line in printed)
    return re.fullmatch(pattern, text) is not None


def _pattern(line: str) -> str:
    if line.strip() == "...":
        return r"(?:.*\n)*?"
    return ".*?".join(re.escape(part) for part in line.rstrip().split("...")) + r"\n"


def _run_python(page: Path, block: Block, namespace: dict[str, object], expected: Sequence[str]) -> None:
    # Blank lines are prepended so that a traceback shows line numbers of the page.
    source = "\n" * block.line + block.text
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(source, str(page), "exec"), namespace)
    except Exception as error:
        line_number = next(
            (f.lineno for f in reversed(traceback.extract_tb(error.__traceback__)) if f.filename == str(page)), 0
        )
        raise ExampleFailed(f"{page}:{line_number or block.line}: {type(error).__name__}: {error}") from error
    _compare(f"{page}:{block.line}", expected, printed.getvalue().splitlines())


def _run_session(page: Path, block: Block, folder: Path) -> None:
    commands = list(commands_of(block))
    for command in commands:
        location = f"{page}:{command.line}: $ {command.text}"
        try:
            completed = subprocess.run(
                ["/bin/sh", "-c", command.text],
                cwd=folder,
                env=_environment(folder),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                encoding="utf-8",
                timeout=SECONDS_MAX,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise ExampleFailed(f"{location}\ndid not end within {SECONDS_MAX} s") from None
        _compare(location, command.expected, completed.stdout.splitlines())
        expected_code = block.exit_code if command is commands[-1] else 0
        if completed.returncode != expected_code:
            raise ExampleFailed(
                f"{location}\nended with {completed.returncode}, not with {expected_code}\n{completed.stdout}"
            )


def _environment(folder: Path) -> dict[str, str]:
    """Return an environment in which `kmirror` and `python` run under this interpreter, with plain output."""
    tools = folder / ".bin"
    if not tools.exists():
        tools.mkdir()
        for name, arguments in (("kmirror", " -m kmirror"), ("python", "")):
            (tools / name).write_text(f'#!/bin/sh\nexec "{sys.executable}"{arguments} "$@"\n')
            (tools / name).chmod(0o755)
    search = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    plain = {"COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb", "LC_ALL": "C.UTF-8", "PYTHONPATH": search}
    return {**os.environ, **plain, "PATH": os.pathsep.join([str(tools), os.environ["PATH"]])}


def _compare(location: str, expected: Sequence[str], printed: Sequence[str]) -> None:
    if not matches(expected, printed):
        actual = [line.rstrip() for line in printed]
        difference = "\n".join(_difference([line.rstrip() for line in expected], actual))
        raise ExampleFailed(
            f"{location}\nprints something else than the page shows (-: page, +: printed)\n{difference}"
        )


def _difference(expected: list[str], printed: list[str]) -> Iterator[str]:
    return (line.rstrip("\n") for line in difflib.ndiff(expected, printed) if not line.startswith("?"))
