"""The table of KIP-1279's implemented parts names its tests, and they exist."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from kmirror.spec.apis import ROWS

TEST = re.compile(r"`(tests/[\w/]+\.py)(?:::(\w+))?`")
TESTS = re.compile(r"^- (?P<id>[A-Z]\d+): (?P<tests>.*(?:\n  .*)*)", re.M)
IN_CELLS = re.compile(r"`tests/|\]\(")
REQUEST = re.compile(r"\b[A-Z]\w+ \d+\b")
STATES = ("yes", "in part", "no")


class Row(NamedTuple):
    id: str
    behaviour: str
    state: str
    tests: list[tuple[str, str]]
    missing: str


def cells_of(page: str) -> list[list[str]]:
    """Return the cells of all rows of tables below their headings."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line.startswith("|")]
    return [cells for cells in rows if cells[0] not in ("row", "---")]


def rows_of(page: str) -> list[Row]:
    """Return the rows of the tables, each with the tests that the list below its table names for it."""
    tests = {found["id"]: TEST.findall(found["tests"]) for found in TESTS.finditer(page)}
    return [Row(*cells[:3], tests.get(cells[0], []), cells[3]) for cells in cells_of(page)]


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


def test_rows_have_unique_ids_and_every_list_of_tests_has_a_row(root: Path) -> None:
    page = (root / "docs" / "kip-1279.md").read_text("utf-8")
    ids = [row.id for row in rows_of(page)]
    assert len(set(ids)) == len(ids)
    assert {found["id"] for found in TESTS.finditer(page)} <= set(ids)


def test_the_summary_counts_the_rows_and_lists_those_that_are_missing(root: Path) -> None:
    page = (root / "docs" / "kip-1279.md").read_text("utf-8")
    rows = rows_of(page)
    ids = {state: [row.id for row in rows if row.state == state] for state in STATES}
    yes, in_part, no = (len(ids[state]) for state in STATES)
    assert f"Of {len(rows)} behaviours, {yes} are implemented, {in_part} in part, and {no} not." in page
    assert f"- In part: {', '.join(ids['in part'])}." in page
    assert f"- Not: {', '.join(ids['no'])}." in page


@pytest.mark.parametrize("name", ["kip-1279.md", "apis.md"])
def test_a_cell_has_one_link_or_test_at_most(root: Path, name: str) -> None:
    cells = [cell for row in cells_of((root / "docs" / name).read_text("utf-8")) for cell in row]
    assert len(cells) > 100
    assert [cell for cell in cells if len(IN_CELLS.findall(cell)) > 1] == []


def test_every_served_request_is_listed_with_its_key_or_version(root: Path) -> None:
    rows = rows_of((root / "docs" / "kip-1279.md").read_text("utf-8"))
    told = {name for row in rows if row.state == "yes" for name in REQUEST.findall(row.behaviour)}
    own = {f"{row.name} {row.key}" for row in ROWS if row.first_mirror_version == row.first}
    raised = {f"{row.name} {row.last}" for row in ROWS if row.first_mirror_version == row.last and row.first < row.last}
    assert own and raised and own | raised <= told


@pytest.mark.parametrize(
    ("row", "tests", "fault"),
    [
        ("| Q1 | a | done | x |", "`tests/repo/test_kip_table.py`", "done is none of"),
        ("| Q1 | a | yes | |", "", "no test holds it"),
        ("| Q1 | a | in part | |", "`tests/repo/test_kip_table.py`", "does not say what is missing"),
        ("| Q1 | a | yes | |", "`tests/repo/test_kip_table.py::test_that_nobody_wrote`", "there is no"),
        ("| Q1 | a | yes | |", "`tests/repo/test_kip_table.py`,\n  `tests/repo/nowhere.py`", "there is no"),
    ],
)
def test_a_planted_fault_is_reported(root: Path, row: str, tests: str, fault: str) -> None:
    (planted,) = rows_of(f"{row}\n\nTests of these rows:\n\n- Q1: {tests}\n")
    (found,) = faults(root, planted)
    assert fault in found
