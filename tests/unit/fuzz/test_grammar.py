"""The grammar writes valid frames, and its spots describe their parts."""

from __future__ import annotations

from random import Random

import pytest

from kmirror.fuzz.grammar import grammar
from kmirror.fuzz.mutations import DEFAULT_TABLE, MUTATIONS, mutate, read_number, signed_varint, write_number
from kmirror.fuzz.spots import RawSpot, Spot, SpotKind
from kmirror.fuzz.vocabulary import ARBITRARY, Vocabulary
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.metadata_request import MetadataRequest
from kmirror.protocol.registry import by_name, names
from kmirror.records.varint import encode_varint

TEMPLATES = 6


@pytest.mark.parametrize("name", sorted(names()))
def test_the_codec_reads_the_grammars_frames_and_writes_them_back(name: str) -> None:
    cls = by_name(name)
    for version in range(cls.MIN_VERSION, cls.MAX_VERSION + 1):
        made = grammar(cls, version, ARBITRARY, (b"",))
        random = Random(f"{name} {version}").random
        for _ in range(TEMPLATES):
            template = made.draw(random)
            message, end = cls.decode_prefix(bytes(template.data), version)
            assert end == len(template.data)
            again = message.encode(version)
            if template.is_canonical:
                assert again == template.data
            else:
                assert cls.decode(again, version).encode(version) == again


@pytest.mark.parametrize("name", ["FetchResponse", "MetadataResponse", "ProduceRequest", "JoinGroupRequest"])
def test_a_spot_covers_the_part_that_it_describes(name: str) -> None:
    cls = by_name(name)
    random = Random(7).random
    for _ in range(50):
        template = grammar(cls, cls.MAX_VERSION, ARBITRARY, (b"",)).draw(random)
        for place, (kind, start, end, _) in enumerate(template.spots):
            assert 0 <= start <= end <= len(template.data)
            if kind is SpotKind.COMPACT_LENGTH:
                length = read_number(template.data, template.spots[place])
                content = [
                    spot for spot in template.spots if spot[1] == end and spot[0] in (SpotKind.TEXT, SpotKind.BYTES)
                ]
                assert length <= 0 or content[0][2] - end == length
            if kind is SpotKind.TEXT:
                template.data[start:end].decode("utf-8")


def test_a_vocabulary_supplies_names_and_ids_of_a_message() -> None:
    here = Vocabulary(1.0, {"topicName": ("orders",)}, (Uuid.from_ints(1, 2),))
    random = Random(1).random
    for _ in range(40):
        data = grammar(MetadataRequest, 12, here, ()).draw(random).data
        for topic in MetadataRequest.decode(bytes(data), 12).topics or ():
            assert topic.name in (None, "orders")
            assert topic.topic_id == Uuid.from_ints(1, 2)


def test_every_kind_of_spot_can_be_broken_in_several_ways() -> None:
    for kind in SpotKind:
        assert len(set(DEFAULT_TABLE[kind])) >= 6, kind


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda row: row.name)
def test_a_mutation_changes_nothing_before_its_spot(mutation: object) -> None:
    row = next(row for row in MUTATIONS if row is mutation)
    random = Random(3).random
    changed = 0
    for name in ("FetchResponse", "CreateTopicsRequest", "DescribeConfigsResponse", "StreamsGroupHeartbeatRequest"):
        cls = by_name(name)
        for _ in range(30):
            template = grammar(cls, cls.MAX_VERSION, ARBITRARY, (b"",)).draw(random)
            for spot in template.spots:
                if spot[0] in row.kinds:
                    data = bytearray(template.data)
                    row.change(random, data, spot)
                    assert data[: spot[1]] == template.data[: spot[1]]
                    changed += data != template.data
    assert changed or set(row.kinds) <= {SpotKind.SIGNED, SpotKind.SIGNED_LENGTH}


@pytest.mark.parametrize(
    ("kind", "before", "value", "after"),
    [
        (SpotKind.SHORT_LENGTH, b"\0\1", -1, b"\xff\xff"),
        (SpotKind.COUNT, b"\0\0\0\1", 2**31, b"\x80\0\0\0"),
        (SpotKind.COMPACT_LENGTH, b"\2", -1, b"\0"),
        (SpotKind.COMPACT_LENGTH, b"\2", 127, b"\x80\1"),
        (SpotKind.TAG_SIZE, b"\2", 300, b"\xac\2"),
        (SpotKind.SIGNED, b"\2", -1, b"\1"),
        (SpotKind.SIGNED_LENGTH, b"\x80\1", 64, b"\x80\1"),
    ],
)
def test_a_number_is_written_as_its_kind_has_it(kind: SpotKind, before: bytes, value: int, after: bytes) -> None:
    data = bytearray(b"x" + before + b"y")
    write_number(data, (kind, 1, 1 + len(before), None), value)
    assert data == b"x" + after + b"y"


def test_signed_varints_are_those_of_records() -> None:
    for value in (0, 1, -1, 63, 64, -64, -65, 2**31 - 1, -(2**31)):
        assert signed_varint(value) == encode_varint(value)
        assert read_number(bytearray(signed_varint(value)), (SpotKind.SIGNED, 0, 9, None)) == value


def test_steps_describe_the_mutations() -> None:
    data = bytearray(b"\0\0\0\1a")
    spots: list[RawSpot] = [(SpotKind.COUNT, 0, 4, None)]
    random = Random(5).random
    steps = {str(step) for _ in range(200) for step in mutate(random, data, spots)[1]}
    assert "null: count at 0..4" in steps
    assert str(Spot(SpotKind.COUNT, 0, 4, None)) == "count at 0..4"
    assert data == b"\0\0\0\1a"
