"""The linter finds every fault of a draft at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.lint import blocks, lint_file, lint_text
from codegen.main import main

# A page like a draft: prose, an undecided key, an empty name, a missing quote, and a fragment.
PAGE = """\
SampleMirrors
Asks for "samples", { or so.
SampleMirrorsRequest
{
"apiKey": TBD,
"type": "request",
"listeners": ["broker"],
"name": "SampleMirrorsRequest",
// Version 0 is the first.
"validVersions": "0",
"flexibleVersions": "0+",
"fields": [
{ "name": "MirrorNames", "type": "[]string", "versions": "0+", "entityType": "mirrorName",
"about": "Which. Null means all: \\"default\\": TBD, is no fault in a text." },
{ "name": "Epochs", "type": "[]Epoch", "versions": "0", "fields": [
{ "name": "Last", "type": "int32", "versions": "0", default": "-1" },
{ "name": "", "type": "int32", "versions": "0" }
]}
]
}
The key:
{
"apiKey": 1,
"type": "coordinator-key",
"name": "sKey",
"validVersions": "0",
"flexibleVersions": "none",
"fields": [ { "name": "MirrorName", "type": "string", "versions": "0" }, ]
}
And one field more:
{ "name": "Info", "type": "Info", "versions": "8+", "nullableVersions": "8+", "fields": [
{ "name": "TopicId", "type": "uuidd", "versions": "8+" }
]}
public enum Type {
  A
}
"""


def test_a_page_with_blocks() -> None:
    assert [str(f) for f in lint_text(PAGE, "page")] == [
        "page:5: TBD is no JSON value",
        "page:16: the quote before default is missing",
        "page:4: SampleMirrorsRequest: Epochs.?: the name is missing or empty",
        "page:4: SampleMirrorsRequest: MirrorNames: the text describes null, but the field is never null",
        "page:28: a comma before a closing bracket",
        "page:22: sKey: the name 'sKey' must begin with a capital letter",
        "page:31: Info.TopicId: the type uuidd is not known",
    ]


def test_blocks_carry_their_lines() -> None:
    assert [b.line for b in blocks(PAGE)] == [4, 22, 31]


def test_lint_exits_with_1_if_it_found_faults(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.txt"
    page.write_text(PAGE, encoding="utf-8")
    good = tmp_path / "Good.json"
    good.write_text(
        '{ "type": "data", "name": "Good", "validVersions": "0", "flexibleVersions": "0+", "fields": [] }',
        encoding="utf-8",
    )
    assert main(["lint", str(page), str(good)]) == 1
    assert len(capsys.readouterr().out.splitlines()) == 7
    assert main(["lint", str(good)]) == 0
    assert main(["lint", str(tmp_path / "absent.json")]) == 2


def test_a_file_beyond_repair_is_one_fault(tmp_path: Path) -> None:
    path = tmp_path / "Bad.json"
    path.write_text('{ "type": "data" "validVersions" }', encoding="utf-8")
    assert [f.text.partition(":")[0] for f in lint_file(path)] == ["this is not JSON"]


def test_values_that_java_cannot_hold_are_faults(tmp_path: Path) -> None:
    schema = """{
      "apiKey": 40000, "type": "request", "name": "SampleRequest", "validVersions": "0-40000", "flexibleVersions": "0+",
      "fields": [
        { "name": "A", "type": "int8", "versions": "0+", "default": "200", "about": "A" },
        { "name": "B", "type": "bool", "versions": "0+", "default": "True", "about": "B" }
      ]
    }
    """
    path = tmp_path / "SampleRequest.json"
    path.write_text(schema, encoding="utf-8")
    told = [
        "SampleRequest: validVersions: version 40000 does not fit into an int16",
        "SampleRequest: the apiKey 40000 does not fit into int16",
        "SampleRequest: A: the default 200 does not fit into int8",
    ]
    assert [str(f).removeprefix(f"{path}: ") for f in lint_file(path)] == told
    assert [str(f).removeprefix("page:2: ") for f in lint_text(f"The request:\n{schema}", "page")] == told
    without = schema.replace('"apiKey": 40000, ', "").replace("-40000", "").replace("200", "20")
    assert [f.text for f in lint_text(without, "page")] == ["a request needs an apiKey"]
