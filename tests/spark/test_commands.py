"""An error of Spark or its JVM is one line on stderr, and a successful command prints nothing there."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.spark.consumed import ROOT

SAMPLE = str(ROOT / "kmirror/logdir/sample")


def spark_verify(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "kmirror", "spark-verify", SAMPLE, SAMPLE, "--topic", "txn", *words]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)


def test_the_jvm_s_own_words_are_kept_away() -> None:
    done = spark_verify("--master", "local[1]")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--master", "nonsense"), "Master must either be yarn or start with"),
        (("--conf", "spark.driver.memory=lots"), "lots"),
    ],
    ids=["master", "setting"],
)
def test_an_error_of_spark_is_one_line(words: tuple[str, ...], reason: str) -> None:
    done = spark_verify(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("kmirror: Spark: ")
    assert reason in done.stderr
    assert done.stderr.count("\n") == 1
