"""Generator of the table of error codes from errors.json."""

from __future__ import annotations

import json
from pathlib import Path

from codegen.emit import Emitter
from codegen.load import SCHEMAS


def generate_error_codes(path: Path = SCHEMAS / "errors.json") -> str:
    """Return the text of `error_codes.py`, generated from the rows of `schemas/errors.json`."""
    rows = json.loads(path.read_text(encoding="utf-8"))["errors"]
    out = Emitter()
    out.lines('"""Kafka\'s error codes and those of KIP-1279.', "")
    out.line("Generated from schemas/errors.json. Change schemas/ or codegen/, then run python -m codegen.")
    out.lines('"""', "", "from __future__ import annotations", "", "from enum import IntEnum", "", "")
    with out.block("class ErrorCode(IntEnum):"):
        out.line('"""The error code of an answer; to a client any other is UNKNOWN_SERVER_ERROR."""')
        out.line()
        for row in rows:
            out.line(f"{row['name']} = {row['code']}")
        out.line()
        out.line("@property")
        with out.block("def retriable(self) -> bool:"):
            out.line('"""Return whether the same request may succeed later."""')
            out.line("return self.value in _RETRIABLE")
        out.line()
        out.line("@property")
        with out.block("def text(self) -> str:"):
            out.line('"""Return a description of the error for people."""')
            out.line("return _TEXTS[self.value]")
    out.lines("", "")
    retriable = [str(row["code"]) for row in rows if row["retriable"]]
    with out.block("_RETRIABLE = frozenset("):
        with out.block("{"):
            line = ""
            for code in retriable:
                if len(line) + len(code) > 90:
                    out.line(line.rstrip())
                    line = ""
                line += f"{code}, "
            out.line(line.rstrip())
        out.line("}")
    out.lines(")", "")
    with out.block("_TEXTS = {"):
        for row in rows:
            out.line(f"{row['code']}: {json.dumps(row['text'], ensure_ascii=False)},")
    out.line("}")
    return out.text
