"""What the repository holds was written for it: packages of others are installed, never committed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

INSTALLED = {"node_modules", "site-packages", "vendor", "target", "dist", "build"}
"""Folders that package managers and builds fill."""

BUILT = {".jar", ".class", ".whl", ".pyc", ".so", ".o", ".exe"}


def foreign(paths: list[str]) -> list[str]:
    return [p for p in paths if INSTALLED & set(Path(p).parts[:-1]) or Path(p).suffix in BUILT]


def test_nothing_that_was_installed_or_built_is_committed(root: Path) -> None:
    if not (root / ".git").exists():
        pytest.skip("not a git checkout: which files are committed is not known")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True)
    paths = [path for path in listed.stdout.split("\0") if path]
    assert "pyproject.toml" in paths
    assert foreign(paths) == []


@pytest.mark.parametrize("path", ["tests/a/node_modules/x/index.js", "kmirror/a.pyc", "build/lib/a.py", "tools/a.jar"])
def test_a_planted_file_is_reported(path: str) -> None:
    assert foreign([path, "kmirror/build.py"]) == [path]
