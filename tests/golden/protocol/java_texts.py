"""Byte strings that are almost UTF-8, and the JVM's texts for them.

`python -m tests.golden.protocol.java_texts` records the texts again.
"""

from __future__ import annotations

import gzip
import itertools
import subprocess
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = ROOT / "tests/interop/protocol/Utf8.java"
RECORDED = ROOT / "tests/data/messages/java-texts.txt.gz"

# ASCII, the edges of continuation bytes (also after 0xE0, 0xED, 0xF0 and 0xF4), and lead bytes: overlong ones, those of
# each length with the first and the last differing one, and bytes that never occur.
BYTES = bytes.fromhex("41 80 8f 90 9f a0 bf c0 c1 c2 df e0 e1 ec ed ee ef f0 f1 f3 f4 f5 ff")
SECOND, LATER = bytes.fromhex("41 80 8f 90 bf ed"), bytes.fromhex("41 80 bf ed f0")


def byte_strings() -> list[bytes]:
    """Return all strings of up to three of `BYTES`, and prefixes of longer characters with one byte after them."""
    short = [bytes(found) for size in (1, 2, 3) for found in itertools.product(BYTES, repeat=size)]
    leads = bytes.fromhex("ed f0 f1 f4 f5 f8 fc")
    return short + [bytes(found) for found in itertools.product(leads, SECOND, LATER, LATER, b"\x41\x80")]


def ask_jvm(strings: Sequence[bytes]) -> list[str]:
    """Return `new String(bytes, UTF_8)` of each."""
    text = "".join(data.hex() + "\n" for data in strings)
    done = subprocess.run(["java", str(PROGRAM)], input=text, capture_output=True, text=True, check=True)
    found = [bytes.fromhex(line).decode("utf-16-be") for line in done.stdout.splitlines()]
    assert len(found) == len(strings)
    return found


def recorded_texts() -> list[str]:
    """Return the JVM's text for each of `byte_strings`."""
    return gzip.decompress(RECORDED.read_bytes()).decode().split("\n")


if __name__ == "__main__":
    RECORDED.write_bytes(gzip.compress("\n".join(ask_jvm(byte_strings())).encode(), 9, mtime=0))
