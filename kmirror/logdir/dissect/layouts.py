"""`construct` layouts of all formats in a log directory.

They cover batches and messages of all formats, the files of a segment, and the small text files. Names are Kafka's.
Each layout decodes one entry; `dissect` handles the sequence of entries in a file.
"""

from __future__ import annotations

from typing import Any, Final

import construct as c

from kmirror.logdir.dissect.core import VARINT, VARLONG, Field, field, sized_bytes, value_of
from kmirror.records.codecs import Compression
from kmirror.records.control import ControlType
from kmirror.records.instants import utc_text

# -- meanings of values -----------------------------------------------------------------------


def _name_minus_one(text: str) -> Any:
    return lambda value: text if value == -1 else ""


def time_of(timestamp: int) -> str:
    """Return a timestamp as text in UTC; "no timestamp" for -1."""
    if timestamp == -1:
        return "no timestamp"
    return utc_text(timestamp).replace("T", " ")


def _codec(attributes: int) -> str:
    bits = attributes & 7
    return Compression(bits).name.lower() if bits <= Compression.ZSTD else f"unknown codec {bits}"


def batch_attributes(value: int) -> str:
    """Return the attribute bits of a batch as words."""
    words = [_codec(value), "log append time" if value & 8 else "create time"]
    names = {0x10: "transactional", 0x20: "control", 0x40: "delete horizon in base timestamp"}
    words += [word for bit, word in names.items() if value & bit]
    return ", ".join(words)


def message_attributes(value: int) -> str:
    """Return the attribute bits of a message of format 1 as words."""
    return f"{_codec(value)}, {'log append time' if value & 8 else 'create time'}"


def as_text(value: bytes | None) -> str:
    """Return the bytes as text, or a description if they are no printable text."""
    if value is None:
        return "null"
    try:
        text = value.decode("utf-8")
    except UnicodeDecodeError:
        return "not text"
    return text if text.isprintable() else "not printable"


def control_name(value: int) -> str:
    """Return the name of a control record's type, or `unknown type`."""
    try:
        return ControlType(value).name
    except ValueError:
        return "unknown type"


_NO_PRODUCER: Final = _name_minus_one("no producer")
_NO_EPOCH: Final = _name_minus_one("no leader epoch")
_NO_SEQUENCE: Final = _name_minus_one("no sequence")

# -- batches and messages ---------------------------------------------------------------------

HEADER: Final = c.Struct(
    field("name_length", VARINT),
    field("name", sized_bytes("name_length"), as_text),
    field("value_length", VARINT),
    field("value", sized_bytes("value_length"), as_text),
)

RECORD_FIELDS: Final = c.Struct(
    field("attributes", c.Int8sb),
    field("timestamp_delta", VARLONG),
    field("offset_delta", VARINT),
    field("key_length", VARINT),
    field("key", sized_bytes("key_length"), as_text),
    field("value_length", VARINT),
    field("value", sized_bytes("value_length"), as_text),
    field("header_count", VARINT),
    field("headers", c.Array(lambda context: value_of(context.header_count), Field(HEADER))),
    c.Terminated,  # The fields must fill the record's length.
)

RECORD: Final = c.Struct(
    field("length", VARINT),
    field("fields", c.FixedSized(lambda context: value_of(context.length), RECORD_FIELDS)),
)

BATCH_HEADER: Final = c.Struct(
    field("base_offset", c.Int64sb),
    field("batch_length", c.Int32sb),
    field("partition_leader_epoch", c.Int32sb, _NO_EPOCH),
    field("magic", c.Int8sb),
    field("crc", c.Int32ub),
    field("attributes", c.Int16sb, batch_attributes),
    field("last_offset_delta", c.Int32sb),
    field("base_timestamp", c.Int64sb, time_of),
    field("max_timestamp", c.Int64sb, time_of),
    field("producer_id", c.Int64sb, _NO_PRODUCER),
    field("producer_epoch", c.Int16sb, _NO_PRODUCER),
    field("base_sequence", c.Int32sb, _NO_SEQUENCE),
    field("record_count", c.Int32sb),
)

BATCH: Final = c.Struct(
    *BATCH_HEADER.subcons,
    field("payload", c.Bytes(lambda context: value_of(context.batch_length) - 49)),
)

CONTROL_KEY: Final = c.Struct(
    field("version", c.Int16sb),
    field("type", c.Int16sb, control_name),
)

END_TXN_MARKER: Final = c.Struct(
    field("version", c.Int16sb),
    field("coordinator_epoch", c.Int32sb),
)

COMPACT_LENGTH: Final = c.ExprAdapter(c.VarInt, lambda value, _: value - 1, lambda value, _: value + 1)

MIRROR_PID_RESET: Final = c.Struct(
    field("version", c.Int16sb),
    field("source_cluster_id_length", COMPACT_LENGTH),
    field("source_cluster_id", sized_bytes("source_cluster_id_length"), as_text),
    field("tagged_field_count", c.VarInt),
)


def _message(*timestamp: Any, attributes: Any) -> Any:
    return c.Struct(
        field("offset", c.Int64sb),
        field("message_size", c.Int32sb),
        field("crc", c.Int32ub),
        field("magic", c.Int8sb),
        field("attributes", c.Int8sb, attributes),
        *timestamp,
        field("key_length", c.Int32sb),
        field("key", sized_bytes("key_length"), as_text),
        field("value_length", c.Int32sb),
        field("value", sized_bytes("value_length"), as_text),
    )


MESSAGE_V0: Final = _message(attributes=_codec)
MESSAGE_V1: Final = _message(field("timestamp", c.Int64sb, time_of), attributes=message_attributes)

# -- files of a segment -----------------------------------------------------------------------

INDEX_ENTRY: Final = c.Struct(
    field("relative_offset", c.Int32sb),
    field("position", c.Int32sb),
)

TIME_INDEX_ENTRY: Final = c.Struct(
    field("timestamp", c.Int64sb, time_of),
    field("relative_offset", c.Int32sb),
)

TXN_INDEX_ENTRY: Final = c.Struct(
    field("version", c.Int16sb),
    field("producer_id", c.Int64sb),
    field("first_offset", c.Int64sb),
    field("last_offset", c.Int64sb),
    field("last_stable_offset", c.Int64sb),
)

PRODUCER_ENTRY: Final = c.Struct(
    field("producer_id", c.Int64sb),
    field("epoch", c.Int16sb),
    field("last_sequence", c.Int32sb, _NO_SEQUENCE),
    field("last_offset", c.Int64sb),
    field("offset_delta", c.Int32sb),
    field("timestamp", c.Int64sb, time_of),
    field("coordinator_epoch", c.Int32sb, _name_minus_one("no marker yet")),
    field("current_txn_first_offset", c.Int64sb, _name_minus_one("no open transaction")),
)

PRODUCER_SNAPSHOT: Final = c.Struct(
    field("version", c.Int16sb),
    field("crc", c.Int32ub),
    field("entry_count", c.Int32sb),
    field("entries", c.Array(lambda context: value_of(context.entry_count), Field(PRODUCER_ENTRY))),
    c.Terminated,
)

# -- small text files -------------------------------------------------------------------------


def _terminated_by(end: bytes) -> Any:
    return c.NullTerminated(c.GreedyBytes, term=end)


def _decimal(end: bytes) -> Any:
    """Return the layout of a decimal number, up to and including `end`."""
    return c.ExprAdapter(_terminated_by(end), lambda text, _: int(text), lambda value, _: b"%d" % value)


LEADER_EPOCH_CHECKPOINT: Final = c.Struct(
    field("version", _decimal(b"\n")),
    field("entry_count", _decimal(b"\n")),
    field(
        "entries",
        c.Array(
            lambda context: value_of(context.entry_count),
            Field(c.Struct(field("epoch", _decimal(b" ")), field("start_offset", _decimal(b"\n")))),
        ),
    ),
    c.Terminated,
)

OFFSET_CHECKPOINT: Final = c.Struct(
    field("version", _decimal(b"\n")),
    field("entry_count", _decimal(b"\n")),
    field(
        "entries",
        c.Array(
            lambda context: value_of(context.entry_count),
            Field(
                c.Struct(
                    field("topic", _terminated_by(b" "), as_text),
                    field("partition", _decimal(b" ")),
                    field("offset", _decimal(b"\n")),
                )
            ),
        ),
    ),
    c.Terminated,
)

PARTITION_METADATA: Final = c.Struct(
    field("version_label", c.Const(b"version: ")),
    field("version", _decimal(b"\n")),
    field("topic_id_label", c.Const(b"topic_id: ")),
    field("topic_id", c.GreedyBytes, as_text),
)
