"""Messages as JSON, in the form of Kafka's own JsonConverters.

Names are the schema's with a lower-case first letter. Bytes are base64 with padding, uuids as Kafka prints them. A
tagged field with its default value is omitted; all other fields of the version are present. Unknown tagged fields
cannot be represented.

Kafka's converter writes an empty string for `records` unless they are null, so they cannot be read back. Here they are
base64, which Kafka's reader accepts. `Records` also offers Kafka's forms.
"""

from __future__ import annotations

import base64
import binascii
from enum import Enum
from typing import Any, TypeVar

from kmirror.errors import LocalProtocolError, UsageError
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.careful import RANGES, is_within
from kmirror.protocol.structs import Field, Root, Struct, check_version, is_default

R = TypeVar("R", bound=Root)


class Records(Enum):
    """Representation of the bytes of records."""

    BASE64 = "base64"
    EMPTY = "empty"  # The default of Kafka's converters.
    SIZE = "size"  # The form of Kafka's request log: a field `recordsSizeInBytes` instead.


def json_name(name: str) -> str:
    """Return the JSON name of a field: the schema's name with a lower-case first letter."""
    return name[0].lower() + name[1:]


def to_json(message: Root, version: int, records: Records = Records.BASE64, *, check: bool = True) -> dict[str, Any]:
    """Return the JSON object; with `check`, raises `LocalProtocolError` if the version cannot carry the message."""
    check_version(type(message), version)
    return _Writer(version, records, check).convert_struct(message, "")


def _make_error(path: str, text: str) -> LocalProtocolError:
    return LocalProtocolError(f"field {path}: {text}")


class _Writer:
    def __init__(self, version: int, records: Records, check: bool) -> None:
        self.version = version
        self.records = records
        self.check = check

    def convert_struct(self, struct: Struct, path: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for field in struct.FIELDS:
            value = getattr(struct, field.attribute)
            field_path = f"{path}.{field.attribute}" if path else field.attribute
            if not is_within(self.version, field.versions):
                if self.check and not field.ignorable and not is_default(field, value):
                    raise _make_error(field_path, f"version {self.version} lacks it and {value!r} may not be dropped")
                continue
            if is_within(self.version, field.tagged) and is_default(field, value):
                continue
            if self.check and value is None and not is_within(self.version, field.nullable):
                raise _make_error(field_path, f"null, which version {self.version} does not allow")
            name = json_name(field.name)
            if field.type == "records" and value is not None and self.records is not Records.BASE64:
                is_size = self.records is Records.SIZE
                found[f"{name}SizeInBytes" if is_size else name] = len(value) if is_size else ""
            elif field.is_array and value is not None:
                found[name] = [self.convert_value(field, item, f"{field_path}[{i}]") for i, item in enumerate(value)]
            else:
                found[name] = self.convert_value(field, value, field_path)
        return found

    def convert_value(self, field: Field, value: Any, path: str) -> Any:
        if value is None:
            return None
        if field.type == "struct":
            return self.convert_struct(value, path)
        if field.type == "uuid":
            return str(value)
        if field.type in ("bytes", "records"):
            return base64.b64encode(value).decode("ascii")
        if field.type == "bool":
            return bool(value)
        return float(value) if field.type == "float64" else value


def from_json(cls: type[R], raw: Any, version: int) -> R:
    """Return the message in a JSON object; raises `LocalProtocolError` with the path of an invalid field.

    As in Kafka, a field that `version` lacks is accepted; encoding checks whether it can be carried.
    """
    check_version(cls, version)
    return _struct_from_json(cls, raw, version, "")


S = TypeVar("S", bound=Struct)


def _struct_from_json(cls: type[S], raw: Any, version: int, path: str) -> S:
    if not isinstance(raw, dict):
        raise _make_error(path or cls.__name__, f"a JSON object is expected, not {raw!r}")
    names = {json_name(f.name): f for f in cls.FIELDS}
    for name in raw:
        if name not in names:
            raise _make_error(f"{path}.{name}" if path else name, f"{cls.__name__} has no such field")
    values: dict[str, Any] = {}
    for name, field in names.items():
        field_path = f"{path}.{field.attribute}" if path else field.attribute
        if name in raw:
            values[field.attribute] = _field_from_json(field, raw[name], version, field_path)
        elif is_within(version, field.versions) and not is_within(version, field.tagged):
            raise _make_error(field_path, f"{name} is missing, which version {version} must have")
    return cls(**values)


def _field_from_json(field: Field, raw: Any, version: int, path: str) -> Any:
    if raw is None:
        # Like Kafka, check whether null is allowed in any version; encoding checks the given version.
        if field.nullable[0] > field.nullable[1]:
            raise _make_error(path, "null, which is never allowed")
        return None
    if not field.is_array:
        return _from_json(field, raw, version, path)
    if not isinstance(raw, list):
        raise _make_error(path, f"a JSON array is expected, not {raw!r}")
    return [_from_json(field, item, version, f"{path}[{i}]") for i, item in enumerate(raw)]


def _from_json(field: Field, raw: Any, version: int, path: str) -> Any:
    type_ = field.type
    if type_ == "struct":
        return _struct_from_json(field.struct, raw, version, path)
    if type_ in RANGES:
        low, high = RANGES[type_]
        if isinstance(raw, int) and not isinstance(raw, bool) and low <= raw <= high:
            return raw
    elif type_ == "bool":
        if isinstance(raw, bool):
            return raw
    elif type_ == "float64":
        if isinstance(raw, float):
            return raw
    elif isinstance(raw, str):
        return _text_from_json(type_, raw, path)
    raise _make_error(path, f"{raw!r} is no {type_}")


def _text_from_json(type_: str, raw: str, path: str) -> str | bytes:
    if type_ == "string":
        return raw
    if type_ == "uuid":
        try:
            return Uuid.from_str(raw)
        except UsageError as error:
            raise _make_error(path, str(error)) from None
    try:
        return base64.b64decode(raw, validate=True)
    except (binascii.Error, ValueError):
        raise _make_error(path, f"{raw!r} is not base64") from None
