"""Generated files equal the generator's current output; stale, missing and extra files are detected."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest


def check(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "codegen", "--check"],
        cwd=folder,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )


@pytest.fixture
def copy(root: Path, tmp_path: Path) -> Path:
    """Return a folder with all inputs and outputs of the generator."""
    skip = shutil.ignore_patterns("__pycache__")
    for name in ("codegen", "schemas", "kmirror/protocol/gen"):
        shutil.copytree(root / name, tmp_path / name, ignore=skip)
    (tmp_path / "kmirror/spec").mkdir()
    for name in ("api_keys.py", "error_codes.py"):
        shutil.copy(root / "kmirror/spec" / name, tmp_path / "kmirror/spec")
    return tmp_path


def test_a_stale_a_missing_and_an_extra_file_are_named(copy: Path) -> None:
    assert check(copy).returncode == 0
    generated = copy / "kmirror/protocol/gen"
    stale, missing = generated / "fetch_request.py", generated / "fetch_response.py"
    stale.write_text(stale.read_text("utf-8") + "\n", "utf-8")
    missing.unlink()
    (generated / "extra_request.py").write_text('"""Nobody generated this."""\n', "utf-8")
    errors = copy / "kmirror/spec/error_codes.py"
    errors.write_text(errors.read_text("utf-8").replace("3", "4", 1), "utf-8")
    done = check(copy)
    assert done.returncode != 0
    for name in ("fetch_request.py", "fetch_response.py", "extra_request.py", "error_codes.py"):
        assert name in done.stderr


def test_a_changed_schema_makes_its_module_stale(copy: Path) -> None:
    schema = copy / "schemas/kafka/FetchRequest.json"
    text = schema.read_text("utf-8")
    assert '"MaxWaitMs"' in text
    schema.write_text(text.replace('"MaxWaitMs"', '"MaxWaitMillis"'), "utf-8")
    done = check(copy)
    assert done.returncode != 0
    assert "stale: kmirror/protocol/gen/fetch_request.py" in done.stderr
