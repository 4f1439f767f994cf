"""Kafka's UUID: 16 bytes, printed as URL-safe base64 without padding."""

from __future__ import annotations

import binascii
from typing import ClassVar

from kmirror.errors import UsageError


class Uuid(bytes):
    """Sixteen bytes; compares and hashes like bytes."""

    __slots__ = ()

    ZERO: ClassVar[Uuid]

    def __new__(cls, raw: bytes | bytearray | memoryview = bytes(16)) -> Uuid:
        try:
            if len(raw) == 16:
                return super().__new__(cls, raw)
        except TypeError:
            pass
        if isinstance(raw, bytes | bytearray | memoryview):
            raise UsageError(f"a uuid has 16 bytes, not {len(raw)}")
        raise UsageError(f"a uuid is made of 16 bytes, not of {raw!r}; Uuid.from_str reads the text that Kafka prints")

    @classmethod
    def from_str(cls, text: str) -> Uuid:
        """Return the uuid that Kafka prints as `text`, with or without padding."""
        unpadded = text.rstrip("=")
        try:
            raw = binascii.a2b_base64(unpadded.replace("-", "+").replace("_", "/").encode("ascii") + b"==")
        except (binascii.Error, UnicodeEncodeError):
            raw = b""
        if len(unpadded) != 22 or len(raw) != 16:
            raise UsageError(f"{text!r} is not a uuid: expected 22 characters of URL-safe base64")
        return cls(raw)

    @classmethod
    def from_ints(cls, high: int, low: int) -> Uuid:
        """Return the uuid of two 64-bit halves; as in Java they may be signed."""
        mask = (1 << 64) - 1
        return cls((high & mask).to_bytes(8, "big") + (low & mask).to_bytes(8, "big"))

    @property
    def high(self) -> int:
        """Upper 64 bits, signed, as Java's getMostSignificantBits."""
        return int.from_bytes(self[:8], "big", signed=True)

    @property
    def low(self) -> int:
        """Lower 64 bits, signed, as Java's getLeastSignificantBits."""
        return int.from_bytes(self[8:], "big", signed=True)

    def __str__(self) -> str:
        text = binascii.b2a_base64(self, newline=False).decode("ascii")
        return text[:22].replace("+", "-").replace("/", "_")

    def __repr__(self) -> str:
        return f"Uuid.from_str({str(self)!r})"


Uuid.ZERO = Uuid(bytes(16))
