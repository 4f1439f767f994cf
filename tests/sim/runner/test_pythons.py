"""A seed gives the same history under other releases of Python."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kmirror.histories import run_history

ROOT = Path(__file__).resolve().parents[3]
SEEDS = (3, 4)
SCRIPT = f"""
import json, sys
from kmirror.histories import run_history
json.dump([run_history(seed=seed, profile="smoke").digest for seed in {SEEDS}], sys.stdout)
"""


def newer_pythons() -> list[str]:
    """Return interpreters of later releases than the one that runs the tests: on the path, or of pyenv."""
    names = [f"python3.{minor}" for minor in range(sys.version_info.minor + 1, 20)]
    kept = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = [str(path) for name in names for path in sorted(kept.glob(f"*/bin/{name}"))]
    found += [path for name in names if (path := shutil.which(name)) is not None and "shims" not in path]
    return found


@pytest.mark.parametrize("hash_seed", ["0", "4711"])
def test_a_seed_names_a_history_under_a_newer_python(hash_seed: str) -> None:
    """Extensions of this Python do not load there, so the checksum is the pure Python one: the bytes are the same."""
    pythons = newer_pythons()
    if not pythons:
        pytest.skip("no newer Python here: install one, or set PYENV_ROOT")
    packages = [path for path in sys.path if path.endswith("site-packages")]
    environment = {"PYTHONPATH": os.pathsep.join([str(ROOT), *packages]), "PYTHONHASHSEED": hash_seed}
    done = subprocess.run(
        [pythons[-1], "-W", "ignore", "-c", SCRIPT], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [run_history(seed=seed, profile="smoke").digest for seed in SEEDS]
