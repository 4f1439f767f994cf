"""Generator of a message's Python module: classes, field tables, one writer and one reader per struct.

Both visit the fields in wire order, with `if version >= n:` where the versions differ. Adjacent fixed-width fields
under the same condition share one `struct` call.
"""

from __future__ import annotations

from codegen.emit import Emitter
from codegen.hot import write_hot
from codegen.hot_table import decodes_to_tuples, is_hot
from codegen.layout import LETTERS, Context, default_value, python_type
from codegen.readers import write_reader
from codegen.schema import FieldSpec, MessageSpec, StructSpec
from codegen.versions import Versions
from codegen.writers import write_writer


def versions_text(versions: Versions, context: Versions) -> str:
    """Return the versions of a field as shown to people, "" if it is in all."""
    common = versions.intersect(context)
    if common == context:
        return ""
    if not common:
        return "no version"
    if common.high == context.high:
        return f"v{common.low}+"
    return f"v{common}"


def generate_message(message: MessageSpec) -> str:
    """Return the text of the module."""
    body = Emitter()
    fused: dict[str, str] = {}
    structs = message.structs()
    for struct in structs:
        body.line()
        body.line()
        _write_class(body, message, struct, fused, is_root=struct is structs[-1])
    if is_hot(message):
        write_hot(body, message, fused)
    head = Emitter()
    _write_head(head, message, body.text, fused)
    return head.text + body.text


def _write_head(out: Emitter, message: MessageSpec, body: str, fused: dict[str, str]) -> None:
    sources = " and ".join(f"schemas/{source}" for source in message.sources)
    key = "" if message.api_key is None else f", key {message.api_key}"
    flexible = message.flexible.intersect(message.valid)
    flexible_text = f"flexible from {message.flexible.low}" if flexible else "never flexible"
    out.line(f'"""{message.name}: {message.type}{key}, versions {message.valid}, {flexible_text}.')
    out.line()
    out.line(f"Generated from {sources}.")
    out.line("Change schemas/ or codegen/, then run python -m codegen.")
    out.lines('"""', "", "from __future__ import annotations", "")
    out.line("from collections.abc import Sequence")
    if "repeat(" in body:
        out.line("from itertools import repeat")
    out.lines("from typing import Any", "")
    out.line("from kmirror.protocol import wire")
    markers = {"UNSET": "UNSET", "Field": "Field(", "Late": "Late(", "Struct": "(Struct)", "Tagged": "Tagged["}
    names = sorted(name for name, marker in markers.items() if marker in body)
    out.line("from kmirror.protocol.message import Message")
    if names:
        out.line(f"from kmirror.protocol.structs import {', '.join(names)}")
    if "Uuid" in body:
        out.line("from kmirror.kernel.uuid import Uuid")
    out.line("from kmirror.protocol.wire import UnknownTag")
    if fused:
        out.line()
        for letters, name in sorted(fused.items()):
            out.line(f'unpack_{name}, pack_{name} = wire.fused("{letters}")')


def _write_class(
    out: Emitter, message: MessageSpec, struct: StructSpec, fused: dict[str, str], *, is_root: bool
) -> None:
    context = Context(message, struct)
    with out.block(f"class {struct.name}({'Message' if is_root else 'Struct'}):"):
        out.line(f'"""{_class_text(message, struct, is_root)}"""')
        out.line()
        slots = [f'"{f.attribute}"' for f in struct.fields if not context.is_tag_only(f)]
        out.call("__slots__ = (", slots if len(slots) != 1 else [f"{slots[0]},"])
        out.line()
        tag_only = [f for f in struct.fields if context.is_tag_only(f)]
        for field in tag_only:
            type_, default = _field_type(context, field), default_value(field)
            factory = {"[]": "list", "None": "None"}.get(default, default.removesuffix("()"))
            out.line(f'{field.attribute} = Tagged[{type_}]("{field.attribute}", {factory})')
        if tag_only:
            out.line()
        if is_root:
            _write_constants(out, message)
        _write_table(out, context)
        out.line()
        _write_constructor(out, context)
        out.line()
        write_writer(out, context, fused)
        out.line()
        write_reader(out, context, fused)


def _write_constructor(out: Emitter, context: Context) -> None:
    fields = context.struct.fields
    with out.block("def __init__("):
        out.line("self,")
        for field in fields:
            _write_declaration(out, context, field)
        out.line("unknown_tags: Sequence[UnknownTag] = (),")
    with out.block(") -> None:"):
        out.line("self._tagged = 0")
        for field in fields:
            if not context.is_tag_only(field):
                _write_store(out, field)
        for field in fields:
            if context.is_tag_only(field):
                default = _parameter_default(field)
                test = "is not" if default in ("None", "UNSET", "Uuid.ZERO") else "!="
                with out.block(f"if {field.attribute} {test} {default}:"):
                    out.line(f"self.{field.attribute} = {field.attribute}")
        with out.block("if unknown_tags:"):
            out.line("self.unknown_tags = unknown_tags")


def _write_store(out: Emitter, field: FieldSpec) -> None:
    name = field.attribute
    if _parameter_default(field) == "UNSET":
        out.line(f"self.{name} = {default_value(field)} if {name} is UNSET else {name}")
    else:
        out.line(f"self.{name} = {name}")


def _parameter_default(field: FieldSpec) -> str:
    """Return the default of a constructor's parameter; mutable defaults are made for each object instead."""
    default = default_value(field)
    return "UNSET" if default == "[]" or default.endswith("()") else default


def _field_type(context: Context, field: FieldSpec) -> str:
    type_ = python_type(field)
    if field.type.is_array and field.type.base in LETTERS and decodes_to_tuples(context.message, context.struct):
        return type_.replace("list[", "Sequence[")
    return type_


def _class_text(message: MessageSpec, struct: StructSpec, is_root: bool) -> str:
    if is_root:
        return message.about or f"{message.name}, versions {message.valid}."
    text = versions_text(struct.versions, message.valid)
    return struct.about or (f"Part of {message.name}, {text}." if text else f"Part of {message.name}.")


def _write_declaration(out: Emitter, context: Context, field: FieldSpec) -> None:
    if field.about:
        out.comment(field.about)
    default = _parameter_default(field)
    notes = [str(field.type)]
    text = versions_text(field.versions, context.struct.versions)
    if text:
        notes.append(text)
    if field.nullable and field.nullable.intersect(context.struct.versions) != field.versions.intersect(
        context.struct.versions
    ):
        notes.append(f"null in {versions_text(field.nullable, context.struct.versions) or 'all'}")
    if field.tag is not None:
        tagged = field.tagged.intersect(context.struct.versions)
        is_always_tagged = tagged == field.versions.intersect(context.struct.versions)
        notes.append(f"tag {field.tag}" if is_always_tagged else f"tag {field.tag} in v{tagged.low}+")
    if field.ignorable:
        notes.append("ignorable")
    if field.entity_type:
        notes.append(field.entity_type)
    type_ = _field_type(context, field)
    if type_.startswith("Sequence["):
        notes[0] += ", read as a tuple"
    out.line(f"{field.attribute}: {type_} = {default},  # {', '.join(notes)}")


def _write_constants(out: Emitter, message: MessageSpec) -> None:
    flexible = message.flexible.low if message.flexible.intersect(message.valid) else None
    out.line(f'NAME = "{message.name}"')
    out.line(f'TYPE = "{message.type}"')
    out.line(f"API_KEY = {message.api_key}")
    out.line(f"MIN_VERSION = {message.valid.low}")
    out.line(f"MAX_VERSION = {message.valid.high}")
    out.line(f"FLEXIBLE_FROM = {flexible}")
    if any(f.type.base == "records" for s in message.structs() for f in s.fields):
        out.line("HAS_RECORDS = True")


def _write_table(out: Emitter, context: Context) -> None:
    if not context.struct.fields:
        out.line("FIELDS = ()")
        return
    with out.block("FIELDS = ("):
        for field in context.struct.fields:
            out.call("Field(", _table_row(context, field), "),")
    out.line(")")


def _table_row(context: Context, field: FieldSpec) -> list[str]:
    struct_versions = context.struct.versions

    def pair(versions: Versions) -> str:
        found = versions.intersect(struct_versions)
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
    if field.nullable.intersect(struct_versions):
        row.append(f"nullable={pair(field.nullable)}")
    if field.tagged.intersect(struct_versions):
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
