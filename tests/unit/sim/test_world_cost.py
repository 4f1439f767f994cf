"""Overhead of the world for an event, counted in calls of Python functions."""

from __future__ import annotations

from pathlib import Path

from kmirror.kernel.clock import MILLISECOND, SECOND, Instant
from kmirror.kernel.events import (
    CancelTimer,
    Effect,
    Event,
    OutboundLink,
    Reply,
    RequestReceived,
    ResponseReceived,
    Send,
    SetTimer,
    Started,
    TimerFired,
)
from kmirror.kernel.ids import Endpoint
from kmirror.kernel.listeners import ListenerSpec
from kmirror.sim.world import World
from tests.call_counts import count_calls

SERVER = Endpoint("server", 1)
TIMEOUT = ("timeout",)
OURS = str(Path(__file__).resolve().parents[3] / "kmirror")


class Asking:
    """Sends the next request when it gets a response, each with a timer that the response cancels."""

    def __init__(self, link: OutboundLink) -> None:
        self.link = link
        self.answers = 0

    def handle(self, now: Instant, event: Event) -> list[Effect]:
        if isinstance(event, ResponseReceived):
            self.answers += 1
        elif not isinstance(event, Started):
            raise AssertionError(event)
        return [CancelTimer(TIMEOUT), Send(self.link, (b"frame",)), SetTimer(TIMEOUT, now + 30 * SECOND)]


class Answering:
    def handle(self, now: Instant, event: Event) -> list[Effect]:
        return [Reply(event.link, (event.frame,))] if isinstance(event, RequestReceived) else []


def pair() -> tuple[World, Asking]:
    world, asking = World(1), Asking(OutboundLink(SERVER, "c"))
    world.add("server", "here", Answering, [ListenerSpec.plain(SERVER)])
    world.add("client", "here", lambda: asking)
    world.start("server")
    world.start("client")
    return world, asking


def test_a_frame_costs_the_world_few_calls() -> None:
    """Half of them are for the path over the network, whose delay is drawn."""
    world, _ = pair()
    world.run_for(span_us=SECOND)
    events, lines = world.events, world.trace.count
    count = count_calls(lambda: world.run_for(span_us=SECOND), in_python=True, under=OURS)
    frames = world.events - events
    assert frames == world.trace.count - lines > 1_000, "an event for each frame that arrives, and for nothing else"
    assert count <= 16 * frames, f"{count / frames:.1f} calls for each frame"


def test_a_timer_that_was_cancelled_is_no_event() -> None:
    world, asking = pair()
    seen = []
    world.after_event.append(seen.append)
    world.run_for(span_us=40 * SECOND)  # Long enough for the first timers to be due.
    assert len(seen) == world.events == 2 * asking.answers + (world.events % 2)


class Setting:
    """Sets its timer again before it can fire, `times` times, then cancels it or lets it fire."""

    def __init__(self, *, cancels: bool) -> None:
        self.cancels = cancels
        self.fired: list[Instant] = []

    def handle(self, now: Instant, event: Event) -> list[Effect]:
        if isinstance(event, TimerFired):
            self.fired.append(now)
            return []
        first, last = SetTimer(TIMEOUT, now + MILLISECOND), SetTimer(TIMEOUT, now + 2 * MILLISECOND)
        return [first, last, CancelTimer(TIMEOUT)] if self.cancels else [first, last]


def test_a_timer_set_again_fires_once_and_others_are_skipped() -> None:
    for cancels in (False, True):
        world, setting = World(1), Setting(cancels=cancels)
        world.add("node", "here", lambda setting=setting: setting)  # type: ignore[misc]
        world.start("node")
        began = world.now
        assert world.step() is not cancels and world.step() is False
        assert setting.fired == ([] if cancels else [began + 2 * MILLISECOND])
        assert world.events == len(setting.fired)


def test_a_run_ends_in_time_though_a_cancelled_timer_hides_a_later_event() -> None:
    """The event after a cancelled timer may be beyond the end of the run."""
    world, setting = World(1), Setting(cancels=True)
    world.add("node", "here", lambda: setting)
    world.start("node")
    done: list[Instant] = []
    world.at(world.now + SECOND, lambda: done.append(world.now))
    until = world.now + 10 * MILLISECOND
    world.run_to(until)
    assert world.now == until and not done


def test_timers_of_a_node_that_ended_are_not_those_of_the_next_one() -> None:
    world = World(1)
    nodes: list[Setting] = []

    def make() -> Setting:
        nodes.append(Setting(cancels=False))
        return nodes[-1]

    world.add("node", "here", make)
    world.start("node")
    world.kill("node")
    world.start("node")
    began = world.now
    world.run_for(span_us=SECOND)
    assert [node.fired for node in nodes] == [[], [began + 2 * MILLISECOND]]


def test_timers_that_are_cancelled_do_not_fill_the_heap() -> None:
    world, asking = pair()
    world.run_for(span_us=25 * SECOND)
    assert asking.answers > 1_000
    assert len(world._heap) < 20
