"""For any fetches of followers and any ISR: records below the high watermark are on every member's disk."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from tests.unit.cluster.stage import append, partition

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.integers(1, 4), st.just(0)),
        st.tuples(st.just("fetch"), st.sampled_from((2, 3)), st.integers(0, 4)),
        st.tuples(st.just("isr"), st.sampled_from(((1,), (1, 2), (1, 3), (1, 2, 3))), st.just(0)),
        st.tuples(st.just("pending"), st.sampled_from((None, (1, 2), (1, 2, 3))), st.just(0)),
        st.tuples(st.just("cut"), st.integers(0, 5), st.just(0)),
    ),
    max_size=40,
)


@given(STEPS)
def test_high_watermark_never_passes_a_member(steps: list[tuple[str, object, int]]) -> None:
    p = partition()
    held = {2: 0, 3: 0}  # Log end of each follower; a fetch continues from there.
    fetched: set[int] = set()
    partition_epoch = 0
    committed = 0
    for kind, what, more in steps:
        if kind == "append" and isinstance(what, int):
            append(p, what)
        elif kind == "fetch" and isinstance(what, int):
            held[what] = min(held[what] + more, p.log.log_end_offset)
            p.on_follower_fetch(1, what, held[what])
            fetched.add(what)
        elif kind == "isr" and isinstance(what, tuple):
            partition_epoch += 1
            p.apply(1, replace(p.image, isr=what, partition_epoch=partition_epoch))
        elif kind == "pending":
            p.pending_isr = what if isinstance(what, tuple) else None
        elif kind == "cut" and isinstance(what, int) and what < p.log.log_end_offset:
            p.log.truncate_to(what)
            p.on_log_cut(1)
            fetched.clear()
            held = {follower: min(end, what) for follower, end in held.items()}
            committed = min(committed, what)
        before = p.log.high_watermark
        moved = p.advance_high_watermark()
        assert moved is (p.log.high_watermark > before)
        if moved:
            members = [member for member in p.maximal_isr() if member != 1]
            assert all(member in fetched for member in members), "a member nobody has heard of holds it"
            assert p.log.high_watermark == min([p.log.log_end_offset, *(held[member] for member in members)])
        assert p.log.high_watermark >= committed, "it falls with a cut only"
        committed = p.log.high_watermark
