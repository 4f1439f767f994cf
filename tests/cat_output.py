"""Conversion of a line of `kmirror cat -o json` to the form of recorded consumer output: base64 keys and values."""

from __future__ import annotations

import base64
from typing import Any


def as_recorded(row: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that both forms have, with text and base64 converted to base64."""
    same = {name: row[name] for name in ("offset", "timestamp", "timestamp_type", "leader_epoch")}
    headers = [[header["key"], base64_of(header, "value")] for header in row["headers"]]
    return same | {"key": base64_of(row, "key"), "value": base64_of(row, "value"), "headers": headers}


def base64_of(row: dict[str, Any], name: str) -> str | None:
    """Return the member as base64, from the one of its two forms that was printed."""
    other = f"{name}_base64"
    assert (name in row) != (other in row), row
    if other in row:
        found: str = row[other]
        return found
    return None if row[name] is None else base64.b64encode(row[name].encode()).decode()
