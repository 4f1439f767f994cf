"""Table of the messages with straight-line code, and the shapes of their structs."""

from __future__ import annotations

from codegen.layout import LETTERS, Context
from codegen.schema import MessageSpec, StructSpec
from codegen.versions import Versions

# Message name to the versions with straight-line code.
HOT: dict[str, str] = {
    "ApiVersionsResponse": "3-4",
    "MetadataResponse": "12-13",
    "FetchRequest": "13-19",
    "FetchResponse": "13-19",
    "ProduceRequest": "9-13",
    "ProduceResponse": "9-13",
}
# Arrays that are nearly always empty, so that one call reads past them.
USUALLY_EMPTY = {("FetchResponse", "AbortedTransactions")}


def is_hot(message: MessageSpec) -> bool:
    return message.name in HOT


def decodes_to_tuples(message: MessageSpec, struct: StructSpec) -> bool:
    """Return whether arrays of numbers are read as tuples: the case where whole arrays of such structs are read."""
    return is_hot(message) and shape_of(message, struct, Versions.parse(HOT[message.name]).high) == "shaped"


def object_size(context: Context) -> int:
    """Return the size in bytes of an object without its referents: header, garbage collector's header, slots."""
    return 32 + 8 * (1 + sum(not context.is_tag_only(f) for f in context.struct.fields))


def shape_of(message: MessageSpec, struct: StructSpec, version: int) -> str:
    """Return `flat`: only fixed width; `shaped`: fixed width and arrays of numbers; else `any`."""
    if version not in message.flexible or version not in struct.versions:
        return "any"
    arrays = 0
    for field in struct.ordinary(version):
        if field.type.base in LETTERS and not field.type.is_array:
            continue
        if field.type.base in LETTERS and version not in field.nullable:
            arrays += 1
            continue
        return "any"
    return "shaped" if arrays else "flat"
