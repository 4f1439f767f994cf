"""What is told when Spark fails: one line that says why, instead of two stack traces.

Rule 1: what kmirror raised on an executor is told in its own words.
Rule 2: what the operating system, the file system or Spark itself refuses is told in the first line that they give.
Rule 3: anything else that Python code of ours raised on an executor is a bug, and keeps its traceback.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from kmirror.errors import KmirrorError
from kmirror.spark.jvm import reason_told

# The last line of a Python traceback, as executors send it: a class with its module, and a text.
_RAISED: Final = re.compile(r"^((?:\w+\.)*\w+): (.+)$", re.MULTILINE)
_REFUSALS: Final = frozenset({"OSError", "PermissionError", "FileNotFoundError", "NotADirectoryError", "ArrowInvalid"})
_ERROR_CLASS: Final = re.compile(r"^\[[A-Z_.]+\]\s*")
# What pyspark and Spark say where the JVM knows the reason and they do not.
_KNOW_NOTHING: Final = ("Cannot call methods on a stopped SparkContext", "Java gateway process exited")


class SparkFailure(KmirrorError):
    """Spark could not be started or reached, or did not finish what it was given; the text says why."""


@contextmanager
def in_one_line() -> Iterator[None]:
    """Turn what Spark raises into `SparkFailure`, or leave it alone where it is a bug of ours."""
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
        return _plain(str(error.java_exception.getMessage() or error.java_exception.toString()))
    if isinstance(error, (Py4JError, ConnectionError)):
        return f"its JVM ended: {reason_told() or error}"
    if not isinstance(error, PySparkException):
        return None
    text = str(error)
    if "Traceback (most recent call last)" not in text:
        return _plain(text)
    raised = _RAISED.findall(text.rpartition("Traceback (most recent call last)")[2])
    for name, reason in reversed(raised):
        if name.startswith("kmirror.") or name.rpartition(".")[2] in _REFUSALS:
            return str(reason)
    return None


def _plain(text: str) -> str:
    first = _ERROR_CLASS.sub("", text.strip().partition("\n")[0])
    if first.startswith(_KNOW_NOTHING):
        return reason_told() or first
    return first
