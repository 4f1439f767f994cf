"""Two sequences of batches are walked side by side: what is equal, what differs, what only one of them has."""

from __future__ import annotations

import pytest

from kmirror.errors import CorruptBatch
from kmirror.log.compare import BATCH, NONE, Match, Parting, Step, compare, first_field, parting, steps
from kmirror.records.batch import Batch
from kmirror.records.codecs import Compression
from kmirror.records.layout import HEADER_FIELDS
from kmirror.records.legacy import AnyBatch, iter_any_batches
from tests.sim.stage import legacy, plain

LOG = [plain(0, 0, "r0", "r1"), plain(2, 1, "r2"), plain(5, 1, "r5")]


def opened(*parts: bytes) -> list[AnyBatch]:
    return list(iter_any_batches(b"".join(parts)))


class Place:
    """A cursor over batches; `flipped` are places at which a damaged copy of what is expected stands."""

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


def told(expected: list[bytes], place: Place) -> list[tuple[str, int | None, int | None, int]]:
    """Return each step with both base offsets and where the cursor stood."""
    return [
        (
            step.match.value, None if step.expected is None else step.expected.base_offset,
            None if step.found is None else step.found.base_offset, place.at,
        )
        for step in steps(opened(*expected), place)
    ]  # fmt: skip


def test_each_step_is_reported_before_it_is_passed() -> None:
    found = [LOG[0], plain(1, 0, "again"), plain(2, 1, "x2"), plain(3, 1, "r3"), plain(9, 1, "r9")]
    assert told([*LOG, plain(7, 1, "r7")], Place(opened(*found))) == [
        ("equal", 0, None, 0),
        ("extra", 2, 1, 1),
        ("unlike", 2, 2, 2),
        ("extra", 5, 3, 3),
        ("missing", 5, 9, 4),
        ("missing", 7, 9, 4),
        ("extra", None, 9, 4),
    ]


def test_a_damaged_copy_is_passed_without_being_read() -> None:
    assert told(LOG, Place(opened(*LOG), 1)) == [
        ("equal", 0, None, 0),
        ("flipped", 2, None, 1),
        ("equal", 5, None, 2),
    ]


def test_an_end_is_one_on_both_sides() -> None:
    assert told([], Place([])) == []
    assert told(LOG[:1], Place([])) == [("missing", 0, None, 0)]


def test_a_comparison_counts_what_is_equal_up_to_where_it_parts() -> None:
    whole = compare(opened(*LOG), opened(*LOG))
    assert (whole.batches, whole.bytes, whole.parted) == (3, sum(map(len, LOG)), None)
    short = compare(opened(*LOG), opened(*LOG[:1]))
    assert (short.batches, short.bytes) == (1, len(LOG[0]))
    assert short.parted is not None and short.parted.match is Match.MISSING


def where(left: list[bytes], right: list[bytes]) -> Parting:
    step = compare(opened(*left), opened(*right)).parted
    assert step is not None
    return parting(step)


def test_a_side_without_a_batch_is_named() -> None:
    assert where(LOG, LOG[:2]) == Parting(5, BATCH, "5-5", NONE)
    assert where(LOG[:2], LOG) == Parting(5, BATCH, NONE, "5-5")
    assert where([], [legacy(3, 1, "old")]) == Parting(3, BATCH, NONE, "3")


def test_logs_part_at_the_lower_of_two_offsets() -> None:
    left, right = [LOG[0], plain(5, 1, "r5")], [LOG[0], plain(2, 1, "r2")]
    assert where(left, right) == Parting(2, "base_offset", 5, 2)
    assert where(right, left) == Parting(2, "base_offset", 2, 5)


@pytest.mark.parametrize("field", HEADER_FIELDS)
def test_each_field_of_the_header_is_compared(field: str) -> None:
    (one,), (other,) = opened(LOG[0]), opened(LOG[0])
    assert isinstance(other, Batch)
    setattr(other, field, 77)
    assert first_field(one, other, HEADER_FIELDS) == (field, getattr(one, field), 77)


def test_the_names_of_the_header_are_those_of_a_batch() -> None:
    assert {*HEADER_FIELDS, "position", "view"} == set(Batch.__slots__)


def test_a_byte_is_named_where_no_field_differs() -> None:
    damaged = bytearray(LOG[0])
    damaged[-1] ^= 1  # The checksum stays, and is wrong now.
    at = len(damaged) - 1
    found = where([LOG[0]], [bytes(damaged)])
    assert found == Parting(0, f"byte {at} of the batch", LOG[0][at], damaged[at], at)


def test_wrappers_are_compared_without_being_inflated() -> None:
    left = legacy(0, 1, "one", "two", codec=Compression.GZIP)
    damaged = bytearray(left)
    damaged[14] ^= 1
    damaged[-20:] = bytes(20)
    with pytest.raises(CorruptBatch):
        _ = opened(bytes(damaged))[0].base_offset
    assert where([left], [bytes(damaged)]).field == "crc"


def test_another_format_is_said_before_all_else() -> None:
    step = Step(Match.UNLIKE, opened(legacy(0, 1, "old"))[0], opened(plain(0, 0, "new"))[0])
    assert parting(step) == Parting(0, "magic", 1, 2)
