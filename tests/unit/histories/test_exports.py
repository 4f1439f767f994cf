"""`kmirror.histories.run_history` is the judge's runner, and importing kmirror.histories does not load it."""

from __future__ import annotations

import subprocess
import sys

import pytest

import kmirror.histories


def test_run_history_is_the_runner() -> None:
    from kmirror.histories.run import run_history

    assert kmirror.histories.run_history is run_history
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        kmirror.histories.Nonsense  # noqa: B018  # tests the access


def test_importing_the_package_does_not_import_the_runner() -> None:
    program = "import sys, kmirror.histories; print(*[name for name in sys.modules if name.startswith('kmirror.')])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["kmirror.histories"]


def test_the_same_seed_is_the_same_run_and_its_plan_is_too() -> None:
    first = kmirror.histories.run_history(seed=1, profile="smoke")
    plan = type(first.plan).from_json(first.plan.to_json())
    assert plan == first.plan
    assert kmirror.histories.run_history(plan).digest == first.digest
