"""Generator of straight-line writers: a whole message of one version in one function."""

from __future__ import annotations

from codegen.hot_maker import Maker, Piece
from codegen.hot_table import USUALLY_EMPTY, shape_of
from codegen.layout import LETTERS, non_default_test
from codegen.schema import FieldSpec, StructSpec, snake_case


class WriterMaker(Maker):
    def put(self, *values: str) -> None:
        """Queue values for the next `flush_queue`, which writes all of them at once."""
        self.queue += values

    def flush_queue(self) -> None:
        """Write code that hands over all queued values."""
        if len(self.queue) == 1:
            self.out.line(f"put({self.queue[0]})")
        elif self.queue:
            self.out.call("chunks += (", self.queue)
        self.queue = []

    def write_struct(self, struct: StructSpec, var: str) -> None:
        """Write straight-line code for the struct, except for its unusual parts."""
        out = self.out
        if shape_of(self.message, struct, self.version) == "shaped" and self.is_plain(struct) and var != "self":
            self.write_shaped(struct, var)
            return
        with out.block(f"if {' or '.join(self.unusual_tests(struct, var))}:"):
            out.line(f"{var}._write(put, version)")
            out.line("return" if var == "self" else "continue")
        pending: list[Piece] = []
        fields = list(struct.ordinary(self.version))
        end = ['b"\\0"'] if self.flexible else []
        while fields:
            field = fields.pop(0)
            source = f"{var}.{field.attribute}"
            base = field.type.base
            if (self.message.name, field.name) in USUALLY_EMPTY and self.version in field.nullable and self.flexible:
                self.write_usually_empty(field, fields, var, pending)
                continue
            if base in LETTERS and not field.type.is_array:
                pending.append(Piece(LETTERS[base], source))
                continue
            self.flush_write(pending)
            if not fields and base in ("bytes", "records") and not field.type.is_array:
                self.write_bytes(field, source, end)
                return
            self.write_variable(field, source)
        if self.flexible and pending:
            pending.append(Piece("B", "0"))
            end = []
        self.flush_write(pending)
        self.put(*end)
        self.flush_queue()

    def write_usually_empty(self, field: FieldSpec, fields: list[FieldSpec], var: str, pending: list[Piece]) -> None:
        """Write one `struct` call for the numbers around an array that is null or empty."""
        source = f"{var}.{field.attribute}"
        following: list[Piece] = []
        while fields and fields[0].type.base in LETTERS and not fields[0].type.is_array:
            field_after = fields.pop(0)
            following.append(Piece(LETTERS[field_after.type.base], f"{var}.{field_after.attribute}"))
        self.flush_queue()
        with self.out.block(f"if not {source}:"):
            self.flush_write([*pending, Piece("B", f"{source} is not None"), *following])
            self.flush_queue()
        with self.out.block("else:"):
            self.flush_write(pending)
            self.write_items(field, source, source)
            self.flush_write(following)
            self.flush_queue()

    def unusual_tests(self, struct: StructSpec, var: str) -> list[str]:
        """Return the tests for tags, and for fields that are set but do not exist in the version."""
        context = self.context(struct)
        tests = [f"{var}._tagged"]
        for field in struct.fields:
            is_ordinary = self.version in field.versions and self.version not in field.tagged
            is_dropped = self.version not in field.versions and field.ignorable
            if not is_ordinary and not is_dropped and not context.is_tag_only(field):
                tests.append(non_default_test(field).replace(f"self.{field.attribute}", f"{var}.{field.attribute}"))
        return tests

    def is_plain(self, struct: StructSpec) -> bool:
        """Return whether tags are the only unusual data that the struct can have."""
        return len(self.unusual_tests(struct, "item")) == 1

    def flush_write(self, pending: list[Piece]) -> None:
        """Write one `pack` for the pending fixed-width fields."""
        if pending:
            name = self.layout("".join(p.letter for p in pending))
            self.put(f"pack_{name}({', '.join(p.name for p in pending)})")
            pending.clear()

    def write_variable(self, field: FieldSpec, source: str) -> None:
        """Write code that writes a string, bytes or records."""
        base = field.type.base
        nullable = "nullable_" if self.version in field.nullable else ""
        compact = "compact_" if self.flexible and field.flexible is None else ""
        if field.type.is_array:
            self.write_array(field, source, f"{compact}{nullable}count")
        elif field.type.is_struct:
            self.flush_queue()
            self.write_nested(source, bool(nullable))
        elif base == "uuid":
            self.put(f"wire.uuid({source})")
        elif base == "string":
            self.put(f"wire.{compact}{nullable}string({source})")
        else:
            self.write_bytes(field, source, [])

    def write_nested(self, source: str, nullable: bool) -> None:
        """Write code that writes a nested struct."""
        if not nullable:
            self.out.line(f"{source}._write(put, version)")
            return
        with self.out.block(f"if {source} is None:"):
            self.out.line('put(b"\\xff")')
        with self.out.block("else:"):
            self.out.line('put(b"\\x01")')
            self.out.line(f"{source}._write(put, version)")

    def write_bytes(self, field: FieldSpec, source: str, end: list[str]) -> None:
        """Write code that writes a length and the bytes unchanged; `end` follows."""
        length = f"uvarint(len({source}) + 1)" if self.flexible else f"wire.pack_int32(len({source}))"
        null = 'b"\\0"' if self.flexible else 'b"\\xff\\xff\\xff\\xff"'
        queued = self.queue
        with self.out.block(f"if {source} is not None:"):
            self.queue = [*queued, length, source, *end]
            self.flush_queue()
        with self.out.block("else:"):
            if self.version in field.nullable:
                self.queue = [*queued, null, *end]
                self.flush_queue()
            else:
                self.out.line("raise wire.Unwritable")
        self.queue = []

    def write_array(self, field: FieldSpec, source: str, counter: str) -> None:
        """Write code that writes an array, in the fastest way that its layout allows."""
        out = self.out
        if self.version in field.nullable and self.flexible:
            self.flush_queue()
            with out.block(f"if {source} is None:"):
                out.line('put(b"\\0")')
            with out.block("else:"):
                self.write_items(field, source, source)
            return
        items = source
        if self.version in field.nullable:
            self.put(f"wire.{counter}({source})")
            items = f"{source} or ()"
        self.write_items(field, source, items)

    def write_items(self, field: FieldSpec, source: str, items: str) -> None:
        """Write a loop that writes the elements one by one."""
        out, base = self.out, field.type.base
        if items == source:
            self.put(f"uvarint(len({source}) + 1)" if self.flexible else f"wire.count({source})")
        if base in LETTERS:
            self.put(f'wire.numbers({items}, "{LETTERS[base]}")')
            self.flush_queue()
            return
        self.flush_queue()
        inner = self.message.struct(base) if field.type.is_struct else None
        if inner and shape_of(self.message, inner, self.version) == "flat" and self.is_plain(inner):
            self.write_flat(inner, items)
            return
        item = snake_case(base)
        with out.block(f"for {item} in {items}:"):
            if inner:
                self.write_struct(inner, item)
            elif base == "uuid":
                out.line(f"put(wire.uuid({item}))")
            else:
                word = "compact_" if self.flexible else ""
                call = f"put(wire.{word}string({item}))"
                out.line(call if base == "string" else f"wire.put_{word}bytes(put, {item})")

    def write_flat(self, struct: StructSpec, items: str) -> None:
        """Write one `struct` call for each element, all in one list.

        The last value of each row is `_tagged`: 0, which is the byte for no tags, or a dict, which `struct` refuses.
        """
        out = self.out
        fields = list(struct.ordinary(self.version))
        pack = f"pack_{self.layout(''.join(LETTERS[f.type.base] for f in fields) + 'B')}"
        values = [*(f"item.{f.attribute}" for f in fields), "item._tagged"]
        with out.block("try:"):
            with out.block("rows = ["):
                out.call(f"{pack}(", values)
                out.line(f"for item in {items}")
            out.line("]")
            out.line('put(b"".join(rows))')
        with out.block("except wire.PACK_ERRORS:"), out.block(f"for {snake_case(struct.name)} in {items}:"):
            out.line(f"{snake_case(struct.name)}._write(put, version)")

    def write_shaped(self, struct: StructSpec, var: str) -> None:
        """Write one `struct` call for all elements, in a layout with their array lengths; tags as in `write_flat`."""
        out = self.out
        fields = list(struct.ordinary(self.version))
        arrays = [f for f in fields if f.type.is_array]
        for field in arrays:
            out.line(f"{field.attribute} = {var}.{field.attribute}")
        arguments = []
        for field in fields:
            if field.type.is_array:
                arguments += [f"len({field.attribute}) + 1", f"*{field.attribute}"]
            else:
                arguments.append(f"{var}.{field.attribute}")
        lengths = ", ".join(f"len({f.attribute})" for f in arrays)
        shape = self.shape(struct)
        self.shapes[f"{shape}_pack"] = f"{shape}.known_packs.get"
        with out.block("try:"):
            out.line(f"pack = {shape}_pack(({lengths})) or {shape}.pack({lengths})")
            out.call("put(pack(", [*arguments, f"{var}._tagged"], "))")
        with out.block("except wire.PACK_ERRORS:"):
            out.line(f"{var}._write(put, version)")
