"""Output of a dump: in the text form of Kafka's tool, or as JSON lines.

A text printer writes each part before it reads the next one, because Kafka's tool stops at the damaged part of a file,
possibly in the middle of a line.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any, Final, Protocol

from kmirror.errors import CorruptBatch, LocalProtocolError, ProtocolError
from kmirror.kernel import java
from kmirror.logdir.dump.batches import (
    AnyFileBatch,
    FileBatch,
    LegacyRecord,
)
from kmirror.logdir.dump.batches import AnyRecord as AnyFileRecord
from kmirror.logdir.dump.decoders import Decoder
from kmirror.logdir.dump.rows import Row
from kmirror.protocol.gen.kraft_version_record import KRaftVersionRecord
from kmirror.protocol.gen.leader_change_message import LeaderChangeMessage
from kmirror.protocol.gen.snapshot_footer_record import SnapshotFooterRecord
from kmirror.protocol.gen.snapshot_header_record import SnapshotHeaderRecord
from kmirror.protocol.gen.voters_record import VotersRecord
from kmirror.protocol.message import Message
from kmirror.records.control import ControlRecord, ControlType, parse_control
from kmirror.records.layout import TIMESTAMP_NAMES

Write = Callable[[str], object]

# Text before the JSON of a control record. Kafka does not know MIRROR_PID_RESET; its text is chosen like the others.
_CONTROL: Final[dict[ControlType, tuple[str, type[Message] | None]]] = {
    ControlType.LEADER_CHANGE: ("LeaderChange:", LeaderChangeMessage),
    ControlType.SNAPSHOT_HEADER: ("SnapshotHeader", SnapshotHeaderRecord),
    ControlType.SNAPSHOT_FOOTER: ("SnapshotFooter", SnapshotFooterRecord),
    ControlType.KRAFT_VERSION: ("KRaftVersion", KRaftVersionRecord),
    ControlType.KRAFT_VOTERS: ("KRaftVoters", VotersRecord),
    ControlType.MIRROR_PID_RESET: ("MirrorPidReset", None),
}


class Printer(Protocol):
    """Receiver of the parts of a dump."""

    def file(self, path: str) -> None: ...
    def log_start(self, offset: int) -> None: ...
    def snapshot(self, end_offset: int | None, epoch: int) -> None:
        """Print a snapshot of a metadata log; without an end offset it is the bootstrap snapshot."""

    def batch(self, batch: AnyFileBatch) -> None: ...
    def record(self, batch: AnyFileBatch, record: AnyFileRecord, decoder: Decoder | None) -> None: ...
    def invalid_bytes(self, count: int, name: str) -> None: ...
    def verdict(self, path: str, verdict: str) -> None: ...
    def row(self, row: Row) -> None: ...


class Control:
    """A parsed control record; raises `CorruptBatch` for a malformed one."""

    def __init__(self, batch: AnyFileBatch, record: AnyFileRecord) -> None:
        try:
            self.parsed = parse_control(record.key, record.value)
        except CorruptBatch as error:
            type_id = int.from_bytes((record.key or b"")[2:4], "big")
            if type_id != ControlType.MIRROR_PID_RESET:
                raise batch.corrupt(error.reason) from None
            # Kafka's tool does not know the type and ignores the value.
            self.parsed = ControlRecord(None, type_id, 0, record.value)
        self._batch = batch

    def data(self) -> dict[str, Any]:
        """Return the content of a control record that is not a transaction marker."""
        kind, value = self.parsed.type, self.parsed.value
        assert kind in _CONTROL, f"{kind} has no such data"
        cls = _CONTROL[kind][1]
        if cls is None:
            return {"version": 0, "sourceClusterId": self.parsed.source_cluster_id}
        if value is None:
            raise self._batch.corrupt(f"a control record {kind.name} has no value")
        try:
            message = cls.decode_prefix(value, 0)[0]
            version: int = message.version  # type: ignore[attr-defined]  # All these records have this field.
            return message.to_json(max(cls.MIN_VERSION, min(version, cls.MAX_VERSION)))
        except (ProtocolError, LocalProtocolError) as error:
            raise self._batch.corrupt(f"a control record {kind.name} cannot be read: {error}") from None

    def text(self) -> str:
        """Return the text form of the control record; raises `CorruptBatch` for an unreadable value."""
        kind = self.parsed.type
        if kind in (ControlType.ABORT, ControlType.COMMIT):
            return f" endTxnMarker: {kind.name} coordinatorEpoch: {self.parsed.coordinator_epoch}"
        if kind is None:
            return f" controlType: UNKNOWN({self.parsed.type_id})"
        return f" {_CONTROL[kind][0]} {java.compact_json(self.data())}"

    def as_json(self) -> dict[str, Any]:
        """Return the JSON form of the control record; raises `CorruptBatch` for an unreadable value."""
        kind = self.parsed.type
        if kind in (ControlType.ABORT, ControlType.COMMIT):
            return {"type": kind.name, "coordinator_epoch": self.parsed.coordinator_epoch}
        if kind is None:
            return {"type": "UNKNOWN", "type_id": self.parsed.type_id}
        return {"type": kind.name, "data": self.data()}


class TextPrinter:
    """The exact text output of kafka-dump-log."""

    def __init__(self, write: Write, *, skip_record_metadata: bool = False) -> None:
        self._write = write
        self._skip = skip_record_metadata

    def file(self, path: str) -> None:
        self._write(f"Dumping {path}\n")

    def log_start(self, offset: int) -> None:
        self._write(f"Log starting offset: {offset}\n")

    def snapshot(self, end_offset: int | None, epoch: int) -> None:
        if end_offset is None:
            self._write("KRaft bootstrap snapshot\n")
        else:
            self._write(f"Snapshot end offset: {end_offset}, epoch: {epoch}\n")

    def batch(self, batch: AnyFileBatch) -> None:
        head = batch.head
        if isinstance(batch, FileBatch):
            self._write(
                f"baseOffset: {batch.base_offset} lastOffset: {batch.last_offset} count: {batch.record_count} "
                f"baseSequence: {batch.base_sequence} lastSequence: {batch.last_sequence} "
                f"producerId: {batch.producer_id} producerEpoch: {batch.producer_epoch} "
                f"partitionLeaderEpoch: {batch.partition_leader_epoch} "
                f"isTransactional: {java.boolean(batch.is_transactional)} isControl: {java.boolean(batch.is_control)} "
                f"deleteHorizonMs: {java.optional_long(batch.delete_horizon_ms)}"
            )
        else:
            self._write(f"offset: {head.offset}")
        self._write(
            f" position: {head.position} {TIMESTAMP_NAMES[batch.timestamp_type]}: {batch.max_timestamp} "
            f"size: {head.size_in_bytes} magic: {head.magic} compresscodec: {batch.compression.name.lower()} "
            f"crc: {batch.checksum} isvalid: {java.boolean(batch.is_valid)}\n"
        )

    def record(self, batch: AnyFileBatch, record: AnyFileRecord, decoder: Decoder | None) -> None:
        if not self._skip:
            self._metadata(batch, record)
        if decoder is not None and not batch.is_control:
            decoded = decoder(record)
            prefix = "| " if self._skip else " "
            if decoded.key is not None:
                self._write(f"{prefix}key: {_value_text(decoded.key)}")
                prefix = " "
            if decoded.value is not None:
                self._write(f"{prefix}payload: {_value_text(decoded.value)}")
        self._write("\n")

    def _metadata(self, batch: AnyFileBatch, record: AnyFileRecord) -> None:
        kind = TIMESTAMP_NAMES[batch.timestamp_type]
        if isinstance(record, LegacyRecord):
            sizes = f"keySize: {record.key_size} valueSize: {record.value_size}"
            self._write(f"| offset: {record.offset} {kind}: {record.timestamp} {sizes}")
            self._write(f" isValid: {java.boolean(record.is_valid)} crc: {record.checksum}")
            return
        key_size = -1 if record.key is None else len(record.key)
        value_size = -1 if record.value is None else len(record.value)
        names = ",".join(name for name, _ in record.headers)
        self._write(
            f"| offset: {record.offset} {kind}: {record.timestamp} keySize: {key_size} valueSize: {value_size}"
            f" sequence: {record.sequence} headerKeys: [{names}]"
        )
        if batch.is_control:
            self._write(Control(batch, record).text())

    def invalid_bytes(self, count: int, name: str) -> None:
        self._write(f"Found {count} invalid bytes at the end of {name}\n")

    def verdict(self, path: str, verdict: str) -> None:
        self._write(f"{path} {verdict}.\n")

    def row(self, row: Row) -> None:
        self._write(f"{row.text()}\n")


def _value_text(value: Any) -> str:
    return value if isinstance(value, str) else java.compact_json(value)


class JsonPrinter:
    """One JSON object per line, with its kind in `type`.

    Keys and values are base64. With `text`, those that are UTF-8 are strings and the others `{"base64": ...}`. With
    `is_decoded`, the result of the topic's decoder is included unchanged.
    """

    def __init__(self, write: Write, *, text: bool = False, is_decoded: bool = False) -> None:
        self._write = write
        self._text = text
        self._is_decoded = is_decoded

    def _line(self, kind: str, **fields: Any) -> None:
        self._object({"type": kind, **fields})

    def _object(self, fields: dict[str, Any]) -> None:
        self._write(json.dumps(fields, ensure_ascii=False) + "\n")

    def file(self, path: str) -> None:
        self._line("file", path=path)

    def log_start(self, offset: int) -> None:
        self._line("log", starting_offset=offset)

    def snapshot(self, end_offset: int | None, epoch: int) -> None:
        self._line("snapshot", end_offset=end_offset, epoch=None if end_offset is None else epoch)

    def batch(self, batch: AnyFileBatch) -> None:
        head = batch.head
        batch_fields: dict[str, Any] = {"last_offset": head.offset}
        if isinstance(batch, FileBatch):
            batch_fields = {
                "base_offset": batch.base_offset,
                "last_offset": batch.last_offset,
                "count": batch.record_count,
                "base_sequence": batch.base_sequence,
                "last_sequence": batch.last_sequence,
                "producer_id": batch.producer_id,
                "producer_epoch": batch.producer_epoch,
                "partition_leader_epoch": batch.partition_leader_epoch,
                "is_transactional": batch.is_transactional,
                "is_control": batch.is_control,
                "delete_horizon_ms": batch.delete_horizon_ms,
            }
        self._line(
            "batch",
            **batch_fields,
            position=head.position,
            timestamp_type=TIMESTAMP_NAMES[batch.timestamp_type],
            max_timestamp=batch.max_timestamp,
            size=head.size_in_bytes,
            magic=head.magic,
            compression=batch.compression.name.lower(),
            crc=batch.checksum,
            is_valid=batch.is_valid,
        )

    def record(self, batch: AnyFileBatch, record: AnyFileRecord, decoder: Decoder | None) -> None:
        fields: dict[str, Any] = {
            "offset": record.offset,
            "timestamp": record.timestamp,
            "timestamp_type": TIMESTAMP_NAMES[batch.timestamp_type],
        }
        if isinstance(record, LegacyRecord):
            fields |= {"key_size": record.key_size, "value_size": record.value_size}
            fields |= {"is_valid": record.is_valid, "crc": record.checksum}
        else:
            fields["key_size"] = -1 if record.key is None else len(record.key)
            fields["value_size"] = -1 if record.value is None else len(record.value)
            fields["sequence"] = record.sequence
            fields["headers"] = [[name, self._bytes(value)] for name, value in record.headers]
        if batch.is_control:
            fields["control"] = Control(batch, record).as_json()
        elif decoder is not None and self._is_decoded:
            decoded = decoder(record)
            fields["key"] = decoded.key
            fields["value"] = None if record.value is None else decoded.value
        elif decoder is not None:
            fields["key"], fields["value"] = self._bytes(record.key), self._bytes(record.value)
        self._line("record", **fields)

    def _bytes(self, data: bytes | None) -> Any:
        if data is None:
            return None
        encoded = base64.b64encode(data).decode()
        if not self._text:
            return encoded
        try:
            return data.decode()
        except UnicodeDecodeError:
            return {"base64": encoded}

    def invalid_bytes(self, count: int, name: str) -> None:
        self._line("invalid_bytes", count=count, name=name)

    def verdict(self, path: str, verdict: str) -> None:
        self._line("verdict", path=path, verdict=verdict)

    def row(self, row: Row) -> None:
        self._object(row.as_json())
