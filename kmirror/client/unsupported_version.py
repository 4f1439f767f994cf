"""Detection of UNSUPPORTED_VERSION in a response.

Kafka's brokers close the link instead. When a feature level has changed, our brokers respond with UNSUPPORTED_VERSION,
and the link stays open (D1). The error is at the top level of the response or, if that version has none there, in all
of its rows.
"""

from __future__ import annotations

from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode

_rows: dict[type[Message], tuple[str, ...]] = {}
"""The arrays of a response whose elements have an error of their own."""


def has_unsupported_version(response: Message) -> bool:
    """Return whether the response, or the first of its rows, is UNSUPPORTED_VERSION."""
    if getattr(response, "error_code", ErrorCode.NONE) == ErrorCode.UNSUPPORTED_VERSION:
        return True
    kind = type(response)
    if kind not in _rows:
        arrays = [field for field in kind.FIELDS if field.type == "struct" and field.is_array]
        _rows[kind] = tuple(
            array.attribute for array in arrays if any(row.attribute == "error_code" for row in array.struct.FIELDS)
        )
    for name in _rows[kind]:
        rows = getattr(response, name)
        if rows and rows[0].error_code == ErrorCode.UNSUPPORTED_VERSION:
            return True
    return False
