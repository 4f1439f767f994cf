"""Records compared with kafka-python and aiokafka's compiled reader: gates R1 to R4.

Every side checks each batch's checksum, and reads all fields of all records where it decodes. kafka-python uses the
`crc32c` wheel if it is installed, like kmirror; aiokafka includes its own. Keys have 12 bytes, and values fill the
record up to the named size. Usually records have one header; records without headers have their own rows.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from benchmarks.harness import Case, Run
from kmirror.records import RecordData, build_batch, iter_batches

PEERS = {"kafka-python": "kafka.record", "aiokafka": "aiokafka.record"}
START_MS = 1_700_000_000_000


def records(count: int, size: int, headers: int) -> list[RecordData]:
    draw = random.Random(5)
    header_list = [(f"h{number}", b"value%d" % number) for number in range(headers)]
    return [
        RecordData(b"key-%08d" % number, draw.randbytes(size - 20), header_list, START_MS + number)
        for number in range(count)
    ]


def read_objects(data: bytes) -> Run:
    def run() -> None:
        for batch in iter_batches(data, check_crc=True):
            for record in batch.records():
                _ = record.offset, record.timestamp, record.key, record.value, record.headers

    return run


def read_arrow(data: bytes) -> Run:
    from kmirror.records.columns import read_columns

    def run() -> object:
        return read_columns(iter_batches(data, check_crc=True)).to_arrow()

    return run


def check_framing(data: bytes) -> Run:
    def run() -> None:
        for batch in iter_batches(data, check_crc=True):
            batch.check_framing()

    return run


def read_with_peer(peer: str, data: bytes) -> Run:
    """Return a function that reads `data` with the peer."""
    memory_records: Any = import_module(f"{PEERS[peer]}.memory_records").MemoryRecords

    def run() -> None:
        reader = memory_records(data)
        while (batch := reader.next_batch()) is not None:
            assert batch.validate_crc()
            for record in batch:
                _ = record.offset, record.timestamp, record.key, record.value, record.headers

    return run


def encode(rows: list[RecordData]) -> Run:
    # Plain tuples: a peer's `append` takes arguments and not objects either.
    plain = [tuple(record) for record in rows]
    return lambda: build_batch(plain)  # type: ignore[arg-type]  # a tuple has lost its types


def encode_with_peer(peer: str, rows: list[RecordData]) -> Run:
    builder: Any = import_module(f"{PEERS[peer]}.default_records").DefaultRecordBatchBuilder

    def run() -> bytes:
        batch = builder(
            magic=2,
            compression_type=0,
            is_transactional=False,
            producer_id=-1,
            producer_epoch=-1,
            base_sequence=-1,
            batch_size=1 << 26,
        )
        for number, (key, value, headers, timestamp, _) in enumerate(rows):
            batch.append(number, timestamp, key, value, headers)
        return bytes(batch.build())

    # Leader epochs differ (the peers write 0 and -1); from the attributes on, all bytes are equal.
    assert run()[21:] == build_batch(rows)[21:]
    return run


def reading_cases(
    id_: str,
    name: str,
    ours: Callable[[bytes], Run],
    shape: tuple[int, int, int],
    gates: dict[str, tuple[float, float]],
) -> list[Case]:
    """Return a case for each peer in `gates`, with floor and reach."""

    def prepare(peer: str) -> Callable[[], tuple[Run, Run]]:
        def build() -> tuple[Run, Run]:
            data = build_batch(records(*shape))
            return ours(data), read_with_peer(peer, data)

        return build

    count, size, headers = shape
    title = f"{name} {count} x {size} B, {'one header' if headers else 'no headers'}"
    return [Case(id_, title, peer, prepare(peer), floor, reach) for peer, (floor, reach) in gates.items()]


def encoding_cases(shape: tuple[int, int, int], gates: dict[str, tuple[float, float]]) -> list[Case]:
    def prepare(peer: str) -> Callable[[], tuple[Run, Run]]:
        def build() -> tuple[Run, Run]:
            rows = records(*shape)
            return encode(rows), encode_with_peer(peer, rows)

        return build

    title = f"encode {shape[0]} x {shape[1]} B"
    return [Case("R3", title, peer, prepare(peer), floor, reach) for peer, (floor, reach) in gates.items()]


def cases() -> list[Case]:
    iteration = {"kafka-python": (2.1, 2.7), "aiokafka": (0.2, 0.27)}
    arrow = {"kafka-python": (8.0, 12.0), "aiokafka": (0.9, 1.25)}
    framing = {"kafka-python": (18.0, 25.0)}
    found: list[Case] = []
    for headers in (1, 0):
        found += reading_cases("R1", "iterate", read_objects, (100, 100, headers), iteration)
        if find_spec("pyarrow") and find_spec("numpy"):
            found += reading_cases("R2", "to Arrow", read_arrow, (5000, 100, headers), arrow)
        found += reading_cases("R4", "framing check", check_framing, (100, 100, headers), framing)
    found += encoding_cases((100, 100, 0), {"kafka-python": (3.5, 4.5), "aiokafka": (0.4, 0.55)})
    found += encoding_cases((100, 1024, 0), {"kafka-python": (3.0, 4.0), "aiokafka": (1.0, 1.3)})
    return sorted(found, key=lambda case: case.id)
