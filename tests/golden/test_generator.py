"""`codegen lint` accepts and refuses the same schemas as Kafka's own generator."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

from codegen.rules import check_message

RECORDED = Path(__file__).parents[1] / "data" / "schemas" / "generator.ndjson.gz"

# Differences and their reasons; the pattern matches the schema.
STRICTER = {
    r"default u?int\d+ '(0x|0x[+-]5|010|09|٣)'": "what Java reads as another number, or does not compile",
    r"default uuid ('A{23}'|'A{32}'|'A{43}'|10+)": "more than 16 bytes, which Kafka's Uuid refuses later",
    r"default records '.+'": "the generator does not look at it",
    r"(\w|\+)+ \w+ '3-1'|flexibleVersions '3-1'": "a reversed range, which is read as none",
    r".*[vV]ersions '(\+3|٣|)'": "no plain number, and an empty text for none",
    r"entity '0' \S+|field name (True|False)": "what Jackson makes a word of",
    r"request name (sampleRequest|S_Request)": "no name for a class",
    r"message fields absent|field fields \[\]": "fields that are forgotten, or of a scalar",
    r"type ' ?(\[\])? ?\w+ ?'": "blanks around a type, and a struct that is declared nowhere",
}
LAXER = {
    r"entity 'mirrorName' (\[\])?string": "KIP-1279's",
    r"message about '.*'": "ours",
}


def reason(what: str, table: dict[str, str]) -> str | None:
    return next((pattern for pattern in table if re.fullmatch(pattern, what)), None)


def test_the_rules_are_those_of_kafkas_generator() -> None:
    differ: dict[bool, set[str | None]] = {False: set(), True: set()}
    unexplained, coerced = [], 0
    with gzip.open(RECORDED, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    for what, schema, refusal in rows:
        faults = [str(fault) for fault in check_message(schema, "x.json")]
        if bool(faults) == bool(refusal):
            continue
        if any(" has the value " in fault for fault in faults):
            coerced += 1  # Jackson converts a value to the key's type; kmirror requires the right type.
            continue
        pattern = reason(what, STRICTER if faults else LAXER)
        differ[bool(faults)].add(pattern)
        if pattern is None:
            unexplained.append((what, faults, refusal))
    assert unexplained == []
    assert 0 < coerced < len(rows) // 20
    assert len(rows) > 2000
    assert 500 < sum(not refusal for _, _, refusal in rows) < len(rows) - 500
    assert differ == {True: set(STRICTER), False: set(LAXER)}, "each reason is one"
