"""Error texts of Kafka's generated readers for bytes that our readers reject.

The dump tool prints these texts. A JVM exception without a message prints as `null`; so do all reads of numbers past
the end.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from kmirror.errors import ProtocolError

_SHORT: Final = re.compile(r"(\d+) bytes wanted, (\d+) left")
_COUNT: Final = re.compile(r"(\d+) elements claimed, (\d+) bytes left")
_STRING: Final = re.compile(r"a string of (\d+) bytes: .*")
_NULL: Final = re.compile(r"null where \w+ must be")
_NUMBER_SIZES: Final = (1, 2, 4, 8, 16)
_NO_MESSAGE: Final = "null"


def jvm_message(error: ProtocolError, data: bytes) -> str:
    """Return the JVM's message for the `error` from reading `data`; our message if the JVM has none for it."""
    for pattern, translate in _TRANSLATIONS:
        if found := pattern.fullmatch(error.reason):
            return translate(found, error, data)
    return _NO_MESSAGE if error.reason == "the bytes end within a varint" else error.reason


def _short(found: re.Match[str], error: ProtocolError, data: bytes) -> str:
    size, left = int(found[1]), int(found[2])
    if size in _NUMBER_SIZES and not _has_valid_length(size, error.position or 0, data):
        return _NO_MESSAGE
    return f"Error reading byte array of {size} byte(s): only {left} byte(s) available"


def _has_valid_length(size: int, position: int, data: bytes) -> bool:
    """Return whether an encoded length of `size`, in any form, precedes `position`."""
    lengths = (size.to_bytes(2, "big"), (size + 1).to_bytes(1, "big"))
    return any(data[:position].endswith(length) for length in lengths)


def _name_of(error: ProtocolError) -> str:
    name = error.field.rpartition(".")[2]
    first, *others = name.partition("[")[0].split("_")
    element = " element" if "[" in name else ""
    return first + "".join(word.capitalize() for word in others) + element


_TRANSLATIONS: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str], ProtocolError, bytes], str]], ...]] = (
    (_SHORT, _short),
    (
        _COUNT,
        lambda found, error, data: (
            f"Tried to allocate a collection of size {found[1]}, but there are only {found[2]} bytes remaining."
        ),
    ),
    (_STRING, lambda found, error, data: f"string field {_name_of(error)} had invalid length {found[1]}"),
    (_NULL, lambda found, error, data: f"non-nullable field {_name_of(error)} was serialized as null"),
)
