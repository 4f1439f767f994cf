"""The parts of a recorded frame equal those that the grammar records while it writes one."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

import pytest

from kmirror.fuzz.grammar import grammar
from kmirror.fuzz.noted import spots_of
from kmirror.fuzz.spots import Kind, RawSpot
from kmirror.fuzz.vocabulary import ARBITRARY
from kmirror.protocol.registry import by_name

LENGTHS = (Kind.SHORT_LENGTH, Kind.LENGTH, Kind.COUNT, Kind.COMPACT_LENGTH, Kind.COMPACT_COUNT)
SEEN = (Kind.BOOL, Kind.UUID, Kind.TEXT, *LENGTHS)
SAME = {Kind.COUNT: Kind.LENGTH, Kind.COMPACT_COUNT: Kind.COMPACT_LENGTH}
"""The forms of null are equal in both, and every way to break one also breaks the other."""


def places(spots: Iterable[RawSpot]) -> set[tuple[Kind, int, int]]:
    return {(SAME.get(kind, kind), start, end) for kind, start, end, _ in spots}


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
def test_parts_recorded_by_the_grammar_are_found(name: str, version: int) -> None:
    message = by_name(name)
    for seed in range(30):
        template = grammar(message, version, ARBITRARY, ()).draw(Random(seed).random)
        wanted = places(spot for spot in template.spots if spot[0] in SEEN)
        found = places(spots_of(message, bytes(template.data), version))
        assert wanted - found == set()


def test_the_parts_before_a_fault_are_found() -> None:
    message = by_name("FetchRequest")
    data = bytes(grammar(message, 17, ARBITRARY, ()).draw(Random(1).random).data)
    whole, part = spots_of(message, data, 17), spots_of(message, data[:9], 17)
    assert 0 < len(part) < len(whole) and part == whole[: len(part)]
