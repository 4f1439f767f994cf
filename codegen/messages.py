"""From a message's spec to its Python module: classes, field tables, one writer and one reader per struct.

Both walk the fields in wire order with `if version >= n:` where the versions differ. Fields of fixed width
that follow each other under the same condition share one `struct` call.
"""

from __future__ import annotations

from codegen.emit import Emitter
from codegen.hot import decodes_to_tuples, is_hot
from codegen.layout import LETTERS, Context, default_value, python_type
from codegen.readers import write_reader
from codegen.schema import FieldSpec, MessageSpec, StructSpec
from codegen.versions import Versions
from codegen.writers import write_writer


def versions_word(versions: Versions, context: Versions) -> str:
    """The versions of a field for people, "" where it is always there."""
    inside = versions.intersect(context)
    if inside == context:
        return ""
    if not inside:
        return "no version"
    if inside.high == context.high:
        return f"v{inside.low}+"
    return f"v{inside}"


def generate_message(message: MessageSpec) -> str:
    """The text of the module."""
    body = Emitter()
    fused: dict[str, str] = {}
    structs = message.structs()
    for struct in structs:
        body.line()
        body.line()
        _write_class(body, message, struct, fused, is_root=struct is structs[-1])
    head = Emitter()
    _write_head(head, message, body.text, fused)
    if is_hot(message):
        body.lines("", "", f"from kmirror.protocol.gen import hot_{message.module}  # noqa: E402, F401")
    return head.text + body.text


def _write_head(out: Emitter, message: MessageSpec, body: str, fused: dict[str, str]) -> None:
    sources = " and ".join(f"schemas/{source}" for source in message.sources)
    key = "" if message.api_key is None else f", key {message.api_key}"
    flexible = message.flexible.intersect(message.valid)
    word = f"flexible from {message.flexible.low}" if flexible else "never flexible"
    out.line(f'"""{message.name}: {message.type}{key}, versions {message.valid}, {word}.')
    out.line()
    out.line(f"Generated from {sources}.")
    out.line("Change schemas/ or codegen/, then run python -m codegen.")
    out.lines('"""', "", "from __future__ import annotations", "")
    if "Sequence[" in body:
        out.line("from collections.abc import Sequence")
    out.line("from dataclasses import dataclass" + (", field" if "= field(" in body else ""))
    out.lines("from typing import Any, ClassVar", "")
    out.line("from kmirror.protocol import wire")
    bases = "Field, Message, Struct" if "(Struct):" in body else "Field, Message"
    out.line(f"from kmirror.protocol.message import {bases}")
    if "Uuid" in body:
        out.line("from kmirror.protocol.uuid import Uuid")
    if fused:
        out.line()
        for letters, name in sorted(fused.items()):
            out.line(f'unpack_{name}, pack_{name} = wire.fused("{letters}")')


def _write_class(
    out: Emitter, message: MessageSpec, struct: StructSpec, fused: dict[str, str], *, is_root: bool
) -> None:
    context = Context(message, struct)
    out.line("@dataclass(slots=True, repr=False, eq=False, kw_only=True)")
    with out.block(f"class {struct.name}({'Message' if is_root else 'Struct'}):"):
        out.line(f'"""{_class_text(message, struct, is_root)}"""')
        out.line()
        if struct.fields:
            for field in struct.fields:
                _write_declaration(out, context, field)
            out.line()
        if is_root:
            _write_facts(out, message)
        _write_table(out, context)
        out.line()
        write_writer(out, context, fused)
        out.line()
        write_reader(out, context, fused)


def _class_text(message: MessageSpec, struct: StructSpec, is_root: bool) -> str:
    if is_root:
        return message.about or f"{message.name}, versions {message.valid}."
    word = versions_word(struct.versions, message.valid)
    return struct.about or (f"Part of {message.name}, {word}." if word else f"Part of {message.name}.")


def _write_declaration(out: Emitter, context: Context, field: FieldSpec) -> None:
    if field.about:
        out.comment(field.about)
    default = default_value(field)
    if default == "[]":
        default = "field(default_factory=list)"
    elif default.endswith("()"):
        default = f"field(default_factory={default[:-2]})"
    notes = [str(field.type)]
    word = versions_word(field.versions, context.struct.versions)
    if word:
        notes.append(word)
    if field.nullable and field.nullable.intersect(context.struct.versions) != field.versions.intersect(
        context.struct.versions
    ):
        notes.append(f"null in {versions_word(field.nullable, context.struct.versions) or 'all'}")
    if field.tag is not None:
        tagged = field.tagged.intersect(context.struct.versions)
        whole = tagged == field.versions.intersect(context.struct.versions)
        notes.append(f"tag {field.tag}" if whole else f"tag {field.tag} in v{tagged.low}+")
    if field.ignorable:
        notes.append("ignorable")
    if field.entity_type:
        notes.append(field.entity_type)
    type_ = python_type(field)
    if field.type.is_array and field.type.base in LETTERS and decodes_to_tuples(context.message, context.struct):
        type_ = type_.replace("list[", "Sequence[")
        notes[0] += ", read as a tuple"
    out.line(f"{field.attribute}: {type_} = {default}  # {', '.join(notes)}")


def _write_facts(out: Emitter, message: MessageSpec) -> None:
    flexible = message.flexible.low if message.flexible.intersect(message.valid) else None
    out.line(f'NAME: ClassVar[str] = "{message.name}"')
    out.line(f'TYPE: ClassVar[str] = "{message.type}"')
    out.line(f"API_KEY: ClassVar[int | None] = {message.api_key}")
    out.line(f"MIN_VERSION: ClassVar[int] = {message.valid.low}")
    out.line(f"MAX_VERSION: ClassVar[int] = {message.valid.high}")
    out.line(f"FLEXIBLE_FROM: ClassVar[int | None] = {flexible}")
    if any(f.type.base == "records" for s in message.structs() for f in s.fields):
        out.line("HAS_RECORDS: ClassVar[bool] = True")


def _write_table(out: Emitter, context: Context) -> None:
    if not context.struct.fields:
        out.line("FIELDS: ClassVar[tuple[Field, ...]] = ()")
        return
    with out.block("FIELDS: ClassVar[tuple[Field, ...]] = ("):
        for field in context.struct.fields:
            out.call("Field(", _table_row(context, field), "),")
    out.line(")")


def _table_row(context: Context, field: FieldSpec) -> list[str]:
    inside = context.struct.versions

    def pair(versions: Versions) -> str:
        found = versions.intersect(inside)
        return f"({found.low}, {found.high})"

    is_struct = field.type.is_struct
    default = default_value(field)
    if is_struct and not field.type.is_array and default != "None":
        default = "{}"
    row = [
        f'"{field.name}"',
        f'"{field.attribute}"',
        '"struct"' if is_struct else f'"{field.type.base}"',
        pair(field.versions),
    ]
    if field.type.is_array:
        row.append("is_array=True")
    if field.nullable.intersect(inside):
        row.append(f"nullable={pair(field.nullable)}")
    if field.tagged.intersect(inside):
        row.append(f"tagged={pair(field.tagged)}")
    if field.tag is not None:
        row.append(f"tag={field.tag}")
    if default != "None":
        row.append(f"default={default}")
    if field.ignorable:
        row.append("ignorable=True")
    if is_struct:
        row.append(f"struct={field.type.base}")
    if field.entity_type:
        row.append(f'entity="{field.entity_type}"')
    if field.map_key:
        row.append("map_key=True")
    if field.flexible is not None and not field.flexible:
        row.append("never_flexible=True")
    return row
