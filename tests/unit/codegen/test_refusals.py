"""The generator refuses the same schemas as Kafka's, and names message and field."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from codegen.layout import default_value
from codegen.load import SCHEMAS, SchemaError, check_files, load, read_files
from codegen.rules import check_keys, check_message
from codegen.schema import build_message, load_json
from kmirror.protocol import Uuid


def message(*fields: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Return a legal request with these fields and changes: None removes a key."""
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
    # Schemas that are just accepted.
    message(apiKey=32767),
    message(apiKey=-32768),
    message(type="data", apiKey=None, listeners=None),
    message(type="header", apiKey=None, listeners=None),
    message(validVersions="0-32766", flexibleVersions="32767+"),
    message(deprecatedVersions="0-1"),
    *(message(field(type="bool", default=text)) for text in ("True", "FALSE", "tRuE", True, "")),
    *(message(field(type="int8", default=text)) for text in ("-128", "127", "0x7f", "+1", "0", 5)),
    message(field(type="int16", default="-32768"), field("B", "int16", default="0x7fff")),
    message(field(type="uint16", default="65535"), field("B", "uint16", default="0xffff")),
    message(field(type="int32", default="-2147483648")),
    message(field(type="uint32", default="4294967295")),
    message(field(type="int64", default="-9223372036854775808"), field("B", "int64", default="0x7fffffffffffffff")),
    *(message(field(type="float64", default=text)) for text in ("NaN", "-Infinity", ".5", "5.", "1e400", " 1d ")),
    message(field(type="uuid", default="AAAAAAAAAAAAAAAAAAAAAQ=="), field("B", "uuid", default="A" * 22)),
    message(field(entityType="unknown"), field("B", "[]Struct", entityType="unknown", fields=[field()])),
    message(field(type="[]string", entityType="topicName")),
    message(field(taggedVersions="none")),
    message(field(type="string", nullableVersions="0-1", taggedVersions="2+", tag=0)),
    message(field(type="string", flexibleVersions="3+", taggedVersions="4+", tag=0)),
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
    # Keys and types.
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
    "beyond int16 and open": (message(validVersions="0-32768"), "", "int16"),
    "deprecated versions": (message(deprecatedVersions="0-x"), "", "deprecatedVersions: 'x' is not a version number"),
    # API keys.
    **{
        f"{kind} without api key": (message(type=kind, apiKey=None, listeners=None), "", f"a {kind} needs an apiKey")
        for kind in ("request", "response", "metadata", "coordinator-value")
    },
    "api key above int16": (message(apiKey=32768), "", "apiKey 32768 does not fit into int16"),
    "api key below int16": (message(type="data", listeners=None, apiKey=-32769), "", "does not fit into int16"),
    "request of another name": (message(name="Sample"), "", "must end with Request"),
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
    **{
        f"{type} {text}": (message(field(type=type, default=text)), "Foo", "does not fit into " + type)
        for type, texts in {
            "int8": ("-129", "0x80", 300),
            "int16": ("32768", "-32769", "0x8000"),
            "uint16": ("65536", "0x10000"),
            "int32": ("2147483648", "-2147483649", "0x80000000"),
            "uint32": ("4294967296", "-1"),
            "int64": ("9223372036854775808", "-9223372036854775809", "0x8000000000000000", 10**30),
        }.items()
        for text in texts
    },
    **{
        f"{type} {text!r}": (message(field(type=type, default=text)), "Foo", "is no number")
        for type, texts in {
            "int32": ("-0x5", "0x-5", "0x", "1.0", "1L", " 5", "1_0", "\u0663", "true"),
            "float64": ("1_0", "nan", "inf", "\u0663", "1e", "0x1", "1L", "."),
        }.items()
        for text in texts
    },
    "octal default": (message(field(default="010")), "Foo", "octal in Java"),
    "default that is no uuid": (message(field(type="uuid", default="A" * 23)), "Foo", "no uuid"),
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
    "default of bytes": (message(field(type="bytes", default="x")), "Foo", "only an empty default"),
    "default of an array": (message(field(type="[]int32", default="1")), "Foo", "only an empty default"),
    "default of a struct": (message(struct(type="Foo", default="1")), "Foos", "only an empty default"),
    # Tags.
    "tag without versions to be tagged in": (message(field(taggedVersions="none", tag=0)), "Foo", "go together"),
    "tagged where its own form is not flexible": (
        message(field(type="string", flexibleVersions="3+", taggedVersions="2+", tag=0)),
        "Foo",
        "go beyond flexibleVersions 3+",
    ),
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
    "entity as a list": (message(field(entityType=["topicName"])), "Foo", "entityType has the value"),
    "listeners as a flag": (message(listeners=True), "", "listeners has the value"),
    "key as bool": (message(apiKey=True), "", "apiKey has the value"),
    "field as text": (message(fields=["Foo"]), "fields", "an object is expected"),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_illegal_schemas_are_refused(case: tuple[dict[str, Any], str, str]) -> None:
    raw, path, text = case
    faults = check_message(raw, "sample.json")
    assert [f for f in faults if f.field == path and text in f.text], [str(f) for f in faults]
    assert all(str(f).startswith("sample.json") for f in faults)


@pytest.mark.parametrize("value", [None, True, -1, 10**30, 0.5, "", "Foo", [], ["x"], [[]], {}, {"name": []}])
def test_every_value_is_accepted_or_refused(value: Any) -> None:
    """No other exception is raised."""
    raw = message(
        struct("A", taggedVersions="2+", tag=0, default="", ignorable=True, entityType="unknown"),
        field("B", "Common", zeroCopy=False, mapKey=False, nullableVersions="0+", flexibleVersions="none"),
        commonStructs=[{"name": "Common", "versions": "0+", "deprecatedVersions": "0", "fields": [field()]}],
        latestVersionUnstable=True,
        deprecatedVersions="0",
    )

    def replaced(node: Any) -> Iterator[Any]:
        yield value
        if isinstance(node, dict):
            for key in node:
                yield from ({**node, key: other} for other in replaced(node[key]))
        elif isinstance(node, list):
            for at in range(len(node)):
                yield from ([*node[:at], other, *node[at + 1 :]] for other in replaced(node[at]))

    changed = list(replaced(raw))
    assert len(changed) > 40
    refused = [found for found in changed if check_message(found, "x.json")]
    assert refused
    check_keys([(found, "x.json") for found in changed if isinstance(found, dict)])


@pytest.mark.parametrize(
    ("type", "text", "value"),
    [
        ("bool", "TRUE", "True"), ("bool", "False", "False"), ("int32", "+1", "1"), ("int8", "0x7f", "127"),
        ("float64", "NaN", 'float("nan")'), ("float64", "-Infinity", 'float("-inf")'),
        ("float64", "1e400", 'float("inf")'),
        ("float64", "1.5D", "1.5"), ("float64", " 0x1.8p1 ", "3.0"), ("float64", "-0x1p1024", 'float("-inf")'),
        ("float64", "", "0.0"), ("uuid", "AAAAAAAAAAAAAAAAAAAAAQ==", 'Uuid.from_str("AAAAAAAAAAAAAAAAAAAAAQ==")'),
    ],
)  # fmt: skip
def test_an_accepted_default_has_the_value_of_java(type: str, text: str, value: str) -> None:
    raw = message(field(type=type, default=text))
    assert check_message(raw, "x.json") == []
    (found,) = build_message(raw, "x.json").fields
    assert default_value(found) == value
    eval(value, {"Uuid": Uuid})


def test_all_faults_are_reported_at_once() -> None:
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


def test_comments_are_accepted_and_text_like_comments_is_kept() -> None:
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
    "versions taken away": (
        {"extends": "SampleRequest", "validVersions": "0-3"},
        "must include 0-4",
    ),
    "versions without end": (
        {"extends": "SampleRequest", "validVersions": "0+"},
        "must include 0-4",
    ),
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


def test_an_extension_does_not_change_the_release(tmp_path: Path) -> None:
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
