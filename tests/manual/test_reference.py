"""The reference contains all modules for users, and missing names are detected."""

from __future__ import annotations

import importlib
import shutil
import zlib
from pathlib import Path
from types import FunctionType

import griffe
import pytest

import kmirror
from manual import site
from manual.reference import PublicNames
from manual.site import (
    PUBLIC_MODULES,
    build,
    find_large_pages,
    find_missing,
    inventory,
    public_names,
    strip_whitespace,
    undocumented,
)

AS_DOCUMENTED_THERE = {
    "MemoryStore": "kmirror.log.store.PartitionStore",
    "FileStore": "kmirror.log.store.PartitionStore",
    "KafkaLogDataSource": "pyspark.sql.datasource.DataSource",
    "KafkaLogReader": "pyspark.sql.datasource.DataSourceReader",
}
"""Class to the place that describes its required methods."""

PACKAGES = (
    "kmirror",
    "kmirror.records",
    "kmirror.protocol",
    "kmirror.histories",
    "kmirror.spark",
    "kmirror.testing.strategies",
)
TABLES = {"kmirror.spec.error_codes"}
"""Shown as a table (`manual.tables`), as headings for each code would hide the others."""


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_is_in_a_module_of_the_reference(package: str) -> None:
    module = importlib.import_module(package)
    things = {name: getattr(module, name) for name in module.__all__}
    homes = {name: thing.__module__ for name, thing in things.items() if isinstance(thing, type | FunctionType)}
    assert {name: home for name, home in homes.items() if home not in {*PUBLIC_MODULES, *TABLES}} == {}


def test_every_module_of_the_reference_has_a_directive(root: Path) -> None:
    pages = [page.read_text("utf-8") for page in (root / "docs/reference").glob("*.md")]
    directives = [line.removeprefix("::: ") for text in pages for line in text.splitlines() if line.startswith("::: ")]
    assert sorted(set(PUBLIC_MODULES) - set(directives)) == []
    assert [name for name in directives if directives.count(name) > 1] == []


@pytest.mark.parametrize("module", PUBLIC_MODULES)
def test_every_public_name_is_documented(module: str, root: Path) -> None:
    source = (root / f"{module.replace('.', '/')}.py").read_text("utf-8")
    assert [name for name in undocumented(source) if name.partition(".")[0] not in AS_DOCUMENTED_THERE] == []


def test_a_name_without_a_word_is_noticed() -> None:
    source = 'class A:\n    """A."""\n    def b(self):\n        return 1\n    def c(self) -> int: ...\n'
    assert list(undocumented(source)) == ["A.b"]
    assert list(undocumented('def f():\n    """F."""\ndef g():\n    return 1\nclass H:\n    x: int\n')) == ["g", "H"]


def test_a_name_that_no_page_shows_is_reported() -> None:
    module = "kmirror.kernel.ids"
    source = Path(kmirror.__file__).with_name("kernel").joinpath("ids.py").read_text("utf-8")
    names = [f"{module}.{name}" for name in public_names(source)]
    assert f"{module}.TopicPartition" in names
    assert list(find_missing(names, [module])) == []
    assert list(find_missing(names[1:], [module])) == names[:1]


SITE = """
[project]
site_name = "small"
site_dir = "build/manual"
use_directory_urls = false

[project.plugins.mkdocstrings.handlers.python]
paths = ["."]
"""
SMALL = "# Page\n\nSee [the other](other.md#there).\n\n::: kmirror.kernel.ids\n"


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("", "", ""),
        ("other.md", "nowhere.md", "page does not exist"),
        ("#there", "#not-there", "anchor does not exist"),
        ("[the other](other.md#there)", "[this][kmirror.kernel.ids.Nobody]", "unresolved autoref"),
        ("kernel.ids", "kernel.nonsense", "Could not collect 'kmirror.kernel.nonsense'"),
        ("::: kmirror.kernel.ids", "", "shows kmirror.kernel.ids.TopicPartition"),
    ],
)
def test_a_warning_or_a_missing_name_ends_the_build(
    before: str, after: str, expected: str, root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "zensical.toml").write_text(SITE, "utf-8")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/index.md").write_text(SMALL.replace(before, after), "utf-8")
    (tmp_path / "docs/other.md").write_text("# Other\n\n## There\n\n::: kmirror.kernel.uuid\n", "utf-8")
    (tmp_path / "kmirror/kernel").mkdir(parents=True)
    for name in ("__init__.py", "kernel/__init__.py", "kernel/ids.py", "kernel/uuid.py"):
        shutil.copy(root / "kmirror" / name, tmp_path / "kmirror" / name)
    assert build(tmp_path, ["kmirror.kernel.ids"]) == int(bool(expected))
    assert expected in capsys.readouterr().err


def test_public_names_are_classes_functions_and_methods_without_an_underscore() -> None:
    source = (
        "class A:\n    def b(self): ...\n    def _c(self): ...\nclass _D:\n    def e(self): ...\ndef f(): ...\nG = 1\n"
    )
    assert list(public_names(source)) == ["A", "A.b", "f"]


def test_an_inventory_is_read() -> None:
    rows = b"kmirror.errors py:module 0 reference/errors.html#$ -\nkmirror.errors.KafkaError py:class 1 x -\n"
    data = b"# Sphinx inventory version 2\n# Project: x\n# Version: 0\n# compressed with zlib\n" + zlib.compress(rows)
    assert inventory(data) == {"kmirror.errors", "kmirror.errors.KafkaError"}


def test_a_page_is_squeezed_but_for_blocks_that_are_shown_as_they_are() -> None:
    page = "<p>\n\n   one\n  two</p>\n<pre>\n\n  x\n</pre>\n\n\n<p>\n</p>"
    assert strip_whitespace(page) == "<p>\none\ntwo</p>\n<pre>\n\n  x\n</pre>\n<p>\n</p>"


def test_a_page_of_the_reference_that_is_too_large_is_reported(tmp_path: Path) -> None:
    (tmp_path / "reference").mkdir()
    for name, size in (("a.html", site.REFERENCE_BYTES_MAX), ("b.html", site.REFERENCE_BYTES_MAX + 1)):
        (tmp_path / "reference" / name).write_bytes(bytes(size))
    assert list(find_large_pages(tmp_path)) == [("b.html", site.REFERENCE_BYTES_MAX + 1)]


MODULE = '''
"""A module."""
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")
Chunk = bytes | memoryview
"""Bytes that are sent."""
LIMIT_MAX = 3
LEAST = 1
"""An exported constant."""

@dataclass
class Options:
    """Options."""

    size: int = 1
    """In bytes."""
    name: str = ""

class Runner:
    """A runner. `speed` is in steps a second."""

    def __init__(self, speed: int, one: int, two: int, three: int = 3) -> None:
        self.speed = speed
        self.state = 0
        """Number of the state."""

def few(one: int, two: int) -> None:
    """Use `one`."""
'''


def test_modules_show_public_names_and_tables_of_parameters(tmp_path: Path) -> None:
    package = tmp_path / "shown"
    package.mkdir()
    (package / "__init__.py").write_text('from shown.a import LEAST\n\n__all__ = ["LEAST"]\n')
    (package / "a.py").write_text(MODULE)
    extensions = griffe.load_extensions("dataclasses", PublicNames)
    module = griffe.load("shown", search_paths=[tmp_path], extensions=extensions)["a"]

    def rows(name: str) -> list[tuple[str, str]]:
        parent = module[name] if name else module
        tables = [section.value for section in parent.docstring.parsed if section.kind.value != "text"]
        return [(row.name, row.description) for table in tables for row in table]

    assert rows("") == [("Chunk", "Bytes that are sent."), ("LEAST", "An exported constant.")]
    assert rows("Options") == [("size", "In bytes."), ("name", "")]
    speed = ("speed", "`speed` is in steps a second.")
    assert rows("Runner") == [speed, ("one", ""), ("two", ""), ("three", ""), ("state", "Number of the state.")]
    assert rows("few") == []
    assert {name for name, member in module.members.items() if not member.is_alias} == {"Options", "Runner", "few"}
