"""Verdicts of readers in a comparable form, and the search for the first difference between two of them.

A message is JSON as Kafka's converters write it (see `kmirror.protocol.json_form`), for objects of any reader. A batch
is JSON too: its header, with the names of our `Batch`, and its records.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

from kmirror.fuzz.findings import FaultKind
from kmirror.protocol.careful import is_within
from kmirror.protocol.json_form import json_name
from kmirror.protocol.structs import Field, fresh_default

UNREPORTED = "(not reported)"
"""Placeholder for a value that a reader does not report, such as the records in Kafka's JSON; equal to any other."""
LEFT_OUT = "(left out)"
"""Returned by `Form.values` for an absent tagged field, which has its default then."""
_TEXT_MAX = 160
_VALUE_MAX = 48


class Verdict(NamedTuple):
    """Verdict of a reader about a frame: `value` if it was accepted, `error` if not."""

    value: Any = None
    """The message or the batches as JSON; None if the frame was refused."""
    error: str = ""
    """Class and text of the error; "" if the frame was accepted."""
    fault: FaultKind | None = None
    """Fault of the error itself; None if the reader documents such errors."""
    field: str = ""
    """Path of the refused field, if the reader reports it."""
    rewritten: bytes | None = None
    """The bytes that the reader writes for the value, if it writes values."""

    @property
    def is_taken(self) -> bool:
        """Return whether the reader accepted the frame."""
        return not self.error

    @property
    def reason(self) -> str:
        """Return the error without the parts that vary by frame: numbers, quoted names, bytes."""
        return reason(self.error)


def refusal(error: BaseException, *, is_typed: bool, field: str = "") -> Verdict:
    """Return the verdict for an exception of a reader."""
    fault = None if is_typed else FaultKind.MEMORY if isinstance(error, MemoryError) else FaultKind.RAISED
    return Verdict(None, f"{type(error).__name__}: {error}"[:_TEXT_MAX], fault, field)


def reason(text: str) -> str:
    """Return an error text without numbers, quoted parts, and field paths."""
    text = text.partition(" codec can't decode")[0]
    text = re.sub(r"b?'[^']*'|b?\"[^\"]*\"", "'...'", text)
    text = re.sub(r"\(at [^)]*\)", "", text)
    text = re.sub(r"\bfield \S+", "field ...", text)
    text = re.sub(r"-?\b0x[0-9a-f]+\b|-?\b\d+(\.\d+)?\b", "N", text)
    return re.sub(r"[(\[]\s*(N,?\s*)*[)\]]", "(...)", text).strip()[:_TEXT_MAX]


class FirstDifference(NamedTuple):
    """First difference of two values: a path such as `topics[0].name`, and both values there."""

    path: str
    left: Any
    right: Any

    @property
    def field(self) -> str:
        """Return the path without its indexes."""
        return re.sub(r"\[\d+\]", "", self.path)

    @property
    def kinds(self) -> str:
        """Return the kinds of the two values."""
        return f"{describe_kind(self.left)} and {describe_kind(self.right)}"

    def describe(self, left: str, right: str) -> str:
        """Return the difference in words; the arguments are the readers' names."""
        return f"{self.path}: {_short(self.left)} by {left}, {_short(self.right)} by {right}"


def first_difference(left: Any, right: Any, path: str = "") -> FirstDifference | None:
    """Return the first difference of two values, None if they are equal except for `UNTOLD`."""
    if left is right or left == UNREPORTED or right == UNREPORTED:
        return None
    if isinstance(left, dict) and isinstance(right, dict):
        for name in left.keys() | right.keys():
            location = f"{path}.{name}" if path else name
            found = first_difference(left.get(name, _NOTHING), right.get(name, _NOTHING), location)
            if found is not None:
                return found
        return None
    if isinstance(left, list) and isinstance(right, list):
        for place, (one, other) in enumerate(zip(left, right, strict=False)):
            found = first_difference(one, other, f"{path}[{place}]")
            if found is not None:
                return found
        return None if len(left) == len(right) else FirstDifference(path, left, right)
    return None if type(left) is type(right) and left == right else FirstDifference(path, left, right)


class _Nothing:
    def __repr__(self) -> str:
        return "nothing"


_NOTHING = _Nothing()


def describe_kind(value: Any) -> str:
    """Return the kind of a JSON value in words."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case int():
            return "negative number" if value < 0 else "number"
        case str():
            return "text" if value else "empty text"
        case list():
            return "array" if value else "empty array"
        case dict():
            return "struct"
    return repr(value) if value is _NOTHING else type(value).__name__


def _short(value: Any) -> str:
    text = f"array of {len(value)}" if isinstance(value, list) else repr(value)
    return text if len(text) <= _VALUE_MAX else f"{text[:_VALUE_MAX]}..."


# -- messages as JSON ---------------------------------------------------------------------------

Values = Callable[[Any, Sequence[Field]], Sequence[Any]]
Scalar = Callable[[Field, Any], Any]


class Form(NamedTuple):
    """Conversion of a reader's objects to JSON.

    `values(struct, fields)` returns a struct's values for these fields, all those of a version in schema order;
    `scalar(field, value)` returns the JSON of a value other than struct, array and None; `nulls` maps field types for
    which None means something other than null.
    """

    values: Values
    scalar: Scalar
    nulls: Mapping[str, Any] = MappingProxyType({})

    def struct(self, cls: Any, version: int, value: Any) -> dict[str, Any]:
        """Return a struct as JSON, from the reader's object; raises `ValueError` if that has other fields.

        A tagged field with its default is left out: readers do not report whether it was present.
        """
        rows = _rows(cls, version)
        found: dict[str, Any] = {}
        for row, part in zip(rows, self.values(value, fields_of(cls, version)), strict=True):
            if part is LEFT_OUT:
                continue
            converted = self._convert_field(row.field, version, part)
            if not row.is_tagged or converted != row.default:
                found[row.name] = converted
        return found

    def _convert_field(self, field: Field, version: int, value: Any) -> Any:
        if field.is_array:
            return (
                value
                if value is None or value == UNREPORTED
                else [self._convert_value(field, version, each) for each in value]
            )
        return self._convert_value(field, version, value)

    def _convert_value(self, field: Field, version: int, value: Any) -> Any:
        if value is None or value == UNREPORTED:
            return self.nulls.get(field.type) if value is None else value
        return self.struct(field.struct, version, value) if field.type == "struct" else self.scalar(field, value)


def scalar_to_json(field: Field, value: Any) -> Any:
    """Return a scalar of a kmirror message as JSON."""
    if field.type in ("bytes", "records"):
        return base64.b64encode(value).decode("ascii")
    if field.type == "uuid":
        return str(value)
    if field.type == "float64":
        return repr(float(value))  # NaN is not equal to itself.
    return bool(value) if field.type == "bool" else value


OURS = Form(lambda struct, fields: [getattr(struct, field.attribute) for field in fields], scalar_to_json)


class _Row(NamedTuple):
    field: Field
    name: str
    is_tagged: bool
    default: Any


def fields_of(cls: Any, version: int) -> tuple[Field, ...]:
    """Return the fields of a kmirror struct in a version, in schema order."""
    return _fields_of(cls, version)


@cache
def _fields_of(cls: Any, version: int) -> tuple[Field, ...]:
    return tuple(field for field in cls.FIELDS if is_within(version, field.versions))


@cache
def _rows(cls: Any, version: int) -> tuple[_Row, ...]:
    found = []
    for field in fields_of(cls, version):
        is_tagged = is_within(version, field.tagged)
        default = OURS._convert_field(field, version, fresh_default(field)) if is_tagged else None
        found.append(_Row(field, json_name(field.name), is_tagged, default))
    return tuple(found)


def to_snake_case(name: str) -> str:
    """Return a name of Kafka's, such as LeaderEpoch, in snake case."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
