"""How does a JVM read bytes as text that are not quite UTF-8?"""

from __future__ import annotations

import re
from typing import Final

# Half of a surrogate pair. 0xED leads wherever it stands, so these can be found by themselves.
_SURROGATE: Final = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]?")


def java_text(data: bytes) -> str:
    """`new String(data, UTF_8)`, which never fails: a U+FFFD for each run that Java takes as one fault.

    Python's runs are the same but for surrogates, of which each byte is one there; 0xFF is a fault of one byte.
    """
    try:
        return data.decode()
    except UnicodeDecodeError:
        return _SURROGATE.sub(b"\xff", data).decode("utf-8", "replace")
