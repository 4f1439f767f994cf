"""Test setup: the Hypothesis profiles and the path of the repository."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from kmirror.cli.quick_start import relax_gc

# `check` must be reproducible, so its examples are fixed; `soak` is for long random runs by hand.
settings.register_profile(
    "check", derandomize=True, deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("soak", deadline=None, max_examples=5000)
settings.load_profile(os.environ.get("KMIRROR_HYPOTHESIS", "check"))

ROOT = Path(__file__).resolve().parent.parent


def pytest_configure() -> None:
    gc.disable()  # Collecting thousands of tests makes no garbage, but the collector took half of the time.


def pytest_collection_finish() -> None:
    gc.freeze()  # Modules and test items live until exit: the collector need not scan them during each test.
    relax_gc()
    gc.enable()


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the top folder of the repository."""
    return ROOT
