"""Traps of histories: their events are seen, their actions are run, and one may wait for another."""

from __future__ import annotations

import re

import pytest

from kmirror.errors import UsageError
from kmirror.histories.draw import draw
from kmirror.histories.plan import ClientPlan, ClusterPlan, Plan, Step, Value
from kmirror.histories.replication_events import REPLICATION_EVENTS
from kmirror.histories.run import play, run_history
from kmirror.histories.verdict import Outcome

CONFIGS = {
    **draw(0, "smoke").clusters[0].configs,
    "min.insync.replicas": "1",
    "transaction.state.log.min.isr": "1",
    "metadata.log.max.record.bytes.between.snapshots": "2000",
}
AB: dict[str, Value] = {"mirror": "m", "source": "a", "destination": "b"}
BA: dict[str, Value] = {"mirror": "m", "source": "b", "destination": "a"}
BEGIN = ((300, "create_mirror", AB), (500, "add", {**AB, "topics": "t"}))
NAMES = re.compile(r"reached (\w+): now")


def plan(*steps: tuple[int, str, dict[str, Value]], brokers: int = 3) -> Plan:
    """Return a plan of clusters a and b, in which topic t of a exists and has two producers."""
    clusters = tuple(ClusterPlan(name, brokers, brokers, CONFIGS) for name in "ab")
    clients = tuple(ClientPlan(f"p-{kind}", kind, "a", ("t",), 150) for kind in ("plain", "short"))
    done = tuple(Step(at_ms, action, args) for at_ms, action, args in sorted(steps, key=lambda step: step[0]))
    return Plan(7, "test", clusters, {}, clients, done, max(at for at, _, _ in steps) + 3_000, 30_000, {"t": "1@a"})


def trap(at_ms: int, cluster: str, on: str, do: str, **args: Value) -> tuple[int, str, dict[str, Value]]:
    source = "b" if cluster == "a" else "a"
    return at_ms, "when", {"cluster": cluster, "source": source, "topic": "t", "on": on, "do": do, **args}


def story(outcome: Outcome) -> list[str]:
    assert outcome.account.crash == "" and outcome.account.unsettled == []
    return [text for _, text in outcome.story]


def test_every_sight_is_seen_where_it_happens() -> None:
    """The traps do nothing: the client that they turn stays where it is."""
    there = [trap(1, "a", on, "turn", clients="p-plain", within_ms=60_000) for on in REPLICATION_EVENTS]
    here = [trap(3_000, "b", on, "turn", clients="p-plain", within_ms=60_000) for on in REPLICATION_EVENTS]
    replica: dict[str, Value] = {"topic": "t", "for_ms": 4_000}
    outcome = play(
        plan(
            *there,
            *here,
            *BEGIN,
            (100, "alter_topic", {"cluster": "a", "topic": "t", "name": "segment.ms", "value": "1000"}),
            (3_500, "kill_replica", {**replica, "cluster": "b", "victim": "follower"}),
            (9_000, "kill_replica", {**replica, "cluster": "b", "victim": "leader"}),
            (15_000, "remove", {**AB, "topics": "t"}),
            (15_500, "kill_controller", {"cluster": "a", "for_ms": 300}),
            (19_000, "kill_replica", {**replica, "cluster": "a", "victim": "leader"}),
            (24_000, "create_mirror", BA),
            (24_300, "add", {**BA, "topics": "t"}),
            *((27_000, "kill_broker", {"cluster": "b", "broker": n, "for_ms": 3_000}) for n in (1, 2, 3)),
            (30_000, "kill_cluster", {"cluster": "a", "for_ms": 300}),
        )
    )
    seen = {match[1] for text in story(outcome) if (match := NAMES.search(text))}
    assert set(REPLICATION_EVENTS) - seen == set()


def test_a_second_failure_comes_in_the_window_that_the_first_one_opened() -> None:
    """A follower is lost, then the leader when the ISR has shrunk, then its successor 100 ms after the election."""
    outcome = run_history(
        plan(
            *BEGIN,
            trap(2_000, "b", "ISR_SHRINKS", "kill", name="first", victim="leader", for_ms=3_000),
            trap(2_000, "b", "ELECTED", "kill", after="first", victim="leader", delay_ms=100, for_ms=800),
            (2_100, "kill_replica", {"cluster": "b", "topic": "t", "victim": "follower", "for_ms": 9_000}),
            (8_000, "kill_controller", {"cluster": "a", "for_ms": 100}),
        )
    )
    told = story(outcome)
    died = [text for text in told if re.fullmatch("broker .* dies", text)]
    assert len(died) == 3 and len(set(died)) == 3
    shrunk, elected = (n for n, text in enumerate(told) if "now kill leader" in text)
    assert told.index(died[1]) == shrunk + 1 and told.index(died[2]) == elected + 1
    assert outcome.anomalies == []


def test_the_next_order_is_given_earlier_and_only_once() -> None:
    outcome = play(plan(*BEGIN, trap(600, "b", "MIRRORING", "order"), (9_000, "remove", {**AB, "topics": "t"})))
    (removed,) = [order for order in outcome.account.orders if order.action == "remove"]
    mirroring = next(seen for seen in outcome.account.states if seen.state == "MIRRORING")
    assert removed.sent_at == mirroring.at and removed.error == "NONE"
    story(outcome)


def test_a_trap_gives_up_after_a_while() -> None:
    outcome = play(
        plan(
            *BEGIN,
            trap(2_000, "b", "ELECTED", "kill", victim="leader", within_ms=1_000),
            (5_000, "kill_replica", {"cluster": "b", "topic": "t", "victim": "leader", "for_ms": 4_000}),
        )
    )
    assert not any("came to" in text for text in story(outcome))


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ({"on": "ISR", "do": "kill", "victim": "leader"}, "not on 'ISR'"),
        ({"on": "CUT", "do": "harm"}, "not 'harm'"),
        ({"on": "CUT", "do": "kill"}, "needs victim"),
        ({"on": "CUT", "do": "kill", "victim": "source_king"}, "not 'source_king'"),
    ],
)
def test_a_trap_that_cannot_be_set_is_refused(args: dict[str, Value], text: str) -> None:
    wrong = plan((0, "when", {"cluster": "b", "source": "a", "topic": "t", **args}))
    with pytest.raises(UsageError, match=text):
        play(wrong)
