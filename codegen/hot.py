"""Straight-line code for a few frequent messages, in addition to the plain code that every message has.

For each listed version, one function reads the whole message and one writes it: versions and nesting are resolved when
the code is generated. One `struct` call reads a run of fixed-width fields and the next length byte, and one
`iter_unpack` reads an array of structs whose inner lengths are all equal. Unusual data (tagged fields, long lengths,
unknown tags) is left to the plain code, malformed data to `careful`. A property test checks that both forms are equal.
"""

from __future__ import annotations

from codegen.emit import Emitter
from codegen.hot_reader import ReaderMaker
from codegen.hot_table import HOT
from codegen.hot_writer import WriterMaker
from codegen.schema import MessageSpec
from codegen.versions import Versions


def write_hot(out: Emitter, message: MessageSpec, fused: dict[str, str]) -> None:
    """Write the straight-line code of one message; `fused` maps layouts that its module already has to their names."""
    versions = Versions.parse(HOT[message.name]).intersect(message.valid)
    maker = _Maker(message)
    readers: dict[int, str] = {}
    writers: dict[int, str] = {}
    bodies: dict[str, str] = {}
    for version in versions:
        for kind, table in (("read", readers), ("write", writers)):
            text = maker.function(kind, version)
            # Versions with the same layout share their code.
            name = bodies.setdefault(text, f"{kind}_{version}")
            table[version] = name
    functions = [*maker.loaders.values()]
    functions += [text.replace("FUNCTION_NAME", name) for text, name in bodies.items()]
    out.lines("", "", "# -- the same functions as above, written out for each version, for speed", "")
    maker.write_constants(out, "".join(functions), fused)
    for text in functions:
        out.lines("", "", *text.rstrip("\n").split("\n"))
    out.lines("", "")
    _write_table(out, message, "READERS", readers)
    _write_table(out, message, "WRITERS", writers)


def _write_table(out: Emitter, message: MessageSpec, name: str, table: dict[int, str]) -> None:
    with out.block(f"{message.name}.{name} = {{"):
        for version, function in table.items():
            out.line(f"{version}: {function},")
    out.line("}")


class _Maker(ReaderMaker, WriterMaker):
    def function(self, kind: str, version: int) -> str:
        self.version = version
        self.out = Emitter()
        self.declared = set()
        self.queue = []
        name = self.message.name
        if kind == "read":
            with self.out.block(
                f"def FUNCTION_NAME(buf: Any, pos: int, version: int, lazy: bool) -> tuple[{name}, int]:"
            ):
                self.out.line("size = len(buf)")
                if self.is_view:
                    self.out.line("view = memoryview(buf)")
                self.read_struct(self.message.root, "self")
                self.out.line("return self, pos")
        else:
            with self.out.block(f"def FUNCTION_NAME(self: {name}, chunks: list[wire.Chunk], version: int) -> None:"):
                self.out.line("put = chunks.append")
                self.write_struct(self.message.root, "self")
        return self.out.text
