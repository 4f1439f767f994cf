"""File formats of producer snapshots, transaction indexes, checkpoints and partition metadata.

    NNNNNNNNNNNNNNNNNNNN.snapshot   int16 version 1, uint32 CRC-32C of the rest, int32 count, rows of 46 bytes
    NNNNNNNNNNNNNNNNNNNN.txnindex   rows of 34 bytes: int16 version 0 and the four numbers of `AbortedTxn`
    partition.metadata              two lines of text: version, topic id
    *-offset-checkpoint             text: version, count, lines of topic, partition, offset
    bootstrap.checkpoint            a snapshot: the first records of an empty metadata log
    quorum-state                    JSON: the latest leader epoch known to a controller, and its vote

N is an offset with 20 digits. A snapshot covers everything below it; the other files belong to the segment with this
base offset. A snapshot keeps only the last batch of each producer, so after a restart only that one is detected as a
duplicate.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from struct import Struct
from typing import NamedTuple

from kmirror.errors import CorruptBatch, UsageError
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.java import hash_of_long, in_hash_order
from kmirror.kernel.uuid import Uuid
from kmirror.log.producer_entry import AbortedTxn, BatchMetadata, ProducerEntry
from kmirror.records.crc32c import crc32c
from kmirror.records.layout import NO_SEQUENCE

LOG_SUFFIX = ".log"
INDEX_SUFFIX = ".index"
TIME_INDEX_SUFFIX = ".timeindex"
TXN_INDEX_SUFFIX = ".txnindex"
SNAPSHOT_SUFFIX = ".snapshot"
QUORUM_STATE = "quorum-state"
BOOTSTRAP = "bootstrap.checkpoint"
SNAPSHOT_OF_LOG = re.compile(r"(\d{20})-(\d{10})\.checkpoint")
"""Name of a snapshot of a metadata log: its end offset (exclusive), and the epoch of its last record."""
OFFSET_MAX = 2**63 - 1
_OFFSET_DIGITS = 20

_SNAPSHOT_VERSION = 1
SNAPSHOT_HEAD = Struct(">hIi")
SNAPSHOT_CHECKED_AT = 6
# The fields of `ProducerRow`.
PRODUCER_ROW = Struct(">qhiqiqiq")
ABORTED_ROW = Struct(">hqqqq")
_PARTITION_METADATA = re.compile(r"version:\s+(\d{1,9})\s*\n\s*topic_id:\s+(\S+)\s*")
_PARTITION_METADATA_VERSION = 0  # Kafka has no other.
_OFFSET_LINE = re.compile(r"\s*(\S+)\s+(\d{1,10})\s+(\d{1,19})\s*")


class ProducerRow(NamedTuple):
    """A row of a `.snapshot` file, not interpreted."""

    producer_id: int
    producer_epoch: int
    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp: int
    coordinator_epoch: int
    txn_first_offset: int


def file_name(offset: int, suffix: str) -> str:
    return f"{offset:020d}{suffix}"


def offset_of(name: str, suffix: str) -> int | None:
    """Return the offset in a file name that consists of an offset and `suffix`; None for other names."""
    return offset_in(name) if name[_OFFSET_DIGITS:] == suffix else None


def offset_in(name: str) -> int | None:
    """Return the offset before the first dot of a file name; None if that is not an int64 in 20 digits."""
    digits = name.partition(".")[0]
    if len(digits) != _OFFSET_DIGITS or not (digits.isascii() and digits.isdigit()):
        return None
    offset = int(digits)
    return offset if offset <= OFFSET_MAX else None


def encode_snapshot(entries: Iterable[ProducerEntry], *, max_count: int = 0) -> bytes:
    """Return the `.snapshot` file of the producer table, with its rows in Kafka's order.

    `max_count` is the maximum number of producers in the table since the log was opened.
    """
    rows = [
        PRODUCER_ROW.pack(
            entry.producer_id,
            entry.producer_epoch,
            entry.last_sequence,
            entry.last_data_offset,
            entry.last_offset_delta,
            entry.last_timestamp,
            entry.coordinator_epoch,
            entry.txn_first_offset,
        )
        for entry in in_hash_order(entries, _hash_of, size_max=max_count)
    ]
    body = len(rows).to_bytes(4, "big") + b"".join(rows)
    return _SNAPSHOT_VERSION.to_bytes(2, "big") + crc32c(body).to_bytes(4, "big") + body


def _hash_of(entry: ProducerEntry) -> int:
    return hash_of_long(entry.producer_id)  # Kafka keeps the entries in a HashMap<Long, ...>.


def decode_snapshot(data: bytes) -> list[ProducerEntry]:
    """Return the producers in a `.snapshot` file; raises `CorruptBatch` if it is malformed."""
    if len(data) < SNAPSHOT_HEAD.size:
        raise CorruptBatch(f"a producer snapshot has {len(data)} bytes, expected at least {SNAPSHOT_HEAD.size}")
    version, checksum, count = SNAPSHOT_HEAD.unpack_from(data)
    if version != _SNAPSHOT_VERSION:
        raise CorruptBatch(f"a producer snapshot has version {version}, expected {_SNAPSHOT_VERSION}", position=0)
    computed = crc32c(memoryview(data)[SNAPSHOT_CHECKED_AT:])
    if checksum != computed:
        reason = f"checksum mismatch in a producer snapshot: stored {checksum:#010x}, computed {computed:#010x}"
        raise CorruptBatch(reason, position=2)
    if count < 0 or len(data) - SNAPSHOT_HEAD.size < count * PRODUCER_ROW.size:
        reason = f"a producer snapshot has a count of {count} producers, but only {len(data)} bytes"
        raise CorruptBatch(reason, position=SNAPSHOT_CHECKED_AT)
    return [_entry(row) for row in producer_rows(data, count)]


def producer_rows(data: bytes | memoryview, count: int) -> list[ProducerRow]:
    """Return the first `count` rows of a `.snapshot` file, which must have that many."""
    end = SNAPSHOT_HEAD.size + count * PRODUCER_ROW.size
    return [ProducerRow(*row) for row in PRODUCER_ROW.iter_unpack(data[SNAPSHOT_HEAD.size : end])]


def _entry(row: ProducerRow) -> ProducerEntry:
    entry = ProducerEntry(
        row.producer_id, row.producer_epoch, row.coordinator_epoch, row.timestamp, max(row.txn_first_offset, -1)
    )
    if row.last_offset >= 0:
        entry.batches.append(BatchMetadata(row.last_sequence, row.last_offset, row.offset_delta, row.timestamp))
    return entry


def encode_aborted(rows: Iterable[AbortedTxn]) -> bytes:
    """Return the `.txnindex` file of a segment; a segment that never had an aborted transaction has no such file."""
    return b"".join(ABORTED_ROW.pack(0, *row) for row in rows)


def decode_aborted(data: bytes, *, base_offset: int = 0) -> list[AbortedTxn]:
    """Return the rows of a `.txnindex` file; an incomplete last row is ignored. Raises `CorruptBatch`."""
    rows: list[AbortedTxn] = []
    for number, (version, row) in enumerate(aborted_rows(data)):
        position = number * ABORTED_ROW.size
        if version != 0:
            raise CorruptBatch(f"row {number} of a transaction index has version {version}", position=position)
        if row.last_offset < base_offset:
            reason = f"row {number} of a transaction index ends at {row.last_offset}, below {base_offset}"
            raise CorruptBatch(reason, position=position)
        if rows and row.last_offset <= rows[-1].last_offset:
            reason = f"row {number} of a transaction index ends at {row.last_offset}, expected ascending offsets"
            raise CorruptBatch(reason, position=position)
        rows.append(row)
    return rows


def aborted_rows(data: bytes | memoryview) -> Iterator[tuple[int, AbortedTxn]]:
    """Yield the complete rows of a `.txnindex` file without checks, each with its version."""
    whole = len(data) - len(data) % ABORTED_ROW.size
    for version, *fields in ABORTED_ROW.iter_unpack(data[:whole]):
        yield version, AbortedTxn(*fields)


def encode_offsets(offsets: Mapping[TopicPartition, int]) -> bytes:
    """Return the content of a checkpoint shared by the partitions of a log directory: version, count, one line each."""
    lines = [f"{tp.topic} {tp.partition} {offset}\n" for tp, offset in offsets.items()]
    return f"0\n{len(lines)}\n{''.join(lines)}".encode()


def decode_offsets(data: bytes) -> dict[TopicPartition, int]:
    """Return the offsets in such a checkpoint, none in an empty file; raises `CorruptBatch` if it is malformed."""
    lines = data.decode("utf-8", "replace").splitlines()
    if not lines:
        return {}
    if len(lines) < 2 or lines[0].strip() != "0":
        raise CorruptBatch("it does not start with version 0 and a count")
    offsets: dict[TopicPartition, int] = {}
    for number, line in enumerate(lines[2:], start=3):
        row = _OFFSET_LINE.fullmatch(line)
        if row is None:
            raise CorruptBatch(f"line {number} is not `topic partition offset`: {line!r}")
        offsets[TopicPartition(row[1], int(row[2]))] = int(row[3])
    if lines[1].strip() != str(len(lines) - 2):
        raise CorruptBatch(f"its count is {lines[1].strip()!r} lines, but it has {len(lines) - 2}")
    return offsets


@lru_cache(maxsize=256)  # The partitions of a topic are created together; in memory they share the bytes.
def encode_partition_metadata(topic_id: Uuid) -> bytes:
    """Return the content of `partition.metadata`: version, and topic id in URL-safe base64."""
    return f"version: 0\ntopic_id: {topic_id}".encode("ascii")


def decode_partition_metadata(data: bytes) -> Uuid:
    """Return the topic id in a `partition.metadata` file; raises CorruptBatch."""
    found = _PARTITION_METADATA.fullmatch(data.decode("latin-1"))
    if found is None:
        raise CorruptBatch("not the two lines 'version: 0' and 'topic_id: ID': a broker does not start")
    version, text = found.groups()
    if int(version) != _PARTITION_METADATA_VERSION:
        raise CorruptBatch(f"version {version}, expected {_PARTITION_METADATA_VERSION}")
    try:
        topic_id = Uuid.from_str(text)
    except UsageError:
        raise CorruptBatch(f"{text!r} is not a topic id") from None
    if topic_id == Uuid.ZERO:
        raise CorruptBatch("the topic id is all zero")
    return topic_id


def encode_quorum_state(epoch: int) -> bytes:
    """Return the `quorum-state` of a controller that knows `epoch`, knows no leader in it and has not voted.

    A controller that starts with it elects a leader; a single controller needs no more.
    """
    state = {
        "leaderId": -1,
        "leaderEpoch": epoch,
        "votedId": -1,
        "votedDirectoryId": str(Uuid.ZERO),
        "data_version": 1,
    }
    return json.dumps(state, separators=(",", ":")).encode()


def decode_quorum_state(data: bytes) -> int:
    """Return the leader epoch in a `quorum-state` file; raises `CorruptBatch` if it is malformed."""
    try:
        epoch = json.loads(data)["leaderEpoch"]
    except (ValueError, TypeError, KeyError):
        epoch = None
    if not isinstance(epoch, int) or not 0 <= epoch < 2**31:
        raise CorruptBatch(f"{QUORUM_STATE} has no leader epoch: {data[:200]!r}")
    return epoch


assert PRODUCER_ROW.size == 46 and ABORTED_ROW.size == 34 and NO_SEQUENCE == -1
