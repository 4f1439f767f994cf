"""Strategies can be imported in any order, and name their requirements if those are not installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

IMPORTS = [
    "import kmirror.testing.strategies",
    "from kmirror.testing.strategies import messages",
    "import kmirror.testing.strategies.arbitrary",
    "import kmirror.testing.strategies.registering",
    "import hypothesis, kmirror.testing.strategies",
    "import kmirror.testing.strategies, hypothesis",
    "import kmirror.protocol, kmirror.testing.strategies",
]
FOUND = """
from hypothesis import Phase, find, settings, strategies as st
from kmirror.protocol.gen.fetch_request import FetchRequest
quick = settings(derandomize=True, database=None, phases=[Phase.generate])
found = find(st.from_type(FetchRequest), lambda one: one.unknown_tags, settings=quick)
assert FetchRequest.decode(found.encode(FetchRequest.MAX_VERSION), FetchRequest.MAX_VERSION) == found
"""
# Hypothesis caches its Unicode tables in the working directory: each program starts without them.
TRIES_A_CODEC = """
from hypothesis import Phase, find, settings, strategies as st
from hypothesis.internal import charmap
from kmirror.protocol.gen.fetch_request import FetchRequest
from kmirror.testing import strategies as ours
tried = []
plain = charmap.intervals_from_codec
charmap.intervals_from_codec = lambda codec: tried.append(codec) or plain(codec)
strategies = {strategies}
quick = settings(derandomize=True, database=None, phases=[Phase.generate])
for strategy in strategies:
    strategy.validate()
    find(strategy, lambda one: True, settings=quick)
print(tried)
"""
# Simulates a missing package: None in the table of modules makes the import fail.
WITHOUT = "import sys\nsys.modules['hypothesis'] = None\nimport kmirror.testing.strategies"


def python(program: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a program in a new Python process: in this one Hypothesis has long been imported."""
    command = [sys.executable, "-W", "error", "-c", program]
    return subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, cwd=folder)


@pytest.mark.parametrize("first", IMPORTS)
def test_types_are_registered_in_any_order_of_imports(first: str) -> None:
    done = python(first + FOUND)
    assert (done.returncode, done.stderr) == (0, "")


def test_without_hypothesis_the_extra_is_named() -> None:
    done = python(WITHOUT)
    assert done.returncode == 1
    assert done.stderr.endswith(
        "ModuleNotFoundError: kmirror.testing.strategies needs Hypothesis: pip install 'kmirror[testing]' installs it\n"
    )


def test_a_missing_module_of_hypothesis_is_not_taken_for_hypothesis() -> None:
    done = python("import sys\nsys.modules['sortedcontainers'] = None\nimport kmirror.testing.strategies")
    assert "kmirror[testing]" not in done.stderr and "sortedcontainers" in done.stderr


def test_hypothesis_alone_imports_no_logs() -> None:
    done = python("import hypothesis, sys\nprint([name for name in sys.modules if name.startswith('kmirror.log')])")
    assert (done.returncode, done.stdout) == (0, "[]\n")


OURS = (
    "ours.messages(FetchRequest, 17), ours.versioned(FetchRequest), ours.any_message(), ours.settings_of_messages(),"
    "ours.plausible_messages(FetchRequest, 17), ours.records(), ours.record_batches(), ours.message_sets(),"
    "ours.log_batches(), ours.segments(), ours.partition_logs()"
)


@pytest.mark.parametrize(("strategies", "tried"), [(OURS, "[]\n"), ("st.text(), ", "['utf-8']\n")])
def test_the_first_example_waits_for_no_table_of_unicode(strategies: str, tried: str, tmp_path: Path) -> None:
    done = python(TRIES_A_CODEC.format(strategies=strategies), tmp_path)
    assert (done.stderr, done.stdout) == ("", tried)


def test_an_unknown_name_is_an_attribute_error() -> None:
    done = python("import kmirror.testing.strategies as s\nassert set(s.__all__) <= set(dir(s))\ns.mesages")
    assert "has no attribute 'mesages'" in done.stderr
