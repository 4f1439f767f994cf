"""Source of Apache Kafka for tests that need it: broker, tools, clients, message classes.

The jars come from the folder in KMIRROR_KAFKA_JARS, or by Maven from its local repository. With
KMIRROR_REQUIRE_KAFKA=1, as set by `.ci/run`, Maven may fetch them, and missing jars fail the test instead of skipping
it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

from tests.interop.class_archive import make_archive
from tests.interop.jvm import compile_jar

HERE = Path(__file__).parent
IS_REQUIRED = os.environ.get("KMIRROR_REQUIRE_KAFKA") == "1"


@pytest.fixture(scope="session")
def skip_or_fail() -> Callable[[str], NoReturn]:
    """Return a function that ends a test that cannot run here: by a skip, or by a failure if it is required."""

    def end(reason: str) -> NoReturn:
        if IS_REQUIRED:
            pytest.fail(f"KMIRROR_REQUIRE_KAFKA=1, but {reason}")
        pytest.skip(reason)

    return end


@pytest.fixture(scope="session")
def kafka_class_path(tmp_path_factory: pytest.TempPathFactory, skip_or_fail: Callable[[str], NoReturn]) -> str:
    """Return a class path with all jars of pom.xml."""
    for program in ("java", "javac"):
        if shutil.which(program) is None:
            skip_or_fail(f"there is no {program}")
    jars = os.environ.get("KMIRROR_KAFKA_JARS")
    class_path = f"{jars}/*" if jars else resolve_class_path(tmp_path_factory, skip_or_fail)
    make_archive(class_path)
    return class_path


def resolve_class_path(tmp_path_factory: pytest.TempPathFactory, skip_or_fail: Callable[[str], NoReturn]) -> str:
    """Return the class path of the jars in Maven's repository."""
    if shutil.which("mvn") is None:
        skip_or_fail("KMIRROR_KAFKA_JARS names no folder, and there is no mvn")
    out = tmp_path_factory.mktemp("kafka") / "classpath"
    command = ["mvn", "-q", "-B", "-f", str(HERE / "pom.xml"), "dependency:build-classpath", f"-Dmdep.outputFile={out}"]
    done = subprocess.run(command if IS_REQUIRED else [*command, "-o"], capture_output=True, text=True, check=False)
    if done.returncode:
        skip_or_fail("Kafka's jars are not in Maven's local repository (KMIRROR_REQUIRE_KAFKA=1 fetches them)")
    return out.read_text(encoding="utf-8").strip()


@pytest.fixture(scope="session")
def log_class_path(kafka_class_path: str) -> str:
    """Return the same with `Clock` and `AtOnce`, which the programs that open logs share."""
    shared = compile_jar(kafka_class_path, HERE / "Clock.java", HERE / "AtOnce.java")
    return f"{kafka_class_path}{os.pathsep}{shared}"
