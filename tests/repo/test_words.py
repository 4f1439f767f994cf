"""Docstrings, comments, messages and pages are in plain English: forms that a reader has to decode are not used."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from tests.repo.sources import Source, sources
from tests.repo.words import unwanted_forms, unwanted_forms_of_page, unwanted_forms_of_strings

MESSAGE_FOLDERS = ("kmirror", "codegen", "manual", "benchmarks")
FOLDERS = (*MESSAGE_FOLDERS, "tests")
ALLOWED: dict[str, int] = {}
"""Files with forms that are names, and their number: it may only fall."""
ALLOWED_STRINGS = {
    "kmirror/cluster/replication/log_cleaning.py": 1,  # A note of the trace, part of digests.
    "kmirror/cluster/replication/purgatory.py": 1,  # A note of the trace, and a field of a fact.
    "kmirror/kernel/failures.py": 1,  # A note of the trace, and a field of a fact.
    "kmirror/sim/files.py": 1,  # A name in a record: the bytes of metadata logs contain it.
}
"""Files with forms in strings that must not change, and their number: it may only fall."""
PAGES = ("*.md", "docs/**/*.md", "changes/*.md")
"""Patterns of the pages; CHANGELOG.md is built from the fragments in `changes/`, and is not counted again."""


def check(files: Iterable[Source], count: Callable[[Source], Iterator[str]], allowed: dict[str, int]) -> None:
    found = {source.path: forms for source in files if not source.is_generated and (forms := list(count(source)))}
    assert [line for path, forms in found.items() if len(forms) > allowed.get(path, 0) for line in forms] == []
    assert {path: len(found.get(path, ())) for path in allowed} == allowed, "lower the number"


def test_no_unwanted_form_is_used(root: Path) -> None:
    check(sources(root, *FOLDERS), unwanted_forms, ALLOWED)


def test_no_message_has_an_unwanted_form(root: Path) -> None:
    check(sources(root, *MESSAGE_FOLDERS), unwanted_forms_of_strings, ALLOWED_STRINGS)


def test_no_page_has_an_unwanted_form(root: Path) -> None:
    paths = [path for pattern in PAGES for path in sorted(root.glob(pattern)) if path.name != "CHANGELOG.md"]
    assert len(paths) > 100, "there are pages, decisions and fragments"
    assert [
        form
        for path in paths
        for form in unwanted_forms_of_page(path.relative_to(root).as_posix(), path.read_text("utf-8"))
    ] == []


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ('"""Nodes that are told so."""\n', "tell"),
        ('"""Limits."""\nx = 1  # Whatever comes.\n', "whoever"),
        ('"""Limits."""\nx = 1\n"""What limits it."""\n', "what"),
        ('"""Which limits are there?"""\n', "a question as a heading"),
    ],
)
def test_a_planted_form_is_found(text: str, form: str) -> None:
    (found,) = unwanted_forms(Source("kmirror/log/a.py", text))
    assert found.endswith(f": {form}")


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ('raise ValueError("told so")\n', "tell"),
        ('print(f"{cluster} goes on")\n', "goes on"),
        ('print(f"the file has {size} bytes, whatever " f"it contains")\n', "whoever"),
        ('"""Limits."""\nprint("What happened, and what did not")\n', "what"),
    ],
)
def test_a_planted_form_of_a_message_is_found(text: str, form: str) -> None:
    (found,) = unwanted_forms_of_strings(Source("kmirror/log/a.py", text))
    assert found == f"kmirror/log/a.py:{len(text.splitlines())}: {form}"


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("# Logs\n\nA fetch costs what changed.", "what"),
        ("See [what to expect](logs.md), and\nwhat `cat` prints.", "what"),
        ("```text\nwhat\n```\nIt goes on.", "goes on"),
        ("Logs.\n\n## Which logs are read?", "a question as a heading"),
    ],
)
def test_a_planted_form_of_a_page_is_found(text: str, form: str) -> None:
    (found,) = unwanted_forms_of_page("docs/a.md", text)
    assert found == f"docs/a.md:{len(text.splitlines())}: {form}"


def test_names_in_backticks_are_not_counted() -> None:
    assert list(unwanted_forms(Source("kmirror/log/a.py", '"""Calls `tell` of `what`."""\n'))) == []
    assert list(unwanted_forms_of_strings(Source("kmirror/log/a.py", 'x = "calls `tell` of `what`"\n'))) == []
    assert list(unwanted_forms_of_page("docs/a.md", "`what` is a name")) == []


def test_names_idioms_and_docstrings_are_no_messages() -> None:
    text = '"""Limits: what is told."""\nx = ["what", "What happened", "[what to expect](a.md)"]\n'
    assert list(unwanted_forms_of_strings(Source("kmirror/log/a.py", text))) == []
