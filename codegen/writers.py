"""Generator of a struct's writer: wire order, `if version >= n:` where versions differ, then the tagged section."""

from __future__ import annotations

from codegen.conditions import choice, condition
from codegen.emit import Emitter
from codegen.layout import LETTERS, Context, Run, fused_name, negate, non_default_test, runs, tagged_fields, variant
from codegen.schema import FieldSpec, snake_case
from codegen.versions import Versions


def write_writer(out: Emitter, context: Context, fused: dict[str, str]) -> None:
    """Write the plain writer of a struct, for all versions in `context`."""
    struct_versions = context.struct.versions
    with out.block("def _write(self, put: wire.Put, version: int) -> None:"):
        for run in runs(context):
            if run.condition:
                with out.block(f"if {run.condition}:"):
                    _write_run(out, context, run, fused)
            else:
                _write_run(out, context, run, fused)
            _write_refusals(out, context, run)
        for field in context.struct.fields:
            # Fields that are always tagged must not be set in versions that lack them.
            test = condition(field.tagged, struct_versions)
            if not context.is_tag_only(field) or field.ignorable or not test:
                continue
            with out.block(f"if {negate(test)} and self._tagged and {non_default_test(field)}:"):
                out.line("raise wire.Unwritable")
        _write_tag_call(out, context)
    if tagged_fields(context):
        out.line()
        with out.block("def _write_tags(self, put: wire.Put, version: int) -> None:"):
            _write_tag_section(out, context)


def _write_tag_call(out: Emitter, context: Context) -> None:
    struct_versions = context.struct.versions
    flexible = context.message.flexible.intersect(struct_versions)
    test = condition(flexible, struct_versions)
    if test is None:
        with out.block("if self._tagged and self.unknown_tags:"):
            out.line("raise wire.Unwritable")
        return

    def write_call() -> None:
        if any(not context.is_tag_only(f) for f in tagged_fields(context)):
            out.line("self._write_tags(put, version)")
            return
        with out.block("if self._tagged:"):
            out.line("self._write_tags(put, version)")
        with out.block("else:"):
            out.line('put(b"\\0")')

    if not test:
        write_call()
        return
    with out.block(f"if {test}:"):
        write_call()
    with out.block("elif self._tagged and self.unknown_tags:"):
        out.line("raise wire.Unwritable")


def _write_refusals(out: Emitter, context: Context, run: Run) -> None:
    """Write code that refuses values that a version cannot carry, unless the schema makes the field ignorable."""
    struct_versions = context.struct.versions
    if not run.condition:
        return
    for field in run.fields:
        test = condition(field.versions, struct_versions)
        if field.ignorable or not test:
            continue
        if test == run.condition and field is run.fields[0]:
            head = f"elif {non_default_test(field)}:"
        else:
            head = f"if {negate(test)} and {non_default_test(field)}:"
        with out.block(head):
            out.line("raise wire.Unwritable")


def _write_run(out: Emitter, context: Context, run: Run, fused: dict[str, str]) -> None:
    if len(run.fields) > 1:
        name = fused_name(run.fields, fused)
        out.call(f"put(pack_{name}(", [f"self.{f.attribute}" for f in run.fields], "))")
        return
    field = run.fields[0]
    for line in _value_writer(context, field, context.ordinary(field), f"self.{field.attribute}", "put"):
        out.line(line)


def _value_writer(context: Context, field: FieldSpec, versions: Versions, name: str, put: str) -> list[str]:
    base = field.type.base

    def choose_function(kind: str, prefix: str = "wire.") -> str:
        text = choice(versions, lambda v: prefix + variant(context, field, v, kind))
        return f"({text})" if " if " in text else text

    if field.type.is_array:
        return _array_writer(context, field, name, put, choose_function("count"), versions)
    if field.type.is_struct:
        nullable = field.nullable.intersect(versions)
        lines = [f"{name}._write({put}, version)"]
        if not nullable:
            return lines
        test = condition(field.nullable, versions)
        present_lines = [f'{put}(b"\\x01")', *lines] if not test else [f"if {test}:", f'    {put}(b"\\x01")', *lines]
        null = f'{put}(b"\\xff")' if not test else f'{put}(b"\\xff" if {test} else wire.refuse())'
        return [f"if {name} is None:", f"    {null}", "else:", *[f"    {line}" for line in present_lines]]
    if base in LETTERS:
        return [f"{put}(wire.pack_{base}({name}))"]
    if base == "uuid":
        return [f"{put}(wire.uuid({name}))"]
    if base == "string":
        return [f"{put}({choose_function('string')}({name}))"]
    return [f"{choose_function('bytes', 'wire.put_')}({put}, {name})"]


def _array_writer(
    context: Context, field: FieldSpec, name: str, put: str, counter: str, versions: Versions
) -> list[str]:
    base = field.type.base
    lines = [f"{put}({counter}({name}))"]
    items = f"{name} or ()" if field.nullable else name
    if base in LETTERS:
        return [*lines, f'{put}(wire.numbers({items}, "{LETTERS[base]}"))']
    item = _item_name(base)
    lines.append(f"for {item} in {items}:")
    if field.type.is_struct:
        lines.append(f"    {item}._write({put}, version)")
    elif base == "uuid":
        lines.append(f"    {put}(wire.uuid({item}))")
    else:
        # Elements are never null.
        text = choice(versions, lambda v: ("wire.compact_" if context.flexible(field, v) else "wire.") + base)
        if base == "string":
            text = f"({text})" if " if " in text else text
            lines.append(f"    {put}({text}({item}))")
        else:
            text = choice(
                versions,
                lambda v: "wire.put_compact_bytes" if context.flexible(field, v) else "wire.put_bytes",
            )
            text = f"({text})" if " if " in text else text
            lines.append(f"    {text}({put}, {item})")
    return lines


def _item_name(base: str) -> str:
    """Return the name of a loop variable, one for each type, so that a function can contain several loops."""
    plain = {"string": "text", "bytes": "data", "uuid": "uuid"}
    if base in plain:
        return plain[base]
    name = snake_case(base)
    return f"{name}_" if name in ("put", "version", "tags") else name


def _write_tag_section(out: Emitter, context: Context) -> None:
    flexible = context.message.flexible.intersect(context.struct.versions)
    tagged = tagged_fields(context)
    are_all_tag_only = all(context.is_tag_only(field) for field in tagged)
    out.line("tags: list[bytes] = []")
    if are_all_tag_only:
        out.line("tagged = self._tagged")
    for field in tagged:
        name = f'tagged["{field.attribute}"]' if are_all_tag_only else f"self.{field.attribute}"
        tests = [condition(field.tagged, flexible), _tag_set_test(context, field, name)]
        if are_all_tag_only:
            # Most tagged fields are absent; this avoids making a default to find that out.
            tests.insert(1, f'"{field.attribute}" in tagged')
        with out.block(f"if {' and '.join(test for test in tests if test)}:"):
            _write_tag_body(out, context, field, name)
    unknown = 'tagged.get("unknown_tags", ())' if are_all_tag_only else "self.unknown_tags"
    out.line(f"wire.put_tags(put, tags, {unknown}, {len(tagged)})")


def _tag_set_test(context: Context, field: FieldSpec, name: str) -> str:
    """Return the test for a value that differs from the default; for a struct of plain fields it makes no default."""
    struct = next((each for each in context.message.structs() if each.name == field.type.base), None)
    is_plain = (
        struct is not None
        and not field.type.is_array
        and not field.nullable
        and not any(f.type.is_array or f.type.is_struct or f.tagged for f in struct.fields)
    )
    if struct is None or not is_plain:
        return non_default_test(field, name)
    tests = [non_default_test(each, f"{name}.{each.attribute}") for each in struct.fields]
    return f"({' or '.join([*tests, f'{name}.unknown_tags'])})"


def _write_tag_body(out: Emitter, context: Context, field: FieldSpec, name: str) -> None:
    versions = field.tagged.intersect(context.struct.versions)
    base = field.type.base
    simple: str | None = None
    if not field.type.is_array:
        if base in LETTERS:
            simple = f"wire.pack_{base}({name})"
        elif base == "uuid":
            simple = f"wire.uuid({name})"
        elif base == "string":
            simple = f"wire.{variant(context, field, versions.high, 'string')}({name})"
    if simple is not None:
        out.line(f"tags.append(wire.tag({field.tag}, {simple}))")
        return
    body = f"body_{field.tag}"
    out.line(f"{body}: list[wire.Chunk] = []")
    if field.type.is_struct and not field.type.is_array:
        # In a tag the marker of a nullable struct is an unsigned varint.
        if field.nullable.intersect(versions):
            with out.block(f"if {name} is None:"):
                out.line(f'{body}.append(b"\\0")')
            with out.block("else:"):
                out.line(f'{body}.append(b"\\x01")')
                out.line(f"{name}._write({body}.append, version)")
        else:
            out.line(f"{name}._write({body}.append, version)")
    else:
        for line in _value_writer(context, field, versions, name, f"{body}.append"):
            out.line(line)
    out.line(f'tags.append(wire.tag({field.tag}, b"".join({body})))')
