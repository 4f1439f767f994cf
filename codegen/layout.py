"""Fields in Python and on the wire: types, defaults, widths, and runs of fields that one call reads."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

from codegen.conditions import condition
from codegen.numbers import parse_double, parse_integer
from codegen.schema import FIXED_WIDTH, FieldSpec, MessageSpec, StructSpec
from codegen.versions import NONE, Versions

LETTERS = {
    "bool": "?", "int8": "b", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I",
    "int64": "q", "float64": "d",
}  # fmt: skip
PYTHON_TYPES = {"bool": "bool", "float64": "float", "uuid": "Uuid", "string": "str", "bytes": "bytes"}


@dataclass(frozen=True, slots=True)
class Context:
    """The message, the current struct, and the form of a field in each version."""

    message: MessageSpec
    struct: StructSpec

    def ordinary(self, field: FieldSpec) -> Versions:
        """Return the versions in which the field is not tagged: one range, as tagged ranges have no upper end."""
        present = field.versions.intersect(self.struct.versions)
        tagged = field.tagged.intersect(present)
        return (
            Versions(present.low, tagged.low - 1)
            if tagged and present.low < tagged.low
            else NONE
            if tagged
            else present
        )

    def is_tag_only(self, field: FieldSpec) -> bool:
        """Return whether the field is in the tagged section in every version that has it."""
        return bool(field.tagged.intersect(self.struct.versions)) and not self.ordinary(field)

    def flexible(self, field: FieldSpec, version: int) -> bool:
        return version in (self.message.flexible if field.flexible is None else field.flexible)


def python_type(field: FieldSpec) -> str:
    """Return the type annotation of a field, including None where the schema allows null."""
    base = field.type.base
    if base == "records" and not field.type.is_array:
        return "bytes | memoryview | None"
    name = PYTHON_TYPES.get(base, "int" if base in LETTERS else base)
    if field.type.is_array:
        name = f"list[{name}]"
    return f"{name} | None" if field.nullable else name


def default_value(field: FieldSpec) -> str:
    """Return the default as a Python expression, which makes a new object for structs and arrays."""
    base, text = field.type.base, field.default
    if field.default_is_null:
        return "None"
    if field.type.is_array:
        return "[]"
    if field.type.is_struct:
        return f"{base}()"
    if base == "bool":
        return "True" if text and text.lower() == "true" else "False"
    if base == "string":
        return repr_string(text or "")
    if base == "bytes":
        return 'b""'
    if base == "uuid":
        return "Uuid.ZERO" if not text else f'Uuid.from_str("{text}")'
    if base == "float64":
        number = parse_double(text or "0")
        assert number is not None, "the rules have looked at it"
        return repr(number) if isfinite(number) else f'float("{number}")'
    return str(parse_integer(text)) if text else "0"


def repr_string(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def min_width(message: MessageSpec, struct: StructSpec) -> int:
    """Return the minimum number of bytes of the struct over all its versions."""
    return min((width_at(message, struct, version) for version in struct.versions), default=1)


def width_at(message: MessageSpec, struct: StructSpec, version: int) -> int:
    """Return the minimum number of bytes of the struct in `version`."""
    total = 1 if version in message.flexible else 0
    context = Context(message, struct)
    for field in struct.ordinary(version):
        flexible = context.flexible(field, version)
        if field.type.width:
            total += field.type.width
        elif field.type.is_struct and not field.type.is_array:
            if version in field.nullable:
                total += 1
            else:
                total += width_at(message, message.struct(field.type.base), version)
        elif field.type.base == "string" and not field.type.is_array:
            total += 1 if flexible else 2
        else:
            total += 1 if flexible else 4
    return total


def element_width(context: Context, field: FieldSpec) -> int:
    """Return the minimum width of an array element, at least 1: Kafka never accepts more elements than bytes."""
    base = field.type.base
    if field.type.is_struct:
        return max(1, min_width(context.message, context.message.struct(base)))
    if base in FIXED_WIDTH:
        return FIXED_WIDTH[base]
    versions = field.versions.intersect(context.struct.versions)
    plain = 2 if base == "string" else 4
    return min((1 if context.flexible(field, v) else plain for v in versions), default=1)


def variant(context: Context, field: FieldSpec, version: int, kind: str) -> str:
    """Return the name of the reader or writer, such as `compact_nullable_string`."""
    words = []
    if context.flexible(field, version):
        words.append("compact")
    # Records, like all types, may be null wherever the schema says so.
    if version in field.nullable:
        words.append("nullable")
    return "_".join([*words, kind])


@dataclass(frozen=True, slots=True)
class Run:
    """Adjacent fields that exist in the same versions; more than one only if all have a fixed width."""

    condition: str
    fields: list[FieldSpec]


def runs(context: Context) -> list[Run]:
    """Return the fields in wire order, with adjacent fixed-width fields of the same condition grouped."""
    found: list[Run] = []
    for field in context.struct.fields:
        test = condition(context.ordinary(field), context.struct.versions)
        if test is None:
            continue
        last = found[-1] if found else None
        is_fixed_width = field.type.base in LETTERS and not field.type.is_array
        if (
            last
            and last.condition == test
            and is_fixed_width
            and last.fields[0].type.base in LETTERS
            and not last.fields[0].type.is_array
        ):
            last.fields.append(field)
        else:
            found.append(Run(test, [field]))
    return found


def fused_name(fields: list[FieldSpec], fused: dict[str, str]) -> str:
    """Return the name suffix of the packer and unpacker of these fields, and record its letters in `fused`."""
    letters = "".join(LETTERS[f.type.base] for f in fields)
    name = letters.replace("?", "o")
    # The names keep the letters' case, as `I` and `i` must differ.
    fused[letters] = name
    return name


def negate(test: str) -> str:
    """Return the negation of the test."""
    if test.startswith("version >= "):
        return test.replace(">=", "<")
    if test.startswith("version <= "):
        return test.replace("<=", ">")
    if test.startswith("version == "):
        return test.replace("==", "!=")
    return f"not {test}"


def non_default_test(field: FieldSpec, name: str = "") -> str:
    """Return the test for a value that differs from the default; `name` replaces the expression of its attribute."""
    name = name or f"self.{field.attribute}"
    default = default_value(field)
    if default == "None":
        return f"{name} is not None"
    if field.type.is_array or field.type.base == "bytes":
        return f"({name} is None or len({name}))" if field.nullable else name
    if default == "False" or (default == "0"):
        return name
    if default == "True":
        return f"not {name}"
    if default in ('""',):
        return f"{name} != {default}" if field.nullable else name
    return f"{name} != {default}"


def tagged_fields(context: Context) -> list[FieldSpec]:
    """Return the fields that have a tag in any version, by tag."""
    found = [f for f in context.struct.fields if f.tagged.intersect(context.struct.versions)]
    return sorted(found, key=lambda f: f.tag or 0)
