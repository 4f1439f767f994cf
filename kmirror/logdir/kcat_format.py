"""Output format of kcat's option `-f`.

    %s value    %S its size    %R its size as four bytes    %k key    %K its size    %h headers, name=value,...
    %t topic    %p partition   %o offset    %T timestamp in milliseconds    %% a percent sign
    \\n \\r \\t \\\\ and \\xNN

One letter is not kcat's: %I is the timestamp as text, ISO 8601 in UTC.

A null prints as empty text with size -1; a null header value prints as NULL. Without a timestamp, %I is empty.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kmirror.errors import UsageError
from kmirror.kernel.ids import TopicPartition
from kmirror.records.instants import utc_text
from kmirror.records.layout import NO_TIMESTAMP
from kmirror.records.record import Record

Part = Callable[[Record], bytes]

_ESCAPES: Final = {"n": b"\n", "r": b"\r", "t": b"\t", "\\": b"\\"}
_HEX: Final = frozenset("0123456789abcdefABCDEF")


def _size(data: bytes | None) -> int:
    return -1 if data is None else len(data)


def _headers(record: Record) -> bytes:
    return b",".join(name.encode() + b"=" + (b"NULL" if value is None else value) for name, value in record.headers)


def compile_format(text: str, tp: TopicPartition) -> Part:
    """Return the function that formats a record of `tp`; raises `UsageError` for an unknown letter."""
    letters: dict[str, Part] = {
        "s": lambda record: record.value or b"",
        "S": lambda record: b"%d" % _size(record.value),
        "R": lambda record: _size(record.value).to_bytes(4, "big", signed=True),
        "k": lambda record: record.key or b"",
        "K": lambda record: b"%d" % _size(record.key),
        "h": _headers,
        "t": _constant(tp.topic.encode()),
        "p": _constant(b"%d" % tp.partition),
        "o": lambda record: b"%d" % record.offset,
        "T": lambda record: b"%d" % record.timestamp,
        "I": lambda record: b"" if record.timestamp == NO_TIMESTAMP else utc_text(record.timestamp).encode(),
        "%": _constant(b"%"),
    }
    parts: list[Part] = []
    at = 0
    while at < len(text):
        sign = text[at]
        if sign == "%":
            letter = text[at + 1 : at + 2]
            if letter not in letters:
                raise UsageError(f"--format: unknown %{letter}; available: %{' %'.join(letters)}")
            parts.append(letters[letter])
            at += 2
        elif sign == "\\":
            data, at = _escape(text, at + 1)
            parts.append(_constant(data))
        else:
            parts.append(_constant(sign.encode("utf-8", "surrogateescape")))  # The original bytes from the shell.
            at += 1
    return lambda record: b"".join([part(record) for part in parts])


def _constant(data: bytes) -> Part:
    return lambda record: data


def _escape(text: str, at: int) -> tuple[bytes, int]:
    """Return the bytes of the escape whose letter is at `at`, and the position after it."""
    letter = text[at : at + 1]
    if letter == "x":
        digits = text[at + 1 : at + 3]
        if len(digits) != 2 or not _HEX.issuperset(digits):
            raise UsageError(f"--format: \\x takes two hexadecimal digits, not {digits!r}")
        return bytes.fromhex(digits), at + 3
    if letter not in _ESCAPES:
        known = " ".join("\\" + name for name in _ESCAPES)
        raise UsageError(f"--format: unknown \\{letter}; available: {known} \\xNN")
    return _ESCAPES[letter], at + 1
