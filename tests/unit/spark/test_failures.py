"""Error for a failure of Spark: the line with the cause, from the output of JVM and executors."""

from __future__ import annotations

import socket
import tempfile
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("pyspark")

from pyspark.errors import AnalysisException, PySparkRuntimeError, PythonException

from kmirror.errors import UsageError
from kmirror.spark import jvm, sessions
from kmirror.spark.failures import SparkFailure, translate_spark_errors


def failure_text(error: Exception) -> str:
    with pytest.raises(SparkFailure) as caught, translate_spark_errors():
        raise error
    text = str(caught.value)
    assert "\n" not in text
    assert caught.value.__suppress_context__
    return text


def traceback(last: str) -> str:
    return (
        "[PYTHON_DATA_SOURCE_ERROR] Failed when Python data source instance run planning or reading:\n"
        'Traceback (most recent call last):\n  File "/spark/worker.py", line 9, in main\n    process()\n'
        f'  File "/x/kmirror/spark/rows.py", line 217, in fault\n    raise error\n{last}\n\n'
        "\tat org.apache.spark.X: 1\n"
    )


def test_kmirrors_errors_on_an_executor_are_reported_unchanged() -> None:
    text = "/logs/t-0/00.log, position 90, offset 7: checksum mismatch: stored 0x1, computed 0x2"
    error = PythonException(traceback(f"kmirror.spark.rows.CorruptSegment: {text}"))
    assert failure_text(error) == f"Spark: {text}"


def test_system_errors_on_an_executor_are_reported() -> None:
    error = PythonException(traceback("PermissionError: [Errno 13] Permission denied: '/logs'"))
    assert failure_text(error) == "Spark: [Errno 13] Permission denied: '/logs'"


@pytest.mark.parametrize("last", ["AssertionError: the log reports an append", "KeyError: 'offset'", "AssertionError"])
def test_a_bug_on_an_executor_keeps_its_traceback(last: str) -> None:
    with pytest.raises(PythonException), translate_spark_errors():
        raise PythonException(traceback(last))


def test_sparks_errors_are_reported_without_class_and_plan() -> None:
    error = AnalysisException("[PATH_NOT_FOUND] Path does not exist: file:/x. SQLSTATE: 42K03\n== Plan ==\n'Relation")
    assert failure_text(error) == "Spark: Path does not exist: file:/x. SQLSTATE: 42K03"


def test_other_errors_pass() -> None:
    for error in (UsageError("say --topic"), ValueError("ours"), KeyboardInterrupt("kept")):
        with pytest.raises(type(error)) as caught, translate_spark_errors():
            raise error
        assert caught.value is error


@pytest.fixture
def jvm_output(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The file to which a JVM would have written."""
    with tempfile.TemporaryFile() as file:
        monkeypatch.setattr(jvm, "_jvm_output", [file])
        yield file


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (
            'WARNING: Using incubator modules: jdk.incubator.vector\nException in thread "main" '
            "org.apache.spark.SparkException: Master must either be yarn or start with spark\n\tat org.apache.X.y(X:1)",
            "Master must either be yarn or start with spark",
        ),
        (
            "Invalid maximum heap size: -Xmxabc\nError: Could not create the Java Virtual Machine.\nError: Fatal.",
            "Invalid maximum heap size: -Xmxabc",
        ),
        (
            "12:00:00 ERROR StandaloneSchedulerBackend: Application was killed. Reason: All masters are unresponsive!",
            "Application was killed. Reason: All masters are unresponsive!",
        ),
    ],
)
def test_the_jvms_reason_is_reported_if_the_exception_has_none(jvm_output: Any, lines: str, reason: str) -> None:
    jvm_output.write(lines.encode())
    jvm_output.flush()
    gateway = PySparkRuntimeError(errorClass="JAVA_GATEWAY_EXITED", messageParameters={})
    assert failure_text(gateway) == f"Spark: {reason}"


def test_without_a_reason_the_exceptions_own_text_is_reported(jvm_output: Any) -> None:
    assert "Java gateway process exited" in failure_text(
        PySparkRuntimeError(errorClass="JAVA_GATEWAY_EXITED", messageParameters={})
    )
    assert jvm.last_jvm_error() is None


# -- unresponsive remotes ----------------------------------------------------------------------


def refused(remote: str) -> str:
    pytest.importorskip("grpc")
    with pytest.raises(SparkFailure) as caught:
        sessions.session(remote=remote)
    return str(caught.value)


def test_a_remote_without_a_listener_is_refused_with_the_reason() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        remote = f"sc://127.0.0.1:{free.getsockname()[1]}"
    text = refused(remote)
    assert text.startswith(f"{remote}: no Spark Connect server answers there: ")
    assert "Connection refused" in text


def test_a_remote_that_listens_without_a_response_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "ANSWER_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        remote = f"sc://127.0.0.1:{silent.getsockname()[1]}"
        assert refused(remote) == f"{remote}: no Spark Connect server answers there: no answer within 0.2 s"


@pytest.mark.parametrize("remote", ["http://x", "sc://", "sc://host:port/;a"])
def test_invalid_remote_addresses_are_refused(remote: str) -> None:
    assert refused(remote).startswith("Spark: ")
