"""JSON form of records: text stays readable, and other bytes are not lost.

Bytes in UTF-8 are a member with their name; others are base64 in a member with another name, and the first member is
missing then. A null is null under the plain name.
"""

from __future__ import annotations

import base64
import json
import re
from typing import Any, Final

from kmirror.records.instants import utc_text
from kmirror.records.layout import NO_TIMESTAMP

# Valid in JSON, but terminals interpret some of them, and some line readers end a line at others.
_UNPRINTED: Final = re.compile("[\x7f-\x9f\u2028\u2029\ufeff]")


def payload(name: str, data: bytes | None, base64_name: str) -> dict[str, str | None]:
    """Return the one member for `data`: text under `name`, or base64 under `base64_name`."""
    if data is None:
        return {name: None}
    try:
        return {name: data.decode("utf-8")}
    except UnicodeDecodeError:
        return {base64_name: base64.b64encode(data).decode("ascii")}


def utc_or_none(timestamp: int) -> str | None:
    """Return a timestamp in ms as text, or None if the record has none."""
    return None if timestamp == NO_TIMESTAMP else utc_text(timestamp)


def json_line(values: dict[str, Any]) -> str:
    """Return the object on one line in its shortest form, with an end of line."""
    text = json.dumps(values, ensure_ascii=False, separators=(",", ":"))
    return _UNPRINTED.sub(lambda found: f"\\u{ord(found.group()):04x}", text) + "\n"
