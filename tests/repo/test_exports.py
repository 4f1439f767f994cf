"""The public names of kmirror are fixed, and importing it is cheap."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import kmirror

PUBLIC = {
    "Simulation",
    "Cluster",
    "Mirror",
    "Producer",
    "Consumer",
    "Hooks",
    "ConsumerRecord",
    "read_log_dirs",
    "read_sample",
    "write_log_dirs",
    "Batch",
    "Record",
    "RecordData",
    "Compression",
    "ErrorCode",
    "IsolationLevel",
    "OffsetSpec",
    "MirrorState",
    "TopicPartition",
    "KmirrorError",
    "ProtocolError",
    "CorruptBatch",
    "LocalProtocolError",
    "UsageError",
    "KafkaError",
    "SimulationFailure",
    "__version__",
}
HEAVY = {
    "asyncio",
    "socket",
    "ssl",
    "pyspark",
    "numpy",
    "pyarrow",
    "click",
    "rich",
    "hypothesis",
    "matplotlib",
}


def modules_after(program: str) -> set[str]:
    """Return the names of all modules that are loaded after `program` ran in a new Python process."""
    tail = "\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", program + tail],
        capture_output=True,
        text=True,
        check=True,
        stdin=subprocess.DEVNULL,
    )
    return set(json.loads(done.stdout))


def names_for_type_checkers(text: str) -> set[str]:
    """Return the imports of a module under `if TYPE_CHECKING`."""
    return {
        alias.asname or alias.name
        for block in ast.parse(text).body
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for statement in block.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }


def test_the_public_names_are_the_declared_ones() -> None:
    assert set(kmirror.__all__) == PUBLIC
    assert len(kmirror.__all__) == len(PUBLIC), "a name is listed twice"
    assert dir(kmirror) == sorted(PUBLIC)


def test_every_public_name_resolves_to_an_object_of_its_name() -> None:
    for name in PUBLIC - {"__version__"}:
        assert getattr(kmirror, name).__name__ == name


def test_type_checkers_see_the_same_names() -> None:
    text = Path(kmirror.__file__).read_text("utf-8")
    assert names_for_type_checkers(text) == PUBLIC - {"__version__"}


def test_unknown_names_raise_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        kmirror.Nonsense  # noqa: B018  # tests the access


def test_importing_kmirror_imports_nothing_else_of_it() -> None:
    loaded = modules_after("import kmirror")
    assert {name for name in loaded if name.split(".")[0] == "kmirror"} == {"kmirror"}
    assert not loaded & HEAVY


def test_using_every_public_name_imports_nothing_heavy() -> None:
    loaded = modules_after("from kmirror import *")
    assert "kmirror.errors" in loaded
    assert not loaded & HEAVY


def test_the_alarm_sees_a_heavy_import() -> None:
    assert modules_after("import kmirror, asyncio") & HEAVY >= {"asyncio", "socket"}
    assert names_for_type_checkers("if TYPE_CHECKING:\n    from a import b as c, d") == {"c", "d"}
