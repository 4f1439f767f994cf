"""A line of `kmirror cat -o json` as the recordings of real consumers have it: keys and values in base64."""

from __future__ import annotations

import base64
from typing import Any


def as_recorded(row: dict[str, Any]) -> dict[str, Any]:
    """Return what both have; text and base64 of the line become base64 alone."""
    same = {name: row[name] for name in ("offset", "timestamp", "timestamp_type", "leader_epoch")}
    headers = [[header["key"], coded(header, "value")] for header in row["headers"]]
    return same | {"key": coded(row, "key"), "value": coded(row, "value"), "headers": headers}


def coded(row: dict[str, Any], name: str) -> str | None:
    """Return the member as base64, whichever way it was printed: in exactly one of the two."""
    other = f"{name}_base64"
    assert (name in row) != (other in row), row
    if other in row:
        found: str = row[other]
        return found
    return None if row[name] is None else base64.b64encode(row[name].encode()).decode()
