"""README.md, `.ci/run` and `check` say the same."""

from __future__ import annotations

import os
import re
from pathlib import Path

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


def test_links_between_the_documents_lead_somewhere(root: Path) -> None:
    for page in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        for target in re.findall(r"\]\(([^)#]+)\)", (root / page).read_text("utf-8")):
            assert target.startswith("https://") or (root / target).exists(), f"{page}: {target}"


def file_map(root: Path) -> list[str]:
    """Return the paths in the first column of ARCHITECTURE's file map."""
    text = (root / "ARCHITECTURE.md").read_text("utf-8").partition("## File map\n")[2].partition("\nWhere a change")[0]
    return [
        path for cell in re.findall(r"^\| (`[^|]+`) \|", text, re.MULTILINE) for path in re.findall(r"`([^`]+)`", cell)
    ]


def test_the_file_map_is_the_tree(root: Path) -> None:
    named = file_map(root)
    assert [path for path in named if not (root / path).exists()] == []
    folders = {f"{file.parent.relative_to(root)}/" for file in (root / "kmirror").rglob("*.py")}
    assert sorted(folders - set(named)) == []
    assert len(named) == len(set(named))


def test_architecture_speaks_of_files_that_exist(root: Path) -> None:
    text = (root / "ARCHITECTURE.md").read_text("utf-8")
    names = dict.fromkeys(re.findall(r"`(?:kmirror/)?([\w./]+\.py)`", text))
    files = [str(file.relative_to(root)) for place in ("kmirror", "tests") for file in (root / place).rglob("*.py")]
    assert len(names) > 50
    assert [name for name in names if not any(f"/{file}".endswith(f"/{name}") for file in files)] == []


def test_the_readme_is_short_and_leads_to_every_page_that_a_visitor_needs(root: Path) -> None:
    """`tests/repo/test_docs.py` runs its example."""
    text = (root / "README.md").read_text("utf-8")
    (example,) = re.findall(r"```python\n(.*?)\n```", text, re.DOTALL)
    assert len(example.splitlines()) <= 36
    assert len(text.splitlines()) <= 120
    names = ("index", "start", "proposal", "histories", "logs", "protocol", "sweeps", "spark", "findings", "benchmarks")
    assert [name for name in names if f"](docs/{name}.md)" not in text] == []
