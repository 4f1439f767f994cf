"""Virtual time, links, lines that are down and deaths, with nodes that only record their events."""

from __future__ import annotations

import pytest

from kmirror.errors import SimulationFailure
from kmirror.kernel.clock import MILLISECOND, SECOND, Instant
from kmirror.kernel.events import (
    CancelTimer,
    CloseLink,
    Effect,
    Event,
    InboundLink,
    LinkClosed,
    LinkOpened,
    Note,
    OutboundLink,
    Reply,
    ReplyBytes,
    RequestReceived,
    ResponseReceived,
    ResumeReading,
    Send,
    SetTimer,
    Started,
    StopReading,
    TimerFired,
)
from kmirror.kernel.ids import Endpoint
from kmirror.kernel.listeners import ListenerSpec
from kmirror.sim.lines import Line
from kmirror.sim.network import NetworkOptions
from kmirror.sim.world import FAR, START, World

SERVER = Endpoint("server", 1)


class Recorder:
    """Keeps every event; answers requests with the same frame if it is a server."""

    def __init__(self, *, echo: bool = False) -> None:
        self.seen: list[tuple[Instant, Event]] = []
        self._echo = echo

    def handle(self, now: Instant, event: Event) -> list[Effect]:
        self.seen.append((now, event))
        if self._echo and isinstance(event, RequestReceived):
            return [Reply(event.link, (event.frame,))]
        return []

    def events(self, kind: type) -> list[Event]:
        return [event for _, event in self.seen if isinstance(event, kind)]


def world(seed: int = 1, *, echo: bool = True) -> tuple[World, Recorder, Recorder]:
    """Return a world with a client at site `here` and a server at site `there`, both alive."""
    made = World(seed)
    client, server = Recorder(), Recorder(echo=echo)
    made.add("client", "here", lambda: client)
    made.add("server", "there", lambda: server, [ListenerSpec.plain(SERVER)])
    made.start("client")
    made.start("server")
    return made, client, server


def send(w: World, *frames: bytes, channel: str = "c") -> None:
    w.perform("client", [Send(OutboundLink(SERVER, channel), (frame,)) for frame in frames])


def frames(node: Recorder) -> list[bytes]:
    """Return the requests that reached a node."""
    return [bytes(event.frame) for _, event in node.seen if isinstance(event, RequestReceived)]


def test_a_node_gets_started_as_its_first_event() -> None:
    w, client, _ = world()
    assert client.seen == [(START, Started())]
    assert w.runs("client")


def test_frames_of_a_link_arrive_in_order_and_are_answered() -> None:
    w, client, server = world()
    frames = [bytes([n]) for n in range(30)]
    send(w, *frames)
    w.run_for(span_us=SECOND)
    assert [e.frame for e in server.events(RequestReceived) if isinstance(e, RequestReceived)] == frames
    assert [e.frame for e in client.events(ResponseReceived) if isinstance(e, ResponseReceived)] == frames


def test_a_frame_sent_in_chunks_arrives_whole() -> None:
    w, client, server = world()
    w.perform("client", [Send(OutboundLink(SERVER, "c"), (b"one", memoryview(b"-two-")[1:4], b""))])
    w.run_for(span_us=SECOND)
    assert [e.frame for e in server.events(RequestReceived) if isinstance(e, RequestReceived)] == [b"onetwo"]
    assert [e.frame for e in client.events(ResponseReceived) if isinstance(e, ResponseReceived)] == [b"onetwo"]


def test_delays_are_drawn_between_the_bounds_of_the_sites() -> None:
    w, _, server = world()
    for number in range(50):
        send(w, b"x", channel=str(number))
    w.run_for(span_us=SECOND)
    options = NetworkOptions()
    delays = [now - START for now, event in server.seen if isinstance(event, RequestReceived)]
    assert len(delays) == 50 and len(set(delays)) > 20
    assert options.remote_min_us <= min(delays) and max(delays) <= options.remote_max_us


def down(w: World, one: str, other: str) -> bool:
    return w.network.is_down(one, other)


def test_a_line_that_is_down_loses_frames_silently() -> None:
    w, client, server = world()
    line = Line(w, "here", "there")
    line.take_down()
    assert line.is_down
    send(w, b"lost")
    w.run_for(span_us=SECOND)
    assert not server.events(RequestReceived) and not client.events(LinkClosed)
    line.bring_up()
    assert not line.is_down
    send(w, b"kept")
    w.run_for(span_us=SECOND)
    assert len(server.events(RequestReceived)) == 1


@pytest.mark.parametrize("ends", [("client", "server"), ("here", "server"), ("client", "there"), ("there", "here")])
def test_lines_of_nodes_and_sites_can_be_down_in_any_mix(ends: tuple[str, str]) -> None:
    w, _, _ = world()
    Line(w, *ends).take_down()
    assert down(w, "client", "server") and down(w, "server", "client")


def test_a_line_down_in_one_direction_delivers_the_other() -> None:
    w, client, server = world()
    back = Line(w, "there", "here", one_way=True)
    back.take_down()
    assert back.is_down and not Line(w, "here", "there").is_down
    w.perform("client", [Send(OutboundLink(SERVER, "c"), (b"asked",))])
    w.run_for(span_us=SECOND)
    assert len(server.events(RequestReceived)) == 1 and not client.events(ResponseReceived)
    back.bring_up()
    there = Line(w, "client", "server", one_way=True)
    there.take_down()
    w.perform("client", [Send(OutboundLink(SERVER, "c"), (b"not heard",))])
    w.run_for(span_us=SECOND)
    assert len(server.events(RequestReceived)) == 1
    there.bring_up()
    w.perform("client", [Send(OutboundLink(SERVER, "c"), (b"heard",))])
    w.run_for(span_us=SECOND)
    assert [e.frame for e in client.events(ResponseReceived)] == [b"heard"]


def test_a_slow_line_is_slow_until_it_is_reset() -> None:
    w, _, server = world()
    began = w.now
    w.network.slow_down("here", "server", SECOND)
    w.perform("client", [Send(OutboundLink(SERVER, "c"), (b"1",))])
    w.run_for(span_us=2 * SECOND)
    [first] = [at for at, event in server.seen if isinstance(event, RequestReceived)]
    assert first - began >= SECOND + 20 * MILLISECOND
    w.network.slow_down("here", "server", 0)
    began = w.now
    w.perform("client", [Send(OutboundLink(SERVER, "d"), (b"2",))])
    w.run_for(span_us=SECOND)
    assert server.seen[-1][0] - began <= 30 * MILLISECOND


def test_a_lossy_line_delays_frames_and_loses_none() -> None:
    def arrivals(*, lossy: str) -> list[Instant]:
        w, _, server = world()
        w.network.lose("here", lossy, 900_000)
        for _ in range(20):
            w.perform("client", [Send(OutboundLink(SERVER, "c"), (b"x",))])
            w.run_for(span_us=100 * MILLISECOND)
        w.run_for(span_us=100 * SECOND)
        return [at for at, event in server.seen if isinstance(event, RequestReceived)]

    untouched, lossy = arrivals(lossy="elsewhere"), arrivals(lossy="there")
    assert len(untouched) == len(lossy) == 20, "a lost packet costs time and not data"
    assert lossy[0] >= untouched[0] and lossy[-1] - untouched[-1] > 200 * MILLISECOND


def test_a_dead_server_closes_its_links_and_refuses_new_ones() -> None:
    w, client, _ = world()
    send(w, b"x")
    w.run_for(span_us=SECOND)
    w.kill("server")
    w.run_for(span_us=SECOND)
    assert client.events(LinkClosed) == [LinkClosed(OutboundLink(SERVER, "c"))]
    send(w, b"y")
    w.run_for(span_us=SECOND)
    assert len(client.events(LinkClosed)) == 2


def closed_at_the_server() -> tuple[World, Recorder, Recorder]:
    """Return a world whose server has just closed a link; the client does not know that yet."""
    w, client, server = world()
    send(w, b"x")
    w.run_for(span_us=SECOND)
    w.reset_links("client", "server")
    return w, client, server


def test_frames_sent_on_a_link_before_its_end_is_known_are_lost() -> None:
    w, client, server = closed_at_the_server()
    send(w, b"lost")
    w.run_for(span_us=SECOND)
    assert frames(server) == [b"x"] and len(client.events(ResponseReceived)) == len(client.events(LinkClosed)) == 1
    send(w, b"y")
    w.run_for(span_us=SECOND)
    assert frames(server) == [b"x", b"y"] and len(client.events(ResponseReceived)) == 2


def test_the_end_of_a_given_up_link_does_not_end_the_next_link() -> None:
    w, client, server = closed_at_the_server()
    w.perform("client", [CloseLink(OutboundLink(SERVER, "c"))])
    send(w, b"y")
    w.run_for(span_us=SECOND)
    assert frames(server) == [b"x", b"y"] and not client.events(LinkClosed)


@pytest.mark.parametrize("ends", ["client", "server"])
def test_a_closed_link_is_not_closed_again_when_an_end_dies(ends: str) -> None:
    w, client, server = closed_at_the_server()
    w.kill(ends)
    w.start(ends)
    w.reset_links("client", "server")
    send(w, b"y")
    w.run_for(span_us=SECOND)
    assert len(server.events(LinkClosed)) == (ends == "client")
    assert len(client.events(LinkClosed)) == (ends == "server")
    assert len(client.events(ResponseReceived)) == 1 + (ends == "client")


def test_a_server_is_notified_of_a_dead_client() -> None:
    w, _, server = world()
    send(w, b"x")
    w.run_for(span_us=SECOND)
    w.kill("client")
    w.run_for(span_us=SECOND)
    assert len(server.events(LinkClosed)) == 1


def test_a_given_up_link_gets_no_response() -> None:
    w, client, server = world()
    send(w, b"x")
    w.perform("client", [CloseLink(OutboundLink(SERVER, "c"))])
    w.run_for(span_us=SECOND)
    assert not client.events(ResponseReceived) and not client.events(LinkClosed)
    assert len(server.events(LinkClosed)) == 1


def test_link_opened_precedes_the_first_frame_of_a_link() -> None:
    w, _, server = world()
    send(w, b"x", b"y", channel="one")
    send(w, b"z", channel="other")
    w.run_for(span_us=SECOND)
    seen = [event for _, event in server.seen[1:]]
    links = [event.link for event in seen if isinstance(event, LinkOpened)]
    assert len(links) == len(set(links)) == 2
    for link in links:
        first, *frames = [event for event in seen if not isinstance(event, Started) and event.link == link]
        assert isinstance(first, LinkOpened) and not any(isinstance(event, LinkOpened) for event in frames)
        assert (first.listener, str(first.principal), first.address.host) == (
            "PLAINTEXT",
            "User:ANONYMOUS",
            "127.0.0.1",
        )


def unread() -> tuple[World, Recorder, InboundLink]:
    """Return a world whose server has read frame 0 of a link and no more; frames 1 and 2 wait."""
    w, _, server = world(echo=False)
    send(w, b"0")
    w.run_for(span_us=SECOND)
    [first] = [event for _, event in server.seen if isinstance(event, RequestReceived)]
    w.perform("server", [StopReading(first.link)])
    send(w, b"1", b"2")
    return w, server, first.link


def test_frames_of_a_link_that_is_not_read_wait_in_order() -> None:
    w, server, link = unread()
    send(w, b"other", channel="d")
    w.run_for(span_us=SECOND)
    assert frames(server) == [b"0", b"other"]
    w.perform("server", [ResumeReading(link)])
    send(w, b"3")
    w.run_for(span_us=SECOND)
    assert frames(server) == [b"0", b"other", b"1", b"2", b"3"]


def test_a_server_that_stops_reading_between_two_held_frames_gets_one() -> None:
    w, server, link = unread()
    w.run_for(span_us=SECOND)
    w.perform("server", [ResumeReading(link)])
    w.step()
    w.perform("server", [StopReading(link)])
    w.run_for(span_us=SECOND)
    assert frames(server) == [b"0", b"1"]
    w.perform("server", [ResumeReading(link)])
    w.run_for(span_us=SECOND)
    assert frames(server) == [b"0", b"1", b"2"]


def test_held_frames_are_lost_with_their_link() -> None:
    w, _, server = world(echo=False)
    send(w, b"0")
    w.run_for(span_us=SECOND)
    [first] = [event for _, event in server.seen if isinstance(event, RequestReceived)]
    w.perform("server", [StopReading(first.link)])
    send(w, b"1")
    w.run_for(span_us=SECOND)
    w.perform("server", [CloseLink(first.link), ResumeReading(first.link)])
    w.run_for(span_us=SECOND)
    assert frames(server) == [b"0"]


def test_a_link_on_which_bytes_are_written_is_closed_at_both_ends() -> None:
    w, client, server = world(echo=False)
    send(w, b"0")
    w.run_for(span_us=SECOND)
    [first] = [event for _, event in server.seen if isinstance(event, RequestReceived)]
    w.perform("server", [ReplyBytes(first.link, b"no frame"), ReplyBytes(first.link, b"no link")])
    w.run_for(span_us=SECOND)
    assert len(client.events(LinkClosed)) == len(server.events(LinkClosed)) == 1


def test_a_server_may_close_a_link() -> None:
    w, client, server = world(echo=False)
    send(w, b"x")
    w.run_for(span_us=SECOND)
    request = server.events(RequestReceived)[0]
    assert isinstance(request, RequestReceived)
    w.perform("server", [CloseLink(request.link)])
    w.run_for(span_us=SECOND)
    assert client.events(LinkClosed) == [LinkClosed(OutboundLink(SERVER, "c"))]


def test_timers_fire_once_and_are_replaced_and_cancelled() -> None:
    w, client, _ = world()
    at = START + 5 * MILLISECOND
    w.perform("client", [SetTimer(("a",), at), SetTimer(("b",), at), SetTimer(("c",), at), CancelTimer(("b",))])
    w.perform("client", [SetTimer(("c",), at + MILLISECOND)])
    w.run_for(span_us=SECOND)
    fired = [(now, event.key) for now, event in client.seen if isinstance(event, TimerFired)]
    assert fired == [(at, ("a",)), (at + MILLISECOND, ("c",))]


def test_timers_for_far_later_fire_as_near_ones_do() -> None:
    """Late timers are stored separately until their time is near; this must not be visible."""
    w, client, _ = world()
    spans = [SECOND, 2 * FAR, FAR, 3 * FAR, FAR - 1, 2 * FAR - 1, 2 * FAR, 7 * FAR + 1]
    w.perform("client", [SetTimer((str(n),), START + span) for n, span in enumerate(spans)])
    w.perform("client", [CancelTimer(("3",)), SetTimer(("7",), START + 2 * FAR), SetTimer(("0",), START + 4 * FAR)])
    w.run_for(span_us=2 * FAR - 1)
    w.perform("client", [SetTimer(("late",), START + 2 * FAR)])
    while w.step():
        pass
    fired = [(now - START, event.key[0]) for now, event in client.seen if isinstance(event, TimerFired)]
    near = [(FAR - 1, "4"), (FAR, "2"), (2 * FAR - 1, "5")]
    assert fired == [*near, *((2 * FAR, key) for key in ("1", "6", "7", "late")), (4 * FAR, "0")]


def test_the_dead_have_no_timers_and_the_restarted_do_not_inherit_them() -> None:
    w, client, _ = world()
    w.perform("client", [SetTimer(("a",), START + 5 * MILLISECOND), SetTimer(("b",), START + 2 * FAR)])
    w.kill("client")
    w.start("client")
    w.run_for(span_us=3 * FAR)
    assert not client.events(TimerFired)


def test_a_frame_to_the_dead_does_not_reach_the_restarted() -> None:
    w, _, server = world()
    send(w, b"x")
    w.kill("server")
    w.start("server")
    w.run_for(span_us=SECOND)
    assert not server.events(RequestReceived)


def test_plans_for_one_instant_are_carried_out_in_their_order() -> None:
    w, _, _ = world()
    done: list[int] = []
    for number in range(5):
        w.at(START + 10, lambda number=number: done.append(number))  # type: ignore[misc]
    w.run_for(span_us=100)
    assert done == [0, 1, 2, 3, 4]
    assert w.now == START + 100


def test_a_wait_in_vain_names_its_condition_and_the_seed() -> None:
    w, _, _ = world(77)
    with pytest.raises(SimulationFailure, match=r"the moon.*seed 77"):
        w.run_until(lambda: False, within_us=SECOND, what="the moon")


def test_facts_of_notes_reach_their_watchers() -> None:
    w, _, _ = world()
    facts: list[tuple[str, object]] = []
    w.on_fact.append(lambda process, fact: facts.append((process, fact)))
    w.perform("client", [Note("nothing"), Note("something", ("fact", 1))])
    assert facts == [("client", ("fact", 1))]


def test_the_same_seed_is_the_same_run_and_another_is_not() -> None:
    digests = []
    for seed in (1, 1, 2):
        w, _, _ = world(seed)
        send(w, *(bytes([n]) for n in range(10)))
        w.run_for(span_us=SECOND)
        digests.append(w.trace.digest())
    assert digests[0] == digests[1] != digests[2]
