"""Reader: Kafka's own classes, in a JVM that is kept running and gets frames one by one over a pipe (`Oracle.java`)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kmirror.errors import UsageError
from kmirror.fuzz.differential.readers import JARS
from kmirror.fuzz.differential.verdicts import LEFT_OUT, UNREPORTED, Form, Verdict
from kmirror.fuzz.findings import FaultKind
from kmirror.fuzz.stream import Frame
from kmirror.protocol.json_form import json_name
from kmirror.protocol.structs import Field

_NO_MEMORY = "java.lang.OutOfMemoryError"
PROGRAM = Path(__file__).with_name("Oracle.java")


def _values(found: dict[str, Any], fields: Sequence[Field]) -> list[Any]:
    return [_value(found, field) for field in fields]


def _value(found: dict[str, Any], field: Field) -> Any:
    name = json_name(field.name)
    if field.tag >= 0 and name not in found:
        return LEFT_OUT
    value = found[name]
    # The converter does not show the bytes of records.
    return UNREPORTED if field.type == "records" and value is not None else value


def _scalar(field: Field, value: Any) -> Any:
    return repr(float(value)) if field.type == "float64" else value


_FORM = Form(_values, _scalar)


class KafkaReader:
    """The classes that Kafka generates from its schemas, and `MemoryRecords`; `class_path` has Kafka's jars."""

    name = "kafka"

    def __init__(self, class_path: str) -> None:
        self.oracle = Oracle(class_path)
        self.version = f"Kafka {self.oracle.ask({'version': True})['version']}"
        self._versions: dict[str, range] = {}

    def _is_known(self, frame: Frame) -> bool:
        """Return whether Kafka has this message in this version."""
        if frame.message is None:
            return True
        versions = self._versions.get(frame.name)
        if versions is None:
            low, high = self.oracle.ask({"m": frame.name}).get("versions", (0, -1))
            versions = self._versions[frame.name] = range(low, high + 1)
        return frame.version in versions

    def read(self, frame: Frame) -> Verdict | None:
        """Return the verdict, None for an unknown message."""
        if not self._is_known(frame):
            return None
        data_hex = frame.data.hex()
        if frame.message is None:
            response = self.oracle.ask({"batches": data_hex})
            value = response.get("batches")
        else:
            response = self.oracle.ask({"m": frame.name, "v": frame.version, "hex": data_hex})
            value = response.get("json")
        if value is None:
            error = response["error"]
            return Verdict(error=error, fault=FaultKind.MEMORY if error.startswith(_NO_MEMORY) else None)
        if frame.message is None:
            return Verdict(value)
        rewritten = bytes.fromhex(response["hex"]) if "hex" in response else None
        return Verdict(_FORM.struct(frame.message, frame.version, value), rewritten=rewritten)

    def close(self) -> None:
        """Stop the JVM."""
        self.oracle.close()


def open_kafka(jars: str | None) -> KafkaReader:
    """Return the reader with the jars in a folder; None means that of the environment variable.

    Raises `UsageError` without such a folder, or without Java.
    """
    jars = jars or os.environ.get(JARS)
    if not jars or not Path(jars).is_dir():
        raise UsageError(f"the reader kafka needs a folder with Kafka's jars: --kafka-jars DIR, or {JARS}")
    if shutil.which("java") is None:
        raise UsageError("the reader kafka needs Java (a JDK): the program java was not found")
    return KafkaReader(f"{jars}/*")


class Oracle:
    """The JVM: each request and each response is a line with a JSON object; see `Oracle.java` for them."""

    def __init__(self, class_path: str) -> None:
        command = ["java", "-Xmx256m", "-XX:+UseSerialGC", "-cp", class_path, str(PROGRAM)]
        self._jvm = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the response to a request; raises `UsageError` if the JVM has ended."""
        assert self._jvm.stdin is not None and self._jvm.stdout is not None
        try:
            self._jvm.stdin.write(json.dumps(request).encode("utf-8", "surrogatepass") + b"\n")
            self._jvm.stdin.flush()
            line = self._jvm.stdout.readline()
        except BrokenPipeError:
            line = b""
        if not line:
            raise UsageError(f"the JVM of the reader kafka ended with {self._jvm.wait()}; see its output above")
        response: dict[str, Any] = json.loads(line)
        return response

    def close(self) -> None:
        """Stop the JVM."""
        self._jvm.kill()
        self._jvm.wait()
        for pipe in (self._jvm.stdin, self._jvm.stdout):
            if pipe is not None:
                pipe.close()
