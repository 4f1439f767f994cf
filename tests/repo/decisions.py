"""Checks of decisions: a page and a row of the index for each id that is cited, and a test for each decision.

A decision is a page of docs/decisions/, D01.md for D1, and a row of the index, docs/decisions.md. A citation is its id
in any text of the repository, or the name of its page. A test enforces it by `@pytest.mark.decision(...)`, on the
function or class, or by the `pytestmark` of its file.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from tests.repo.sources import Source

INDEX = "docs/decisions.md"
PAGES = "docs/decisions"
FOLDERS = ("kmirror", "tests", "benchmarks", "codegen", "docs", "schemas")
TOP = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "pyproject.toml", "check")
SUFFIXES = (".py", ".md", ".java", ".json", ".toml", ".xml")
RECORDED = ("kmirror/data/", "tests/data/")
"""Output of brokers and tools: bytes and hex in it look like ids. Only its notes are read."""
NEED_A_JVM = ("tests/interop/", "tests/spark/")
"""Tests that are skipped without Java enforce nothing there."""

CITATION = re.compile(r"(?<![\w+#\\])D[0-9]+\b")
"""Not part of a longer word or number, of U+D800, of a colour #D45 or an escape."""
_HEADING = re.compile(r"# (D[1-9][0-9]*) \(([^()]*)\) (\S.*)")
_ROW = re.compile(r"\| \[(D[1-9][0-9]*)\]\(([^()]*)\) \| (\S.*) \| ([^|]*) \|")
_KIP = re.compile(r"\n\n## Sections of the KIP\n\nKIP-[0-9]+: \S[^\n]*(\n[^\n]+)*\.$")
_DATE = re.compile(r"\b[0-9]{4}-[0-9]{2}-[0-9]{2}\b")


@dataclass(frozen=True)
class Mark:
    """One `pytest.mark.decision` and its place."""

    place: str
    decision: str


def texts(root: Path) -> Iterator[Source]:
    """Yield every file written by people that may cite a decision."""
    paths = [path for folder in FOLDERS for path in sorted((root / folder).rglob("*")) if path.suffix in SUFFIXES]
    for path in (*(root / name for name in TOP), *paths):
        name = path.relative_to(root).as_posix()
        if path.suffix == ".md" or not name.startswith(RECORDED):
            yield Source(name, path.read_text("utf-8"))


def pages(root: Path) -> list[Source]:
    """Return the pages of the decisions, in the order of their names."""
    found = sorted((root / PAGES).iterdir())
    return [Source(path.relative_to(root).as_posix(), path.read_text("utf-8")) for path in found]


def written_down(written: Iterable[Source]) -> list[str]:
    """Return the ids in the headings of the pages, in the order of the pages."""
    return [found[1] for page in written if (found := _heading(page))]


def _heading(page: Source) -> re.Match[str] | None:
    return _HEADING.fullmatch(page.text.partition("\n")[0])


def citations(source: Source) -> list[tuple[int, str]]:
    """Return (line, id) of every citation in a file; `D01`, as in the name of a page, cites D1."""
    return [
        (number, f"D{int(found[0][1:])}")
        for number, line in enumerate(source.text.splitlines(), 1)
        for found in CITATION.finditer(line)
    ]


def check_citations(known: Iterable[str], source: Source) -> Iterator[str]:
    """Report ids without a heading."""
    headings = frozenset(known)
    for line, name in citations(source):
        if name not in headings:
            yield f"{source.path}:{line}: {PAGES} has no {name}"


def check_pages(written: Iterable[Source]) -> Iterator[str]:
    """Report headings of no decision, duplicate, missing and unordered ids, and missing dates and KIP sections."""
    before = 0
    for page in written:
        found = _heading(page)
        if found is None:
            yield f"{page.path}: the heading is not of the form '# D1 (2026-11-21) The rule in short'"
            continue
        name, when, _ = found.groups()
        number = int(name[1:])
        if number != before + 1:
            yield f"{page.path}: {name} follows D{before}"
        before = number
        if page.path != f"{PAGES}/D{number:02}.md":
            yield f"{page.path}: the page of {name} is D{number:02}.md"
        if not _has_dates(when):
            yield f"{page.path}: {name} has no date"
        if not _KIP.search(page.text.strip()):
            yield f"{page.path}: {name} does not end with the sections of the KIP that it concerns"


def check_index(index: str, written: Iterable[Source]) -> Iterator[str]:
    """Complain of pages without a row in the index, and of rows whose link, title or dates are not the page's."""
    rows: dict[str, tuple[str, str, str]] = {}
    for number, line in enumerate(index.splitlines(), 1):
        if found := _ROW.fullmatch(line):
            name, link, title, when = found.groups()
            if name in rows:
                yield f"{INDEX}:{number}: {name} has two rows"
            rows[name] = link, when, title
    for page in written:
        if heading := _heading(page):
            name, when, title = heading.groups()
            expected = page.path.removeprefix("docs/"), when, title
            if name not in rows:
                yield f"{INDEX}: {name} has no row"
            elif rows[name] != expected:
                yield f"{INDEX}: the row of {name} has not the link, the dates and the title of {page.path}"
            rows.pop(name, None)
    for name in rows:
        yield f"{INDEX}: {name} has a row and no page"


def _has_dates(text: str) -> bool:
    found = _DATE.findall(text)
    try:
        return bool(found) and all(date.fromisoformat(one) for one in found)
    except ValueError:
        return False


def marks(source: Source) -> tuple[list[Mark], list[str]]:
    """Return the marks on tests, and complaints about those that pytest would not see or read."""
    held: list[Mark] = []
    faults: list[str] = []
    on_tests = {id(node) for owner in _owners(source) for node in ast.walk(owner)}
    for node in source.nodes:
        if not (isinstance(node, ast.Call) and _is_mark(node.func)):
            continue
        place = f"{source.path}:{node.lineno}"
        names = [argument.value for argument in node.args if isinstance(argument, ast.Constant)]
        if len(node.args) != 1 or node.keywords or not (names and isinstance(names[0], str)):
            faults.append(f"{place}: a mark names one decision, in quotes")
        elif id(node) not in on_tests:
            faults.append(f"{place}: the mark of {names[0]} is on nothing that pytest runs")
        else:
            held.append(Mark(place, names[0]))
    return held, faults


def _owners(source: Source) -> Iterator[ast.expr]:
    """Yield the expressions in which a mark counts: decorators of tests, and `pytestmark` of a file with tests."""
    if not source.path.rpartition("/")[2].startswith("test_"):
        return
    tests = [node for node in source.nodes if _is_test(node)]
    for node in tests:
        assert isinstance(node, ast.FunctionDef | ast.ClassDef)
        yield from node.decorator_list
    for node in source.tree.body if tests else []:
        if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["pytestmark"]:
            yield node.value


def _is_mark(function: ast.expr) -> bool:
    is_decision = isinstance(function, ast.Attribute) and function.attr == "decision"
    return is_decision and ast.unparse(function) == "pytest.mark.decision"


def _is_test(node: ast.AST) -> bool:
    if isinstance(node, ast.FunctionDef):
        return node.name.startswith("test_")
    return isinstance(node, ast.ClassDef) and node.name.startswith("Test")


def check_tests(known: Iterable[str], held: Iterable[Mark], reasons: Mapping[str, str]) -> Iterator[str]:
    """Report decisions without test and reason, reasons that are unused or empty, and marks of unknown ids."""
    headings = dict.fromkeys(known)
    places = {mark.decision: mark.place for mark in held if not mark.place.startswith(NEED_A_JVM)}
    for mark in held:
        if mark.decision not in headings:
            yield f"{mark.place}: {PAGES} has no {mark.decision}"
    for name in headings:
        if name not in places and name not in reasons:
            yield f"{name} has no test, and no reason why not"
        if name in places and name in reasons:
            yield f"{name} has a test ({places[name]}), and a reason why it has none"
    for name, reason in reasons.items():
        if name not in headings:
            yield f"{name} has a reason, and {PAGES} does not have it"
        if not reason.strip():
            yield f"{name} has an empty reason"
