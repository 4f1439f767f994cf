"""Does the generator refuse what Kafka's refuses, naming message and field?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from codegen.load import SCHEMAS, SchemaError, check_files, load, read_files
from codegen.rules import check_keys, check_message
from codegen.schema import load_json


def message(*fields: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A legal request with these fields, and changes: None takes a key away."""
    raw: dict[str, Any] = {
        "apiKey": 900, "type": "request", "listeners": ["broker"], "name": "SampleRequest",
        "validVersions": "0-4", "flexibleVersions": "2+", "fields": list(fields),
    }  # fmt: skip
    raw.update(changes)
    return {key: value for key, value in raw.items() if value is not None}


def field(name: str = "Foo", type: str = "int32", versions: str | None = "0+", **more: Any) -> dict[str, Any]:
    raw = {"name": name, "type": type, "versions": versions, **more}
    return {key: value for key, value in raw.items() if value is not None}


def struct(name: str = "Foos", type: str = "[]Foo", **more: Any) -> dict[str, Any]:
    return field(name, type, fields=[field("Bar")], **more)


LEGAL = [
    message(),
    message(field()),
    message(field(default="0x7fffffff"), struct()),
    message(field(type="string", nullableVersions="0+", default="null")),
    message(field(versions=None, taggedVersions="2+", tag=0)),
    message(field("A", taggedVersions="2+", tag=0), field("B", taggedVersions="3+", tag=1)),
    message(field("A", "Own"), commonStructs=[{"name": "Own", "versions": "0+", "fields": [field()]}]),
    message(validVersions="none", flexibleVersions=None, fields=None),
    message(field(type="Inner", fields=[field()], nullableVersions="1+")),
    message(field(default=-1)),
    message(field(type="string", flexibleVersions="none")),
]


@pytest.mark.parametrize("raw", LEGAL)
def test_legal_schemas_pass(raw: dict[str, Any]) -> None:
    assert check_message(raw, "x.json") == []


REFUSED = {
    # Names.
    "no message name": (message(name=None), "", "name is missing"),
    "empty field name": (message(field("")), "?", "name is missing or empty"),
    "digit first": (message(field("1Foo")), "1Foo", "letter"),
    "underscore": (message(field("Fo_o")), "Fo_o", "letters and digits"),
    "name twice": (message(field(), field()), "Foo", "stands twice"),
    "first letter's case": (message(field("Foo"), field("foo")), "foo", "first letter"),
    "small struct": (message(field("A", "[]small", fields=[field()])), "A", "not known"),
    "small message": (message(name="sKey"), "", "capital"),
    # Keys and words.
    "unknown key of a message": (message(colour="red"), "", "'colour' is not known"),
    "unknown key of a field": (message(field(colour="red")), "Foo", "'colour' is not known"),
    "unknown type of message": (message(type="question"), "", "type 'question'"),
    "unknown listener": (message(listeners=["zookeeper"]), "", "listener 'zookeeper'"),
    "unknown entity": (message(field(entityType="colour")), "Foo", "entityType 'colour'"),
    "entity of another type": (message(field(entityType="topicName")), "Foo", "is for string"),
    # Versions.
    "no versions": (message(field(versions=None)), "Foo", "versions is missing"),
    "no number": (message(field(versions="a+")), "Foo", "not a version number"),
    "beyond int16": (message(field(versions="40000")), "Foo", "int16"),
    "reversed": (message(field(versions="3-1")), "Foo", "reversed"),
    "open valid versions": (message(validVersions="0+"), "", "must have an end"),
    "no flexible versions": (message(flexibleVersions=None), "", "flexibleVersions is missing"),
    "bounded flexible versions": (message(flexibleVersions="2-4"), "", "without an end"),
    # Types.
    "unknown type": (message(field(type="int31")), "Foo", "int31 is not known"),
    "no type": (message(field(type=None)), "Foo", "type is missing"),  # type: ignore[arg-type]
    "array of arrays": (message(field(type="[][]int32")), "Foo", "arrays of arrays"),
    "array of records": (message(field(type="[]records")), "Foo", "arrays of records"),
    "fields on a scalar": (message(field(fields=[field()])), "Foo", "has no fields"),
    "struct declared twice": (message(struct("A"), struct("B")), "B", "declared twice"),
    "struct inline and common": (
        message(struct("A"), commonStructs=[{"name": "Foo", "versions": "0+", "fields": [field()]}]),
        "A",
        "declared twice",
    ),
    "struct declared nowhere": (message(field(type="Nowhere")), "Foo", "declared nowhere"),
    "nullable number": (message(field(nullableVersions="0+")), "Foo", "never null"),
    "nullable bool": (message(field(type="bool", nullableVersions="0+")), "Foo", "never null"),
    "nullable uuid": (message(field(type="uuid", nullableVersions="0+")), "Foo", "never null"),
    "flexible override on a number": (message(field(flexibleVersions="2+")), "Foo", "string and bytes alone"),
    "wider flexible override": (message(field(type="string", flexibleVersions="1+")), "Foo", "go beyond"),
    # Defaults.
    "no number as default": (message(field(default="many")), "Foo", "no number"),
    "default too large": (message(field(type="int8", default="128")), "Foo", "does not fit"),
    "default of unsigned below 0": (message(field(type="uint16", default="-1")), "Foo", "does not fit"),
    "default neither true nor false": (
        message(field(type="bool", default="1")),
        "Foo",
        "neither true nor false",
    ),
    "null where null is not allowed": (
        message(field(type="string", nullableVersions="1+", default="null")),
        "Foo",
        "not all nullable",
    ),
    "default of bytes": (message(field(type="bytes", default="x")), "Foo", "only an empty one"),
    "default of an array": (message(field(type="[]int32", default="1")), "Foo", "only an empty one"),
    "default of a struct": (message(struct(type="Foo", default="1")), "Foos", "only an empty one"),
    # Tags.
    "negative tag": (message(field(taggedVersions="2+", tag=-1)), "Foo", "negative"),
    "tag twice": (
        message(field("A", taggedVersions="2+", tag=0), field("B", taggedVersions="2+", tag=0)),
        "B",
        "stands twice",
    ),
    "gap in tags": (message(field(taggedVersions="2+", tag=1)), "", "without a gap"),
    "tag alone": (message(field(tag=0)), "Foo", "go together"),
    "tagged versions alone": (message(field(taggedVersions="2+")), "Foo", "go together"),
    "bounded tagged versions": (message(field(taggedVersions="2-3", tag=0)), "Foo", "without an end"),
    "tagged beyond its versions": (
        message(field(versions="3+", taggedVersions="2+", tag=0)),
        "Foo",
        "go beyond versions",
    ),
    "tagged before flexible": (
        message(field(taggedVersions="1+", tag=0)),
        "Foo",
        "go beyond flexibleVersions",
    ),
    "partly nullable tag": (
        message(field(type="string", nullableVersions="3+", taggedVersions="2+", tag=0)),
        "Foo",
        "not in all of taggedVersions",
    ),
    "tagged records": (message(field(type="records", taggedVersions="2+", tag=0)), "Foo", "records cannot"),
    "tagged map key": (
        message(field("A", "[]B", fields=[field(taggedVersions="2+", tag=0, mapKey=True)])),
        "A.Foo",
        "map key cannot be tagged",
    ),
    # Flags.
    "map key at top level": (message(field(mapKey=True)), "Foo", "map key"),
    "zero copy of a string": (message(field(type="string", zeroCopy=True)), "Foo", "for bytes alone"),
    "listeners of a response": (message(type="response", name="SampleResponse"), "", "only a request"),
    "unstable response": (
        message(type="response", name="SampleResponse", listeners=None, latestVersionUnstable=True),
        "",
        "only a request",
    ),
    "coordinator key without api key": (
        message(type="coordinator-key", apiKey=None, listeners=None, validVersions="0", flexibleVersions="none"),
        "",
        "needs an apiKey",
    ),
    "coordinator key with versions": (
        message(type="coordinator-key", listeners=None, flexibleVersions="none"),
        "",
        "version 0 alone",
    ),
    "flexible coordinator key": (
        message(type="coordinator-key", listeners=None, validVersions="0", flexibleVersions="0+"),
        "",
        "never flexible",
    ),
    # Values of the wrong kind.
    "tag as text": (message(field(taggedVersions="2+", tag="0")), "Foo", "tag has the value"),
    "flag as text": (message(field(ignorable="true")), "Foo", "ignorable has the value"),
    "key as bool": (message(apiKey=True), "", "apiKey has the value"),
    "field as text": (message(fields=["Foo"]), "fields", "an object is expected"),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_illegal_schemas_are_refused(case: tuple[dict[str, Any], str, str]) -> None:
    raw, path, text = case
    faults = check_message(raw, "sample.json")
    assert [f for f in faults if f.field == path and text in f.text], [str(f) for f in faults]
    assert all(str(f).startswith("sample.json") for f in faults)


def test_all_faults_are_told_at_once() -> None:
    raw = message(field("A", type="int31"), field("B", versions="3-1"), validVersions="0+")
    assert len(check_message(raw, "x.json")) == 3


def test_two_claims_on_one_key_are_refused() -> None:
    first, second = message(), message(name="OtherRequest")
    assert "claimed by SampleRequest" in str(check_keys([(first, "a.json"), (second, "b.json")])[0])
    response = message(type="response", name="SampleResponse", listeners=None)
    assert check_keys([(first, "a.json"), (response, "b.json")]) == []


@pytest.mark.parametrize("text", ["", "{", '{"a": 1,}', '{"a": 1, "a": 2}', "{'a': 1}", '{"a": TBD}'])
def test_text_that_is_not_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        load_json(text)


def test_comments_are_taken_and_text_like_comments_is_kept() -> None:
    text = '// one\n{ "a": "// no comment", /* two\n lines */ "b": 1 } // three'
    assert load_json(text) == {"a": "// no comment", "b": 1}


def _write(root: Path, folder: str, name: str, raw: Any) -> None:
    path = root / folder / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(raw), encoding="utf-8")


def test_nothing_is_generated_from_faulty_files(tmp_path: Path) -> None:
    _write(tmp_path, "kafka", "SampleRequest", message(field(type="int31")))
    _write(tmp_path, "kafka", "Wrong", message(name="OtherRequest", apiKey=901))
    (tmp_path / "kafka" / "Broken.json").write_text("{", encoding="utf-8")
    with pytest.raises(SchemaError, match=r"Broken\.json: this is not JSON"):
        load(tmp_path)
    (tmp_path / "kafka" / "Broken.json").unlink()
    with pytest.raises(SchemaError) as caught:
        load(tmp_path)
    assert [str(f) for f in caught.value.faults] == [
        "kafka/SampleRequest.json: SampleRequest: Foo: the type int31 is not known",
        "kafka/Wrong.json: OtherRequest: file and message must have one name",
    ]


EXTENSIONS = {
    "no such message": ({"extends": "Nothing", "validVersions": "0-5"}, "no message 'Nothing'"),
    "no such struct": (
        {"extends": "SampleRequest", "validVersions": "0-5", "add": [{"into": "Nothing", "fields": []}]},
        "no struct 'Nothing'",
    ),
    "versions taken away": ({"extends": "SampleRequest", "validVersions": "0-3"}, "must go on from 0-4"),
    "versions without end": ({"extends": "SampleRequest", "validVersions": "0+"}, "must go on from 0-4"),
    "field that is there": (
        {
            "extends": "SampleRequest",
            "validVersions": "0-5",
            "add": [{"into": "SampleRequest", "fields": [field()]}],
        },
        "stands twice",
    ),
    "unknown key": (
        {"extends": "SampleRequest", "validVersions": "0-5", "colour": "red"},
        "'colour' is not known",
    ),
}


@pytest.mark.parametrize("case", EXTENSIONS.values(), ids=EXTENSIONS)
def test_illegal_extensions_are_refused(case: tuple[dict[str, Any], str], tmp_path: Path) -> None:
    raw, text = case
    _write(tmp_path, "kafka", "SampleRequest", message(field()))
    _write(tmp_path, "mirroring", "SampleRequest", raw)
    faults = check_files(read_files(tmp_path))
    assert any(text in str(f) for f in faults), [str(f) for f in faults]


def test_an_extension_leaves_the_release_as_it_is(tmp_path: Path) -> None:
    _write(tmp_path, "kafka", "SampleRequest", message(struct()))
    added = field("Extra", versions="5+", taggedVersions="5+", tag=0)
    extension = {
        "extends": "SampleRequest",
        "validVersions": "0-5",
        "add": [{"into": "Foo", "fields": [added]}],
    }
    _write(tmp_path, "mirroring", "SampleRequest", extension)
    found = load(tmp_path).messages["SampleRequest"]
    assert str(found.valid) == "0-5"
    assert [f.name for f in found.struct("Foo").fields] == ["Bar", "Extra"]
    assert found.sources == ("kafka/SampleRequest.json", "mirroring/SampleRequest.json")


def test_our_own_schemas_have_no_fault() -> None:
    assert check_files(read_files(SCHEMAS)) == []
