"""Random bytes, read as text by a JVM and by kmirror."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from typing import NoReturn

from kmirror.kernel.java import java_text
from tests.golden.protocol.java_texts import BYTES, LATER, ask_jvm, byte_strings, recorded_texts

CASES = int(os.environ.get("KMIRROR_TEXT_CASES", "20000"))
PIECES = [bytes([byte]) for byte in BYTES] + ["é€😀"[n].encode() for n in range(3)] + [b"\xed" + LATER[:2], b"\xed\xa0"]


def test_random_bytes_are_read_as_by_the_jvm(skip_or_fail: Callable[[str], NoReturn]) -> None:
    if shutil.which("java") is None:
        skip_or_fail("there is no java")
    draw = random.Random(8)
    strings = [draw.randbytes(draw.randint(1, 12)) for _ in range(CASES // 2)]
    strings += [b"".join(draw.choices(PIECES, k=draw.randint(1, 12))) for _ in range(CASES // 2)]
    answers = ask_jvm(strings)
    assert [data.hex() for data, text in zip(strings, answers, strict=True) if java_text(data) != text] == []


def test_the_recorded_results_equal_this_jvms(skip_or_fail: Callable[[str], NoReturn]) -> None:
    if shutil.which("java") is None:
        skip_or_fail("there is no java")
    assert ask_jvm(byte_strings()) == recorded_texts()
