"""The same seed gives the same run, for any hash seed of Python; another seed gives another run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import json, sys
from kmirror.logdir.load import read_sample
from kmirror.experiments.demo import Demo
from tests.sim.stage import pair
found = {}
for seed in (1, 2):
    p = pair(seed)
    p.a.place_topic()
    p.a.write("r0")
    p.begin()
    p.b.elect()
    p.fail_over()
    found[str(seed)] = p.simulation.digest
report = Demo(read_sample(), seed=3, faults=True).run()
found["demo"] = report.digest
found["report"] = report.as_json()
json.dump(found, sys.stdout)
"""


def run(root: Path, hash_seed: str) -> dict[str, object]:
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(root)}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, cwd=root, capture_output=True, check=True, timeout=120
    )
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_a_seed_names_a_run_under_any_hash_seed(root: Path) -> None:
    first, second = run(root, "1"), run(root, "4242")
    assert first == second
    assert first["1"] != first["2"], "another seed is another run"
