"""Common base of the makers of straight-line readers and writers: the emitted text and the names it needs."""

from __future__ import annotations

from dataclasses import dataclass

from codegen.emit import Emitter
from codegen.layout import LETTERS, Context
from codegen.schema import MessageSpec, StructSpec, snake_case

# Letters of `struct`; a uuid is raw bytes there.
HOT_LETTERS = {**LETTERS, "uuid": "16s"}


@dataclass(frozen=True, slots=True)
class Piece:
    """One value of a `struct` call: its letter, and the variable or attribute."""

    letter: str
    name: str


class Maker:
    def __init__(self, message: MessageSpec) -> None:
        self.message = message
        self.is_view = any(f.type.base == "records" for s in message.structs() for f in s.fields)
        self.layouts: dict[str, str] = {}
        self.shapes: dict[str, str] = {}
        self.loaders: dict[str, str] = {}
        self.version = 0
        self.out = Emitter()
        # Local variables of the current function that are already annotated, and values to be written next.
        self.declared: set[str] = set()
        self.queue: list[str] = []

    def write_constants(self, out: Emitter, body: str, fused: dict[str, str]) -> None:
        """Write the names that `body` needs and `fused` lacks: abbreviations, and tables of layouts."""
        out.line("new = object.__new__")
        if "uvarint(" in body:
            out.line("uvarint = wire.uvarint")
        if "new_uuid(" in body:
            out.line("new_uuid = bytes.__new__")
        for letters, name in sorted(self.layouts.items(), key=lambda item: item[1]):
            unpacks = f"unpack_{name}(" in body and letters not in fused
            packs = f"pack_{name}(" in body.replace(f"unpack_{name}(", "") and letters not in fused
            if unpacks and packs:
                out.line(f'unpack_{name}, pack_{name} = wire.fused("{letters}")')
            elif unpacks:
                out.line(f'unpack_{name} = wire.fused("{letters}")[0]')
            elif packs:
                out.line(f'pack_{name} = wire.fused("{letters}")[1]')
            if f"iterate_{name}(" in body:
                out.line(f'iterate_{name} = wire.iterator("{letters}")')
        for name, definition in sorted(self.shapes.items()):
            if name in body:
                out.line(f"{name} = {definition}")

    def layout(self, letters: str) -> str:
        """Return a name for the `struct` format `letters`; `write_constants` will define it."""
        name = letters.replace("?", "o").replace("16s", "u")
        self.layouts[letters] = name
        return name

    def context(self, struct: StructSpec) -> Context:
        return Context(self.message, struct)

    @property
    def flexible(self) -> bool:
        return self.version in self.message.flexible

    def shape(self, inner: StructSpec) -> str:
        """Return the name of the table of layouts for structs of the type `inner`."""
        fields = list(inner.ordinary(self.version))
        pieces = ", ".join(f'"{LETTERS[f.type.base]}{"*" if f.type.is_array else ""}"' for f in fields)
        name = f"{snake_case(inner.name)}_shape"
        known = self.shapes.setdefault(name, f"wire.Shape({pieces})")
        assert known == f"wire.Shape({pieces})", "one shape for all versions on the list"
        return name


def width_of(letter: str) -> int:
    return {"?": 1, "b": 1, "B": 1, "h": 2, "H": 2, "i": 4, "I": 4, "q": 8, "d": 8, "16s": 16}[letter]
