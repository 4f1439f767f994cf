"""Table of the readers by name, and those that are available here."""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple, Protocol

from kmirror.errors import UsageError, did_you_mean
from kmirror.fuzz.differential.subprocess_reader import SubprocessReader
from kmirror.fuzz.differential.verdicts import Verdict
from kmirror.fuzz.stream import Frame

OURS = "ours"
KAFKA = "kafka"
JARS = "KMIRROR_KAFKA_JARS"
"""Environment variable with the folder of Kafka's jars."""


class Reader(Protocol):
    """Reads the bytes of messages and of record batches; used by one thread, and closed at the end."""

    name: str
    version: str
    """Version of the library, such as kio 0.6.5."""

    def read(self, frame: Frame) -> Verdict | None:
        """Return the verdict, None if the reader does not know the message in this version."""
        ...

    def close(self) -> None:
        """Release its processes."""
        ...


class ReaderRow(NamedTuple):
    """A reader: its module, the name that opens it there, and the package that it needs, or ""."""

    name: str
    module: str
    opens: str
    package: str
    about: str


READERS: tuple[ReaderRow, ...] = (
    ReaderRow(OURS, "our_reader", "OurReader", "", "our strict decoder, our reader of record batches"),
    ReaderRow(KAFKA, "kafka_reader", "open_kafka", "", "Kafka's own classes in a JVM; wants --kafka-jars"),
    ReaderRow("kio", "kio_reader", "KioReader", "kio", "kio's compiled readers"),
    ReaderRow("kafka-python", "kafka_python_reader", "KafkaPythonReader", "kafka", "kafka-python's protocol modules"),
    ReaderRow("aiokafka", "aiokafka_reader", "AiokafkaReader", "aiokafka", "aiokafka's protocol modules"),
)


def open_readers(names: Sequence[str] = (), jars: str | None = None) -> list[Reader]:
    """Return the readers of these names, ours always included; without names all that are available here.

    `jars` is a folder with Kafka's jars. Raises `UsageError` for an unknown name, and for one that is not installed.
    """
    rows = {row.name: row for row in READERS}
    for name in names:
        if name not in rows:
            hint = did_you_mean(name, rows)
            raise UsageError(f"unknown reader {name!r}" + (f"; {hint}" if hint else f": {', '.join(rows)}"))
    found: list[Reader] = []
    for row in READERS:
        if names and row.name != OURS and row.name not in names:
            continue
        if row.package and find_spec(row.package) is None:
            if names:
                raise UsageError(f"the reader {row.name} needs a package: pip install '.[peers]'")
            continue
        if row.name == KAFKA and not names and not (jars or os.environ.get(JARS)):
            continue
        module = f"kmirror.fuzz.differential.{row.module}"
        if row.package:
            found.append(SubprocessReader(row.name, module, row.opens))
        else:
            opens: Any = getattr(importlib.import_module(module), row.opens)
            found.append(opens(jars) if row.name == KAFKA else opens())
    if len(found) == 1:
        raise UsageError("no reader to compare with is available: pip install '.[peers]', or --kafka-jars DIR")
    return found
