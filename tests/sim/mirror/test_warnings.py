"""Warnings to operators of a mirror: states that cannot be read (D66), unclean elections at the source (D67)."""

from __future__ import annotations

import pytest

from kmirror.kernel.ids import TopicPartition
from kmirror.mirror.facts import UncleanSource
from kmirror.mirror.states import MirrorState
from kmirror.sim.mirror import Mirror
from kmirror.spec.error_codes import ErrorCode
from tests.sim.stage import TOPIC, TP, Pair, pair, wait_until_mirrored, wait_until_stopped

SHARD = TopicPartition("__mirror_state", 0)
ONE_STATE = {"mirror.topic.replication.factor": "1", "mirror.topic.num.partitions": "1"}


def warning(p: Pair) -> str:
    """Return the warning of DescribeMirrors."""
    return p.there.warning()


def waits_for(p: Pair) -> str:
    """Return the reason of the partition in DescribeMirrors."""
    return next((row.reason for row in p.there.describe()), "")


def listed_warning(p: Pair) -> str:
    """Return the warning of ListMirrors."""
    (row,) = Mirror.list(p.b)
    return row.warning


@pytest.mark.decision("D66")
def test_unreadable_states_are_reported_until_their_topic_is_deleted() -> None:
    p = pair(5, b_configs=ONE_STATE)
    p.a.create_topic(TOPIC)
    p.begin()
    p.a.write("mirrored")
    wait_until_mirrored(p.there)
    p.fail_over()
    assert (warning(p), listed_warning(p)) == ("", "")
    gone = p.b.await_leader(SHARD).broker_id
    p.b.kill(gone)
    p.run_until(lambda: p.b.leader(SHARD) is None and p.b.leader(TP) is not None, "the broker to be fenced")
    p.b.restart(p.b.elect())
    text = f"{SHARD} has no leader, it is on brokers [{gone}]"
    assert waits_for(p).endswith(text)
    text = f"states cannot be read or written: {text}"
    assert (warning(p), listed_warning(p)) == (text, text)
    p.simulation.run_for(span_s=20)
    assert p.b.try_write() is ErrorCode.NOT_LEADER_OR_FOLLOWER, "this leader may itself owe a cut"
    assert p.b.delete(SHARD.topic) == [ErrorCode.NONE]
    wait_until_stopped(p.there)
    p.b.write("at the new place")
    assert (warning(p), listed_warning(p)) == ("", "")


@pytest.mark.decision("D66")
def test_an_isr_too_small_for_states_is_reported_with_the_missing_brokers() -> None:
    """A stop is ordered, and two of three brokers die: the last one cannot commit its states."""
    p = pair(5, b_configs={"mirror.topic.num.partitions": "1"})
    p.a.create_topic(TOPIC)
    p.begin()
    leader = p.b.await_leader(SHARD)
    last = next(broker for broker in p.b.broker_ids if broker != leader.broker_id)
    gone = [broker for broker in p.b.broker_ids if broker != last]
    p.there.remove_topics([TOPIC])
    end = leader.log.log_end_offset
    p.run_until(lambda: leader.log.high_watermark > end, "the state to be committed")
    for victim in gone:
        p.b.kill(victim)
    short = f"{SHARD}: ISR [{last}] is smaller than min.insync.replicas, which is 2: brokers {gone} are not in it"
    p.run_until(lambda: p.b.leader(TP) is not None and p.b.leader(SHARD) is not None, "the last broker to lead")
    assert waits_for(p) == short
    p.run_until(lambda: "did not respond" in p.b.reason(), "the end of the first question")
    text = f"states cannot be read or written: {short}"
    assert (waits_for(p), warning(p), listed_warning(p)) == (
        f"the mirror's coordinator did not respond; {short}",
        text,
        text,
    )
    p.b.restart(gone[0])
    wait_until_stopped(p.there)
    assert (warning(p), listed_warning(p)) == ("", "")


@pytest.mark.decision("D66")
def test_a_state_that_cannot_be_written_is_reported_until_the_isr_suffices() -> None:
    p = pair(5, b_configs={"mirror.topic.num.partitions": "1"})
    p.a.create_topic(TOPIC)
    p.begin()
    leaders = (p.b.await_leader(SHARD).broker_id, p.b.await_leader(TP).broker_id)
    gone = next(broker for broker in p.b.broker_ids if broker not in leaders)
    p.b.kill(gone)
    p.b.alter(SHARD.topic, {"min.insync.replicas": "3"})
    p.there.pause([TOPIC])
    p.run_until(lambda: gone not in p.b.await_leader(SHARD).isr, "the ISR to be smaller")
    left = [broker for broker in p.b.await_leader(SHARD).image.replicas if broker != gone]
    short = f"{SHARD}: ISR {left} is smaller than min.insync.replicas, which is 3: brokers [{gone}] are not in it"
    assert waits_for(p) == f"waiting for the mirror's coordinator to persist state PAUSING; {short}"
    assert warning(p) == f"states cannot be read or written: {short}"
    p.b.alter(SHARD.topic, {"min.insync.replicas": "2"})
    p.there.wait_for_state(MirrorState.PAUSED, [TP])


@pytest.mark.decision("D67")
def test_unclean_elections_at_the_source_are_warned_of_in_each_cycle() -> None:
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
