"""Number of a default, as Kafka's generator and Java read it.

An integer is decimal, or `0x` and hexadecimal digits. The generator reads a leading zero as decimal, but in the
generated class it makes the number octal, which no author intends. A float64 is any text that Java's
`Double.parseDouble` accepts.
"""

from __future__ import annotations

import re

INTEGER_RANGES = {
    "int8": (-(2**7), 2**7 - 1),
    "int16": (-(2**15), 2**15 - 1),
    "uint16": (0, 2**16 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "uint32": (0, 2**32 - 1),
    "int64": (-(2**63), 2**63 - 1),
}

_INTEGER = re.compile(r"(?P<decimal>[+-]?(?:0|[1-9][0-9]*))|0x(?P<hex>[0-9a-fA-F]+)")
_DOUBLE = re.compile(
    r"""[\x00-\x20]* (?P<sign>[+-]?)
    (?: (?P<word>NaN|Infinity)
      | (?: (?P<decimal>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
          | (?P<hex>0[xX](?:[0-9a-fA-F]+\.?|[0-9a-fA-F]*\.[0-9a-fA-F]+)[pP][+-]?[0-9]+) ) [fFdD]? )
    [\x00-\x20]*""",
    re.VERBOSE,
)


def parse_integer(text: str) -> int | None:
    """Return the integer that `text` denotes, of any size; None if it denotes none."""
    match = _INTEGER.fullmatch(text)
    if match is None:
        return None
    return int(match["decimal"]) if match["hex"] is None else int(match["hex"], 16)


def parse_double(text: str) -> float | None:
    """Return the float64 that `text` denotes, infinite beyond the largest one; None if it denotes none."""
    match = _DOUBLE.fullmatch(text)
    if match is None:
        return None
    if match["hex"] is None:
        return float(match["sign"] + (match["word"] or match["decimal"]))
    try:
        return float.fromhex(match["sign"] + match["hex"])
    except OverflowError:
        return float(match["sign"] + "Infinity")
