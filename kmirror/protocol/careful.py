"""Slow decoder and encoder that walk the field tables and report errors with their position and reason.

`Message.decode` and `Message.encode` call this module when the generated code fails. Then either the input is unusual
but valid in Kafka (such as text that is not UTF-8) and the result is returned, or an error is raised with the path of
the field and, for decoding, the byte. A `note` callback can receive every byte range read; annotated dumps use it.

Decoding policies:

`STRICT` accepts and rejects exactly the same input as Kafka's own reader.

`LENIENT` is for inspecting damaged bytes. It also accepts a null that is not allowed, a tagged field in a version
without it (kept as an unknown tag), and strings of more than 32767 bytes; text that is not UTF-8 is kept so that it is
encoded to the same bytes. Missing bytes are never invented.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct as Layout
from struct import error as struct_error
from typing import Any, TypeVar

from kmirror.errors import LocalProtocolError, ProtocolError
from kmirror.kernel.java import java_text, wrap_int32
from kmirror.kernel.uuid import Uuid
from kmirror.protocol import wire
from kmirror.protocol.structs import SKIM_FROM_BYTES, Field, Policy, Root, Struct, fresh_default, is_default
from kmirror.protocol.wire import Buffer, Chunk, Put, UnknownTag

S = TypeVar("S", bound=Struct)
R = TypeVar("R", bound=Root)


# Arguments: first byte, end byte (exclusive), field path and value. Structs and arrays are reported after their
# contents.
Note = Callable[[int, int, str, object], None]

WIDTHS = {
    "bool": 1, "int8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4, "int64": 8,
    "float64": 8, "uuid": 16,
}  # fmt: skip
LETTERS = {
    "bool": "?", "int8": "b", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I",
    "int64": "q", "float64": "d",
}  # fmt: skip
RANGES = {
    "int8": (-(2**7), 2**7 - 1), "int16": (-(2**15), 2**15 - 1), "uint16": (0, 2**16 - 1),
    "int32": (-(2**31), 2**31 - 1), "uint32": (0, 2**32 - 1), "int64": (-(2**63), 2**63 - 1),
}  # fmt: skip


def is_within(version: int, versions: tuple[int, int]) -> bool:
    return versions[0] <= version <= versions[1]


# -- reading ----------------------------------------------------------------------------------


def decode(
    cls: type[R],
    buffer: Buffer,
    version: int,
    position: int = 0,
    policy: Policy = Policy.STRICT,
    note: Note | None = None,
) -> tuple[R, int]:
    """Return the message at `position` and the position after it; raises `ProtocolError` with byte and field."""
    view = memoryview(buffer).cast("B")
    if note is None and len(view) - position > SKIM_FROM_BYTES:
        skim(cls, view, version, position, policy)
    reader = MessageReader(view, position, version, cls.FLEXIBLE_FROM, policy, note)
    message = reader.read_struct(cls, "")
    return message, reader.position


class MessageReader:
    def __init__(
        self,
        view: memoryview,
        position: int,
        version: int,
        flexible_from: int | None,
        policy: Policy,
        note: Note | None,
    ) -> None:
        self.view = view
        self.position = position
        self.version = version
        self.flexible = flexible_from is not None and version >= flexible_from
        self.lenient = policy is Policy.LENIENT
        self.note = note

    def make_error(self, message: str, path: str, position: int | None = None) -> ProtocolError:
        return ProtocolError(message, position=self.position if position is None else position, field=path)

    def call_note(self, start: int, path: str, value: object) -> None:
        if self.note is not None:
            self.note(start, self.position, path, value)

    def read_bytes(self, n: int, path: str) -> memoryview:
        """Return the next `n` bytes."""
        end = self.position + n
        if end > len(self.view):
            raise self.make_error(f"{n} bytes wanted, {max(0, len(self.view) - self.position)} left", path)
        found = self.view[self.position : end]
        self.position = end
        return found

    def read_uvarint(self, path: str) -> int:
        """Return an unsigned varint; raises `ProtocolError` with the field's path."""
        try:
            value, self.position = wire.read_uvarint(self.view, self.position)
        except IndexError:
            raise self.make_error("the bytes end within a varint", path) from None
        except wire.Malformed:
            raise self.make_error("a varint has more than five bytes", path) from None
        return value

    def read_length(self, flexible: bool, width: int, path: str) -> int:
        """Return a length or count; negative means null."""
        if flexible:
            value = self.read_uvarint(path)
            return wrap_int32(value - 1)
        (value,) = Layout(">h" if width == 2 else ">i").unpack(self.read_bytes(width, path))
        return int(value)

    def read_struct(self, cls: type[S], path: str) -> S:
        """Return a struct of this class, including its tagged section."""
        start = self.position
        found = cls.__new__(cls)
        found._tagged = 0
        prefix = f"{path}." if path else ""
        for field in cls.FIELDS:
            is_ordinary = is_within(self.version, field.versions) and not is_within(self.version, field.tagged)
            field_path = prefix + field.attribute
            if is_ordinary:
                setattr(found, field.attribute, self.read_field(field, field_path))
            elif not field.is_tag_only:
                setattr(found, field.attribute, fresh_default(field))
        if self.flexible:
            self.read_tags(found, prefix)
        self.call_note(start, path, found)
        return found

    def read_tags(self, struct: Struct, prefix: str) -> None:
        """Read a tagged section into `struct`; unknown tags are kept unchanged."""
        start = self.position
        path = f"{prefix}tags"
        known = {f.tag: f for f in struct.FIELDS if f.tag >= 0}
        n = self.read_uvarint(path)
        unknown = []
        self.call_note(start, path, n)
        for _ in range(n):
            start = self.position
            tag = self.read_uvarint(path)
            size = self.read_uvarint(path)
            field = known.get(tag)
            if field is not None and is_within(self.version, field.tagged):
                # As in Kafka, the size is not compared with the size of the body.
                setattr(struct, field.attribute, self.read_field(field, prefix + field.attribute, in_tag=True))
                continue
            if field is not None and not self.lenient:
                raise self.make_error(f"tag {tag} does not exist in version {self.version}", path, start)
            if size < 0:
                raise self.make_error(f"tag {tag} has the negative size {size}", path, start)
            data = bytes(self.read_bytes(size, path))
            unknown.append(UnknownTag(tag, data))
            self.call_note(start, f"{path}[{tag}]", data)
        if unknown:
            struct.unknown_tags = tuple(unknown)

    def read_field(self, field: Field, path: str, *, in_tag: bool = False) -> Any:
        """Return the value of a field; `in_tag` is True inside a tagged section."""
        nullable = self.lenient or is_within(self.version, field.nullable)
        flexible = self.flexible and not field.never_flexible
        if field.is_array:
            return self.read_array(field, path, flexible, nullable)
        if field.type == "struct":
            if is_within(self.version, field.nullable) and not self.read_presence(path, in_tag):
                return None
            return self.read_struct(field.struct, path)
        return self.read_scalar(field.type, path, flexible, nullable)

    def read_presence(self, path: str, in_tag: bool) -> bool:
        """Read the marker of a nullable struct; return whether the struct follows."""
        start = self.position
        marker = self.read_uvarint(path) if in_tag else int(Layout(">b").unpack(self.read_bytes(1, path))[0])
        is_present = marker > 0 if in_tag else marker >= 0
        if not is_present:
            self.call_note(start, path, None)
        return is_present

    def read_array(self, field: Field, path: str, flexible: bool, nullable: bool) -> list[Any] | None:
        """Return the elements of an array, or None for null."""
        start = self.position
        n = self.read_count(path, flexible, nullable)
        if n < 0:
            self.call_note(start, path, None)
            return None
        items: list[Any] = []
        for i in range(n):
            item_path = f"{path}[{i}]"
            if field.type == "struct":
                items.append(self.read_struct(field.struct, item_path))
            else:
                items.append(self.read_scalar(field.type, item_path, flexible, self.lenient))
        self.call_note(start, path, items)
        return items

    def read_count(self, path: str, flexible: bool, nullable: bool) -> int:
        """Return the number of elements, negative for null; raises `ProtocolError` if the input is too short for it."""
        start = self.position
        n = self.read_length(flexible, 4, path)
        if n < 0 and not nullable:
            raise self.make_error("null where an array must be", path, start)
        left = len(self.view) - self.position
        if n > left:
            raise self.make_error(f"{n} elements claimed, {left} bytes left", path, start)
        return n

    def read_scalar(self, type_: str, path: str, flexible: bool, nullable: bool) -> Any:
        """Return a value that is neither a struct nor an array."""
        start = self.position
        value: Any
        if type_ in LETTERS:
            (value,) = Layout(">" + LETTERS[type_]).unpack(self.read_bytes(WIDTHS[type_], path))
        elif type_ == "uuid":
            value = Uuid(self.read_bytes(16, path))
        else:
            value = self.read_variable(type_, path, flexible, nullable)
        self.call_note(start, path, value)
        return value

    def read_variable(self, type_: str, path: str, flexible: bool, nullable: bool) -> str | bytes | memoryview | None:
        """Return a string, bytes (a copy) or records (a view), or None for null."""
        found = self.read_sized_bytes(type_, path, flexible, nullable)
        if found is None or type_ == "records":
            return found
        raw = bytes(found)
        if type_ == "bytes":
            return raw
        return raw.decode("utf-8", "surrogateescape") if self.lenient else java_text(raw)

    def read_sized_bytes(self, type_: str, path: str, flexible: bool, nullable: bool) -> memoryview | None:
        """Return the bytes of a string, bytes or records field, or None for null."""
        start = self.position
        n = self.read_length(flexible, 2 if type_ == "string" else 4, path)
        if n < 0:
            if not nullable:
                raise self.make_error(f"null where {type_} must be", path, start)
            return None
        if type_ == "string" and n > wire.STRING_BYTES_MAX and not self.lenient:
            raise self.make_error(f"a string of {n} bytes: at most {wire.STRING_BYTES_MAX} are allowed", path, start)
        return self.read_bytes(n, path)


# -- skimming ---------------------------------------------------------------------------------

# Decoded objects take several times the memory of their bytes, even if an error is found only at the end of the input.
# So large input is skimmed first, without creating objects. Skimming raises the same errors as decoding.


def skim(cls: type[Root], view: memoryview, version: int, position: int = 0, policy: Policy = Policy.STRICT) -> int:
    """Return the position after the message; raises `ProtocolError` with byte and path if it is invalid."""
    skimmer = _Skimmer(view, position, version, cls.FLEXIBLE_FROM, policy, None)
    skimmer.read_struct(cls, "")
    return skimmer.position


class _Skimmer(MessageReader):
    def read_struct(self, cls: type[Any], path: str) -> Any:
        prefix = f"{path}." if path else ""
        for field in cls.FIELDS:
            if is_within(self.version, field.versions) and not is_within(self.version, field.tagged):
                self.read_field(field, prefix + field.attribute)
        if self.flexible:
            if self.position < len(self.view) and self.view[self.position] == 0:
                self.position += 1
            else:
                # Tags are few, so they are read into an object that is dropped at once.
                holder: Any = _TagHolder(cls)
                self.read_tags(holder, prefix)

    def read_array(self, field: Field, path: str, flexible: bool, nullable: bool) -> list[Any] | None:
        n = self.read_count(path, flexible, nullable)
        width = self.fixed_width(field)
        end = self.position + n * width
        if n > 0 and width and end <= len(self.view):
            last = self.view[self.position + width - 1 : end : width].tobytes()
            if field.type != "struct" or not self.flexible or last.count(0) == n:
                self.position = end
                return None
        for i in range(n):
            item_path = f"{path}[{i}]"
            if field.type == "struct":
                self.read_struct(field.struct, item_path)
            else:
                self.read_scalar(field.type, item_path, flexible, self.lenient)
        return None

    def fixed_width(self, field: Field) -> int:
        """Return the common size in bytes of all elements without tags, 0 if sizes may differ."""
        if field.type != "struct":
            return WIDTHS.get(field.type, 0)
        total = 1 if self.flexible else 0
        for inner in field.struct.FIELDS:
            if not is_within(self.version, inner.versions) or is_within(self.version, inner.tagged):
                continue
            if inner.is_array or inner.type not in WIDTHS:
                return 0
            total += WIDTHS[inner.type]
        return total

    def read_scalar(self, type_: str, path: str, flexible: bool, nullable: bool) -> Any:
        if type_ in WIDTHS:
            self.read_bytes(WIDTHS[type_], path)
        else:
            self.read_sized_bytes(type_, path, flexible, nullable)


class _TagHolder:
    """Placeholder for a struct when only its tags are read."""

    def __init__(self, cls: type[Struct]) -> None:
        self.FIELDS = cls.FIELDS


# -- writing ----------------------------------------------------------------------------------


def encode(message: Root, version: int) -> list[Chunk]:
    """Return the message as buffers; raises `LocalProtocolError` with the path of a field that does not fit."""
    flexible_from = message.FLEXIBLE_FROM
    writer = _Writer(version, flexible_from is not None and version >= flexible_from)
    chunks: list[Chunk] = []
    writer.write_struct(message, "", chunks.append)
    return chunks


class _Writer:
    def __init__(self, version: int, flexible: bool) -> None:
        self.version = version
        self.flexible = flexible

    def make_error(self, message: str, path: str) -> LocalProtocolError:
        return LocalProtocolError(f"field {path}: {message}")

    def write_struct(self, struct: Struct, path: str, put: Put) -> None:
        prefix = f"{path}." if path else ""
        tagged = []
        for field in struct.FIELDS:
            value = getattr(struct, field.attribute)
            field_path = prefix + field.attribute
            if is_within(self.version, field.tagged):
                tagged.append((field, value))
            elif is_within(self.version, field.versions):
                self.write_field(field, value, field_path, put)
            elif not field.ignorable and not is_default(field, value):
                raise self.make_error(f"version {self.version} lacks it and {value!r} may not be dropped", field_path)
        if self.flexible:
            self.write_tags(struct, tagged, prefix, put)
        elif struct.unknown_tags:
            raise self.make_error(f"version {self.version} has no tagged fields", f"{prefix}unknown_tags")

    def write_tags(self, struct: Struct, tagged: list[tuple[Field, Any]], prefix: str, put: Put) -> None:
        sections: dict[int, bytes] = {}
        for field, value in sorted(tagged, key=lambda pair: pair[0].tag):
            if is_default(field, value):
                continue
            body: list[Chunk] = []
            self.write_field(field, value, prefix + field.attribute, body.append, in_tag=True)
            sections[field.tag] = b"".join(body)
        known = {field.tag for field, _ in tagged}
        last = -1
        for tag, data in struct.unknown_tags:
            if tag in known:
                raise self.make_error(f"tag {tag} is one that the schema names", f"{prefix}unknown_tags")
            if not last < tag < wire.INT32_MAX:  # As in Kafka, the greatest number is not a valid tag.
                raise self.make_error(f"tag {tag} after tag {last}: they must ascend", f"{prefix}unknown_tags")
            last = tag
            sections[tag] = data
        put(wire.uvarint(len(sections)))
        for tag, data in sorted(sections.items()):
            put(wire.uvarint(tag))
            put(wire.uvarint(len(data)))
            put(data)

    def write_field(self, field: Field, value: Any, path: str, put: Put, *, in_tag: bool = False) -> None:
        flexible = self.flexible and not field.never_flexible
        nullable = is_within(self.version, field.nullable)
        if value is None and not nullable:
            raise self.make_error(f"null, which version {self.version} does not allow", path)
        if field.is_array:
            self.write_array(field, value, path, flexible, put)
        elif field.type == "struct":
            if nullable and in_tag:
                put(b"\0" if value is None else b"\x01")
            elif nullable:
                put(b"\xff" if value is None else b"\x01")
            if value is not None:
                self.write_nested(field, value, path, put)
        else:
            self.write_scalar(field.type, value, path, flexible, put)

    def write_nested(self, field: Field, value: Any, path: str, put: Put) -> None:
        if not isinstance(value, field.struct):
            raise self.make_error(f"{field.struct.__name__} expected, not {type(value).__name__}", path)
        self.write_struct(value, path, put)

    def write_array(self, field: Field, value: Any, path: str, flexible: bool, put: Put) -> None:
        if value is not None and not isinstance(value, (list, tuple)):
            raise self.make_error(f"a list expected, not {type(value).__name__}", path)
        put((wire.compact_nullable_count if flexible else wire.nullable_count)(value))
        for i, item in enumerate(value or ()):
            item_path = f"{path}[{i}]"
            if item is None:
                raise self.make_error("null, which no element may be", item_path)
            if field.type == "struct":
                self.write_nested(field, item, item_path, put)
            else:
                self.write_scalar(field.type, item, item_path, flexible, put)

    def write_scalar(self, type_: str, value: Any, path: str, flexible: bool, put: Put) -> None:
        if type_ in LETTERS:
            if type_ in RANGES:
                low, high = RANGES[type_]
                if not isinstance(value, int) or not low <= value <= high:
                    raise self.make_error(f"{value!r} is no {type_}", path)
            try:
                put(Layout(">" + LETTERS[type_]).pack(value))
            except struct_error:
                raise self.make_error(f"{value!r} is no {type_}", path) from None
        elif type_ == "uuid":
            if not isinstance(value, bytes) or len(value) != 16:
                raise self.make_error(f"{value!r} is no uuid", path)
            put(value)
        elif type_ == "string":
            put(self.encode_text(value, path, flexible))
        else:
            self.write_buffer(type_, value, path, flexible, put)

    def encode_text(self, value: Any, path: str, flexible: bool) -> bytes:
        if value is None:
            return b"\0" if flexible else b"\xff\xff"
        if not isinstance(value, str):
            raise self.make_error(f"a str expected, not {type(value).__name__}", path)
        try:
            raw = value.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError as error:
            raise self.make_error(f"{error.object[error.start]!r} has no UTF-8 form", path) from None
        if len(raw) > wire.STRING_BYTES_MAX:
            raise self.make_error(f"a string of {len(raw)} bytes: at most {wire.STRING_BYTES_MAX} are allowed", path)
        return (wire.uvarint(len(raw) + 1) if flexible else wire.pack_int16(len(raw))) + raw

    def write_buffer(self, type_: str, value: Any, path: str, flexible: bool, put: Put) -> None:
        if value is not None and not isinstance(value, (bytes, bytearray, memoryview)):
            raise self.make_error(f"{type_} expected, not {type(value).__name__}", path)
        if value is not None and len(value) > wire.INT32_MAX:
            raise self.make_error(f"{len(value)} bytes do not fit", path)
        if isinstance(value, bytearray):
            value = memoryview(value)
        (wire.put_compact_nullable_bytes if flexible else wire.put_nullable_bytes)(put, value)
