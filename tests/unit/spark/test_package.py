"""kmirror imports no pyspark unless Spark is used, and its archive runs by itself."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import kmirror.spark
from kmirror.errors import UsageError
from kmirror.spark.archive import build_archive


def run(program: str, *options: str) -> str:
    return subprocess.run([sys.executable, *options, "-c", program], capture_output=True, text=True, check=True).stdout


def test_importing_the_package_imports_no_pyspark() -> None:
    modules = "kmirror.spark, kmirror.spark.sweep_file, kmirror.spark.java, kmirror.cli.sweep, kmirror.cli.main"
    assert run(f"import sys, {modules}; print('pyspark' in sys.modules)").strip() == "False"


def test_every_name_is_listed() -> None:
    assert set(dir(kmirror.spark)) == set(kmirror.spark.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        kmirror.spark.nonsense  # noqa: B018  # the access is what is tested


def test_the_archive_is_importable_and_named_by_its_content(tmp_path: Path) -> None:
    archive = build_archive(tmp_path)
    assert build_archive(tmp_path) == archive
    program = "import kmirror.sim.experiment as e, kmirror; print(kmirror.__file__)"
    shown = run(f"import sys; sys.path.insert(0, {str(archive)!r}); {program}").strip()
    assert shown.startswith(str(archive))


def test_without_pyspark_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("kmirror.spark.sessions"), "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"pyspark is not installed: pip install 'kmirror\[spark\]'"):
        kmirror.spark.session()
