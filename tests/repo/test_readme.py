"""README.md, `.ci/run` and `check` agree; ARCHITECTURE.md and docs/design/ are about the code as it is."""

from __future__ import annotations

import os
import re
import runpy
from pathlib import Path

import pytest

from manual.files import summary
from tests.repo.layers import LAYERS

RUNS, TESTS = 0, 1


def commands(root: Path) -> list[str]:
    return re.findall(r"```sh\n(.*?)\n```", (root / "README.md").read_text("utf-8"), re.DOTALL)


def test_the_readme_has_two_commands_and_each_is_one_line(root: Path) -> None:
    found = commands(root)
    assert len(found) == 2
    assert all("\n" not in command for command in found)
    assert found[RUNS].endswith("kmirror demo")
    assert found[TESTS].endswith("python check")


def test_ci_runs_the_readmes_second_command_as_it_is(root: Path) -> None:
    lines = (root / ".ci/run").read_text("utf-8").splitlines()
    assert lines[-1] == commands(root)[TESTS]
    assert "set -eu" in lines


def test_the_commands_can_be_executed(root: Path) -> None:
    for name in ("check", ".ci/run"):
        assert os.access(root / name, os.X_OK)


def test_check_runs_each_test_once(root: Path) -> None:
    check = runpy.run_path(str(root / "check"))
    runs: list[Path] = [root / check["LAYERS"]]
    for group in check["TESTS"]:
        words = check["pytest_command"](group)
        left_out = [root / word.removeprefix("--ignore=") for word in words if word.startswith("--ignore=")]
        folders = [root / word for word in words if word.startswith("tests")]
        assert all(path.exists() for path in (*folders, *left_out)), group
        files = [path for folder in folders for path in (folder.rglob("test_*.py") if folder.is_dir() else [folder])]
        runs += [path for path in files if not any(path.is_relative_to(folder) for folder in left_out)]
    assert sorted(runs) == sorted(root.glob("tests/**/test_*.py"))


def test_links_between_the_documents_lead_somewhere(root: Path) -> None:
    for page in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        for target in re.findall(r"\]\(([^)#]+)\)", (root / page).read_text("utf-8")):
            assert target.startswith("https://") or (root / target).exists(), f"{page}: {target}"


def internals(root: Path) -> list[Path]:
    """Return the pages about the structure of the code that are written by hand."""
    pages = sorted((root / "docs/design").glob("*.md"))
    return [root / "ARCHITECTURE.md", *(page for page in pages if page.name != "files.md")]


def test_architecture_is_an_essay(root: Path) -> None:
    assert len((root / "ARCHITECTURE.md").read_bytes()) <= 12_000


def test_architecture_links_every_page_of_design(root: Path) -> None:
    text = (root / "ARCHITECTURE.md").read_text("utf-8")
    pages = [page.relative_to(root).as_posix() for page in sorted((root / "docs/design").glob("*.md"))]
    assert pages and [page for page in pages if f"]({page})" not in text] == []


def test_architecture_shows_the_layers_in_their_order(root: Path) -> None:
    text = (root / "ARCHITECTURE.md").read_text("utf-8")
    (block,) = re.findall(r"```text\n(.*?)\n```", text, re.DOTALL)
    shown = [tuple(row.split(" | ")) for row in re.split(r"\s+<\s+", block)]
    assert shown == list(LAYERS)


def test_the_pages_about_the_code_name_files_that_exist(root: Path) -> None:
    files = [str(file.relative_to(root)) for place in ("kmirror", "tests") for file in (root / place).rglob("*.py")]
    count = 0
    for page in internals(root):
        names = dict.fromkeys(re.findall(r"`(?:kmirror/)?([\w./]+\.py)`", page.read_text("utf-8")))
        count += len(names)
        assert [name for name in names if not any(f"/{file}".endswith(f"/{name}") for file in files)] == [], page
    assert count > 50


def test_the_file_map_is_complete(root: Path) -> None:
    """`tests/manual/test_docs.py` compares its tables with the docstrings."""
    text = (root / "docs/design/files.md").read_text("utf-8")
    by_hand, _, generated = text.partition("<!-- table: files -->")
    cells = re.findall(r"^\| (`[^|]+`) \|", by_hand, re.MULTILINE)
    named = [path for cell in cells for path in re.findall(r"`([^`]+)`", cell)]
    assert named and [path for path in named if not (root / path).exists()] == []
    packages = {file.parent.relative_to(root).as_posix() for file in (root / "kmirror").rglob("*.py")}
    assert sorted(packages - set(re.findall(r"^## (.+)$", generated, re.MULTILINE))) == []


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('"""One line."""\n', "One line."),
        ('"""A sentence that\nends here.\nAnother one.\n"""\n', "A sentence that ends here."),
        ('"""Without an end\n\nMore.\n"""\n', "Without an end"),
        ("x = 1\n", ""),
    ],
)
def test_the_file_map_has_the_first_line_of_each_module(source: str, expected: str) -> None:
    assert summary(source) == expected


def test_the_readme_is_short_and_links_every_page_that_a_visitor_needs(root: Path) -> None:
    """`tests/manual/test_docs.py` runs its examples."""
    text = (root / "README.md").read_text("utf-8")
    example, in_a_test = re.findall(r"```python\n(.*?)\n```", text, re.DOTALL)
    assert len(example.splitlines()) <= 36 and len(in_a_test.splitlines()) <= 8
    assert len(text.splitlines()) <= 120
    names = ("index", "start", "proposal", "histories", "logs", "protocol", "sweeps", "spark", "findings", "benchmarks")
    assert [name for name in names if f"](docs/{name}.md)" not in text] == []


def faults_of_changes(text: str) -> list[str]:
    """Return the faults of a union merge in the change log: a duplicate title or line, a title without a line."""
    found = []
    for section in re.split(r"^##.*\n", text, flags=re.MULTILINE)[1:]:
        blocks = [block.splitlines() for block in re.split(r"\n{2,}", section.strip("\n")) if block]
        is_grouped = bool(blocks) and not blocks[0][0].startswith("- ")
        for block in blocks:
            titles = [line for line in block if not line.startswith(("- ", "  "))]
            if titles != (block[:1] if is_grouped else []):
                found.append(f"lines without a title, or more than one: {block[0]}")
            if len(block) == len(titles):
                found.append(f"a title without a line: {block[0]}")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    found += [f"twice: {line}" for line in dict.fromkeys(lines) if lines.count(line) > 1]
    return found + [f"too long: {line}" for line in lines if len(line) > 130]


def unreleased(root: Path) -> str:
    return (root / "CHANGELOG.md").read_text("utf-8").partition("## Unreleased\n")[2].partition("<!--")[0]


def test_the_change_log_shows_no_trace_of_a_merge(root: Path) -> None:
    assert faults_of_changes(unreleased(root)) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("### Changed\n\n- One.\n- Two,\n  of two lines.\n\n### Fixed\n\nLogs\n- Three.\n\nTools\n- Four.\n", []),
        ("### Changed\n\n- One.\n- One.\n", ["twice: - One."]),
        ("### Fixed\n\nLogs\nTools\n- One.\n", ["lines without a title, or more than one: Logs"]),
        ("### Fixed\n\nLogs\n- One.\n\n- Two.\n", ["lines without a title, or more than one: - Two."]),
        ("### Fixed\n\nLogs\n\nTools\n- One.\n", ["a title without a line: Logs"]),
        ("### Changed\n\n- " + "x" * 130 + "\n", ["too long: - " + "x" * 130]),
    ],
)
def test_traces_of_a_merge_are_found(text: str, expected: list[str]) -> None:
    assert faults_of_changes(text) == expected
