"""Which protocol a listener has by default is said in `spec` alone, once for every runner."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest


@pytest.fixture
def package(root: Path) -> Path:
    return root / "kmirror"


def test_no_other_package_has_the_name_of_a_protocol(package: Path) -> None:
    found = []
    for path in sorted(package.rglob("*.py")):
        if path.is_relative_to(package / "spec"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and node.value == "PLAINTEXT":
                found.append(f"{path.relative_to(package)}:{node.lineno}")
    assert found == []
