"""Every file is small, documented and finished."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.repo.sources import Source

FILE_LINES_MAX = 600
FUNCTION_LINES_MAX = 70
CLASS_LINES_MAX = 250
"""Maximum lines of a class in `kmirror/cluster`, except for LARGE_CLASSES."""
LARGE_CLASSES = {
    "broker/apis/fetch.py": ("_Fetch", 350),
    "replication/follower.py": ("ReplicaFetchers", 283),
    "node/partition.py": ("Partition", 280),
}
"""Files with a class over the limit, and its lines: a number may only decrease."""
# Written so that this file does not match itself.
UNFINISHED = re.compile(r"\b(" + "|".join(("TO" + "DO", "FIX" + "ME", "X" + "XX", "HA" + "CK")) + r")\b")


def check_size(source: Source) -> Iterator[str]:
    """Report a file or a function that is too long to be read at once."""
    if source.is_generated:
        return
    lines = source.text.count("\n")
    if lines > FILE_LINES_MAX:
        yield f"{source.path}:1: {lines} lines, and {FILE_LINES_MAX} are the most"
    for node in source.nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > FUNCTION_LINES_MAX:
                limit = f"{FUNCTION_LINES_MAX} are the most"
                yield f"{source.path}:{node.lineno}: {node.name} has {lines} lines, and {limit}"


def check_classes(source: Source) -> Iterator[str]:
    """Report a class of the cluster that does more than one thing."""
    for node in source.nodes if source.path.startswith("kmirror/cluster/") else ():
        if isinstance(node, ast.ClassDef):
            name, known = LARGE_CLASSES.get(source.path.removeprefix("kmirror/cluster/"), ("", 0))
            lines, most = (node.end_lineno or node.lineno) - node.lineno + 1, known if node.name == name else 0
            if lines > max(CLASS_LINES_MAX, most):
                limit = f"{CLASS_LINES_MAX} are the most"
                yield f"{source.path}:{node.lineno}: class {node.name} has {lines} lines, and {limit}"
            elif 0 < lines < most:
                yield f"{source.path}:{node.lineno}: class {node.name} has {lines} lines: lower its number in tidy.py"


def check_docstring(source: Source) -> Iterator[str]:
    """Report a file whose first line does not describe it."""
    docstring = ast.get_docstring(source.tree)
    if not docstring or not docstring.splitlines()[0].strip():
        yield f"{source.path}:1: no docstring that says what the module is"


def check_finished(source: Source) -> Iterator[str]:
    """Report notes about unfinished work."""
    for number, line in enumerate(source.text.splitlines(), start=1):
        if UNFINISHED.search(line):
            yield f"{source.path}:{number}: unfinished: {line.strip()}"


def check_inside(source: Source) -> Iterator[str]:
    """Report a path out of the repository: users of the repository do not have its target."""
    depth = source.path.count("/")
    for node in source.nodes:
        if (
            isinstance(node, ast.Subscript)
            and isinstance(node.value, ast.Attribute)
            and node.value.attr == "parents"
            and isinstance(node.slice, ast.Constant)
            and isinstance(node.slice.value, int)
            and node.slice.value > depth
        ):
            yield f"{source.path}:{node.lineno}: {ast.unparse(node)} lies outside of the repository"
        if isinstance(node, ast.Attribute) and node.attr == "parent" and ast.unparse(node) == "ROOT.parent":
            yield f"{source.path}:{node.lineno}: ROOT.parent lies outside of the repository"


RULES = (check_size, check_classes, check_docstring, check_finished, check_inside)
