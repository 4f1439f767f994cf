"""Every file is small, documented and finished; and each of these checks works."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.repo import tidy
from tests.repo.sources import Source, sources


def complaints(*files: Source) -> list[str]:
    return [text for source in files for rule in tidy.RULES for text in rule(source)]


def test_the_repository_is_tidy(root: Path) -> None:
    assert complaints(*sources(root, "kmirror", "codegen", "manual", "tests")) == []


def test_the_check_command_is_tidy(root: Path) -> None:
    assert complaints(Source("check", (root / "check").read_text("utf-8"))) == []


def test_assertions_are_on() -> None:
    assert __debug__


HEAD = '"""What."""\n'
PLANTED = [
    ("kmirror/log/a.py", HEAD + "\n" * tidy.FILE_LINES_MAX, "601 lines"),
    ("tests/a.py", HEAD + "def f():\n" + "    x = 1\n" * tidy.FUNCTION_LINES_MAX, "f has 71 lines"),
    ("kmirror/a.py", HEAD + "class A:\n    async def f(self):\n" + "        x = 1\n" * 70, "f has 71 lines"),
    ("kmirror/cluster/a.py", HEAD + "class A:\n" + "    x = 1\n" * 250, "class A has 251 lines, and 250"),
    (
        "kmirror/cluster/node/partition.py",
        HEAD + "class Partition:\n    x = 1\n",
        "class Partition has 2 lines: lower its number",
    ),
    ("tests/a/b.py", HEAD + "x = Path(__file__).resolve().parents[3]\n", "parents[3] lies outside"),
    ("tests/a.py", HEAD + "x = ROOT.parent / 'shared'\n", "ROOT.parent lies outside"),
    ("codegen/a.py", "x = 1\n", "no docstring"),
    ("kmirror/protocol/gen/a.py", "x = 1\n", "no docstring"),
    ("kmirror/log/__init__.py", '"""   """\n', "no docstring"),
    *(
        ("kmirror/log/a.py", HEAD + f"x = 1  # {mark}: later\n", "a.py:2: unfinished")
        for mark in ("TO" + "DO", "FIX" + "ME", "X" + "XX")
    ),
]


@pytest.mark.parametrize(("path", "text", "expected"), PLANTED)
def test_a_planted_fault_is_reported(path: str, text: str, expected: str) -> None:
    (found,) = complaints(Source(path, text))
    assert expected in found


def test_the_top_of_the_repository_is_inside() -> None:
    assert complaints(Source("tests/a/b.py", HEAD + "x = Path(__file__).resolve().parents[2]\n")) == []


def test_generated_files_may_be_long() -> None:
    long = HEAD + "def f():\n" + "    x = 1\n" * 1000
    assert complaints(Source("kmirror/protocol/gen/fetch_request.py", long)) == []
    assert complaints(Source("kmirror/spec/error_codes.py", long)) == []
