"""Group `protocol`: messages compared with kio, kafka-python and aiokafka (C1 to C7).

Differences that the numbers do not show: kio makes rich types of error codes, durations and uuids, where kmirror has
integers and bytes; kio and kafka-python copy records, where kmirror has views unless a case says otherwise; aiokafka
supports only old versions, which both sides then use; where only encoding is measured, the peers' objects come from
decoding.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import tempfile
import tracemalloc
from collections.abc import Callable
from io import BytesIO
from typing import Any

from benchmarks import shapes
from benchmarks.builders import kafka_python_builder, kio_builder, our_builder
from benchmarks.harness import Case, Run, no_runs
from benchmarks.shapes import Shape

KAFKA_PYTHON, KIO, AIOKAFKA = "kafka-python", "kio", "aiokafka"

# Case to floor and reach relative to kafka-python and to kio.
DECODE = {
    shapes.METADATA_UNIFORM: ((3.2, 4.2), (0.65, 0.85)),
    shapes.METADATA_MIXED: ((2.6, 3.5), (0.5, 0.7)),
    shapes.FETCH_RESPONSE: ((2.4, 3.2), (1.0, 1.3)),
    shapes.FETCH_REQUEST: ((1.4, 1.8), (0.7, 0.95)),
    shapes.API_VERSIONS: ((1.6, 2.2), (0.5, 0.75)),
    shapes.PRODUCE_REQUEST: ((1.6, 2.3), (0.3, 0.5)),
}
NO_GATE = (None, None)
ENCODE: dict[Shape, tuple[tuple[float | None, float | None], tuple[float | None, float | None]]] = {
    shapes.METADATA_UNIFORM: ((4.5, 6.5), (9, 14)),
    shapes.METADATA_MIXED: ((4.5, 6.5), (9, 14)),
    shapes.FETCH_RESPONSE: ((3.5, 5), (5.5, 8)),
    shapes.FETCH_REQUEST: ((8, 13), (13, 21)),
    shapes.API_VERSIONS: ((8, 13), (13, 21)),
    shapes.PRODUCE_REQUEST: ((5, 7), NO_GATE),
}


def cases() -> list[Case]:
    found = []
    for shape, (kafka_python, kio) in DECODE.items():
        name = f"decode {shape.name}"
        found.append(Case("C1", name, KAFKA_PYTHON, _decode(shape, _kafka_python_decode), *kafka_python))
        found.append(Case("C2", name, KIO, _decode(shape, _kio_decode), *kio))
    lazy = f"decode lazily {shapes.METADATA_UNIFORM.name}"
    found.append(Case("C1", lazy, KAFKA_PYTHON, _decode(shapes.METADATA_UNIFORM, _kafka_python_decode, True), 9, 13))
    found.append(Case("C2", lazy, KIO, _decode(shapes.METADATA_UNIFORM, _kio_decode, True), 1.8, 2.6))
    copied = f"decode, records copied, {shapes.FETCH_RESPONSE.name}"
    found.append(Case("C1", copied, KAFKA_PYTHON, _decode_and_copy(_kafka_python_decode), 1.3, 1.6))
    for shape, (kafka_python_gate, kio_gate) in ENCODE.items():
        name = f"encode {shape.name}"
        found.append(Case("C3", name, KAFKA_PYTHON, _encode(shape, _kafka_python_encode), *kafka_python_gate))
        found.append(Case("C4", name, KIO, _encode(shape, _kio_encode), *kio_gate))
    buffers = f"encode to buffers {shapes.FETCH_RESPONSE.name}"
    found.append(Case("C3", buffers, KAFKA_PYTHON, _encode(shapes.FETCH_RESPONSE, _kafka_python_encode, True), 6, 8))
    for shape in ENCODE:
        name = f"build and encode {shape.name}"
        gate = (8, 13) if shape is shapes.FETCH_REQUEST else NO_GATE
        found.append(Case("C5", name, KAFKA_PYTHON, _build(shape, kafka_python_builder), *gate))
        found.append(Case("C5", name, KIO, _build(shape, kio_builder)))
    found += _memory_cases() + _import_cases() + _aiokafka_cases()
    return sorted(found, key=lambda case: case.id)


# -- decoding and encoding --------------------------------------------------------------------


def _decode(shape: Shape, peer: Callable[[Shape, bytes], Run], lazy: bool = False) -> Callable[[], tuple[Run, Run]]:
    def prepare() -> tuple[Run, Run]:
        message = shape.build()
        data, cls, version = message.encode(shape.version), type(message), shape.version
        assert cls.decode(data, version, lazy=lazy) == message
        return lambda: cls.decode(data, version, lazy=lazy), peer(shape, data)

    return prepare


def _decode_and_copy(peer: Callable[[Shape, bytes], Run]) -> Callable[[], tuple[Run, Run]]:
    shape = shapes.FETCH_RESPONSE

    def prepare() -> tuple[Run, Run]:
        data = shape.build().encode(shape.version)

        def ours() -> Any:
            from kmirror.protocol.gen.fetch_response import FetchResponse

            found = FetchResponse.decode(data, shape.version)
            for topic in found.responses:
                for partition in topic.partitions:
                    partition.records = bytes(partition.records or b"")
            return found

        return ours, peer(shape, data)

    return prepare


def _kafka_python_decode(shape: Shape, data: bytes) -> Run:
    cls = shapes.kafka_python_class(shape.build())
    return lambda: cls.decode(data, version=shape.version)


def _kio_decode(shape: Shape, data: bytes) -> Run:
    from kio.serial import entity_reader

    read = entity_reader(shapes.kio_class(shape.build(), shape.version))
    return lambda: read(data, 0)


def _encode(shape: Shape, peer: Callable[[Shape, bytes], Run], chunks: bool = False) -> Callable[[], tuple[Run, Run]]:
    def prepare() -> tuple[Run, Run]:
        message = without_later_fields(shape) if peer not in (_kafka_python_encode, _kio_encode) else shape.build()
        version = shape.version
        theirs = peer(shape, message.encode(version))
        assert theirs() == message.encode(version)
        if chunks:
            return lambda: message.encode_chunks(version), theirs
        return lambda: message.encode(version), theirs

    return prepare


def _kafka_python_encode(shape: Shape, data: bytes) -> Run:
    message = shapes.kafka_python_class(shape.build()).decode(data, version=shape.version)
    message._header = None  # Decoding omits it, and encoding expects it.
    return lambda: message.encode(version=shape.version)


def _kio_encode(shape: Shape, data: bytes) -> Run:
    from kio.serial import entity_reader, entity_writer

    cls = shapes.kio_class(shape.build(), shape.version)
    entity = entity_reader(cls)(data, 0)[0]
    write = entity_writer(cls)

    def encode() -> bytes:
        out = BytesIO()
        write(out, entity)
        return out.getvalue()

    return encode


def _build(shape: Shape, peer: Callable[[Shape], Run]) -> Callable[[], tuple[Run, Run]]:
    def prepare() -> tuple[Run, Run]:
        build, theirs, version = our_builder(shape), peer(shape), shape.version
        assert theirs() == build().encode(version)
        return lambda: build().encode(version), theirs

    return prepare


# -- memory and import time -------------------------------------------------------------------


def _memory_cases() -> list[Case]:
    def measure(lazy: bool) -> Callable[[int], list[float]]:
        def ratios(_: int) -> list[float]:
            shape = shapes.METADATA_UNIFORM
            message = shape.build()
            data = message.encode(shape.version)
            theirs = _kafka_python_decode(shape, data)
            return [
                result_bytes(theirs) / result_bytes(lambda: type(message).decode(data, shape.version, lazy=lazy))
                for _ in range(3)
            ]

        return ratios

    name = f"memory of {shapes.METADATA_UNIFORM.name}"
    return [
        Case("C6", name, KAFKA_PYTHON, no_runs, 1 / 0.75, 1 / 0.6, measure(False)),
        Case("C6", name.replace("memory", "memory, lazy,"), KAFKA_PYTHON, no_runs, 1 / 0.2, 1 / 0.1, measure(True)),
    ]


def result_bytes(run: Run) -> int:
    """Return the memory that Python holds for the result."""
    run()
    gc.collect()
    tracemalloc.start()
    found = run()
    traced_bytes = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert found is not None
    return traced_bytes


def _import_cases() -> list[Case]:
    core = "import kmirror.protocol"
    first = "from kmirror.protocol import FetchRequest; FetchRequest().encode(17)"

    def measure(before: str, code: str) -> Callable[[int], list[float]]:
        def ratios(pairs: int) -> list[float]:
            # Compile once, like an installed package, regardless of the environment.
            with tempfile.TemporaryDirectory() as cache:
                import_ns("pass", "import asyncio", cache)
                import_ns(before, code, cache)
                return [
                    import_ns("pass", "import asyncio", cache) / import_ns(before, code, cache)
                    for _ in range(max(15, pairs))
                ]

        return ratios

    return [
        Case("C7", "import of the core", "asyncio", no_runs, 1 / 0.8, 1 / 0.5, measure("pass", core)),
        Case("C7", "first use of a message", "asyncio", no_runs, 1 / 0.15, 1 / 0.05, measure(core, first)),
    ]


def import_ns(before: str, code: str, cache: str) -> int:
    """Return the nanoseconds that `code` takes in a new interpreter after `before`."""
    script = f"import time\n{before}\nstart = time.perf_counter_ns()\n{code}\nprint(time.perf_counter_ns() - start)"
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = cache
    command = [sys.executable, "-c", script]
    completed = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return int(completed.stdout)


# -- aiokafka, in the newest versions that it knows -------------------------------------------


def _aiokafka_cases() -> list[Case]:
    import importlib

    pairs = [
        (Shape("ApiVersions v2, 70 keys", 2, shapes.api_versions), "admin", "ApiVersionResponse_v2"),
        (Shape("Metadata v5, 100 x 10 x 3, uniform", 5, shapes.metadata_uniform), "metadata", "MetadataResponse_v5"),
        (Shape("FetchRequest v11, 100 partitions", 11, shapes.fetch_request), "fetch", "FetchRequest_v11"),
        (Shape("FetchResponse v11, 50 x 16 KiB", 11, shapes.fetch_response), "fetch", "FetchResponse_v11"),
        (Shape("ProduceRequest v8, 10 x 1 KiB", 8, shapes.produce_request), "produce", "ProduceRequest_v8"),
    ]

    def peer_class(module: str, name: str) -> Any:
        return getattr(importlib.import_module(f"aiokafka.protocol.{module}"), name)

    def decode(module: str, name: str) -> Callable[[Shape, bytes], Run]:
        return lambda shape, data: lambda: peer_class(module, name).decode(data)

    def encode(module: str, name: str) -> Callable[[Shape, bytes], Run]:
        def run(shape: Shape, data: bytes) -> Run:
            message = peer_class(module, name).decode(data)
            return lambda: message.encode()

        return run

    found = []
    for shape, module, name in pairs:
        found.append(Case("C1", f"decode {shape.name}", AIOKAFKA, _decode_as_sent(shape, decode(module, name)), 1))
        found.append(Case("C3", f"encode {shape.name}", AIOKAFKA, _encode(shape, encode(module, name)), 1))
    return found


def without_later_fields(shape: Shape) -> Any:
    """Return the message with the fields of an old version: topics by name, and without epochs that it lacks."""
    message: Any = shape.build()
    for topic in [*getattr(message, "topics", ()), *getattr(message, "responses", ())]:
        if hasattr(topic, "topic"):
            topic.topic = "topic-0001"
        for partition in topic.partitions:
            if hasattr(partition, "last_fetched_epoch"):
                partition.last_fetched_epoch = -1
    return message


def _decode_as_sent(shape: Shape, peer: Callable[[Shape, bytes], Run]) -> Callable[[], tuple[Run, Run]]:
    """Like `_decode`, for an old version that drops some fields of the message."""

    def prepare() -> tuple[Run, Run]:
        message = without_later_fields(shape)
        data, cls, version = message.encode(shape.version), type(message), shape.version
        assert cls.decode(data, version).encode(version) == data
        return lambda: cls.decode(data, version), peer(shape, data)

    return prepare
