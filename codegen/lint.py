"""Checker for the faults of schemas, in schema files and in texts that quote some, such as a KIP's page.

The blocks of a draft are often not even JSON. Such faults are reported and repaired, so that the rest can be checked
too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codegen.rules import Fault, check_field, check_keys, check_message
from codegen.schema import load_json, strip_comments


@dataclass(frozen=True, slots=True)
class Block:
    """A JSON object in a text, and its first line."""

    line: int
    text: str


def blocks(text: str) -> Iterator[Block]:
    """Yield the objects that begin a line and look like a schema or a field of one."""
    lines = text.splitlines()
    number = 0
    while number < len(lines):
        if not lines[number].lstrip().startswith("{"):
            number += 1
            continue
        depth = 0
        block_lines = []
        for line in lines[number:]:
            block_lines.append(line)
            unquoted = re.sub(r'"(?:\\.|[^"\\])*"', "", strip_comments(line))
            depth += unquoted.count("{") - unquoted.count("}")
            if depth <= 0:
                break
        found = "\n".join(block_lines)
        if re.search(r'"(validVersions|versions)"', found):
            yield Block(number + 1, found.rstrip().rstrip(","))
        number += len(block_lines)


@dataclass(frozen=True, slots=True)
class Repair:
    pattern: re.Pattern[str]
    replacement: str
    message: str


REPAIRS = (
    Repair(
        re.compile(r"(?P<lead>:\s*)(?P<word>(?!true\b|false\b|null\b)[A-Za-z]\w*)(?=\s*[,}\]\n])"),
        r'\g<lead>"\g<word>"',
        "{word} is no JSON value",
    ),
    Repair(
        re.compile(r'(?P<lead>[,{]\s*)(?P<word>[A-Za-z]\w*)(?="\s*:)'),
        r'\g<lead>"\g<word>',
        "the quote before {word} is missing",
    ),
    Repair(re.compile(r"(?P<word>,)(?=\s*[}\]])"), "", "a comma before a closing bracket"),
)


def repair_block(block: Block, source: str) -> tuple[Any, list[Fault]]:
    """Return the value of a block, None if it cannot be repaired, and the faults that were repaired."""
    faults: list[Fault] = []
    text = strip_comments(block.text)
    for repair in REPAIRS:

        def fix(match: re.Match[str], repair: Repair = repair, text: str = text) -> str:
            line = block.line + text.count("\n", 0, match.start())
            message = repair.message.format(word=match["word"])
            faults.append(Fault(f"{source}:{line}", "", "", message))
            return match.expand(repair.replacement)

        # Strings are skipped: text in a string is no fault.
        text = _repair_outside_strings(text, repair.pattern, fix)
    try:
        return load_json(text), faults
    except ValueError as error:
        return None, [*faults, Fault(f"{source}:{block.line}", "", "", f"this is not JSON: {error}")]


def _repair_outside_strings(text: str, pattern: re.Pattern[str], fix: Any) -> str:
    spans = [m.span() for m in re.finditer(r'"(?:\\.|[^"\\\n])*"', text)]
    parts = []
    last = 0
    for match in pattern.finditer(text):
        start = match.start("word")
        # A missing quote swaps the inside and the outside of strings, so that the match may seem to be inside one.
        is_inside = any(a < start < b for a, b in spans)
        if is_inside and pattern is not REPAIRS[1].pattern:
            continue
        if is_inside and not re.match(r"[,{]\s*", text[match.start() : start]):
            continue
        parts.append(text[last : match.start()])
        parts.append(fix(match))
        last = match.end()
    parts.append(text[last:])
    return "".join(parts)


def lint_text(text: str, source: str) -> list[Fault]:
    """Return every fault of the schemas in a text."""
    faults: list[Fault] = []
    messages: list[tuple[Mapping[str, Any], str]] = []
    for block in blocks(text):
        raw, repaired_faults = repair_block(block, source)
        faults += repaired_faults
        if not isinstance(raw, Mapping):
            continue
        location = f"{source}:{block.line}"
        if "validVersions" in raw and "extends" not in raw:
            # A repaired fault has been reported; it is not reported again as a value of the wrong type.
            overrides = {"apiKey": 0} if isinstance(raw.get("apiKey"), str) and repaired_faults else {}
            faults += check_message({**raw, **overrides}, location)
            faults += _check_null_texts(raw, location)
            messages.append((raw, location))
        elif "versions" in raw:
            faults += check_field(raw, location)
    return [*faults, *check_keys(messages)]


def _check_null_texts(raw: Mapping[str, Any], source: str) -> list[Fault]:
    """Return the fields that cannot be null although their text describes null."""
    faults = []

    def visit(fields: Any, prefix: str) -> None:
        for field in fields if isinstance(fields, list) else ():
            if not isinstance(field, Mapping):
                continue
            path = f"{prefix}{field.get('name')}"
            if re.search(r"\bnull\b", str(field.get("about", "")), re.I) and "nullableVersions" not in field:
                text = "the text describes null, but the field is never null"
                faults.append(Fault(source, str(raw.get("name", "")), path, text))
            visit(field.get("fields"), f"{path}.")

    visit(raw.get("fields"), "")
    return faults


def lint_file(path: Path) -> list[Fault]:
    """Return every fault of one file, a schema or a text that contains schemas."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        try:
            return check_message(load_json(text), str(path))
        except ValueError:
            pass
    return lint_text(text, str(path))
