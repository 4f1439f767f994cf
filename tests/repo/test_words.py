"""Docstrings and comments are in plain English: forms that a reader has to decode are not used."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.repo.sources import Source, sources
from tests.repo.words import unwanted_forms

FOLDERS = ("kmirror", "codegen", "manual", "benchmarks", "tests")
ALLOWED = {
    "kmirror/histories/scripts.py": 1,  # A class of an example.
}
"""Files with forms that are names, and their number: it may only fall."""


def test_no_unwanted_form_is_used(root: Path) -> None:
    found = {
        source.path: forms
        for source in sources(root, *FOLDERS)
        if not source.is_generated and (forms := list(unwanted_forms(source)))
    }
    assert [line for path, forms in found.items() if len(forms) > ALLOWED.get(path, 0) for line in forms] == []
    assert {path: len(found.get(path, ())) for path in ALLOWED} == ALLOWED, "lower the number"


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


def test_names_in_backticks_are_not_counted() -> None:
    assert list(unwanted_forms(Source("kmirror/log/a.py", '"""Calls `tell` of `what`."""\n'))) == []
