"""`Message`: encoding and decoding shared by all Kafka messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, cast

from kmirror.errors import ProtocolError
from kmirror.kernel.arguments import byte_view
from kmirror.protocol.structs import SKIM_FROM_BYTES, Policy, Root, check_version
from kmirror.protocol.wire import READ_ERRORS, WRITE_ERRORS, Buffer, Chunk

if TYPE_CHECKING:
    from typing import Self

# Messages for which the lazy reader is the fastest way to skim.
LAZY = ("MetadataResponse",)


class Message(Root):
    """A message in all its versions; the version is given when encoding and decoding."""

    __slots__ = ()

    # True if decoded messages keep the buffer alive.
    HAS_RECORDS: ClassVar[bool] = False
    # Straight-line code by version, for the few messages that have it.
    READERS: ClassVar[dict[int, Callable[[Any, int, int, bool], tuple[Any, int]]]] = {}
    WRITERS: ClassVar[dict[int, Callable[[Any, list[Chunk], int], None]]] = {}

    def encode_chunks(self, version: int) -> list[Chunk]:
        """Return the message as buffers to be sent in order; `records` are not copied."""
        if type(version) is not int or not self.MIN_VERSION <= version <= self.MAX_VERSION:
            check_version(type(self), version)
        chunks: list[Chunk] = []
        try:
            write = self.WRITERS.get(version)
            if write is None:
                self._write(chunks.append, version)
            else:
                write(self, chunks, version)
        except WRITE_ERRORS:
            pass
        else:
            return chunks
        from kmirror.protocol import careful

        return careful.encode(self, version)

    def encode(self, version: int) -> bytes:
        """Return the message encoded in `version`; raises `LocalProtocolError` if that version cannot carry it."""
        write = self.WRITERS.get(version)
        if write is not None:
            # The same as in `encode_chunks`, with one call less.
            chunks: list[Chunk] = []
            try:
                write(self, chunks, version)
                return b"".join(chunks)
            except WRITE_ERRORS:
                pass
        return b"".join(self.encode_chunks(version))

    @classmethod
    def decode(cls, buffer: Buffer, version: int, *, policy: Policy = Policy.STRICT, lazy: bool = False) -> Self:
        """Return the message at the start of `buffer`; bytes after it are ignored, as in Kafka.

        With `lazy`, large arrays may be decoded on first access, which keeps the buffer alive until then.
        """
        if policy is Policy.STRICT:
            # The same as in `decode_prefix`, with one call less.
            read = cls.READERS.get(version)
            if read is not None and type(buffer) is bytes and len(buffer) <= SKIM_FROM_BYTES:
                try:
                    message, end = read(buffer, 0, version, lazy)
                    if end <= len(buffer):
                        return cast("Self", message)
                except READ_ERRORS:
                    pass
            return cls.decode_prefix(buffer, version, lazy=lazy)[0]
        from kmirror.protocol import careful

        check_version(cls, version, ProtocolError)
        return careful.decode(cls, byte_view("a message", buffer), version, policy=policy)[0]

    @classmethod
    def decode_prefix(cls, buffer: Buffer, version: int, position: int = 0, *, lazy: bool = False) -> tuple[Self, int]:
        """Return the message at `position` and the position after it; raises `ProtocolError` if it is invalid."""
        if type(version) is not int or not cls.MIN_VERSION <= version <= cls.MAX_VERSION:
            check_version(cls, version, ProtocolError)
        if type(buffer) is not bytes:
            buffer = byte_view("a message", buffer)
        if len(buffer) - position > SKIM_FROM_BYTES and not cls.HAS_RECORDS:
            _skim(cls, buffer, version, position)
        if type(buffer) is not bytes:
            # Only records are kept as views; everything else is decoded faster from bytes.
            buffer = buffer if cls.HAS_RECORDS else bytes(buffer)
        try:
            read = cls.READERS.get(version)
            if read is None:
                message, end = cls._read(buffer, position, version)
            else:
                message, end = read(buffer, position, version, lazy)
            if end <= len(buffer):
                return message, end
        except READ_ERRORS:
            pass
        from kmirror.protocol import careful

        return careful.decode(cls, buffer, version, position)

    def to_json(self, version: int) -> dict[str, Any]:
        """Return the message as JSON in the form of Kafka's converters; `json_form` has more options."""
        from kmirror.protocol import json_form

        return json_form.to_json(self, version)

    @classmethod
    def from_json(cls, raw: Any, version: int) -> Self:
        """Return the message from the result of `to_json`; raises `LocalProtocolError` with the path of a bad field."""
        from kmirror.protocol import json_form

        return json_form.from_json(cls, raw, version)


def _skim(cls: type[Message], buffer: Buffer, version: int, position: int) -> None:
    """Validate large input before objects are created; raises ProtocolError if it is no such message.

    Not needed for messages with records: these are not copied and make up most of the input.
    """
    read = cls.READERS.get(version)
    if read is not None and cls.NAME in LAZY:
        try:
            read(bytes(buffer), position, version, True)
            return
        except READ_ERRORS:
            pass
    from kmirror.protocol import careful

    careful.skim(cls, memoryview(buffer).cast("B"), version, position)
