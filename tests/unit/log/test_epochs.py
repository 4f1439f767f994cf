"""The leader epoch cache returns the same results as Kafka's."""

from __future__ import annotations

import pytest

from kmirror.errors import CorruptBatch
from kmirror.log.epochs import LeaderEpochCache, decode_checkpoint, encode_checkpoint

ENTRIES = [(2, 10), (4, 30), (7, 50)]
END = 80


@pytest.mark.parametrize(
    ("epoch", "expected"),
    [
        (-1, (-1, -1)),  # No real client asks for an undefined epoch.
        (0, (0, 10)),  # Below the first one: the client truncates to the start of this log.
        (1, (1, 10)),
        (2, (2, 30)),
        (3, (2, 30)),  # Unknown, between two known ones.
        (4, (4, 50)),
        (6, (4, 50)),
        (7, (7, END)),
        (8, (-1, -1)),  # Above the latest one.
    ],
)
def test_end_offset_for(epoch: int, expected: tuple[int, int]) -> None:
    assert LeaderEpochCache(ENTRIES).end_offset_for(epoch, END) == expected


def test_an_empty_cache_knows_no_end() -> None:
    cache = LeaderEpochCache()
    assert cache.end_offset_for(0, 5) == (-1, -1)
    assert cache.latest_epoch() == -1
    assert cache.epoch_for_offset(3) == -1
    assert cache.first_after(-1) is None


def test_an_epoch_keeps_its_first_start() -> None:
    cache = LeaderEpochCache(ENTRIES)
    assert not cache.assign(7, 60)
    assert cache.entries == ENTRIES


@pytest.mark.parametrize(
    ("epoch", "start", "expected"),
    [
        (9, 60, [(2, 10), (4, 30), (7, 50), (9, 60)]),
        (9, 50, [(2, 10), (4, 30), (9, 50)]),  # The leader of epoch 7 wrote nothing.
        (9, 20, [(2, 10), (9, 20)]),
        (9, 0, [(9, 0)]),
        (5, 70, [(2, 10), (4, 30), (5, 70)]),  # An older epoch removes the entries that it contradicts.
        (7, 40, [(2, 10), (4, 30), (7, 40)]),
        (4, 90, [(2, 10), (4, 90)]),
    ],
)
def test_conflicting_entries_are_removed(epoch: int, start: int, expected: list[tuple[int, int]]) -> None:
    cache = LeaderEpochCache(ENTRIES)
    assert cache.assign(epoch, start)
    assert cache.entries == expected


@pytest.mark.parametrize(
    ("offset", "expected"),
    [
        (0, []),
        (10, []),
        (11, ENTRIES[:1]),
        (30, ENTRIES[:1]),
        (50, ENTRIES[:2]),
        (51, ENTRIES),
        (99, ENTRIES),
        (-1, ENTRIES),
    ],
)
def test_truncate_from_end(offset: int, expected: list[tuple[int, int]]) -> None:
    cache = LeaderEpochCache(ENTRIES)
    assert cache.truncate_from_end(offset) == (expected != ENTRIES)
    assert cache.entries == expected


@pytest.mark.parametrize(
    ("offset", "expected"),
    [
        (9, ENTRIES),
        (10, ENTRIES),
        (29, [(2, 29), (4, 30), (7, 50)]),
        (30, [(4, 30), (7, 50)]),
        (99, [(7, 99)]),
    ],
)
def test_truncate_from_start(offset: int, expected: list[tuple[int, int]]) -> None:
    cache = LeaderEpochCache(ENTRIES)
    cache.truncate_from_start(offset)
    assert cache.entries == expected


@pytest.mark.parametrize(("offset", "epoch"), [(9, -1), (10, 2), (29, 2), (30, 4), (49, 4), (50, 7), (1000, 7)])
def test_epoch_for_offset(offset: int, epoch: int) -> None:
    assert LeaderEpochCache(ENTRIES).epoch_for_offset(offset) == epoch


@pytest.mark.parametrize(("epoch", "above"), [(-1, (2, 10)), (2, (4, 30)), (3, (4, 30)), (6, (7, 50)), (7, None)])
def test_first_entry_above_an_epoch(epoch: int, above: tuple[int, int] | None) -> None:
    assert LeaderEpochCache(ENTRIES).first_after(epoch) == above


def test_start_of_an_epoch() -> None:
    cache = LeaderEpochCache(ENTRIES)
    assert [cache.start_offset_of(epoch) for epoch in (1, 2, 3, 7, 8)] == [-1, 10, -1, 50, -1]


def test_checkpoint_text() -> None:
    assert encode_checkpoint(ENTRIES) == b"0\n3\n2 10\n4 30\n7 50\n"
    assert encode_checkpoint([]) == b"0\n0\n"
    assert decode_checkpoint(b"0\n3\n2 10\n4 30\n7 50\n") == ENTRIES
    assert decode_checkpoint(b"") == [], "a broker creates the file before it has an epoch to write"


@pytest.mark.parametrize(
    "data",
    [
        b"0\n",
        b"1\n0\n",
        b"0\n2\n2 10\n",
        b"0\n1\n2\n",
        b"0\n1\n2 x\n",
        b"0\n1\n2 -1\n",
        b"0\n0\n1 2\n",
        b"\xff\n0\n",
    ],
)
def test_a_malformed_checkpoint_is_refused(data: bytes) -> None:
    with pytest.raises(CorruptBatch, match="leader-epoch-checkpoint"):
        decode_checkpoint(data)
