"""The parts of a frame that somebody else wrote are those that the grammar notes as it writes one."""

from __future__ import annotations

from random import Random

import pytest

from kmirror.fuzz.grammar import grammar
from kmirror.fuzz.noted import spots_of
from kmirror.fuzz.spots import Kind
from kmirror.fuzz.vocabulary import ARBITRARY
from kmirror.protocol.registry import by_name

SEEN = (Kind.BOOL, Kind.UUID, Kind.TEXT, Kind.SHORT_LENGTH, Kind.COUNT, Kind.COMPACT_COUNT, Kind.COMPACT_LENGTH)


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("FetchRequest", 11),
        ("FetchRequest", 17),
        ("MetadataResponse", 8),
        ("MetadataResponse", 12),
        ("ProduceRequest", 9),
    ],
)
def test_what_the_grammar_notes_is_found(name: str, version: int) -> None:
    message = by_name(name)
    for seed in range(30):
        template = grammar(name, version, ARBITRARY, ()).draw(Random(seed).random)
        wanted = {spot[:3] for spot in template.spots if spot[0] in SEEN}
        found = {spot[:3] for spot in spots_of(message, bytes(template.data), version)}
        assert wanted - found == set()


def test_what_stands_before_a_fault_is_found() -> None:
    message = by_name("FetchRequest")
    data = bytes(grammar("FetchRequest", 17, ARBITRARY, ()).draw(Random(1).random).data)
    whole, part = spots_of(message, data, 17), spots_of(message, data[:9], 17)
    assert 0 < len(part) < len(whole) and part == whole[: len(part)]
