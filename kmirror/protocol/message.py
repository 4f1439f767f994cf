"""What all messages have in common: the bases `Struct` and `Message`, and the row type of their field tables.

Generated classes hold the fields, one reader and one writer; everything that is not in a hurry (JSON,
explanations of what is wrong, annotated dumps, strategies) walks their `FIELDS`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, cast

from kmirror.errors import KmirrorError, LocalProtocolError, ProtocolError
from kmirror.protocol.wire import (
    READ_ERRORS,
    WRITE_ERRORS,
    Buffer,
    Chunk,
    Put,
    UnknownTag,
    read_unknown_tags,
)

if TYPE_CHECKING:
    from typing import Self

NO_VERSIONS = (0, -1)


class Policy(Enum):
    """What is taken on reading; see `careful`."""

    STRICT = "strict"
    LENIENT = "lenient"


class Field(NamedTuple):
    """One field as the schema has it; ranges are (first, last), and empty if first > last."""

    name: str  # The schema's.
    attribute: str  # Ours.
    type: str  # A scalar's name or "struct".
    versions: tuple[int, int]
    is_array: bool = False
    nullable: tuple[int, int] = NO_VERSIONS
    tagged: tuple[int, int] = NO_VERSIONS
    tag: int = -1
    default: Any = None  # None means null; [] for an array, {} for a struct of defaults.
    ignorable: bool = False
    struct: Any = None  # The class, if the type is "struct".
    entity: str = ""
    map_key: bool = False
    never_flexible: bool = False


# Called with every generated class as it is loaded: so strategies are registered without loading them all.
class_hooks: list[Callable[[type[Struct]], None]] = []


class _Pending:
    """A slot besides the fields, for an array that is read when it is asked for: name, reader, arguments."""

    __slots__ = ("_pending",)
    _pending: Any


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class Struct(_Pending):
    """A set of fields, in a message or nested in one."""

    # Tagged fields that the schema does not name, by tag, as they came.
    unknown_tags: Sequence[UnknownTag] = ()

    FIELDS: ClassVar[tuple[Field, ...]] = ()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """The value of a slot that reading left empty: what is pending for it, or a new default."""
            for row in self.FIELDS:
                if row.attribute == name:
                    break
            else:
                raise AttributeError(f"{type(self).__name__} has no field {name!r}")
            pending = getattr(self, "_pending", None)
            if pending is not None and pending[0] == name:
                value = pending[1](*pending[2:])
                self._pending = None
            else:
                value = fresh_default(row)
            setattr(self, name, value)
            return value

    def __init_subclass__(cls) -> None:
        # A dataclass with slots is made twice; the second is the one that stays.
        if class_hooks and "__slots__" in cls.__dict__:
            for hook in class_hooks:
                hook(cls)

    def __eq__(self, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        assert isinstance(other, Struct)
        return tuple(self.unknown_tags) == tuple(other.unknown_tags) and all(
            _is_equal(getattr(self, f.attribute), getattr(other, f.attribute)) for f in self.FIELDS
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """The constructor call, with the fields that are not at their defaults."""
        shown = [
            f"{f.attribute}={value!r}"
            for f in self.FIELDS
            if not is_default(f, value := getattr(self, f.attribute))
        ]
        if self.unknown_tags:
            shown.append(f"unknown_tags={self.unknown_tags!r}")
        return f"{type(self).__name__}({', '.join(shown)})"

    def _write(self, put: Put, version: int) -> None:
        raise NotImplementedError

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[Self, int]:
        raise NotImplementedError

    def _read_tags(self, buf: Any, pos: int, version: int) -> int:
        return read_unknown_tags(self, buf, pos)


def _is_equal(one: Any, other: Any) -> bool:
    # An array of numbers may be a tuple, where it was read, or a list.
    if type(one) is not type(other) and isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return list(one) == list(other)
    return bool(one == other)


def fresh_default(field: Field) -> Any:
    """The default, new where it can be changed."""
    if field.default is None:
        return None
    if field.is_array:
        return []
    return field.struct() if field.type == "struct" else field.default


def is_default(field: Field, value: object) -> bool:
    """Whether a field may be left out because its value says nothing."""
    default = field.default
    if default is None or value is None:
        return value is default
    if field.is_array:
        return not value
    if field.type == "struct":
        return bool(value == field.struct())
    return bool(value == default)


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class Message(Struct):
    """A message for all its versions; `MIN_VERSION` to `MAX_VERSION` are the ones that can be sent."""

    NAME: ClassVar[str] = ""
    TYPE: ClassVar[str] = (
        ""  # request, response, header, data, metadata, coordinator-key or coordinator-value
    )
    API_KEY: ClassVar[int | None] = None
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = -1
    FLEXIBLE_FROM: ClassVar[int | None] = None
    # Whether the buffer is kept alive by what is decoded from it.
    HAS_RECORDS: ClassVar[bool] = False
    # Straight-line code by version, for the few messages that have it.
    READERS: ClassVar[dict[int, Callable[[Any, int, int, bool], tuple[Any, int]]]] = {}
    WRITERS: ClassVar[dict[int, Callable[[Any, Put, int], None]]] = {}

    def encode_chunks(self, version: int) -> list[Chunk]:
        """The message as buffers to be sent one after the other; `records` are among them uncopied."""
        if not self.MIN_VERSION <= version <= self.MAX_VERSION:
            check_version(type(self), version)
        chunks: list[Chunk] = []
        try:
            write = self.WRITERS.get(version)
            if write is None:
                self._write(chunks.append, version)
            else:
                write(self, chunks.append, version)
        except WRITE_ERRORS:
            from kmirror.protocol import careful

            return careful.encode(self, version)
        return chunks

    def encode(self, version: int) -> bytes:
        """The message in the form of `version`; LocalProtocolError if that cannot carry it."""
        return b"".join(self.encode_chunks(version))

    @classmethod
    def decode(
        cls, buffer: Buffer, version: int, *, policy: Policy = Policy.STRICT, lazy: bool = False
    ) -> Self:
        """The message at the start of `buffer`; bytes after it are ignored, as Kafka does.

        With `lazy` large arrays may be read when they are asked for, which keeps the buffer alive until then.
        """
        if policy is Policy.STRICT:
            # The same as `decode_prefix` does, without one more call.
            read = cls.READERS.get(version)
            if read is not None and type(buffer) is bytes:
                try:
                    message, end = read(buffer, 0, version, lazy)
                    if end <= len(buffer):
                        return cast("Self", message)
                except READ_ERRORS:
                    pass
            return cls.decode_prefix(buffer, version, lazy=lazy)[0]
        from kmirror.protocol import careful

        check_version(cls, version, ProtocolError)
        return careful.decode(cls, buffer, version, policy=policy)[0]

    @classmethod
    def decode_prefix(
        cls, buffer: Buffer, version: int, position: int = 0, *, lazy: bool = False
    ) -> tuple[Self, int]:
        """The message at `position` and the position after it; ProtocolError if there is none."""
        if not cls.MIN_VERSION <= version <= cls.MAX_VERSION:
            check_version(cls, version, ProtocolError)
        if type(buffer) is not bytes:
            # Only records are kept as views: anything else is read faster from bytes.
            buffer = memoryview(buffer).cast("B") if cls.HAS_RECORDS else bytes(buffer)
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
        """The message as a JSON object in the form of Kafka's converters; `json_form` has more ways."""
        from kmirror.protocol import json_form

        return json_form.to_json(self, version)

    @classmethod
    def from_json(cls, raw: Any, version: int) -> Self:
        """The message that `to_json` gave; LocalProtocolError names the field that does not fit."""
        from kmirror.protocol import json_form

        return json_form.from_json(cls, raw, version)


def check_version(cls: type[Message], version: int, error: type[KmirrorError] = LocalProtocolError) -> None:
    """Raises `error` unless the message has this version."""
    if not cls.MIN_VERSION <= version <= cls.MAX_VERSION:
        known = f"{cls.MIN_VERSION} to {cls.MAX_VERSION}"
        raise error(f"{cls.NAME} has no version {version}: known are {known}")
