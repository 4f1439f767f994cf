"""Generator of a struct's reader: wire order, `if version >= n:` where versions differ, then the tagged section."""

from __future__ import annotations

from codegen.conditions import choice, condition
from codegen.emit import Emitter
from codegen.hot_table import decodes_to_tuples
from codegen.layout import (
    LETTERS,
    Context,
    Run,
    default_value,
    element_width,
    fused_name,
    negate,
    runs,
    tagged_fields,
    variant,
)
from codegen.schema import FIXED_WIDTH, FieldSpec
from codegen.versions import Versions


def write_reader(out: Emitter, context: Context, fused: dict[str, str]) -> None:
    """Write the plain reader of a struct, for all versions in `context`."""
    struct_versions = context.struct.versions
    name = context.struct.name
    out.line("@classmethod")
    with out.block(f"def _read(cls, buf: Any, pos: int, version: int) -> tuple[{name}, int]:"):
        out.line("self = cls.__new__(cls)")
        out.line("self._tagged = 0")
        for run in runs(context):
            if run.condition:
                with out.block(f"if {run.condition}:"):
                    _read_run(out, context, run, fused)
                with out.block("else:"):
                    for field in run.fields:
                        out.line(f"self.{field.attribute} = {default_value(field)}")
            else:
                _read_run(out, context, run, fused)
        for field in context.struct.fields:
            if not context.ordinary(field) and not context.is_tag_only(field):
                out.line(f"self.{field.attribute} = {default_value(field)}")
        if context.message.flexible.intersect(struct_versions):
            test = condition(context.message.flexible, struct_versions)
            if test:
                with out.block(f"if {test}:"):
                    _write_tag_call(out, context)
            else:
                _write_tag_call(out, context)
        out.line("return self, pos")
    if tagged_fields(context):
        out.line()
        with out.block("def _read_tags(self, buf: Any, pos: int, version: int) -> int:"):
            _write_tag_reader(out, context)
            out.line("return pos")


def _write_tag_call(out: Emitter, context: Context) -> None:
    if tagged_fields(context):
        out.line("pos = self._read_tags(buf, pos, version)")
        return
    with out.block("if buf[pos]:"):
        out.line("self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)")
    with out.block("else:"):
        out.line("pos += 1")


def _read_run(out: Emitter, context: Context, run: Run, fused: dict[str, str]) -> None:
    if len(run.fields) > 1:
        name = fused_name(run.fields, fused)
        targets = [f"self.{f.attribute}" for f in run.fields]
        width = sum(f.type.width for f in run.fields)
        line = f"{', '.join(targets)} = unpack_{name}(buf, pos)"
        if len(line) <= 90:
            out.line(line)
        else:
            out.line("(")
            for target in targets:
                out.line(f"    {target},")
            out.line(f") = unpack_{name}(buf, pos)")
        out.line(f"pos += {width}")
        return
    field = run.fields[0]
    for line in _value_reader(context, field, context.ordinary(field), f"self.{field.attribute}"):
        out.line(line)


def _value_reader(
    context: Context, field: FieldSpec, versions: Versions, target: str, *, in_tag: bool = False
) -> list[str]:
    base = field.type.base
    if field.type.is_array:
        return _array_reader(context, field, versions, target)
    if field.type.is_struct:
        read = f"{target}, pos = {base}._read(buf, pos, version)"
        if not field.nullable.intersect(versions):
            return [read]
        test = condition(field.nullable, versions)
        if in_tag:
            marker = ["present, pos = wire.read_uvarint(buf, pos)", "if present <= 0:"]
            return [*marker, f"    {target} = None", "else:", f"    {read}"]
        lines = ["(present,) = wire.unpack_int8(buf, pos)", "pos += 1"]
        if test:
            lines = [
                f"present = wire.unpack_int8(buf, pos)[0] if {test} else 1",
                f"pos += 1 if {test} else 0",
            ]
        return [*lines, "if present < 0:", f"    {target} = None", "else:", f"    {read}"]
    if base in LETTERS:
        return [f"({target},) = wire.unpack_{base}(buf, pos)", f"pos += {FIXED_WIDTH[base]}"]
    if base == "uuid":
        return [f"{target}, pos = wire.read_uuid(buf, pos)"]
    text = choice(versions, lambda v: "wire.read_" + variant(context, field, v, base))
    text = f"({text})" if " if " in text else text
    return [f"{target}, pos = {text}(buf, pos)"]


def _array_reader(context: Context, field: FieldSpec, versions: Versions, target: str) -> list[str]:
    base = field.type.base
    width = element_width(context, field)
    text = choice(versions, lambda v: "wire.read_" + variant(context, field, v, "count"))
    text = f"({text})" if " if " in text else text
    lines = [f"n, pos = {text}(buf, pos, {width})"]
    if field.type.is_struct:
        read = f"{target}, pos = wire.read_structs({base}._read, buf, pos, n, version)"
    elif base in LETTERS:
        kind = "read_tuple" if decodes_to_tuples(context.message, context.struct) else "read_numbers"
        read = f'{target}, pos = wire.{kind}(buf, pos, n, "{LETTERS[base]}", {width})'
    elif base == "uuid":
        read = f"{target}, pos = wire.read_many(wire.read_uuid, buf, pos, n)"
    else:
        element = choice(
            versions, lambda v: ("wire.read_compact_" if context.flexible(field, v) else "wire.read_") + base
        )
        read = f"{target}, pos = wire.read_many({element}, buf, pos, n)"
    if not field.nullable.intersect(versions):
        return [*lines, read]
    return [*lines, "if n < 0:", f"    {target} = None", "else:", f"    {read}"]


def _write_tag_reader(out: Emitter, context: Context) -> None:
    struct_versions = context.struct.versions
    flexible = context.message.flexible.intersect(struct_versions)
    tagged = tagged_fields(context)
    are_all_tag_only = all(context.is_tag_only(field) for field in tagged)
    if are_all_tag_only:
        out.line("tagged: dict[str, Any] = {}")
    out.line("tags, pos = wire.read_uvarint(buf, pos)")
    with out.block("for _ in range(tags):"):
        out.line("tag, size, pos = wire.read_tag_head(buf, pos)")
        keyword = "if"
        for field in tagged:
            with out.block(f"{keyword} tag == {field.tag}:"):
                guard = condition(field.tagged, flexible)
                if guard:
                    with out.block(f"if {negate(guard)}:"):
                        out.line("raise wire.Malformed")
                versions = field.tagged.intersect(struct_versions)
                target = f'tagged["{field.attribute}"]' if are_all_tag_only else f"self.{field.attribute}"
                for line in _value_reader(context, field, versions, target, in_tag=True):
                    out.line(line)
            keyword = "elif"
        with out.block("else:"):
            out.line("unknown, pos = wire.read_unknown_tag(buf, pos, tag, size)")
            if are_all_tag_only:
                out.line('tagged["unknown_tags"] = (*tagged.get("unknown_tags", ()), unknown)')
            else:
                out.line("self.unknown_tags = (*self.unknown_tags, unknown)")
    if are_all_tag_only:
        with out.block("if tagged:"):
            out.line("self._tagged = tagged")
