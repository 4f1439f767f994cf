"""From a message's spec to its Python module: classes, field tables, one writer and one reader per struct.

Both walk the fields in wire order with `if version >= n:` where the versions differ. Fields of fixed width
that follow each other under the same condition share one `struct` call.
"""

from __future__ import annotations

from dataclasses import dataclass

from codegen.conditions import choice, condition, segments
from codegen.emit import Emitter
from codegen.schema import FIXED_WIDTH, FieldSpec, MessageSpec, StructSpec, snake_case
from codegen.versions import NONE, Versions

LETTERS = {
    "bool": "?", "int8": "b", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I",
    "int64": "q", "float64": "d",
}  # fmt: skip
PYTHON_TYPES = {"bool": "bool", "float64": "float", "uuid": "Uuid", "string": "str", "bytes": "bytes"}
VARIABLE = ("string", "bytes", "records")


@dataclass(frozen=True, slots=True)
class Context:
    """The message being written, the struct at hand, and what each version means for a field."""

    message: MessageSpec
    struct: StructSpec

    def ordinary(self, field: FieldSpec) -> Versions:
        """Where the field stands in wire order: one range, as tagged ranges are open."""
        present = field.versions.intersect(self.struct.versions)
        tagged = field.tagged.intersect(present)
        return (
            Versions(present.low, tagged.low - 1)
            if tagged and present.low < tagged.low
            else NONE
            if tagged
            else present
        )

    def flexible(self, field: FieldSpec, version: int) -> bool:
        return version in (self.message.flexible if field.flexible is None else field.flexible)


def python_type(field: FieldSpec) -> str:
    base = field.type.base
    if base == "records" and not field.type.is_array:
        return "bytes | memoryview | None"
    name = PYTHON_TYPES.get(base, "int" if base in LETTERS else base)
    if field.type.is_array:
        name = f"list[{name}]"
    return f"{name} | None" if field.nullable else name


def default_value(field: FieldSpec) -> str:
    """The default as a Python expression; structs and arrays are made anew each time."""
    base, text = field.type.base, field.default
    if field.default_is_null:
        return "None"
    if field.type.is_array:
        return "[]"
    if field.type.is_struct:
        return f"{base}()"
    if base == "bool":
        return "True" if text == "true" else "False"
    if base == "string":
        return repr_string(text or "")
    if base == "bytes":
        return 'b""'
    if base == "uuid":
        return "Uuid.ZERO" if not text else f'Uuid.from_str("{text}")'
    if base == "float64":
        return repr(float(text)) if text else "0.0"
    return str(int(text, 0)) if text else "0"


def repr_string(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def min_width(message: MessageSpec, struct: StructSpec) -> int:
    """The least number of bytes that the struct takes in any of its versions."""
    return min((_width_at(message, struct, version) for version in struct.versions), default=1)


def _width_at(message: MessageSpec, struct: StructSpec, version: int) -> int:
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
                total += _width_at(message, message.struct(field.type.base), version)
        elif field.type.base == "string" and not field.type.is_array:
            total += 1 if flexible else 2
        else:
            total += 1 if flexible else 4
    return total


def element_width(context: Context, field: FieldSpec) -> int:
    """The least width of one element of an array, at least 1: Kafka never takes more elements than bytes."""
    base = field.type.base
    if field.type.is_struct:
        return max(1, min_width(context.message, context.message.struct(base)))
    if base in FIXED_WIDTH:
        return FIXED_WIDTH[base]
    versions = field.versions.intersect(context.struct.versions)
    plain = 2 if base == "string" else 4
    return min((1 if context.flexible(field, v) else plain for v in versions), default=1)


def variant(context: Context, field: FieldSpec, version: int, kind: str) -> str:
    """`compact_nullable_string` and its kin."""
    words = []
    if context.flexible(field, version):
        words.append("compact")
    # Records may always be read as null where the schema says so; other types likewise.
    if version in field.nullable:
        words.append("nullable")
    return "_".join([*words, kind])


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
        _write_writer(out, context, fused)
        out.line()
        _write_reader(out, context, fused)


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
    out.line(f"{field.attribute}: {python_type(field)} = {default}  # {', '.join(notes)}")


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


# ---------------------------------------------------------------------------
# Both directions: the fields in wire order, cut into runs


@dataclass(frozen=True, slots=True)
class Run:
    """Neighbours that exist in the same versions; more than one only if all have a fixed width."""

    condition: str
    fields: list[FieldSpec]


def _runs(context: Context) -> list[Run]:
    found: list[Run] = []
    for field in context.struct.fields:
        test = condition(context.ordinary(field), context.struct.versions)
        if test is None:
            continue
        last = found[-1] if found else None
        fixed = field.type.base in LETTERS and not field.type.is_array
        if (
            last
            and last.condition == test
            and fixed
            and last.fields[0].type.base in LETTERS
            and not last.fields[0].type.is_array
        ):
            last.fields.append(field)
        else:
            found.append(Run(test, [field]))
    return found


def _fused_name(fields: list[FieldSpec], fused: dict[str, str]) -> str:
    letters = "".join(LETTERS[f.type.base] for f in fields)
    name = letters.replace("?", "o")
    # `I` and `i` must stay apart: the names keep the letters' case.
    fused[letters] = name
    return name


# ---------------------------------------------------------------------------
# Writers


def _write_writer(out: Emitter, context: Context, fused: dict[str, str]) -> None:
    inside = context.struct.versions
    with out.block("def _write(self, put: wire.Put, version: int) -> None:"):
        empty = True
        for run in _runs(context):
            empty = False
            if run.condition:
                with out.block(f"if {run.condition}:"):
                    _write_run(out, context, run, fused)
            else:
                _write_run(out, context, run, fused)
            _write_refusals(out, context, run)
        for field in context.struct.fields:
            # Fields that are tagged wherever they are: where they are absent, they must not be set.
            if context.ordinary(field) or field.ignorable:
                continue
            test = condition(field.tagged, inside)
            if test is None:
                continue
            if test:
                empty = False
                with out.block(f"if {_negated(test)} and {_is_set(field)}:"):
                    out.line("raise wire.Unwritable")
        if context.message.flexible.intersect(inside):
            empty = False
            _write_tag_writer(out, context)
        else:
            empty = False
            with out.block("if self.unknown_tags:"):
                out.line("raise wire.Unwritable")
        if empty:
            out.line("pass")


def _negated(test: str) -> str:
    if test.startswith("version >= "):
        return test.replace(">=", "<")
    if test.startswith("version <= "):
        return test.replace("<=", ">")
    if test.startswith("version == "):
        return test.replace("==", "!=")
    return f"not {test}"


def _is_set(field: FieldSpec) -> str:
    """The test for a value that differs from the default."""
    name = f"self.{field.attribute}"
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


def _write_refusals(out: Emitter, context: Context, run: Run) -> None:
    """Where a field is absent, a value that would be lost is refused unless the schema lets it go."""
    inside = context.struct.versions
    if not run.condition:
        return
    for field in run.fields:
        test = condition(field.versions, inside)
        if field.ignorable or not test:
            continue
        if test == run.condition and field is run.fields[0]:
            head = f"elif {_is_set(field)}:"
        else:
            head = f"if {_negated(test)} and {_is_set(field)}:"
        with out.block(head):
            out.line("raise wire.Unwritable")


def _write_run(out: Emitter, context: Context, run: Run, fused: dict[str, str]) -> None:
    if len(run.fields) > 1:
        name = _fused_name(run.fields, fused)
        out.call(f"put(pack_{name}(", [f"self.{f.attribute}" for f in run.fields], "))")
        return
    field = run.fields[0]
    for line in _value_writer(context, field, context.ordinary(field), f"self.{field.attribute}", "put"):
        out.line(line)


def _value_writer(context: Context, field: FieldSpec, versions: Versions, name: str, put: str) -> list[str]:
    base = field.type.base

    def chosen(kind: str, prefix: str = "wire.") -> str:
        text = choice(versions, lambda v: prefix + variant(context, field, v, kind))
        return f"({text})" if " if " in text else text

    if field.type.is_array:
        return _array_writer(context, field, name, put, chosen("count"), versions)
    if field.type.is_struct:
        nullable = field.nullable.intersect(versions)
        lines = [f"{name}._write({put}, version)"]
        if not nullable:
            return lines
        test = condition(field.nullable, versions)
        marked = [f'{put}(b"\\x01")', *lines] if not test else [f"if {test}:", f'    {put}(b"\\x01")', *lines]
        null = f'{put}(b"\\xff")' if not test else f'{put}(b"\\xff" if {test} else wire.refuse())'
        return [f"if {name} is None:", f"    {null}", "else:", *[f"    {line}" for line in marked]]
    if base in LETTERS:
        return [f"{put}(wire.pack_{base}({name}))"]
    if base == "uuid":
        return [f"{put}(wire.uuid({name}))"]
    if base == "string":
        return [f"{put}({chosen('string')}({name}))"]
    return [f"{chosen('bytes', 'wire.put_')}({put}, {name})"]


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
    """The loop variable: one name for one type, so that a function may loop over several."""
    plain = {"string": "text", "bytes": "data", "uuid": "uuid"}
    if base in plain:
        return plain[base]
    name = snake_case(base)
    return f"{name}_" if name in ("put", "version", "tags") else name


def _write_tag_writer(out: Emitter, context: Context) -> None:
    inside = context.struct.versions
    flexible = context.message.flexible.intersect(inside)
    test = condition(flexible, inside)
    tagged = [f for f in context.struct.fields if f.tagged.intersect(inside)]
    tagged.sort(key=lambda f: f.tag or 0)

    def section() -> None:
        if not tagged:
            with out.block("if self.unknown_tags:"):
                out.line("wire.put_tags(put, (), self.unknown_tags, 0)")
            with out.block("else:"):
                out.line('put(b"\\0")')
            return
        out.line("tags: list[tuple[int, bytes]] = []")
        for field in tagged:
            guard = condition(field.tagged, flexible)
            with out.block(f"if {guard} and {_is_set(field)}:" if guard else f"if {_is_set(field)}:"):
                _write_tag_body(out, context, field)
        out.line(f"wire.put_tags(put, tags, self.unknown_tags, {len(tagged)})")

    if not test:
        section()
        return
    with out.block(f"if {test}:"):
        section()
    with out.block("elif self.unknown_tags:"):
        out.line("raise wire.Unwritable")


def _write_tag_body(out: Emitter, context: Context, field: FieldSpec) -> None:
    versions = field.tagged.intersect(context.struct.versions)
    name = f"self.{field.attribute}"
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
        out.line(f"tags.append(({field.tag}, {simple}))")
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
    out.line(f'tags.append(({field.tag}, b"".join({body})))')


# ---------------------------------------------------------------------------
# Readers


def _write_reader(out: Emitter, context: Context, fused: dict[str, str]) -> None:
    inside = context.struct.versions
    name = context.struct.name
    out.line("@classmethod")
    with out.block(f"def _read(cls, buf: Any, pos: int, version: int) -> tuple[{name}, int]:"):
        out.line("self = cls.__new__(cls)")
        out.line("self.unknown_tags = ()")
        for run in _runs(context):
            if run.condition:
                with out.block(f"if {run.condition}:"):
                    _read_run(out, context, run, fused)
                with out.block("else:"):
                    for field in run.fields:
                        out.line(f"self.{field.attribute} = {default_value(field)}")
            else:
                _read_run(out, context, run, fused)
        for field in context.struct.fields:
            if not context.ordinary(field):
                out.line(f"self.{field.attribute} = {default_value(field)}")
        if context.message.flexible.intersect(inside):
            test = condition(context.message.flexible, inside)
            if test:
                with out.block(f"if {test}:"):
                    _write_tag_reader(out, context)
            else:
                _write_tag_reader(out, context)
        out.line("return self, pos")


def _read_run(out: Emitter, context: Context, run: Run, fused: dict[str, str]) -> None:
    if len(run.fields) > 1:
        name = _fused_name(run.fields, fused)
        targets = [f"self.{f.attribute}" for f in run.fields]
        width = sum(f.type.width for f in run.fields)
        whole = f"{', '.join(targets)} = unpack_{name}(buf, pos)"
        if len(whole) <= 90:
            out.line(whole)
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
        read = f'{target}, pos = wire.read_numbers(buf, pos, n, "{LETTERS[base]}", {width})'
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
    inside = context.struct.versions
    flexible = context.message.flexible.intersect(inside)
    tagged = [f for f in context.struct.fields if f.tagged.intersect(inside)]
    tagged.sort(key=lambda f: f.tag or 0)
    if not tagged:
        with out.block("if buf[pos]:"):
            out.line("pos = wire.read_unknown_tags(self, buf, pos)")
        with out.block("else:"):
            out.line("pos += 1")
        return
    out.line("tags, pos = wire.read_uvarint(buf, pos)")
    with out.block("for _ in range(tags):"):
        out.line("tag, size, pos = wire.read_tag_head(buf, pos)")
        word = "if"
        for field in tagged:
            with out.block(f"{word} tag == {field.tag}:"):
                guard = condition(field.tagged, flexible)
                if guard:
                    with out.block(f"if {_negated(guard)}:"):
                        out.line("raise wire.Malformed")
                versions = field.tagged.intersect(inside)
                for line in _value_reader(context, field, versions, f"self.{field.attribute}", in_tag=True):
                    out.line(line)
            word = "elif"
        with out.block("else:"):
            out.line("pos = wire.keep_unknown_tag(self, tag, size, buf, pos)")


__all__ = ["generate_message", "segments"]
