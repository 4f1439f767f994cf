"""The contents of the repository were written for it and are complete: nothing installed, built, or half merged."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

INSTALLED = {"node_modules", "site-packages", "vendor", "target", "dist", "build"}
"""Folders of package managers and builds."""

BUILT = {".jar", ".class", ".whl", ".pyc", ".so", ".o", ".exe"}


MERGE_MARKS = re.compile(r"^(<{7}|>{7}) ", re.MULTILINE)
"""Conflict marks of git."""


def foreign(paths: list[str]) -> list[str]:
    return [p for p in paths if INSTALLED & set(Path(p).parts[:-1]) or Path(p).suffix in BUILT]


def committed(root: Path) -> list[str]:
    if not (root / ".git").exists():
        pytest.skip("not a git checkout: which files are committed is not known")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True)
    return [path for path in listed.stdout.split("\0") if path]


def test_nothing_that_was_installed_or_built_is_committed(root: Path) -> None:
    paths = committed(root)
    assert "pyproject.toml" in paths
    assert foreign(paths) == []


def test_no_merge_was_left_half_done(root: Path) -> None:
    texts = [path for path in committed(root) if Path(path).suffix in {".py", ".md", ".toml", ".json", ".sh"}]
    assert [path for path in texts if MERGE_MARKS.search((root / path).read_text("utf-8"))] == []
    assert MERGE_MARKS.search('"""\n' + "<" * 7 + " HEAD\n")


@pytest.mark.parametrize("path", ["tests/a/node_modules/x/index.js", "kmirror/a.pyc", "build/lib/a.py", "tools/a.jar"])
def test_a_planted_file_is_reported(path: str) -> None:
    assert foreign([path, "kmirror/build.py"]) == [path]
