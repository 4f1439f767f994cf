"""The tree of errors in the documentation of `kmirror.errors` is that of the sources."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from kmirror import errors
from tests.repo.sources import sources


def test_the_tree_of_errors_is_drawn_as_it_is(root: Path) -> None:
    """Read from the sources, as some of the modules require Spark."""
    edges = [
        (node.name, base.id)
        for source in sources(root, "kmirror")
        for node in source.nodes
        if isinstance(node, ast.ClassDef)
        for base in node.bases
        if isinstance(base, ast.Name)
    ]
    drawn: list[tuple[str, str]] = []
    above = ["KmirrorError"]
    for bars, name in re.findall(r"^    ([| ]*)\+-- (\w+) ", errors.__doc__ or "", re.MULTILINE):
        del above[len(bars) // 4 + 1 :]
        drawn.append((name, above[-1]))
        above.append(name)
    known = {"KmirrorError", *(name for name, _ in drawn)}
    assert sorted(drawn) == sorted(edge for edge in edges if edge[1] in known)
