"""How is a record written as JSON, so that people read what is text and programs lose nothing?

Bytes that are UTF-8 are a member with their name; others are base64 in a member whose name says so, and then the
first one is not there. A null is null under the plain name.
"""

from __future__ import annotations

import base64
import json
import re
from typing import Any, Final

from kmirror.records.instants import utc_text
from kmirror.records.layout import NO_TIMESTAMP

# Valid in JSON as they are, but terminals act on some of them, and some readers of lines end a line at others.
_UNPRINTED: Final = re.compile("[\x7f-\x9f\u2028\u2029\ufeff]")


def payload(name: str, data: bytes | None, base64_name: str) -> dict[str, str | None]:
    """Return the one member that holds `data`: text under `name`, or base64 under `base64_name`."""
    if data is None:
        return {name: None}
    try:
        return {name: data.decode("utf-8")}
    except UnicodeDecodeError:
        return {base64_name: base64.b64encode(data).decode("ascii")}


def utc_or_none(timestamp: int) -> str | None:
    """Return a timestamp in ms as text, None where a record has none."""
    return None if timestamp == NO_TIMESTAMP else utc_text(timestamp)


def json_line(values: dict[str, Any]) -> str:
    """Return the object on one line, in as few characters as it takes, with its end of line."""
    text = json.dumps(values, ensure_ascii=False, separators=(",", ":"))
    return _UNPRINTED.sub(lambda found: f"\\u{ord(found.group()):04x}", text) + "\n"
