"""One JVM and one folder of logs for all tests here; both are made on first use."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from tests.interop.log.judge import Judge
from tests.interop.log.written import Written, write_folder


@pytest.fixture(scope="session")
def judge(kafka_class_path: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judge]:
    judge = Judge(kafka_class_path, tmp_path_factory.mktemp("judge"))
    try:
        yield judge
    finally:
        judge.close()


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """The folder that kmirror wrote; tests do not change it. A broker uses the machine's clock."""
    return write_folder(tmp_path_factory.mktemp("written") / "data", now_ms=time.time_ns() // 1_000_000)
