"""One Spark session for all tests of this folder, and a clear reason if there is none."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from kmirror.errors import UsageError

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent


def why_not() -> str | None:
    """Return the reason why no JVM can be started here, or None."""
    missing = [name for name in ("pyspark", "pyarrow", "numpy") if find_spec(name) is None]
    if missing:
        return f"not installed: {', '.join(missing)} (pip install 'kmirror[spark]')"
    from kmirror.spark.java import find_java

    try:
        find_java()
    except UsageError as error:
        return str(error)
    return None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    mine = [item for item in items if HERE in item.path.parents]
    if not mine:
        return
    reason = why_not()
    for item in mine:
        item.add_marker(pytest.mark.spark)
        # Warnings of Spark, py4j and grpc cannot be fixed here.
        item.add_marker(pytest.mark.filterwarnings("default"))
        if reason is not None and os.environ.get("KMIRROR_REQUIRE_SPARK") != "1":
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """Return a session in this process, with two workers."""
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    from kmirror.spark.sessions import session

    found = session(
        "tests", master="local[2]", ui=False, quick_start=True,
        configs={"spark.sql.shuffle.partitions": "2", "spark.default.parallelism": "2", "spark.driver.memory": "512m"},
    )  # fmt: skip
    yield found
    found.stop()
