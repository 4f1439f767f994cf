"""The table of KIP-1279's implemented parts names its tests, and they exist."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from kmirror.spec.apis import ROWS

TEST = re.compile(r"`(tests/[\w/]+\.py)(?:::(\w+))?`")
REQUEST = re.compile(r"\b[A-Z]\w+ \d+\b")
STATES = ("yes", "in part", "no")


class Row(NamedTuple):
    behaviour: str
    state: str
    tests: list[tuple[str, str]]
    missing: str


def rows_of(page: str) -> list[Row]:
    found = []
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == 4 and cells[0] not in ("behaviour", "---"):
            found.append(Row(cells[0], cells[1], TEST.findall(cells[2]), cells[3]))
    return found


def faults(root: Path, row: Row) -> list[str]:
    found = [] if row.state in STATES else [f"{row.behaviour}: {row.state} is none of {STATES}"]
    if row.state != "no" and not row.tests:
        found.append(f"{row.behaviour}: no test holds it")
    if row.state != "yes" and not row.missing:
        found.append(f"{row.behaviour}: it does not say what is missing")
    for path, name in row.tests:
        text = (root / path).read_text("utf-8") if (root / path).is_file() else ""
        if f"def {name or 'test_'}" not in text:
            found.append(f"{row.behaviour}: there is no {path}::{name}")
    return found


def test_every_row_is_held_by_tests_that_exist(root: Path) -> None:
    rows = rows_of((root / "docs" / "kip-1279.md").read_text("utf-8"))
    assert len(rows) >= 35
    assert [fault for row in rows for fault in faults(root, row)] == []


def test_every_request_that_is_served_is_told_with_its_key_or_version(root: Path) -> None:
    rows = rows_of((root / "docs" / "kip-1279.md").read_text("utf-8"))
    told = {name for row in rows if row.state == "yes" for name in REQUEST.findall(row.behaviour)}
    own = {f"{row.name} {row.key}" for row in ROWS if row.mirror_from == row.first}
    raised = {f"{row.name} {row.last}" for row in ROWS if row.mirror_from == row.last and row.first < row.last}
    assert own and raised and own | raised <= told


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("| a | done | `tests/repo/test_kip_table.py` | x |", "done is none of"),
        ("| a | yes | | |", "no test holds it"),
        ("| a | in part | `tests/repo/test_kip_table.py` | |", "does not say what is missing"),
        ("| a | yes | `tests/repo/test_kip_table.py::test_that_nobody_wrote` | |", "there is no"),
        ("| a | yes | `tests/repo/nowhere.py` | |", "there is no"),
    ],
)
def test_a_planted_fault_is_reported(root: Path, line: str, fault: str) -> None:
    (row,) = rows_of(line)
    (found,) = faults(root, row)
    assert fault in found
