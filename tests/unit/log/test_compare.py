"""Comparison of two sequences of batches: equal batches, differing ones, and those of one sequence only."""

from __future__ import annotations

import pytest

from kmirror.errors import CorruptBatch
from kmirror.log.compare import Extent, Match, Shares, Step, compare, parting, steps
from kmirror.log.first_difference import BATCH, NONE, FirstDifference, bytes_difference
from kmirror.records.codecs import Compression
from kmirror.records.legacy import AnyBatch, iter_any_batches
from tests.sim.stage import legacy, plain

LOG = [plain(0, 0, "r0", "r1"), plain(2, 1, "r2"), plain(5, 1, "r5")]


def opened(*parts: bytes) -> list[AnyBatch]:
    return list(iter_any_batches(b"".join(parts)))


class Place:
    """A cursor over batches; `flipped` are the positions of damaged copies of the expected batches."""

    def __init__(self, batches: list[AnyBatch], *flipped: int) -> None:
        self.batches = batches
        self.flipped = flipped
        self.at = 0

    def match(self, batch: AnyBatch) -> Match | None:
        if self.at in self.flipped:
            return Match.FLIPPED
        return Match.EQUAL if self.at < len(self.batches) and self.batches[self.at].view == batch.view else None

    def batch(self) -> AnyBatch | None:
        return self.batches[self.at] if self.at < len(self.batches) else None

    def skip(self, batch: AnyBatch) -> None:
        self.at += 1


def step_rows(expected: list[bytes], place: Place) -> list[tuple[str, int | None, int | None, int]]:
    """Return each step with both base offsets and the position of the cursor."""
    return [
        (
            step.match.value, None if step.expected is None else step.expected.base_offset,
            None if step.found is None else step.found.base_offset, place.at,
        )
        for step in steps(opened(*expected), place)
    ]  # fmt: skip


def test_each_step_is_reported_before_it_is_passed() -> None:
    found = [LOG[0], plain(1, 0, "again"), plain(2, 1, "x2"), plain(3, 1, "r3"), plain(9, 1, "r9")]
    assert step_rows([*LOG, plain(7, 1, "r7")], Place(opened(*found))) == [
        ("equal", 0, None, 0),
        ("extra", 2, 1, 1),
        ("unlike", 2, 2, 2),
        ("extra", 5, 3, 3),
        ("missing", 5, 9, 4),
        ("missing", 7, 9, 4),
        ("extra", None, 9, 4),
    ]


def test_a_damaged_copy_is_passed_without_being_read() -> None:
    assert step_rows(LOG, Place(opened(*LOG), 1)) == [
        ("equal", 0, None, 0),
        ("flipped", 2, None, 1),
        ("equal", 5, None, 2),
    ]


def test_an_end_is_one_on_both_sides() -> None:
    assert step_rows([], Place([])) == []
    assert step_rows(LOG[:1], Place([])) == [("missing", 0, None, 0)]


def test_a_comparison_counts_equal_batches_up_to_the_difference() -> None:
    whole = compare(opened(*LOG), opened(*LOG))
    assert (whole.batches, whole.bytes, whole.parted) == (3, sum(map(len, LOG)), None)
    short = compare(opened(*LOG), opened(*LOG[:1]))
    assert (short.batches, short.bytes) == (1, len(LOG[0]))
    assert short.parted is not None and short.parted.match is Match.MISSING


def find_parting(left: list[bytes], right: list[bytes]) -> FirstDifference:
    step = compare(opened(*left), opened(*right)).parted
    assert step is not None
    return parting(step)


def test_a_side_without_a_batch_is_named() -> None:
    assert find_parting(LOG, LOG[:2]) == FirstDifference(5, BATCH, "5-5", NONE)
    assert find_parting(LOG[:2], LOG) == FirstDifference(5, BATCH, NONE, "5-5")
    assert find_parting([], [legacy(3, 1, "old")]) == FirstDifference(3, BATCH, NONE, "3")


def test_logs_part_at_the_lower_of_two_offsets() -> None:
    left, right = [LOG[0], plain(5, 1, "r5")], [LOG[0], plain(2, 1, "r2")]
    assert find_parting(left, right)[:4] == (2, "base offset", 5, 2)
    assert find_parting(right, left)[:4] == (2, "base offset", 2, 5)


def test_a_byte_is_named_where_no_field_differs() -> None:
    damaged = bytearray(LOG[0])
    damaged[-1] ^= 1  # The checksum is unchanged, and so it is wrong.
    at = len(damaged) - 1
    found = find_parting([LOG[0]], [bytes(damaged)])
    values = f"{LOG[0][at]:#04x}", f"{damaged[at]:#04x}"
    assert found[:4] == (0, f"byte {at} of the batch", *values)
    assert found.place == ("batch", at, LOG[0][at:].hex(), damaged[at:].hex())


def test_a_header_without_a_batch_is_compared_by_its_bytes() -> None:
    damaged = bytearray(LOG[0])
    damaged[8:12] = (9).to_bytes(4, "big")  # A length that no batch has.
    found = bytes_difference(opened(LOG[0])[0], bytes(damaged))
    assert found.field == "byte 11 of the batch"
    damaged = bytearray(LOG[0])
    damaged[15] ^= 1
    assert bytes_difference(opened(LOG[0])[0], bytes(damaged)).field == "leader epoch"


def test_wrappers_that_cannot_be_inflated_are_compared_by_their_checksum() -> None:
    left = legacy(0, 1, "one", "two", codec=Compression.GZIP)
    damaged = bytearray(left)
    damaged[14] ^= 1
    damaged[-20:] = bytes(20)
    with pytest.raises(CorruptBatch):
        _ = opened(bytes(damaged))[0].base_offset
    assert find_parting([left], [bytes(damaged)]).field == "CRC"


def test_another_format_is_reported_first() -> None:
    step = Step(Match.UNLIKE, opened(legacy(0, 1, "old"))[0], opened(plain(0, 0, "new"))[0])
    assert parting(step)[:4] == (0, "message format", 1, 2)


def test_shares_are_equal_only_where_there_is_something() -> None:
    assert Shares().is_empty and not Shares().is_equal
    some = Shares(common=Extent(1, 2))
    assert some.is_equal and not some.is_empty
    some.add(Shares(only_found=Extent(records=1)))
    assert not some.is_equal and some.common == Extent(1, 2)
