"""For any two sequences, the steps contain each batch of either side once, in order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kmirror.log.compare import Match, Step, compare, flipped_bits, parting, steps
from kmirror.records.legacy import AnyBatch, iter_any_batches
from tests.sim.stage import plain
from tests.unit.log.test_compare import Place

ROWS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1)), max_size=8)  # Base offset, epoch: in any order.
Rows = list[tuple[int, int]]


def opened(rows: Rows) -> list[AnyBatch]:
    return list(iter_any_batches(b"".join(plain(offset, epoch, "r") for offset, epoch in rows)))


def row_of(batch: AnyBatch | None) -> tuple[int, int]:
    assert batch is not None, "the step has it"
    return batch.base_offset, batch.partition_leader_epoch


@given(ROWS, ROWS)
def test_both_sides_can_be_restored_from_the_steps(left: Rows, right: Rows) -> None:
    found: list[Step] = list(steps(opened(left), Place(opened(right))))
    assert [row_of(step.expected) for step in found if step.match is not Match.EXTRA] == left
    there = [step.expected if step.match is Match.EQUAL else step.found for step in found]
    assert [row_of(batch) for batch, step in zip(there, found, strict=True) if step.match is not Match.MISSING] == right


@given(ROWS, ROWS)
def test_a_comparison_ends_after_the_common_prefix(left: Rows, right: Rows) -> None:
    result = compare(opened(left), opened(right))
    common = next((n for n, (one, other) in enumerate(zip(left, right, strict=False)) if one != other), None)
    assert result.batches == (min(len(left), len(right)) if common is None else common)
    assert (result.parted is None) == (left == right)
    if result.parted is not None:
        next_ones = [rows[result.batches] for rows in (left, right) if result.batches < len(rows)]
        assert parting(result.parted).offset == min(offset for offset, _ in next_ones)


@given(st.binary(min_size=1, max_size=40), st.data())
def test_flipped_bits_are_counted_and_the_first_is_named(data: bytes, draw: st.DataObject) -> None:
    places = sorted(draw.draw(st.sets(st.integers(0, 8 * len(data) - 1), min_size=1, max_size=16)))
    damaged = bytearray(data)
    for place in places:
        damaged[place // 8] ^= 0x80 >> place % 8  # Counted from the front, and in a byte from the highest bit.
    found = flipped_bits(data, bytes(damaged))
    assert found == (len(places), places[0] // 8, 7 - places[0] % 8)
    assert flipped_bits(data, data) is None
