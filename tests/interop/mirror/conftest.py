"""Class paths of the source releases of Kafka."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NoReturn

import pytest

from tests.interop.conftest import IS_REQUIRED

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def class_path_of(
    kafka_class_path: str, tmp_path_factory: pytest.TempPathFactory, skip_or_fail: Callable[[str], NoReturn]
) -> Callable[[str], str]:
    """Return a function for the class path of a release; releases missing in Maven's repository are skipped."""

    @cache
    def resolved(release: str) -> str:
        if not (HERE / f"pom-{release}.xml").exists():
            return kafka_class_path
        folder = tmp_path_factory.mktemp("release")
        pom, out = HERE / f"pom-{release}.xml", folder / "classpath"
        command = ["mvn", "-q", "-B", "-f", str(pom), "dependency:build-classpath", f"-Dmdep.outputFile={out}"]
        done = subprocess.run(command if IS_REQUIRED else [*command, "-o"], capture_output=True, text=True, check=False)
        if done.returncode:
            skip_or_fail(f"Kafka {release} is not in Maven's local repository (KMIRROR_REQUIRE_KAFKA=1 fetches it)")
        jars = out.read_text(encoding="utf-8").strip()
        if not release.startswith("2."):
            return jars
        source = HERE / "java" / "StaticHostProvider.java"
        subprocess.run(["javac", "-d", str(folder), "-cp", jars, str(source)], check=True)
        return f"{folder}{os.pathsep}{jars}"

    return resolved
