"""Logs with messages of old formats, without epochs, at any place: a follower converges to its leader (D28)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kmirror.records.codecs import Compression
from tests.unit.cluster.replication.legacy_logs import Run, contents, converge, log

# Lengths of runs; a length of zero skips an epoch. The epochs of the two diverging logs are even and odd.
LENGTHS = st.lists(st.integers(0, 3), max_size=3)


def runs(lengths: list[int], *, end: int, epoch: int) -> list[Run]:
    """Return runs of batches from `end` on, with epochs `epoch` and every second one above."""
    found: list[Run] = []
    for number, length in enumerate(lengths):
        end += 2 * length
        if length:
            found.append((epoch + 2 * number, end))
    return found


def end_of(before: list[Run]) -> int:
    return before[-1][1] if before else 0


@pytest.mark.decision("D28")
@given(
    before=LENGTHS,
    legacy=st.integers(0, 5),
    common=LENGTHS,
    lost=st.integers(0, 5),
    loser=st.booleans(),
    leader_tail=LENGTHS,
    follower_tail=LENGTHS,
    foreign=st.booleans(),
    codec=st.sampled_from([Compression.NONE, Compression.GZIP]),
    max_bytes=st.sampled_from([1, 400, 1 << 20]),
)
def test_a_follower_becomes_equal_to_its_leader(
    before: list[int],
    legacy: int,
    common: list[int],
    lost: int,
    loser: bool,
    leader_tail: list[int],
    follower_tail: list[int],
    foreign: bool,
    codec: Compression,
    max_bytes: int,
) -> None:
    """Batches, then messages, then batches, and a fork; or one of the two lost the last messages and continued alone.

    No client writes messages any more, so both logs have the same message at an offset.
    """
    shared = runs(before, end=0, epoch=2)
    shared.append((None, end_of(shared) + 2 * legacy))
    whole, short = list(shared), list(shared)
    if lost:
        whole.append((None, end_of(shared) + 2 * lost))
    else:
        whole += runs(common, end=end_of(shared), epoch=20)
        short = list(whole)
    ahead, behind = (short, whole) if loser else (whole, short)
    leader_runs = ahead + runs(leader_tail, end=end_of(ahead), epoch=40)
    follower_runs = behind + runs(follower_tail, end=end_of(behind), epoch=41)
    leader, follower = log(*leader_runs, codec=codec), log(*follower_runs, codec=codec)
    if not foreign:
        leader.assign_epoch_start(90)
    if leader.log_end_offset == 0:
        follower = log()  # An empty mirrored log has no epoch; by D11 followers start from scratch by range.
    converge(leader, follower, foreign=foreign, max_bytes=max_bytes)
    assert contents(follower) == contents(leader)
