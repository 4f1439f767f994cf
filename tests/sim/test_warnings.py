"""Warnings to operators of a mirror: states that cannot be read (D66), unclean elections at the source (D67)."""

from __future__ import annotations

import pytest

from kmirror.kernel.ids import TopicPartition
from kmirror.mirror.facts import UncleanSource
from kmirror.mirror.states import MirrorState
from kmirror.sim.mirror import Mirror
from kmirror.spec.error_codes import ErrorCode
from tests.sim.stage import TOPIC, TP, Pair, mirrored, pair, stopped

SHARD = TopicPartition("__mirror_state", 0)
ONE_STATE = {"mirror.topic.replication.factor": "1", "mirror.topic.num.partitions": "1"}


def warning(p: Pair) -> str:
    """Return what DescribeMirrors warns of."""
    return p.there.warning()


def listed(p: Pair) -> str:
    """Return what ListMirrors warns of."""
    (row,) = Mirror.list(p.b)
    return row.warning


@pytest.mark.decision("D66")
def test_states_that_nobody_can_read_are_named_and_given_up_by_deleting_their_topic() -> None:
    p = pair(5, b_configs=ONE_STATE)
    p.a.create_topic(TOPIC)
    p.begin()
    p.a.write("mirrored")
    mirrored(p.there)
    p.fail_over()
    assert (warning(p), listed(p)) == ("", "")
    gone = p.b.await_leader(SHARD).broker_id
    p.b.kill(gone)
    p.run_until(lambda: p.b.leader(SHARD) is None and p.b.leader(TP) is not None, "the broker to be fenced")
    p.b.restart(p.b.elect())
    p.run_until(lambda: "has no leader" in p.b.reason(), "the reason")
    assert p.b.reason() == f"the state cannot be read: {SHARD} has no leader, it is on brokers {gone}"
    text = f"states cannot be read or written, for nobody leads {SHARD} (on brokers {gone})"
    assert (warning(p), listed(p)) == (text, text)
    p.simulation.run_for(span_s=20)
    assert p.b.try_write() is ErrorCode.NOT_LEADER_OR_FOLLOWER, "this leader may itself owe a cut"
    assert p.b.delete(SHARD.topic) == [ErrorCode.NONE]
    stopped(p.there)
    p.b.write("at the new place")
    assert (warning(p), listed(p)) == ("", "")


@pytest.mark.decision("D67")
def test_unclean_elections_at_the_source_are_warned_of_in_each_cycle_unless_they_are_supported() -> None:
    p = pair(6, brokers=1, b_configs={"mirror.metadata.refresh.interval.ms": "1000"})
    told: list[UncleanSource] = []
    p.simulation.on(UncleanSource, lambda seen: told.append(seen.fact))
    p.a.create_topic(TOPIC)
    p.begin()
    p.simulation.run_for(span_s=3)
    assert warning(p) == ""
    p.a.alter(TOPIC, {"unclean.leader.election.enable": "true"})
    p.run_until(lambda: TOPIC in warning(p), "the warning")
    assert "unclean.leader.election.enable" in warning(p)
    told.clear()
    p.simulation.run_for(span_s=5)
    assert 4 <= len(told) <= 6, "once in each cycle"
    assert told[-1] == UncleanSource("m", (TOPIC,))
    p.b.alter(TOPIC, {"mirror.support.unclean.leader.election": "true"})
    p.run_until(lambda: not warning(p), "the end of the warning")
    (row,) = p.there.describe()
    assert (row.state, row.reason) == (MirrorState.MIRRORING, ""), "nothing waits for it"
