"""The epoch cache against its definition, for any order of assignments and truncations."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kmirror.log.epochs import LeaderEpochCache, decode_checkpoint, encode_checkpoint

EPOCHS, OFFSETS = st.integers(0, 12), st.integers(0, 40)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("assign"), EPOCHS, OFFSETS),
        st.tuples(st.just("from end"), st.just(0), OFFSETS),
        st.tuples(st.just("from start"), st.just(0), OFFSETS),
    ),
    max_size=25,
)


def play(steps: list[tuple[str, int, int]]) -> tuple[LeaderEpochCache, list[tuple[int, int]]]:
    cache, told = LeaderEpochCache(), list[tuple[int, int]]()
    for kind, epoch, offset in steps:
        if kind == "assign":
            cache.assign(epoch, offset)
            if not told or told[-1][0] != epoch or told[-1][1] > offset:
                told = [(e, s) for e, s in told if e < epoch and s < offset] + [(epoch, offset)]
        elif kind == "from end":
            cache.truncate_from_end(offset)
            told = [(e, s) for e, s in told if s < offset]
        else:
            cache.truncate_from_start(offset)
            covering = [e for e, s in told if s <= offset][-1:]
            told = [(e, offset) for e in covering] + [(e, s) for e, s in told if s > offset]
        assert cache.entries == told
    return cache, told


@given(STEPS)
def test_entries_ascend_in_both_columns(steps: list[tuple[str, int, int]]) -> None:
    _, told = play(steps)
    assert [e for e, _ in told] == sorted({e for e, _ in told})
    assert [s for _, s in told] == sorted({s for _, s in told})


@given(STEPS, st.integers(-1, 14), st.integers(40, 50))
def test_results_follow_from_the_entries(steps: list[tuple[str, int, int]], epoch: int, end: int) -> None:
    cache, told = play(steps)
    above = [(e, s) for e, s in told if e > epoch]
    below = [e for e, _ in told if e <= epoch]
    assert cache.first_after(epoch) == (above[0] if above else None)
    assert cache.latest_epoch() == max((e for e, _ in told), default=-1)
    if epoch == -1 or (not above and epoch not in below):
        expected = (-1, -1)
    else:
        expected = (below[-1] if below else epoch, above[0][1] if above else end)
    assert cache.end_offset_for(epoch, end) == expected


@given(STEPS, OFFSETS)
def test_an_offset_belongs_to_the_last_epoch_that_began_at_or_before_it(
    steps: list[tuple[str, int, int]], offset: int
) -> None:
    cache, told = play(steps)
    assert cache.epoch_for_offset(offset) == max((e for e, s in told if s <= offset), default=-1)


@given(STEPS, st.integers(-1, 14), st.integers(-1, 14))
def test_end_offsets_never_fall_as_epochs_rise(steps: list[tuple[str, int, int]], one: int, other: int) -> None:
    cache, _ = play(steps)
    low, high = (cache.end_offset_for(epoch, 50) for epoch in sorted((one, other)))
    if -1 not in (low.end_offset, high.end_offset):
        assert low.end_offset <= high.end_offset


@given(STEPS)
def test_a_checkpoint_restores_the_same_cache(steps: list[tuple[str, int, int]]) -> None:
    cache, told = play(steps)
    assert decode_checkpoint(encode_checkpoint(cache.entries)) == told
    assert LeaderEpochCache(told).entries == told
