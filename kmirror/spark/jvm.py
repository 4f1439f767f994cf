"""Start of Spark's JVM without output on our stderr, and the errors in its output.

A JVM prints its modules and log levels, and logs errors that reach us as exceptions as well. All of it goes to a file
without a name, from which `last_jvm_error` takes the cause if an exception has none. If `spark.log.level` is set, the
user wants the log, which then goes to stderr.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from typing import IO, Any, Final

LOG_LEVEL: Final = "spark.log.level"
_TAIL_BYTES_MAX: Final = 64 << 10
_THROWN: Final = re.compile(r"^(?:Caused by: |Exception in thread \S+ )?(?:[\w$]+\.)+[\w$]*(?:Exception|Error): (.+)$")
_LOGGED: Final = re.compile(r"^[\d:/ ]+ERROR (?:[\w$.]+: )?(.+)$")

_jvm_output: list[IO[bytes]] = []
"""The output of the JVM that this process has started, if any; there is at most one for a process."""


def start_without_output(settings: Mapping[str, str]) -> None:
    """Start the JVM with these settings, unless this process has one; raises the exceptions of pyspark."""
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway

    if SparkContext._gateway is not None:
        return
    conf = SparkConf()
    for name, value in settings.items():
        conf.set(name, value)
    file = tempfile.TemporaryFile()  # noqa: SIM115  # The JVM writes to it while this process lives.
    _jvm_output[:] = [file]
    launch: Any = launch_gateway  # Pyspark gives it no types.
    gateway = launch(conf, {"stdout": file, "stderr": file})
    SparkContext._ensure_initialized(gateway=gateway)


def last_jvm_error() -> str | None:
    """Return the last cause of an error in the JVM's output, None if there is none."""
    lines = _tail().splitlines()
    for pattern in (_LOGGED, _THROWN):
        found = [match[1] for line in lines if (match := pattern.match(line))]
        if found:
            return found[-1] if pattern is _LOGGED else found[0]
    error_lines = [line for line in lines if line.startswith(("Error", "Unrecognized", "Invalid"))]
    return error_lines[0] if error_lines else None


def _tail() -> str:
    if not _jvm_output:
        return ""
    file = _jvm_output[0]
    size = file.seek(0, 2)
    file.seek(max(0, size - _TAIL_BYTES_MAX))
    return file.read().decode("utf-8", "replace")
