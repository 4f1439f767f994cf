"""The examples in README.md and docs/ do what they say."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from kmirror.cli.commands import COMMANDS
from kmirror.cli.group import build


def pages(root: Path) -> list[Path]:
    return [root / "README.md", *sorted((root / "docs").glob("*.md"))]


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)\n```", page.read_text("utf-8"), re.DOTALL)


def test_the_examples_of_partition_logs_run_one_after_the_other(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    examples = blocks(root / "docs/logs.md", "python")
    assert examples
    for example in examples:
        exec(compile(example, "docs/logs.md", "exec"), {"__name__": "docs"})
    first, *_, last = capsys.readouterr().out.splitlines()
    assert first == "3 1700000000000 b'key' b'value' []"
    assert last == "9 1700000000000 b'key' b'value' []"


def test_command_lines_name_commands_and_flags_that_exist(root: Path) -> None:
    top = build(COMMANDS)
    lines = [(page, line) for page in pages(root) for block in blocks(page, "console") for line in block.splitlines()]
    assert lines
    for page, line in lines:
        words = shlex.split(line)
        if words[0] != "kmirror":
            continue
        command = top.get_command(click.Context(top), words[1])
        assert command is not None, f"{page}: no command {words[1]}"
        known = {name for option in command.params for name in option.opts}
        flags = {word.split("=")[0] for word in words[2:] if re.match(r"--?[a-z]", word)}
        assert flags <= known, f"{page}: {words[1]} has no {flags - known}"
