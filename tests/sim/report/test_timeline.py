"""A timeline draws only facts of the run, at their place and time, and it draws all of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kmirror.errors import UsageError
from kmirror.experiments.demo import Demo, Observer
from kmirror.kernel.ids import TopicPartition
from kmirror.logdir.load import read_sample
from kmirror.mirror.states import MirrorState
from kmirror.protocol.gen.create_mirror_request import CreateMirrorRequest
from kmirror.report.drawing import ticks
from kmirror.report.lanes import demo_page
from kmirror.report.periods import Period, Periods, periods_of
from kmirror.report.timeline import timeline_page, write_timeline
from kmirror.sim.cluster import Cluster
from kmirror.sim.facts import (
    BrokerFenced,
    BrokerUnfenced,
    LineChanged,
    LineDown,
    LineUp,
    LogCut,
    NodeKilled,
    NodeStarted,
    NodeStopped,
    OrderAnswered,
    OrderSent,
    ReasonChanged,
    Seen,
    StateEntered,
)
from kmirror.sim.mirror import Mirror
from kmirror.sim.network import LineSettings
from kmirror.sim.simulation import Simulation
from kmirror.spec.error_codes import ErrorCode

TP = TopicPartition("orders", 0)
BAR = re.compile(r'<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)"[^>]*><title>([^<]*)</title>')


def run(*rows: tuple[int, str, object]) -> Periods:
    """Return the stretches of a run of ten seconds with these facts: (ms, node, fact)."""
    facts = [Seen(at * 1000, node.partition("-")[0], node, fact) for at, node, fact in rows]
    return periods_of(facts, 10_000)


def times(periods: list[Period[str]]) -> list[tuple[str, int, int]]:
    return [(row.subject, row.begin_ms, row.end_ms) for row in periods]


def test_a_killed_broker_counts_as_alive_until_it_is_fenced() -> None:
    found = run(
        (1_000, "b-2", NodeKilled()),
        (7_000, "b-controller", BrokerFenced(2, "its session has ended")),
        (8_000, "b-2", NodeStarted()),
        (8_500, "b-controller", BrokerUnfenced(2)),
    )
    assert (times(found.down), times(found.killed_not_fenced)) == ([("b-2", 1_000, 8_000)], [("b-2", 1_000, 7_000)])
    assert times(found.fenced) == [("b-2", 7_000, 8_500)]
    assert found.down[0].text == "b-2 was killed at 1.000 s, started at 8.000 s"
    assert (
        found.killed_not_fenced[0].text
        == "b-2, killed at 1.000 s, counts as alive until 7.000 s: its session has ended"
    )


def test_a_session_outlasts_a_short_absence_and_a_fenced_broker_has_none() -> None:
    found = run(
        (1_000, "b-2", NodeKilled()),
        (2_000, "b-2", NodeStarted()),
        (7_000, "b-controller", BrokerFenced(2, "its session has ended")),
        (7_500, "b-2", NodeKilled()),
    )
    assert times(found.down) == [("b-2", 1_000, 2_000), ("b-2", 7_500, 10_000)]
    assert times(found.killed_not_fenced) == [("b-2", 1_000, 7_000)]
    assert [row.is_over for row in found.down] == [True, False]


def test_a_controller_that_was_killed_has_no_session_that_lasts() -> None:
    found = run((1_000, "b-controller", NodeKilled()), (4_000, "b-controller", NodeStarted()))
    assert times(found.down) == [("b-controller", 1_000, 4_000)] and found.killed_not_fenced == []


def test_a_stopped_node_is_shown_as_down_only() -> None:
    found = run((3_000, "b-2", NodeStopped()), (4_000, "b-2", NodeStarted()))
    assert times(found.down) == [("b-2", 3_000, 4_000)] and found.killed_not_fenced == []


BOTH = (("a", "b"), ("b", "a"))
ONE = (("a-1", "a-2"),)


def test_lines_are_down_and_changed_between_their_facts() -> None:
    found = run(
        (1_000, "network", LineDown("a|b", BOTH)),
        (1_500, "network", LineDown("a-1>a-2", ONE)),
        (2_000, "network", LineUp("b|a", BOTH)),
        (3_000, "network", LineChanged("a|b", BOTH, LineSettings(latency_ms=80))),
        (4_000, "network", LineChanged("a|b", BOTH, LineSettings(loss_ppm=10))),
        (5_000, "network", LineChanged("a|b", BOTH, LineSettings())),
        (6_000, "network", LineChanged("a|b", BOTH, LineSettings(loss_ppm=20))),
    )
    assert times(found.lines_down) == [("a|b", 1_000, 2_000), ("a-1>a-2", 1_500, 10_000)]
    assert [row.text for row in found.lines_set] == [
        "line a|b: latency_ms=80 from 3.000 s until 4.000 s",
        "line a|b: latency_ms=80 loss_ppm=10 from 4.000 s until 5.000 s",
        "line a|b: loss_ppm=20 from 6.000 s",
    ]


def test_a_line_that_comes_up_one_way_is_shown_by_its_directions() -> None:
    found = run((1_000, "network", LineDown("a|b", BOTH)), (2_000, "network", LineUp("a>b", BOTH[:1])))
    assert times(found.lines_down) == [("a>b", 1_000, 2_000), ("b>a", 1_000, 10_000)]


def test_a_wait_ends_with_another_reason_no_reason_or_another_state() -> None:
    def why(at: int, reason: str) -> tuple[int, str, object]:
        return (at, "b-1", ReasonChanged(TP, "m", MirrorState.STOPPING, reason))

    entered = (5_000, "b-1", StateEntered(TP, "m", MirrorState.STOPPED, 3))
    found = run(why(1_000, "one"), why(2_000, "other"), why(3_000, ""), why(4_000, "third"), entered)
    assert [(row.text, row.begin_ms, row.end_ms) for row in found.waits] == [
        ("one", 1_000, 2_000),
        ("other", 2_000, 3_000),
        ("third", 4_000, 5_000),
    ]


def test_an_order_lasts_until_its_own_response() -> None:
    request = CreateMirrorRequest(mirror_name="dr")
    found = run(
        (1_000, "b-client", OrderSent(1, request)),
        (1_100, "a-client", OrderSent(1, request)),
        (1_200, "b-client", OrderAnswered(1, ErrorCode.REQUEST_TIMED_OUT)),
    )
    assert [(row.subject, row.end_ms, row.text) for row in found.orders] == [
        (("b-client", 1), 1_200, "CreateMirror dr: REQUEST_TIMED_OUT"),
        (("a-client", 1), 10_000, "CreateMirror dr"),
    ]


def failover() -> Simulation:
    """Run a failover while a broker of the destination is dead and not fenced yet."""
    simulation = Simulation(7)
    a, b = (Cluster(simulation, name) for name in "ab")
    a.start()
    b.start()
    a.create_topic("orders")
    a.produce("orders", 0, [b"one"])
    mirror = Mirror("m", source=a, destination=b)
    mirror.create()
    mirror.add_topics(["orders"])
    mirror.catch_up()
    simulation.line(a, b).take_down()
    b.kill(2)
    mirror.fail_over()
    b.restart(2)
    simulation.run_until(b.is_settled)
    return simulation


def test_a_timeline_shows_actions_and_reasons_of_waits_at_their_times() -> None:
    simulation = failover()
    text = timeline_page(simulation)
    bars = {title: (float(x), float(width)) for x, width, title in BAR.findall(text)}
    end = simulation.world.elapsed_us / 1000
    [killed], [fenced], [down] = (simulation.facts(kind) for kind in (NodeKilled, BrokerFenced, LineDown))  # type: ignore[misc]
    started = simulation.facts(NodeStarted)[-1]
    for begin, last, words in (
        (killed, started, "b-2 was killed at"),
        (killed, fenced, "b-2, killed at"),
        (down, None, "line a|b: down from"),
    ):
        [(x, width)] = [place for title, place in bars.items() if title.startswith(words)]
        assert x == pytest.approx(begin.at_ms * 1000 / end, abs=0.2)
        until = end if last is None else last.at_ms
        assert width == pytest.approx((until - begin.at_ms) * 1000 / end, abs=0.3), words
    assert "RemoveTopicsFromMirror m: orders: NONE" in text
    waits = text.partition("<h2>Waits</h2>")[2].partition("</table>")[0]
    assert "waiting for the mirror&#x27;s coordinator to persist state STOPPING" in waits
    assert f"counts as alive until {fenced.at_ms / 1000:.3f} s: its session has ended" in waits
    assert f"{killed.at_ms:>8} ms  b-2            killed" in text


def test_a_repeated_reason_is_one_row() -> None:
    simulation = Simulation()
    for name in "ab":
        Cluster(simulation, name, brokers=1)
    world = simulation.world
    world.tell("a-1", StateEntered(TP, "m", MirrorState.MIRRORING, 4))
    world.tell("b-1", NodeKilled())
    for reason in ("no answer", "", "no answer", ""):
        simulation.run_for(span_s=1)
        world.tell("a-1", ReasonChanged(TP, "m", MirrorState.MIRRORING, reason))
    waits = timeline_page(simulation).partition("<h2>Waits</h2>")[2].partition("</table>")[0]
    assert re.findall(r"<td[^>]*>([^<]*)</td>", waits) == [
        "a", "orders-0", "MIRRORING", "1.000", "2.000", "2", "no answer", "b-1, killed at 0.000 s, counts as alive",
    ]  # fmt: skip


def test_facts_are_drawn_and_trace_lines_are_not() -> None:
    simulation = Simulation()
    Cluster(simulation, "b", brokers=2)
    simulation.run_for(span_s=1)
    simulation.world.tell("b-2", StateEntered(TP, "m", MirrorState.STOPPING, 4))
    simulation.world.tell("b-2", LogCut(TP, 5, 9, "a divergence"))
    simulation.world.trace.add(simulation.world.now, "b-2", "orders-0 state STOPPED")
    simulation.run_for(span_s=1)
    text = timeline_page(simulation)
    assert "b STOPPING from 1.0 s to 2.0 s" in text and "STOPPED" not in text
    assert "<title>b-2: orders-0 cut, offsets 5-8: a divergence (1.000 s)</title>" in text


@pytest.mark.parametrize("end_ms", [1, 999, 12_001, 7_200_001, 86_400_000, 518_400_001, 1_036_800_001, 10**13])
def test_a_run_of_any_length_has_few_ticks(end_ms: int) -> None:
    found = ticks(end_ms)
    assert len(found) <= 12 and (len(found) >= 2 or end_ms < 2_001)
    assert all(0 < at < end_ms for at in found)


def test_a_run_of_nothing_has_a_timeline(tmp_path: Path) -> None:
    write_timeline(Simulation(), tmp_path / "nothing.html")
    assert "<h2>Timeline</h2>" in (tmp_path / "nothing.html").read_text("utf-8")
    with pytest.raises(UsageError, match="No such file or directory"):
        write_timeline(Simulation(), tmp_path / "no" / "folder.html")


def test_the_demo_draws_every_kill_and_the_line_where_they_were() -> None:
    demo = Demo(read_sample(["txn"]), seed=3, faults=True)
    report = demo.run()
    simulation = demo.simulation
    text = demo_page(report, simulation)
    kills = simulation.facts(NodeKilled)
    assert len(kills) > 1
    for killed in kills:
        assert f"<title>{killed.node} was killed at {killed.at_ms / 1000:.3f} s" in text
    [down] = simulation.facts(LineDown)
    ordered = next(seen for seen in simulation.facts(StateEntered) if seen.fact.state is MirrorState.STOPPING)
    assert ordered.at_ms - down.at_ms > 5_000, "the failover is ordered long after the line went down"
    lost = re.findall(r'<rect x="([\d.]+)"[^>]* class="gone"><title>a lost', text)
    assert [float(x) for x in lost] == [pytest.approx(down.at_ms * 1000 / (simulation.elapsed_s * 1000), abs=0.2)] * 3


def test_the_demo_shows_each_kill_and_each_end_of_a_session_with_its_time() -> None:
    class Listener(Observer):
        def __init__(self) -> None:
            self.messages: list[str] = []

        def on_message(self, text: str) -> None:
            self.messages.append(text)

    listener = Listener()
    demo = Demo(read_sample(["txn"]), seed=3, faults=True, observer=listener)
    demo.run()
    for seen in demo.simulation.facts(NodeKilled):
        assert f"{seen.at_ms / 1000:.3f} s: {seen.node} is killed" in listener.messages
    for fenced in demo.simulation.facts(BrokerFenced):
        node = f"{fenced.cluster}-{fenced.fact.broker_id}"
        assert f"{fenced.at_ms / 1000:.3f} s: {node} is fenced: {fenced.fact.why}" in listener.messages
