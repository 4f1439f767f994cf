"""Generator of straight-line readers: a whole message of one version in one function."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from codegen.emit import Emitter
from codegen.hot_maker import HOT_LETTERS, Maker, Piece, width_of
from codegen.hot_table import USUALLY_EMPTY, decodes_to_tuples, object_size, shape_of
from codegen.layout import LETTERS, default_value, element_width, min_width
from codegen.schema import FIXED_WIDTH, FieldSpec, StructSpec, snake_case


class ReaderMaker(Maker):
    def read_struct(self, struct: StructSpec, var: str, *, is_created: bool = False) -> None:
        """Write code that reads the fields of a struct, those of fixed width in runs."""
        out = self.out
        if not is_created:
            out.line(f"{var} = new({struct.name})")
        out.line(f"{var}._tagged = 0")
        self.read_defaults(struct, var)
        pending: list[Piece] = []
        uuids: list[str] = []
        fields = list(struct.ordinary(self.version))
        while fields:
            field = fields.pop(0)
            target = f"{var}.{field.attribute}"
            base = field.type.base
            if (self.message.name, field.name) in USUALLY_EMPTY and self.version in field.nullable:
                self.read_usually_empty(struct, field, fields, var, pending)
                continue
            if base in HOT_LETTERS and not field.type.is_array:
                pending.append(Piece(HOT_LETTERS[base], target))
                if base == "uuid":
                    uuids.append(target)
                continue
            if field.type.is_struct and not field.type.is_array:
                self.flush_read(pending, uuids)
                self.read_nested(struct, field, var)
                continue
            self.read_length(field, pending, uuids)
            self.read_variable(struct, field, target)
        if self.flexible:
            self.read_tags(struct, var, pending, uuids)
        else:
            self.flush_read(pending, uuids)

    def read_usually_empty(
        self, struct: StructSpec, field: FieldSpec, fields: list[FieldSpec], var: str, pending: list[Piece]
    ) -> None:
        """Write one `struct` call for the fields around a null or empty array; for others, the rest is read again."""
        out, target = self.out, f"{var}.{field.attribute}"
        following: list[FieldSpec] = []
        while fields[0].type.base in LETTERS and not fields[0].type.is_array:
            following.append(fields.pop(0))
        variable = fields.pop(0)
        assert self.flexible and variable.type.base == "records"
        preceding = list(pending)
        trailing = [*(Piece(LETTERS[f.type.base], f"{var}.{f.attribute}") for f in following), Piece("B", "n")]
        pieces = [*preceding, Piece("B", "count"), *trailing]
        self.assign([p.name for p in pieces], f"unpack_{self.layout(''.join(p.letter for p in pieces))}(buf, pos)")
        pending.clear()
        with out.block("if count < 2:"):
            out.line(f"{target} = [] if count else None")
            out.line(f"pos += {sum(width_of(p.letter) for p in pieces)}")
        with out.block("else:"):
            out.line(f"pos += {sum(width_of(p.letter) for p in preceding)}")
            out.line("n, pos = wire.read_compact_length(buf, pos)")
            self.read_struct_array(struct, field, target)
            self.flush_read(trailing, [])
        with out.block("if n > 127:"):
            self.read_long_length()
        with out.block("else:"):
            out.line("n -= 1")
        self.read_variable(struct, variable, f"{var}.{variable.attribute}")

    def read_defaults(self, struct: StructSpec, var: str) -> None:
        """Write the defaults of the fields that this version lacks."""
        context = self.context(struct)
        for field in struct.fields:
            is_ordinary = self.version in field.versions and self.version not in field.tagged
            default = default_value(field)
            if not is_ordinary and not context.is_tag_only(field):
                self.out.line(f"{var}.{field.attribute} = {default}")

    def flush_read(self, pending: list[Piece], uuids: list[str], *, extra: Piece | None = None) -> None:
        """Write one `unpack` for the pending fixed-width fields."""
        pieces = [*pending, extra] if extra else list(pending)
        if extra and not pending and extra.letter == "B":
            self.out.line(f"{extra.name} = buf[pos]")
            self.out.line("pos += 1")
        elif pieces:
            letters = "".join(p.letter for p in pieces)
            names = [p.name for p in pieces]
            width = sum(width_of(p.letter) for p in pieces)
            self.assign(names, f"unpack_{self.layout(letters)}(buf, pos)")
            self.out.line(f"pos += {width}")
        for target in uuids:
            self.out.line(f"{target} = new_uuid(Uuid, {target})")
        pending.clear()
        uuids.clear()

    def assign(self, names: list[str], value: str) -> None:
        """Write the assignment of `value` to these names, on several lines if it is long."""
        whole = f"{', '.join(names)} = {value}" if len(names) > 1 else f"({names[0]},) = {value}"
        if len(whole) <= 84:
            self.out.line(whole)
            return
        self.out.line("(")
        for name in names:
            self.out.line(f"    {name},")
        self.out.line(f") = {value}")

    def read_length(self, field: FieldSpec, pending: list[Piece], uuids: list[str]) -> None:
        """Write code that reads the length of `field` into `n`, below 0 for null."""
        flexible = self.flexible and field.flexible is None
        if flexible:
            self.flush_read(pending, uuids, extra=Piece("B", "n"))
            if self.is_short_array(field):
                return
            with self.out.block("if n > 127:"):
                if field.type.base in ("records", "bytes"):
                    self.read_long_length()
                else:
                    self.out.line("n, pos = wire.read_compact_length(buf, pos - 1)")
                if field.type.base == "string" and not field.type.is_array:
                    with self.out.block("if n > wire.STRING_BYTES_MAX:"):
                        self.out.line("raise wire.Malformed")
            with self.out.block("else:"):
                self.out.line("n -= 1")
        else:
            is_short = field.type.base == "string" and not field.type.is_array
            self.flush_read(pending, uuids, extra=Piece("h" if is_short else "i", "n"))

    def is_short_array(self, field: FieldSpec) -> bool:
        return field.type.is_array and field.type.base == "int32" and self.flexible

    def read_long_length(self) -> None:
        """Write code that reads a length of two or three bytes, as nearly all records have, without a call."""
        out = self.out
        out.line("second = buf[pos]")
        with out.block("if second < 128:"):
            out.line("n = (n & 0x7F | second << 7) - 1")
            out.line("pos += 1")
        with out.block("elif buf[pos + 1] < 128:"):
            out.line("n = (n & 0x7F | (second & 0x7F) << 7 | buf[pos + 1] << 14) - 1")
            out.line("pos += 2")
        with out.block("else:"):
            out.line("n, pos = wire.read_compact_length(buf, pos - 1)")

    def read_int32s(self, struct: StructSpec, field: FieldSpec, target: str) -> None:
        """Write code that reads int32s, `n` being the first byte of their length; up to 31 have prebuilt unpackers."""
        out = self.out
        is_tuple = decodes_to_tuples(self.message, struct)
        with out.block("if 0 < n < 33:"):
            value = "wire.UNPACK_INT32S[n - 1](buf, pos)"
            out.line(f"{target} = {value}" if is_tuple else f"{target} = list({value})")
            out.line("pos += 4 * n - 4")
        with out.block("else:"):
            out.line("n, pos = wire.read_compact_length(buf, pos - 1)")
            nullable = self.version in field.nullable
            with out.block("if n < 0:"):
                out.line(f"{target} = None" if nullable else "raise wire.Malformed")
            with out.block("elif 4 * n > size - pos:"):
                out.line("raise wire.Malformed")
            with out.block("else:"):
                kind = "read_tuple" if is_tuple else "read_numbers"
                out.line(f'{target}, pos = wire.{kind}(buf, pos, n, "i", 4)')

    def read_variable(self, struct: StructSpec, field: FieldSpec, target: str) -> None:
        """Write code that reads a string, bytes or records."""
        out = self.out
        nullable = self.version in field.nullable
        if self.is_short_array(field):
            self.read_int32s(struct, field, target)
            return
        if field.type.is_array and field.type.is_struct:
            if nullable:
                with out.block("if n < 0:"):
                    out.line(f"{target} = None")
                with out.block("else:"):
                    self.read_struct_array(struct, field, target)
            else:
                self.read_struct_array(struct, field, target)
            return
        with out.block("if n < 0:"):
            out.line(f"{target} = None" if nullable else "raise wire.Malformed")
        if field.type.is_array:
            with out.block("else:"):
                self.read_scalar_array(struct, field, target)
            return
        with out.block("else:"):
            out.line("end = pos + n")
            if field.type.base == "string":
                out.line(
                    f'{target} = str(buf[pos:end], "utf-8")' if self.is_view else f"{target} = buf[pos:end].decode()"
                )
            elif field.type.base == "records":
                out.line(f"{target} = view[pos:end]")
            else:
                out.line(f"{target} = bytes(buf[pos:end])")
            out.line("pos = end")

    def read_scalar_array(self, struct: StructSpec, field: FieldSpec, target: str) -> None:
        """Write code that reads an array of scalars."""
        out, base = self.out, field.type.base
        width = element_width(self.context(struct), field)
        with out.block(f"if n * {width} > size - pos:"):
            out.line("raise wire.Malformed")
        if base in LETTERS:
            kind = "read_tuple" if decodes_to_tuples(self.message, struct) else "read_numbers"
            out.line(f'{target}, pos = wire.{kind}(buf, pos, n, "{LETTERS[base]}", {width})')
        elif base == "uuid":
            out.line(f"{target}, pos = wire.read_many(wire.read_uuid, buf, pos, n)")
        else:
            word = "compact_" if self.flexible else ""
            out.line(f"{target}, pos = wire.read_many(wire.read_{word}{base}, buf, pos, n)")

    def read_nested(self, struct: StructSpec, field: FieldSpec, var: str) -> None:
        """Write code that reads a nested struct."""
        target = f"{var}.{field.attribute}"
        if self.version in field.nullable:
            self.out.line("(present,) = wire.unpack_int8(buf, pos)")
            self.out.line("pos += 1")
            with self.out.block("if present < 0:"):
                self.out.line(f"{target} = None")
            with self.out.block("else:"):
                self.out.line(f"{target}, pos = {field.type.base}._read(buf, pos, version)")
        else:
            self.out.line(f"{target}, pos = {field.type.base}._read(buf, pos, version)")

    def read_tags(self, struct: StructSpec, var: str, pending: list[Piece], uuids: list[str]) -> None:
        """Write code that reads the tagged section: usually it is empty; any other is left to the plain code."""
        if pending:
            self.flush_read(pending, uuids, extra=Piece("B", "n"))
            with self.out.block("if n:"):
                self.out.line(f"pos = {var}._read_tags(buf, pos - 1, version)")
            return
        self.flush_read(pending, uuids)
        with self.out.block("if buf[pos]:"):
            self.out.line(f"pos = {var}._read_tags(buf, pos, version)")
        with self.out.block("else:"):
            self.out.line("pos += 1")

    def read_struct_array(self, struct: StructSpec, field: FieldSpec, target: str) -> None:
        """Write code that reads an array of structs, in the fastest way that its layout allows."""
        out = self.out
        inner = self.message.struct(field.type.base)
        width = max(1, min_width(self.message, inner))
        with out.block(f"if not 0 <= n * {width} <= size - pos:"):
            out.line("raise wire.Malformed")
        kind = "any" if self.is_view else shape_of(self.message, inner, self.version)
        if kind == "flat":
            self.read_flat(inner, target)
        elif kind == "shaped":
            self.read_shaped(struct, inner, target)
        else:
            self.read_each(inner, target)

    def read_each(self, inner: StructSpec, target: str) -> None:
        """Write a loop that reads the elements one by one."""
        item = snake_case(inner.name)
        items = f"{item}_items"
        kind = f": list[{inner.name}]" if items not in self.declared else ""
        self.declared.add(items)
        # Making all objects at once is faster, but takes more memory if the array turns out to be truncated: so it is
        # done only where an object is not much larger than the minimum number of bytes of an element.
        if object_size(self.context(inner)) <= 4 * min_width(self.message, inner):
            self.out.line(f"{items}{kind} = list(map(new, repeat({inner.name}, n)))")
            self.out.line(f"{target} = {items}")
            with self.out.block(f"for {item} in {items}:"):
                self.read_struct(inner, item, is_created=True)
            return
        self.out.line(f"{items}{kind} = []")
        self.out.line(f"{target} = {items}")
        with self.out.block("for _ in range(n):"):
            self.read_struct(inner, item)
            self.out.line(f"{items}.append({item})")

    def read_flat(self, inner: StructSpec, target: str) -> None:
        """Write code that reads elements of fixed width; one strided slice shows whether any of them has tags."""
        out = self.out
        fields = list(inner.ordinary(self.version))
        letters = "".join(LETTERS[f.type.base] for f in fields) + "x"
        width = sum(f.type.width for f in fields)
        item = snake_case(inner.name)
        items = f"{item}_items"
        out.line(f"end = pos + {width + 1} * n")
        with out.block(f"if end <= size and buf[pos + {width} : end : {width + 1}].count(0) == n:"):
            kind = f": list[{inner.name}]" if items not in self.declared else ""
            self.declared.add(items)
            out.line(f"{items}{kind} = list(map(new, repeat({inner.name}, n)))")
            out.line(f"{target} = {items}")
            with self.loop_into(inner.name, item, fields, items, f"iterate_{self.layout(letters)}(buf[pos:end])"):
                out.line(f"{item}._tagged = 0")
                self.read_defaults(inner, item)
            out.line("pos = end")
        with out.block("else:"):
            self.read_each(inner, target)

    @contextmanager
    def loop_into(self, struct: str, item: str, fields: list[FieldSpec], items: str, rows: str) -> Iterator[None]:
        """Write a loop whose head stores the values of each row into the fields of an object."""
        names = [f"{item}.{f.attribute}" for f in fields]
        if item not in self.declared:
            # A type checker cannot follow values that are unpacked and stored in one statement.
            self.declared.add(item)
            self.out.line(f"{item}: {struct}")
        self.out.line("for (")
        self.out.line(f"    {item},")
        self.out.line("    (")
        for name in names:
            self.out.line(f"        {name},")
        self.out.line("    ),")
        with self.out.block(f") in zip({items}, {rows}):"):
            yield

    def read_shaped(self, struct: StructSpec, inner: StructSpec, target: str) -> None:
        """Write code that reads elements as wide as the first; strided slices show whether all have equal lengths."""
        out = self.out
        shape = self.shape(inner)
        lengths = [f"length_{f.attribute}" for f in inner.ordinary(self.version) if f.type.is_array]
        spots: list[tuple[str, str]] = []
        at, gap = "pos", 0
        out.line("rows = None")
        out.line("try:")
        out.indent()
        for piece in inner.ordinary(self.version):
            if not piece.type.is_array:
                gap += piece.type.width
                continue
            width = FIXED_WIDTH[piece.type.base]
            spot, length = f"spot_{piece.attribute}", f"length_{piece.attribute}"
            out.line(f"{spot} = {at} + {gap}")
            out.line(f"{length} = buf[{spot}]")
            spots.append((spot, length))
            at, gap = f"{spot} + {width} * {length}", 1 - width
        out.line(f"last = {at} + {gap}" if gap >= 0 else f"last = {at} - {-gap}")
        out.line("stride = last + 1 - pos")
        out.line("end = pos + stride * n")
        known_rows = f"{shape}_rows(({', '.join(lengths)}))"
        self.shapes[f"{shape}_rows"] = f"{shape}.known_rows.get"
        out.line(f"rows = {known_rows} or {shape}.rows({', '.join(lengths)})")
        out.dedent()
        with out.block("except IndexError:"):
            out.line("pass  # A length of two bytes, taken for one, may point anywhere.")
        with out.block("if ("):
            out.line("rows is not None")
            out.line("and end <= size")
            for spot, length in spots:
                out.line(f"and buf[{spot}:end:stride].count({length}) == n")
            out.line("and buf[last:end:stride].count(0) == n")
        out.line("):")
        out.indent()
        owner, _, attribute = target.rpartition(".")
        loader = f"load_{shape}"
        with out.block("if lazy:"):
            # Hidden from type checkers: until the attribute is read, the slot holds its loader and arguments.
            out.line(f"{owner}.{attribute} = ({loader}, buf, pos, end, n, rows)  # type: ignore[assignment]")
            out.line(f"{owner}.__class__ = {self.late_class(struct, attribute)}")
        with out.block("else:"):
            self.read_rows(inner, target, snake_case(inner.name))
        out.line("pos = end")
        out.dedent()
        with out.block("else:"):
            self.read_each(inner, target)
        self.loaders[loader] = self.loader_text(loader, inner)

    def late_class(self, struct: StructSpec, attribute: str) -> str:
        """Return the name of the class whose `attribute` is read on first access."""
        name = f"Late{struct.name}"
        text = Emitter()
        with text.block(f"class {name}({struct.name}):"):
            text.line("__slots__ = ()")
            text.line()
            text.line(f'{attribute} = Late({struct.name}, "{attribute}")')
        self.loaders[name] = text.text
        return name

    def read_rows(self, inner: StructSpec, target: str, item: str) -> None:
        """Write the lines that read an array whose elements all have the layout in `rows`."""
        self.out.line("cut, pick = rows")
        self.out.line(f"{target} = list(map(new, repeat({inner.name}, n)))")
        fields = list(inner.ordinary(self.version))
        with self.loop_into(inner.name, item, fields, target, "map(pick, cut(buf[pos:end]))"):
            self.out.line(f"{item}._tagged = 0")
            self.read_defaults(inner, item)

    def loader_text(self, loader: str, inner: StructSpec) -> str:
        """Return the text of the function that reads an array of `inner` on first access."""
        outer, self.out = self.out, Emitter()
        declared, self.declared = self.declared, set()
        with self.out.block(f"def {loader}(buf: Any, pos: int, end: int, n: int, rows: Any) -> list[{inner.name}]:"):
            self.read_rows(inner, "items", "item")
            self.out.line("return items")
        text, self.out = self.out.text, outer
        self.declared = declared
        return text
