"""A host carries out effects as the kernel's events require: in order, one event after the other."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass, fields

import pytest

from kmirror.kernel.clock import MILLISECOND, SECOND, Instant
from kmirror.kernel.events import (
    CancelTimer,
    CloseLink,
    CountLink,
    DiskDone,
    DiskWork,
    Effect,
    Event,
    InboundLink,
    LinkClosed,
    LinkOpened,
    OutboundLink,
    Reply,
    ReplyBytes,
    RequestReceived,
    RequestTiming,
    ResponseReceived,
    ResumeReading,
    Send,
    SetTimer,
    Started,
    Stop,
    Stopped,
    StopReading,
    TimerFired,
)
from kmirror.kernel.ids import Endpoint
from kmirror.kernel.listeners import ListenerSpec
from kmirror.net.host import Host
from kmirror.net.listener import Port
from kmirror.net.options import LinkOptions
from tests.unit.net.hosting import Recorder, run_with_host

HERE = Endpoint("server", 1)
LINK = OutboundLink(HERE, "c")


def echo(_: Instant, event: Event) -> list[Effect]:
    match event:
        case RequestReceived(link, frame):
            return [Reply(link, (b"re:", bytes(frame)))]
        case _:
            return []


def sends(*frames: bytes, link: OutboundLink = LINK) -> list[Effect]:
    return [Send(link, (frame[:1], frame[1:])) for frame in frames]


@pytest.fixture(params=["local", "tcp"])
def over(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def place(host: Host, server: Recorder, client: Recorder, over: str) -> tuple[OutboundLink, Port]:
    """Start a server and then a client; return the client's link to it."""
    port = Port("127.0.0.1", 0)
    local = [ListenerSpec.plain(HERE)] if over == "local" else []
    host.add("server", lambda: server, local=local, ports=[(port.listener("P"), port)])
    host.add("client", lambda: client)
    host.start("server")
    host.start("client")
    return (LINK if over == "local" else OutboundLink(port.endpoint, "c")), port


def test_frames_are_sent_in_both_directions_in_order(over: str) -> None:
    async def script(host: Host) -> None:
        server, client = Recorder(echo), Recorder()
        link, port = place(host, server, client, over)
        wanted = [b"frame %d" % n for n in range(300)] + [b"", b"x" * 3_000_000]
        host.perform("client", sends(*wanted, link=link))
        await host.until(lambda: len(client.of(ResponseReceived)) == len(wanted))
        assert [bytes(event.frame) for event in client.of(ResponseReceived)] == [b"re:" + body for body in wanted]
        assert isinstance(server.events[0], Started)
        assert isinstance(server.events[1], LinkOpened)
        port.close()

    run_with_host(script)


def test_a_broken_link_is_reported_to_both_ends_once(over: str) -> None:
    async def script(host: Host) -> None:
        server, client = Recorder(echo), Recorder()
        link, port = place(host, server, client, over)
        host.perform("client", sends(b"one", link=link))
        await host.until(lambda: bool(client.of(ResponseReceived)))
        host.kill("server")
        await host.until(lambda: bool(client.of(LinkClosed)))
        host.perform("client", sends(b"two", link=link))  # There is no listener any more.
        await host.until(lambda: len(client.of(LinkClosed)) == 2)
        assert server.of(LinkClosed) == []
        assert len(server.of(RequestReceived)) == 1
        port.close()

    run_with_host(script)


def test_bytes_are_sent_unchanged_over_tcp(over: str) -> None:
    def in_pieces(_: Instant, event: Event) -> list[Effect]:
        match event:
            case RequestReceived(link):
                pieces = [b"", b"\0\0\0\4", b"four\0\0\0", b"\3two"]
                return [*(ReplyBytes(link, piece) for piece in pieces), Reply(link, (b"whole",))]
            case _:
                return []

    async def script(host: Host) -> None:
        server, client = Recorder(in_pieces), Recorder()
        link, port = place(host, server, client, over)
        host.perform("client", sends(b"one", link=link))
        if over == "tcp":
            await host.until(lambda: len(client.of(ResponseReceived)) == 3)
            assert [bytes(event.frame) for event in client.of(ResponseReceived)] == [b"four", b"two", b"whole"]
        else:
            await host.until(lambda: bool(client.of(LinkClosed)) and bool(server.of(LinkClosed)))
            assert not client.of(ResponseReceived) and len(server.of(LinkClosed)) == 1
        port.close()

    run_with_host(script)


def test_a_node_that_closes_a_link_gets_no_more_events_of_it(over: str) -> None:
    def refuse(_: Instant, event: Event) -> list[Effect]:
        match event:
            case RequestReceived(link):
                return [Reply(link, (b"last words",)), CloseLink(link)]
            case _:
                return []

    async def script(host: Host) -> None:
        server, client = Recorder(refuse), Recorder()
        link, port = place(host, server, client, over)
        host.perform("client", sends(b"one", b"two", link=link))
        await host.until(lambda: bool(client.of(LinkClosed)))
        assert [bytes(event.frame) for event in client.of(ResponseReceived)] == [b"last words"]
        assert len(server.of(RequestReceived)) == 1
        assert server.of(LinkClosed) == []
        port.close()

    run_with_host(script)


def test_frames_wait_while_a_node_does_not_want_them(over: str) -> None:
    def reluctant(_: Instant, event: Event) -> list[Effect]:
        match event:
            case RequestReceived(link):
                return [StopReading(link), SetTimer((link,), 0)]
            case TimerFired((InboundLink() as link,)):
                return [Reply(link, (b"%d" % len(server.of(RequestReceived)),)), ResumeReading(link)]
            case _:
                return []

    server, client = Recorder(reluctant), Recorder()

    async def script(host: Host) -> None:
        link, port = place(host, server, client, over)
        host.perform("client", sends(*(b"frame %d" % n for n in range(20)), link=link))
        await host.until(lambda: len(client.of(ResponseReceived)) == 20)
        # Each was sent only when the one before had been answered.
        assert [int(bytes(event.frame)) for event in client.of(ResponseReceived)] == list(range(1, 21))
        port.close()

    run_with_host(script)


def link_counts(host: Host, link: OutboundLink) -> dict[str, int]:
    counts = host.processes["client"].runner_metrics.links[link]
    return {field.name: getattr(counts, field.name).count for field in fields(counts)}


def test_bytes_on_a_link_are_counted_on_request(over: str) -> None:
    async def script(host: Host) -> None:
        server, client = Recorder(echo), Recorder()
        link, port = place(host, server, client, over)
        host.perform("client", [CountLink(link), *sends(b"one", b"two", link=link)])
        await host.until(lambda: len(client.of(ResponseReceived)) == 2)
        told = link_counts(host, link)
        assert (told["opened"], told["closed"]) == (1, 0)
        host.perform("client", sends(b"x" * 5_000_000, link=link))
        await host.until(lambda: len(client.of(ResponseReceived)) == 3)
        assert (link_counts(host, link)["operations"] > told["operations"] > 1) is (over == "tcp")
        assert (link_counts(host, link)["wakeups"] > told["wakeups"] > 0) is (over == "tcp")
        host.kill("server")
        await host.until(lambda: bool(client.of(LinkClosed)))
        assert link_counts(host, link)["closed"] == 1
        host.perform("client", sends(b"two", link=link))  # There is no listener any more.
        await host.until(lambda: len(client.of(LinkClosed)) == 2)
        told = link_counts(host, link)
        assert (told["opened"], told["closed"], told["secured"], told["not_secured"]) == (1, 1, 0, 0)
        host.start("server")
        host.perform("client", [*sends(b"three", link=link), CloseLink(link)])
        await host.until(lambda: link_counts(host, link)["opened"] == link_counts(host, link)["closed"])
        host.kill("client")
        host.start("client")
        assert not host.processes["client"].runner_metrics.links, "another node, which has counted nothing"
        port.close()

    run_with_host(script)


def test_the_time_of_writing_a_response_is_recorded(over: str) -> None:
    size = 30_000_000  # More than the system accepts at once.

    def timed(now: Instant, event: Event) -> list[Effect]:
        match event:
            case RequestReceived(link, frame):
                return [
                    Reply(link, (bytes(size),)),
                    Reply(link, (bytes(frame),), RequestTiming("Api", now - 5000, now, 0)),
                ]
            case _:
                return []

    async def script(host: Host) -> None:
        server, client = Recorder(timed), Recorder()
        link, port = place(host, server, client, over)
        host.perform("client", sends(b"one", link=link))
        await host.until(lambda: len(client.of(ResponseReceived)) == 2)
        await host.until(lambda: "Api" in host.processes["server"].runner_metrics.times)
        times = host.processes["server"].runner_metrics.times["Api"]
        assert times.total_ms.count == 1 and times.queue_ms.total == 5
        parts = (times.local_ms, times.remote_ms, times.answer_queue_ms, times.answer_send_ms)
        assert times.total_ms.total == pytest.approx(5 + sum(part.total for part in parts))
        assert all(part.minimum >= 0 for part in parts)
        port.close()

    run_with_host(script)


def test_a_response_on_a_closed_link_is_not_timed(over: str) -> None:
    def late(now: Instant, event: Event) -> list[Effect]:
        match event:
            case RequestReceived(link):
                return [CloseLink(link), Reply(link, (b"late",), RequestTiming("Api", now, now, 0))]
            case _:
                return []

    async def script(host: Host) -> None:
        server, client = Recorder(late), Recorder()
        link, port = place(host, server, client, over)
        host.perform("client", sends(b"one", link=link))
        await host.until(lambda: bool(client.of(LinkClosed)))
        assert not host.processes["server"].runner_metrics.times
        port.close()

    run_with_host(script)


def test_responses_may_be_longer_than_requests() -> None:
    def generous(_: Instant, event: Event) -> list[Effect]:
        return [Reply(event.link, (b"x" * 5_000,))] if isinstance(event, RequestReceived) else []

    async def script(host: Host) -> None:
        server, client, port = Recorder(generous), Recorder(), Port("127.0.0.1", 0)
        host.add("server", lambda: server, ports=[(port.listener("P"), port)])
        host.add("client", lambda: client, options=LinkOptions(request_bytes_max=100))
        host.start("server")
        host.start("client")
        host.perform("client", sends(b"?", link=OutboundLink(port.endpoint, "c")))
        await host.until(lambda: bool(client.of(ResponseReceived)))
        port.close()

    run_with_host(script)


def test_timers_fire_in_order_and_the_last_word_counts() -> None:
    async def script(host: Host) -> None:
        node = Recorder()
        host.add("n", lambda: node)
        host.start("n")
        now = host.now()
        host.perform(
            "n",
            [
                SetTimer(("late",), now + 30 * MILLISECOND),
                SetTimer(("early",), now + 10 * MILLISECOND),
                SetTimer(("never",), now + 5 * MILLISECOND),
                SetTimer(("moved",), now + 5 * MILLISECOND),
                SetTimer(("moved",), now + 20 * MILLISECOND),
                CancelTimer(("never",)),
                SetTimer(("past",), 0),
            ],
        )
        await host.until(lambda: len(node.of(TimerFired)) == 4)
        assert [event.key[0] for event in node.of(TimerFired)] == ["past", "early", "moved", "late"]

    run_with_host(script)


def test_cancelled_timers_do_not_pile_up() -> None:
    async def script(host: Host) -> None:
        node = Recorder()
        host.add("n", lambda: node)
        host.start("n")
        for turn in range(20_000):
            host.perform("n", [SetTimer(("t", turn), host.now() + 3_600 * SECOND), CancelTimer(("t", turn))])
        assert len(host._timers._heap) < 3_000

    run_with_host(script)


@dataclass
class Job:
    result: object
    started: threading.Event | None = None
    may_end: threading.Event | None = None

    def run(self) -> object:
        if self.started is not None:
            self.started.set()
        if self.may_end is not None:
            assert self.may_end.wait(20)
        if isinstance(self.result, Exception):
            raise self.result
        return threading.get_ident(), self.result


@pytest.mark.parametrize("on_disk", [True, False])
def test_disk_work_is_done_in_order_and_its_errors_are_reported(on_disk: bool) -> None:
    async def script(host: Host) -> None:
        node = Recorder()
        host.add("n", lambda: node, on_disk=on_disk)
        host.start("n")
        full = OSError(28, "No space left on device")
        jobs: list[Effect] = [DiskWork(n, "dir", Job(n)) for n in range(5)]
        host.perform("n", [*jobs, DiskWork(5, "dir", Job(full))])
        assert not node.of(DiskDone)
        await host.until(lambda: len(node.of(DiskDone)) == 6)
        *done, failed = node.of(DiskDone)
        assert [event.key for event in done] == list(range(5))
        assert failed.error is full
        threads = {event.result[0] for event in done if isinstance(event.result, tuple)}
        assert (threads == {threading.get_ident()}) is not on_disk

    run_with_host(script)


def test_a_slow_disk_blocks_neither_the_node_nor_other_log_dirs() -> None:
    async def script(host: Host) -> None:
        node = Recorder()
        host.add("n", lambda: node, on_disk=True)
        host.start("n")
        gate = threading.Event()
        slow: list[Effect] = [DiskWork("slow", "a", Job(0, may_end=gate)), DiskWork("after", "a", Job(1))]
        host.perform("n", [*slow, DiskWork("quick", "b", Job(2)), SetTimer(("t",), host.now())])
        await host.until(lambda: bool(node.of(DiskDone)) and bool(node.of(TimerFired)))
        assert [event.key for event in node.of(DiskDone)] == ["quick"]
        gate.set()
        await host.until(lambda: len(node.of(DiskDone)) == 3)
        assert [event.key for event in node.of(DiskDone)] == ["quick", "slow", "after"]

    run_with_host(script)


def test_a_killed_node_gets_no_more_events_and_its_last_job_can_be_awaited() -> None:
    async def script(host: Host) -> None:
        nodes: list[Recorder] = []

        def make() -> Recorder:
            nodes.append(Recorder())
            return nodes[-1]

        host.add("n", make, on_disk=True)
        host.start("n")
        started, gate = threading.Event(), threading.Event()
        never: list[Effect] = [DiskWork(2, "dir", Job(0)), SetTimer(("t",), host.now() + 3_600 * SECOND)]
        host.perform("n", [DiskWork(1, "dir", Job(0, started, gate)), *never])
        await asyncio.get_running_loop().run_in_executor(None, started.wait)
        host.kill("n")
        idle = asyncio.ensure_future(host.wait_for_disk("n"))
        done, _ = await asyncio.wait([idle], timeout=0.01)
        assert not done
        gate.set()
        await idle
        host.start("n")
        host.perform("n", [DiskWork(3, "dir", Job(0))])
        await host.until(lambda: bool(nodes[1].of(DiskDone)))
        assert [event.key for event in nodes[1].of(DiskDone)] == [3]
        assert nodes[0].events == [Started()]
        assert not host.processes["n"].timers

    run_with_host(script)


def test_stopped_ends_the_process_after_its_last_words() -> None:
    def ending(_: Instant, event: Event) -> list[Effect]:
        match event:
            case Stop():
                link = server.of(LinkOpened)[0].link
                return [Reply(link, (b"goodbye",)), Stopped()]
            case _:
                return []

    server, client = Recorder(ending), Recorder()

    async def script(host: Host) -> None:
        link, port = place(host, server, client, "tcp")
        host.perform("client", sends(b"hello", link=link))
        await host.until(lambda: bool(server.of(RequestReceived)))
        host.stop("server")
        await host.until(lambda: bool(client.of(LinkClosed)))
        assert not host.runs("server")
        assert [bytes(event.frame) for event in client.of(ResponseReceived)] == [b"goodbye"]
        port.close()

    run_with_host(script)


def test_a_node_that_raises_ends_and_the_others_continue() -> None:
    def fail(_: Instant, event: Event) -> list[Effect]:
        if isinstance(event, RequestReceived):
            raise AssertionError("a bug")
        return []

    async def script(host: Host) -> None:
        server, client = Recorder(fail), Recorder()
        link, port = place(host, server, client, "local")
        host.perform("client", sends(b"one", link=link))
        await host.until(lambda: bool(client.of(LinkClosed)))
        assert [name for name, _ in host.crashes] == ["server"]
        assert not host.runs("server")
        host.crashes.clear()
        port.close()

    run_with_host(script)
