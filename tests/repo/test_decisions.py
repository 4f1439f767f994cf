"""Every decision that is cited has a page with a date, a row of the index and a test; and each alarm rings."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.repo import decisions
from tests.repo.decisions import Mark
from tests.repo.sources import Source, sources

WITHOUT_TEST = {
    "D27": "withdrawn: D29 took its place, and D29's tests hold that a stop cuts once",
}
"""Decision to the reason why no test enforces it."""


@pytest.fixture(scope="module")
def pages(root: Path) -> list[Source]:
    return decisions.pages(root)


def test_ids_are_in_order_and_each_has_a_date_and_kip_sections(
    pages: list[Source],
) -> None:
    assert list(decisions.check_pages(pages)) == []
    assert len(decisions.written_down(pages)) >= 77


def test_the_index_has_a_row_with_title_and_dates_for_each_page(root: Path, pages: list[Source]) -> None:
    assert list(decisions.check_index((root / decisions.INDEX).read_text("utf-8"), pages)) == []


def test_every_decision_that_is_cited_is_written_down(root: Path, pages: list[Source]) -> None:
    known = decisions.written_down(pages)
    files = list(decisions.texts(root))
    assert {"README.md", "check", "schemas/mirroring.json", "kmirror/mirror/states.py"} <= {file.path for file in files}
    assert [text for file in files for text in decisions.check_citations(known, file)] == []
    assert sum(len(decisions.citations(file)) for file in files) > 500, "the search finds what there is"


def test_every_decision_has_a_test_or_a_reason_why_not(root: Path, pages: list[Source]) -> None:
    found = [decisions.marks(file) for file in sources(root, "tests")]
    assert [fault for _, faults in found for fault in faults] == []
    held = [mark for marks, _ in found for mark in marks]
    assert list(decisions.check_tests(decisions.written_down(pages), held, WITHOUT_TEST)) == []


# -- the checks -------------------------------------------------------------------------------

UNKNOWN = f"D{900}"
"""The id of no decision; written so that this file does not cite it."""


@pytest.mark.parametrize(
    "text", ["({})", "see {}.", "D1-{}", "D1 to {}", '"{}"', "`{}`", "{}'s rule", "# {}: why", "D1, {}", "/{}/"]
)
def test_unknown_decisions_are_reported_with_their_place(text: str) -> None:
    source = Source("kmirror/log/a.py", "x = 1\n" + text.format(UNKNOWN))
    (found,) = decisions.check_citations(["D1"], source)
    assert found == f"kmirror/log/a.py:2: docs/decisions has no {UNKNOWN}"


@pytest.mark.parametrize(
    "text", ["0x{}", "U+{}", "#{}", "\\x3{}", "\\{}", "{}a", "A{}", "3{}", "_{}", "d900", "D", "{}_x", "D1", "D 900"]
)
def test_false_friends_and_known_decisions_are_not_reported(text: str) -> None:
    assert list(decisions.check_citations(["D1"], Source("docs/a.md", text.format(UNKNOWN)))) == []


def test_the_name_of_a_page_cites_its_decision() -> None:
    assert decisions.citations(Source("docs/a.md", "[the rule](decisions/D07.md), D12")) == [(1, "D7"), (1, "D12")]


FIRST = Source(
    "docs/decisions/D01.md",
    "# D1 (2026-11-21) One\n\nText.\n\n## Sections of the KIP\n\nKIP-1279: Fetch.\n",
)
SECOND = Source(
    "docs/decisions/D02.md",
    "# D2 (changed 2026-11-22) Two\n\nText.\n\n## Sections of the KIP\n\nKIP-1279: Fetch; Errors,\nREAD_ONLY_TOPIC.\n",
)
BEFORE_ALL = f"D{0}"
FAULTY_PAGES = [
    ("# D2 (changed 2026-11-22)", "# D3 (2026-11-22)", "D3 follows D1"),
    ("# D2 (changed 2026-11-22)", "# D1 (2026-11-22)", "D1 follows D1"),
    ("# D2 (changed 2026-11-22)", "# D3 (2026-11-22)", "D02.md: the page of D3 is D03.md"),
    ("# D1 (2026-11-21)", "# D2 (2026-11-21)", f"D2 follows {BEFORE_ALL}"),
    ("(changed 2026-11-22)", "(changed)", "D2 has no date"),
    ("(changed 2026-11-22)", "()", "D2 has no date"),
    ("2026-11-21", "2026-13-41", "D1 has no date"),
    ("2026-11-21", "26-11-21", "D1 has no date"),
    ("# D1 (2026-11-21) One", "# D1 One", "not of the form"),
    ("# D1 (2026-11-21) One", "# D1 (2026-11-21)", "not of the form"),
    ("# D1 (2026-11-21) One", "## D1 (2026-11-21) One", "not of the form"),
    ("# D1 (2026-11-21) One", "# Intro", "not of the form"),
    ("KIP-1279: Fetch.", "Fetch.", "D1 does not end with the sections"),
    ("KIP-1279: Fetch.", "KIP-1279: Fetch.\n\nMore.", "D1 does not end with the sections"),
    ("\n\n## Sections of the KIP", "", "D1 does not end with the sections"),
]


@pytest.mark.parametrize(("before", "after", "expected"), FAULTY_PAGES)
def test_a_fault_of_a_page_is_reported_with_its_path(before: str, after: str, expected: str) -> None:
    assert list(decisions.check_pages([FIRST, SECOND])) == []
    changed = [Source(page.path, page.text.replace(before, after)) for page in (FIRST, SECOND)]
    found = list(decisions.check_pages(changed))
    assert any(expected in text for text in found), found
    assert all(text.startswith("docs/decisions/") for text in found)


ROWS = """# Decisions

| id | decision | date |
|---|---|---|
| [D2](decisions/D02.md) | Two | changed 2026-11-22 |
| [D1](decisions/D01.md) | One | 2026-11-21 |
"""
FIRST_ROW = "| [D1](decisions/D01.md) | One | 2026-11-21 |"
FAULTY_ROWS = [
    (FIRST_ROW, "", "D1 has no row"),
    (FIRST_ROW, f"{FIRST_ROW}\n{FIRST_ROW}", ":7: D1 has two rows"),
    ("D01.md", "D02.md", "the row of D1 has not the link"),
    ("One", "Another", "the row of D1 has not the link"),
    ("2026-11-21", "2026-11-23", "the row of D1 has not the link"),
    (FIRST_ROW, FIRST_ROW + "\n| [D3](decisions/D03.md) | Three | 2026-11-23 |", "D3 has a row and no page"),
]


@pytest.mark.parametrize(("before", "after", "expected"), FAULTY_ROWS)
def test_a_fault_of_the_index_is_reported(before: str, after: str, expected: str) -> None:
    assert list(decisions.check_index(ROWS, [FIRST, SECOND])) == []
    (found,) = decisions.check_index(ROWS.replace(before, after), [FIRST, SECOND])
    assert found.startswith("docs/decisions.md:") and expected in found


def held_by(text: str, path: str = "tests/unit/test_a.py") -> list[str]:
    return [mark.decision for mark in decisions.marks(Source(path, text))[0]]


MARK = f'pytest.mark.decision("{UNKNOWN}")'
TEST = "def test_x():\n    pass\n"
COUNTS = [
    f"@{MARK}\n{TEST}",
    f"@pytest.mark.slow\n@{MARK}\n{TEST}",
    f"pytestmark = {MARK}\n{TEST}",
    f"pytestmark = [pytest.mark.slow, {MARK}]\n{TEST}",
    f"@{MARK}\nclass TestA:\n    def test_x(self):\n        pass\n",
    f"class TestA:\n    @{MARK}\n    def test_x(self):\n        pass\n",
    f'@pytest.mark.parametrize("x", [pytest.param(1, marks={MARK})])\n{TEST}',
]


@pytest.mark.parametrize("text", COUNTS)
def test_marks_of_tests_and_of_files_count(text: str) -> None:
    assert held_by(text) == [UNKNOWN]
    assert decisions.marks(Source("tests/unit/test_a.py", text))[1] == []


IDLE = [
    ("tests/unit/test_a.py", f"@{MARK}\ndef helper():\n    pass\n{TEST}", "on nothing that pytest runs"),
    ("tests/unit/test_a.py", f"x = {MARK}\n{TEST}", "on nothing that pytest runs"),
    ("tests/unit/test_a.py", f"pytestmark = {MARK}\n", "on nothing that pytest runs"),
    ("tests/unit/test_a.py", f"def f():\n    pytestmark = {MARK}\n{TEST}", "on nothing that pytest runs"),
    ("tests/unit/stage.py", f"@{MARK}\n{TEST}", "on nothing that pytest runs"),
    ("tests/unit/test_a.py", f"@pytest.mark.decision()\n{TEST}", "names one decision"),
    ("tests/unit/test_a.py", f"@pytest.mark.decision(X)\n{TEST}", "names one decision"),
    ("tests/unit/test_a.py", f"@pytest.mark.decision(1)\n{TEST}", "names one decision"),
    ("tests/unit/test_a.py", f'@pytest.mark.decision("{UNKNOWN}", "{UNKNOWN}")\n{TEST}', "names one decision"),
]


@pytest.mark.parametrize(("path", "text", "expected"), IDLE)
def test_a_mark_that_holds_nothing_is_reported(path: str, text: str, expected: str) -> None:
    held, (fault,) = decisions.marks(Source(path, text))
    assert held == []
    assert expected in fault and fault.startswith(f"{path}:")


@pytest.mark.parametrize(
    ("held", "reasons", "expected"),
    [
        ([], {}, "D1 has no test, and no reason why not"),
        ([Mark("tests/interop/test_a.py:1", "D1")], {}, "D1 has no test, and no reason why not"),
        ([Mark("tests/unit/test_a.py:1", "D1")], {"D1": "why"}, "D1 has a test (tests/unit/test_a.py:1), and a reason"),
        ([Mark("tests/unit/test_a.py:1", "D1")], {UNKNOWN: "why"}, f"{UNKNOWN} has a reason"),
        ([], {"D1": " "}, "D1 has an empty reason"),
        ([Mark("tests/a.py:1", "D1"), Mark("tests/a.py:2", UNKNOWN)], {}, f"tests/a.py:2: {decisions.PAGES} has no"),
    ],
)
def test_a_decision_without_test_and_an_idle_reason_are_reported(
    held: list[Mark], reasons: dict[str, str], expected: str
) -> None:
    (found,) = decisions.check_tests(["D1"], held, reasons)
    assert found.startswith(expected)


def test_a_test_or_a_reason_is_enough() -> None:
    held = [Mark("tests/unit/test_a.py:1", "D1"), Mark("tests/interop/test_a.py:1", "D1")]
    assert list(decisions.check_tests(["D1", "D2"], held, {"D2": "withdrawn"})) == []
