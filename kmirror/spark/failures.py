"""Messages for failures of Spark: one line with the cause, instead of two stack traces.

Rule 1: an error that kmirror raised on an executor keeps its own message.
Rule 2: an error of the operating system, the file system or Spark itself is reported by its first line.
Rule 3: any other error that our Python code raised on an executor is a bug, and keeps its traceback.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from kmirror.errors import KmirrorError
from kmirror.spark.jvm import last_jvm_error

# The last line of a Python traceback, as executors send it: a class with its module, and a text.
_RAISED: Final = re.compile(r"^((?:\w+\.)*\w+): (.+)$", re.MULTILINE)
_SYSTEM_ERRORS: Final = frozenset(
    {"OSError", "PermissionError", "FileNotFoundError", "NotADirectoryError", "ArrowInvalid"}
)
_ERROR_CLASS: Final = re.compile(r"^\[[A-Z_.]+\]\s*")
# Messages of pyspark and Spark that lack the cause, which the JVM knows.
_WITHOUT_CAUSE: Final = ("Cannot call methods on a stopped SparkContext", "Java gateway process exited")


class SparkFailure(KmirrorError):
    """Spark could not be started or reached, or did not finish its work; the text says why."""


@contextmanager
def translate_spark_errors() -> Iterator[None]:
    """Turn errors of Spark into `SparkFailure`; bugs of our own are left alone."""
    try:
        yield
    except KmirrorError:
        raise
    except Exception as error:
        reason = reason_of(error)
        if reason is None:
            raise
        raise SparkFailure(f"Spark: {reason}") from None


def reason_of(error: Exception) -> str | None:
    """Return why Spark failed, on one line; None for an error that is not Spark's."""
    from py4j.protocol import Py4JError, Py4JJavaError
    from pyspark.errors import PySparkException

    if isinstance(error, Py4JJavaError):
        return _first_line(str(error.java_exception.getMessage() or error.java_exception.toString()))
    if isinstance(error, (Py4JError, ConnectionError)):
        return f"its JVM ended: {last_jvm_error() or error}"
    if not isinstance(error, PySparkException):
        return None
    text = str(error)
    if "Traceback (most recent call last)" not in text:
        return _first_line(text)
    raised = _RAISED.findall(text.rpartition("Traceback (most recent call last)")[2])
    for name, reason in reversed(raised):
        if name.startswith("kmirror.") or name.rpartition(".")[2] in _SYSTEM_ERRORS:
            return str(reason)
    return None


def _first_line(text: str) -> str:
    first = _ERROR_CLASS.sub("", text.strip().partition("\n")[0])
    if first.startswith(_WITHOUT_CAUSE):
        return last_jvm_error() or first
    return first
