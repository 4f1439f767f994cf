"""Random messages of every API and version through Kafka's own classes, both ways: bytes and JSON are equal.

tests/interop/conftest.py describes the source of Kafka's jars.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from codegen.load import RELEASE_FOLDERS, SCHEMAS, read_files
from codegen.lock import read_lock
from codegen.versions import Versions
from kmirror.errors import LocalProtocolError, ProtocolError
from kmirror.fuzz.differential.kafka_reader import Oracle
from kmirror.protocol import Message, UnknownTag, Uuid
from kmirror.protocol.careful import RANGES, is_within
from kmirror.protocol.json_form import Records, to_json
from kmirror.protocol.registry import by_name
from kmirror.protocol.structs import Field, Struct, fresh_default
from kmirror.spec.error_codes import ErrorCode

HERE = Path(__file__).parent
PER_VERSION = 6


Answers = Callable[[list[dict[str, Any]]], list[dict[str, Any]]]


@pytest.fixture(scope="module")
def ask(kafka_class_path: str) -> Iterator[Answers]:
    """Return a function that answers questions, each with one answer."""
    oracle = Oracle(kafka_class_path)
    yield lambda questions: [oracle.ask(question) for question in questions]
    oracle.close()


# -- random messages ---------------------------------------------------------------------------


def scalar(type_: str, draw: random.Random) -> Any:
    if type_ in RANGES:
        low, high = RANGES[type_]
        return draw.choice([low, -1 if low else 1, 0, 1, high, draw.randint(low, high)])
    if type_ == "string":
        letters = 'aZ09._- äß\u20ac\u4e2d\U0001f600\0"\\'
        return "".join(draw.choices(letters, k=draw.choice((0, 1, 5, 40, 127, 200))))
    return {
        "bool": lambda: draw.random() < 0.5,
        "float64": lambda: draw.choice([0.0, -0.5, 1e300, draw.random() * 10 ** draw.randint(-9, 9)]),
        "uuid": lambda: draw.choice([Uuid.ZERO, Uuid(draw.randbytes(16))]),
        "bytes": lambda: draw.randbytes(draw.choice((0, 1, 60, 127, 300))),
        # Kafka parses records when it shows them, so none or no bytes are safe.
        "records": lambda: b"",
    }[type_]()


def value(field: Field, version: int, flexible: bool, draw: random.Random) -> Any:
    if not is_within(version, field.versions):
        return fresh_default(field)
    if is_within(version, field.nullable) and draw.random() < 0.25:
        return None
    count = draw.choice((0, 1, 2, 3, 12)) if field.is_array else 1
    if field.type == "struct":
        items: list[Any] = [struct(field.struct, version, flexible, draw) for _ in range(count)]
    else:
        items = [scalar(field.type, draw) for _ in range(count)]
    return items if field.is_array else items[0]


def struct(cls: type[Any], version: int, flexible: bool, draw: random.Random) -> Any:
    values = {f.attribute: value(f, version, flexible, draw) for f in cls.FIELDS}
    if flexible and draw.random() < 0.2:
        named = 1 + max((f.tag for f in cls.FIELDS), default=-1)
        values["unknown_tags"] = [UnknownTag(named + 10 * i, draw.randbytes(i * 50)) for i in range(draw.randint(1, 2))]
    found: Struct = cls(**values)
    return found


def released_messages() -> list[tuple[type[Message], int]]:
    """Return every message and version of the locked release: the additions of schemas/mirroring/ are not Kafka's."""
    found = []
    for file in read_files(SCHEMAS, RELEASE_FOLDERS):
        for version in Versions.parse(file.raw["validVersions"]):
            found.append((by_name(file.raw["name"]), version))
    return found


def random_messages(seed: int) -> list[tuple[Message, int]]:
    draw = random.Random(seed)
    return [
        (struct(cls, version, cls.FLEXIBLE_FROM is not None and version >= cls.FLEXIBLE_FROM, draw), version)
        for cls, version in released_messages()
        for _ in range(PER_VERSION)
    ]


def has_unknown_tags(part: Struct) -> bool:
    if part.unknown_tags:
        return True
    inner = [getattr(part, f.attribute) for f in part.FIELDS if f.type == "struct"]
    return any(has_unknown_tags(s) for v in inner if v is not None for s in (v if isinstance(v, list) else [v]))


def test_our_bytes_are_kafkas_bytes_and_json(ask: Answers) -> None:
    sent = random_messages(1)
    assert len(sent) == 728 * PER_VERSION
    answers = ask([{"m": m.NAME, "v": v, "hex": m.encode(v).hex()} for m, v in sent])
    for (message, version), answer in zip(sent, answers, strict=True):
        assert "error" not in answer, (message.NAME, version, answer, message)
        assert answer["hex"] == message.encode(version).hex(), (message.NAME, version, message)
        # Text is compared, so that the order of fields counts.
        ours = json.dumps(json.loads(json.dumps(to_json(message, version, Records.EMPTY))))
        assert json.dumps(answer["json"]) == ours, (message.NAME, version)


def test_kafka_reads_our_json_and_we_read_its_bytes(ask: Answers) -> None:
    sent = [(m, v) for m, v in random_messages(2) if not has_unknown_tags(m)]
    answers = ask([{"m": m.NAME, "v": v, "json": m.to_json(v)} for m, v in sent])
    for (message, version), answer in zip(sent, answers, strict=True):
        assert "error" not in answer, (message.NAME, version, answer, message)
        assert type(message).decode(bytes.fromhex(answer["hex"]), version) == message


def test_kmirror_refuses_the_same_bytes_as_kafka(ask: Answers) -> None:
    draw = random.Random(3)
    questions = []
    for message, version in random_messages(3):
        data = bytearray(message.encode(version))
        if data:
            data[draw.randrange(len(data))] = draw.choice([0, 1, 0x7F, 0x80, 0xFF, draw.randrange(256)])
        questions.append({"m": message.NAME, "v": version, "hex": data.hex()})
    for question, answer in zip(questions, ask(questions), strict=True):
        cls, version, data = by_name(question["m"]), question["v"], bytes.fromhex(question["hex"])
        try:
            found: Message | None = cls.decode(data, version)
        except ProtocolError:
            found = None
        try:
            ours = None if found is None else found.encode(version).hex()
        except LocalProtocolError:
            ours = None
        # An answer without bytes: Kafka could not decode, or could not encode the result.
        assert answer.get("hex") == ours, (question, answer)


def test_the_error_codes_are_kafkas(ask: Answers) -> None:
    (answer,) = ask([{"errors": True}])
    ours = [[code.name, code.value, code.retriable] for code in ErrorCode if code < ErrorCode.READ_ONLY_TOPIC]
    assert sorted(answer["errors"]) == sorted(ours)


def test_the_jars_are_of_the_locked_release() -> None:
    assert f"<kafka.version>{read_lock()['kafka']['version']}<" in (HERE.parent / "pom.xml").read_text(encoding="utf-8")
