"""Compacted topics in histories: repeated keys, expiring tombstones, and the common records of replicas."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kmirror.histories.account import Absence, Account, LogRow, Transaction, Write
from kmirror.histories.checkers.reasons import MARKERS_CLEANED
from kmirror.histories.compaction import hide_open_transactions, keys_missed_by_replica, unexplained_difference
from kmirror.histories.draw import draw
from kmirror.histories.draw_keys import TOPIC
from kmirror.histories.draw_requests import COMPACTED, SMALL
from kmirror.histories.plan import ClientPlan, ClusterPlan, Plan, Step
from kmirror.histories.run import run_history
from kmirror.histories.verdict import Exit
from kmirror.kernel.clock import MILLISECOND, SECOND
from kmirror.kernel.ids import TopicPartition
from tests.sim.histories.test_planted_faults import keys_and_tombstones

TP = TopicPartition("t0", 0)


def row(offset: int, key: str, value: str = "", *, visible: bool = True, tombstone: bool = False) -> LogRow:
    return LogRow(offset, 0, value or f"v{offset}", -1, visible, offset, key, tombstone)


LOG = [row(0, "x"), row(1, "y"), row(2, "x"), row(3, "y", tombstone=True), row(4, "z", visible=False), row(5, "w")]


def test_compaction_removes_records_and_tombstones_within_a_history() -> None:
    outcome = run_history(keys_and_tombstones())
    assert outcome.exit is Exit.CLEAN
    gone = {accepted.decision: accepted.records for accepted in outcome.accepted}
    assert gone["compaction"] > 20
    left = outcome.account.final_logs["a", TP].rows
    deleted = [write.value for write in outcome.account.writes.values() if write.is_tombstone]
    assert len(deleted) > 10 and not set(deleted) & {row.value for row in left}, "all were due, none is left"
    assert {row.key for row in left if row.key.startswith("k")} < {f"k{n}" for n in range(4)}, "some were deleted"


def test_clients_of_the_library_write_to_few_keys_as_well() -> None:
    plan = keys_and_tombstones()
    clients = tuple(replace(one, kind="library") if one.name == "p0" else one for one in plan.clients)
    outcome = run_history(replace(plan, clients=clients))
    assert outcome.exit is Exit.CLEAN, outcome.anomalies
    written = [write for write in outcome.account.writes.values() if write.client == "p0"]
    assert {write.key for write in written} == {f"k{n}" for n in range(4)}
    assert {write.is_tombstone for write in written} == {True, False}
    assert {accepted.decision for accepted in outcome.accepted} == {"compaction"}


@pytest.mark.decision("D73")
def test_tombstones_that_a_mirror_got_late_stay_for_replicas_that_are_away_for_a_moment() -> None:
    """The line is down for less than `delete.retention.ms`, and then a replica, while the tombstones expire."""
    plan = keys_and_tombstones()
    steps = [
        replace(step, args={**step.args, "value": "8000"}) if step.args.get("name") == "delete.retention.ms" else step
        for step in plan.steps
    ]
    there = {"mirror": "m", "source": "a", "destination": "b", "topics": "t0"}
    steps += [Step(100, "create_mirror", there), Step(200, "add", there)]
    steps.append(Step(3_000, "line_down", {"one": "a", "other": "b", "for_ms": 6_500}))
    steps.append(Step(9_000, "kill_broker", {"cluster": "b", "broker": 2, "for_ms": 5_500}))
    steps.append(Step(18_000, "kill_broker", {"cluster": "b", "broker": 1, "for_ms": 1_000}))
    steps.sort(key=lambda step: step.at_ms)
    outcome = run_history(replace(plan, steps=tuple(steps), faults_end_ms=24_000))
    assert outcome.exit is Exit.CLEAN, outcome.anomalies
    assert not any(row.is_tombstone for row in outcome.account.final_logs["a", TP].rows), "they have gone at the source"


@pytest.mark.decision("D64")
@pytest.mark.parametrize("ahead_ms", [600_000, 55_000])
def test_clocks_that_are_ahead_may_remove_tombstones_before_a_mirror_has_them(ahead_ms: int) -> None:
    """The line was down for less than `delete.retention.ms`, so the mirror copies nothing again."""
    plan = keys_and_tombstones()
    stays = "delete.retention.ms"
    steps = [
        replace(step, args={**step.args, "value": "60000"}) if step.args.get("name") == stays else step
        for step in plan.steps
    ]
    there = {"mirror": "m", "source": "a", "destination": "b", "topics": "t0"}
    steps += [Step(100, "create_mirror", there), Step(200, "add", there)]
    steps.append(Step(3_500, "line_down", {"one": "a", "other": "b", "for_ms": 6_000}))
    steps += [Step(8_000, "set_clock", {"cluster": "a", "broker": n, "ahead_ms": ahead_ms, "ppm": 0}) for n in (1, 2)]
    outcome = run_history(replace(plan, steps=tuple(sorted(steps, key=lambda step: step.at_ms))))
    assert outcome.exit is Exit.CLEAN, outcome.anomalies
    assert not any(row.is_tombstone for row in outcome.account.final_logs["a", TP].rows), "they are gone"


def test_independently_cleaned_logs_agree_in_remaining_records() -> None:
    cleaned = [row for row in LOG if row.offset in (2, 5)]
    assert unexplained_difference(LOG, cleaned, 0, 6) is None
    assert unexplained_difference(LOG, [replace(row, crc=99) for row in LOG], 0, 6) is None, "batches are written again"
    assert unexplained_difference(LOG, LOG[:5], 0, 5) is None


def test_logs_differ_in_a_latest_value_a_record_and_a_restored_key() -> None:
    assert unexplained_difference(LOG, [LOG[2]], 0, 6) == (5, "v5 of epoch 0", "nothing")
    assert unexplained_difference(LOG, [row(0, "x", "other"), *LOG[1:]], 0, 6) == (
        0,
        "v0 of epoch 0",
        "other of epoch 0",
    )
    back = unexplained_difference([LOG[2], LOG[3], LOG[5]], [LOG[1], LOG[2], LOG[5]], 0, 6)
    assert back == (3, "nothing as the latest of key y", "v1 of epoch 0 as the latest of key y")


def test_a_returning_replica_may_have_missed_a_tombstone_but_no_record() -> None:
    leader, replica = [LOG[2], LOG[5]], [LOG[1], LOG[2], LOG[5]]
    assert unexplained_difference(leader, replica, 0, 6) == (1, "nothing", "v1 of epoch 0")
    assert unexplained_difference(leader, replica, 0, 6, may_lack_tombstones=((), ["y"])) is None
    assert unexplained_difference(leader, replica, 0, 6, may_lack_tombstones=(["y"], ())) == (
        1,
        "nothing",
        "v1 of epoch 0",
    )
    assert unexplained_difference(leader, replica, 0, 6, may_lack_tombstones=((), ["x"])) == (
        1,
        "nothing",
        "v1 of epoch 0",
    )
    assert unexplained_difference(replica, leader, 0, 6, may_lack_tombstones=(["y"], ())) is None, "it may lead by now"


def test_a_replica_that_missed_a_marker_may_have_aborted_records() -> None:
    """The other one has read the marker, and its cleaner has removed the record and then the marker."""
    leader = [replace(row, producer_id=7) if row.offset == 1 else row for row in (LOG[1], LOG[2], LOG[5])]
    other = [LOG[2], LOG[5]]
    assert unexplained_difference(leader, other, 0, 6) == (1, "v1 of epoch 0", "nothing")
    assert unexplained_difference(hide_open_transactions(leader, {1: 7}), other, 0, 6) is None
    for not_it in ({}, {1: 8}, {2: 7}):
        assert unexplained_difference(hide_open_transactions(leader, not_it), other, 0, 6) == (
            1,
            "v1 of epoch 0",
            "nothing",
        )


@pytest.mark.parametrize(("broker", "away_ms", "expected"), [(1, 2_999, []), (1, 3_000, ["k"]), (2, 3_000, [])])
def test_a_replica_outside_the_isr_for_too_long_misses_tombstones(
    broker: int, away_ms: int, expected: list[str]
) -> None:
    configs = {"log.cleaner.delete.retention.ms": "3000"}
    plan = replace(keys_and_tombstones(), clusters=(ClusterPlan("a", 3, 3, configs),), steps=())
    account, other = Account(), TopicPartition("other", 0)
    account.writes = {
        value: Write(value, "p", "a", tp, -1, 0, 0, "", 0, key=key, is_tombstone=is_tombstone)
        for value, tp, key, is_tombstone in (("1", TP, "k", True), ("2", TP, "l", False), ("3", other, "m", True))
    }
    account.absences.append(Absence("a", TP, broker, SECOND, SECOND + away_ms * MILLISECOND))
    assert keys_missed_by_replica(plan, account, ("a", TP), 1, 10 * SECOND) == expected


def test_a_replica_may_lack_markers_of_uncommitted_records() -> None:
    plan, account = replace(keys_and_tombstones(), steps=()), Account()
    plan = replace(plan, clusters=(ClusterPlan("a", 3, 3, {"log.cleaner.delete.retention.ms": "3000"}),))
    for asked, answered in (("commit", True), ("commit", False), ("abort", True), ("", False)):
        value = f"{asked}-{answered}"
        account.transactions[value] = Transaction(value, "a", [value], asked, answered)
        account.writes[value] = Write(value, "p", "a", TP, 7, 0, 0, value, 0, key=value)
    account.writes["plain"] = Write("plain", "p", "a", TP, -1, 0, 0, "", 0, key="plain")
    account.absences.append(Absence("a", TP, 1, SECOND, 5 * SECOND))
    assert keys_missed_by_replica(plan, account, ("a", TP), 1, 10 * SECOND) == ["commit-False", "abort-True", "-False"]


def test_a_replica_that_missed_an_abort_shows_the_record_after_the_next_commit() -> None:
    """As in Kafka: the marker is gone when the replica returns, and the next one ends its open transaction."""
    plan = keys_and_tombstones()
    clients = (
        ClientPlan("p0", "long", "a", ("t0",), 150, {"keys": 200, "tombstones": 0, "timeout_ms": 20_000}),
        ClientPlan("p1", "plain", "a", ("t0",), 200, {"keys": 2}),
    )
    steps = [step for step in plan.steps if step.action == "alter_topic"]
    steps.append(Step(3_000, "kill_broker", {"cluster": "a", "broker": 2, "for_ms": 25_000}))
    steps.append(Step(32_000, "kill_broker", {"cluster": "a", "broker": 1, "for_ms": 2_000}))
    alone = replace(plan.clusters[0], configs={**plan.clusters[0].configs, "transaction.state.log.min.isr": "1"})
    outcome = run_history(
        replace(plan, seed=5, clusters=(alone,), clients=clients, steps=tuple(steps), faults_end_ms=38_000)
    )
    assert outcome.exit is Exit.CLEAN, outcome.anomalies
    assert {accepted.decision for accepted in outcome.accepted} == {"compaction", MARKERS_CLEANED}


def test_full_draws_compacted_topics_that_no_mirror_has() -> None:
    plans = [draw(seed) for seed in range(60)]
    keyed = [plan for plan in plans if TOPIC in plan.topics]
    assert 10 < len(keyed) < 35
    for plan in keyed:
        assert not any(TOPIC in str(step.args.get("topics", "")) for step in plan.steps)
        assert next(topic for topic in compacted_topics(plan) if topic != COMPACTED) == TOPIC
        assert {client.kind for client in plan.clients if client.topics == (TOPIC,)} > {"read_committed"}


def test_mirrored_topics_are_compacted_in_a_profile_of_its_own_and_in_a_part_of_full() -> None:
    full = [plan for plan in map(draw, range(60)) if set(compacted_topics(plan)) - {TOPIC, COMPACTED}]
    assert 3 < len(full) < 20
    for plan in (*(draw(seed, "compacted") for seed in range(8)), *full):
        assert set(compacted_topics(plan)) - {COMPACTED} == set(plan.topics) - {SMALL, COMPACTED}
        own = [client for client in plan.clients if set(client.topics) & set(compacted_topics(plan)) - {COMPACTED}]
        assert all("keys" in client.options for client in own if not client.kind.startswith("read_"))


def compacted_topics(plan: Plan) -> list[str]:
    """Return the topics that are compacted from the beginning on."""
    rows = [step.args for step in plan.steps if step.at_ms == 0 and step.args.get("name") == "cleanup.policy"]
    return [str(row["topic"]) for row in rows if "compact" in str(row["value"])]
