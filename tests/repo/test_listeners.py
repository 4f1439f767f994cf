"""Which protocol a listener has by default is said in `spec` alone, once for every runner."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.repo.sources import sources


def test_no_other_package_has_the_name_of_a_protocol(root: Path) -> None:
    assert [
        f"{source.path}:{node.lineno}"
        for source in sources(root, "kmirror")
        if source.package != "spec"
        for node in source.nodes
        if isinstance(node, ast.Constant) and node.value == "PLAINTEXT"
    ] == []
