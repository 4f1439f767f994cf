"""Runner of any number of nodes in one process, on one event loop.

The host delivers events to each node and executes its effects: frames over TCP, timers by the clock, disk work on
threads. Nodes of one host are linked without sockets, by the same rules.

Events are handled one at a time, and all effects of an event are executed before the next event. Frames between nodes
of the host are queued and delivered in the same turn of the loop. Frames for TCP are written at the end of the turn, so
that responses to requests that arrived together are sent together.

All methods must be called on the loop's thread.
"""

from __future__ import annotations

import asyncio
import socket
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from threading import Thread
from typing import Any

from kmirror.kernel.clock import Instant, from_ms
from kmirror.kernel.events import (
    CancelTimer,
    Chunk,
    CloseLink,
    CountLink,
    DiskDone,
    DiskWork,
    Event,
    InboundLink,
    LinkClosed,
    LinkOpened,
    Node,
    Note,
    OpenLink,
    OutboundLink,
    Reply,
    ReplyBytes,
    RequestReceived,
    ResponseReceived,
    ResumeReading,
    Send,
    SetTimer,
    Started,
    Stop,
    Stopped,
    StopReading,
    TimerFired,
    TimerKey,
)
from kmirror.kernel.failures import GaveUp
from kmirror.kernel.ids import Endpoint
from kmirror.kernel.listeners import ListenerSpec
from kmirror.kernel.runner_metrics import LinkCounts, RunnerMetrics
from kmirror.kernel.tls import TlsSettings
from kmirror.net.clock import Clock
from kmirror.net.dialing import OutgoingLink
from kmirror.net.disk_work import LoopWorkers, ThreadWorkers, Workers
from kmirror.net.frames import FrameReader, Scratch
from kmirror.net.links import TcpLink
from kmirror.net.listener import Listener, Port
from kmirror.net.local import LocalEnd
from kmirror.net.options import INT_MAX, LinkOptions
from kmirror.net.timers import Timers
from kmirror.net.tls_link import TlsEnd, TlsLink

EVENTS_PER_TURN = 256
"""Events between nodes of the host that are handled before sockets are polled again."""
SCRATCH_BYTES = 256 << 10
SWEEP_INTERVAL_S = 1.0
BACKLOG = 1024
NO_ADDRESS = Endpoint("127.0.0.1", 0)
"""Peer address of links between nodes of one host."""

MakeNode = Callable[[], Node]
Outbound = LocalEnd | OutgoingLink
Inbound = LocalEnd | TcpLink
OnNote = Callable[[str, Note], None]


@dataclass(slots=True, eq=False)
class Process:
    """Slot in which a node runs; the node may be killed and started again."""

    name: str
    make: MakeNode
    ports: Sequence[tuple[ListenerSpec, Port]]
    options: LinkOptions
    on_disk: bool
    node: Node | None = None
    workers: Workers | None = None
    listening: list[Listener] = field(default_factory=list)
    timers: dict[TimerKey, int] = field(default_factory=dict)
    outbound: dict[OutboundLink, Outbound] = field(default_factory=dict)
    inbound: dict[InboundLink, Inbound] = field(default_factory=dict)
    runner_metrics: RunnerMetrics = field(default_factory=RunnerMetrics)
    """Counters of the running node."""
    failed_dials: dict[Endpoint, int] = field(default_factory=dict)
    """Consecutive failed connection attempts by peer; the connection timeout grows with them."""
    ending_threads: list[Thread] = field(default_factory=list)
    """Threads that may still run a job of a killed node."""


class Host:
    """Runs nodes on `loop`: `add` places a node, `start` starts it, `close` kills all nodes."""

    def __init__(self, loop: asyncio.AbstractEventLoop, clock: Clock | None = None) -> None:
        self._loop = loop
        self._clock = clock or Clock()
        self.now = self._clock.now
        """Return the current time that is passed to nodes."""
        self.processes: dict[str, Process] = {}
        self.on_note: list[OnNote] = []
        """Callbacks for every `Note`, called with (process, note) while its event is handled."""
        self.crashes: list[tuple[str, Exception]] = []
        """Exceptions raised by nodes; each ended the node's process."""
        self._listeners_at: dict[Endpoint, tuple[Process, ListenerSpec]] = {}
        self._queue: deque[tuple[Callable[[Any], None], Any]] = deque()
        self._unflushed: dict[Outbound | Inbound, None] = {}
        self._is_in_turn = False
        self._is_planned = False
        self._link_count = 0
        self._conditions: list[tuple[Callable[[], bool], asyncio.Future[None]]] = []
        self._scratch = Scratch(SCRATCH_BYTES)
        self._timers = Timers(loop, self._clock, self._fire, self.end_turn)
        self._sweep_timer = loop.call_later(SWEEP_INTERVAL_S, self._sweep)
        self._executors: dict[type, Callable[[Process, Any], None]] = {
            OpenLink: self._open_with_tls,
            CountLink: self._count_link,
            Send: self._send,
            Reply: self._reply,
            ReplyBytes: self._reply_bytes,
            SetTimer: self._set_timer,
            CancelTimer: self._cancel_timer,
            CloseLink: self._close_link,
            StopReading: self._stop_reading,
            ResumeReading: self._resume_reading,
            DiskWork: self._work_on_disk,
            Stopped: self._stopped,
            Note: self._note,
        }

    # -- processes ----------------------------------------------------------------------------

    def add(
        self,
        name: str,
        make: MakeNode,
        *,
        local: Sequence[ListenerSpec] = (),
        ports: Sequence[tuple[ListenerSpec, Port]] = (),
        options: LinkOptions | None = None,
        on_disk: bool = False,
    ) -> None:
        """Place a node; `start` starts it.

        Nodes of this host reach its `local` listeners without a socket; other clients reach the listeners in `ports`.
        With `on_disk`, threads do its disk work; otherwise the loop does.
        """
        assert name not in self.processes, f"{name} is there already"
        process = Process(name, make, ports, options or LinkOptions(), on_disk)
        self.processes[name] = process
        for listener in local:
            self._listeners_at[listener.advertised] = process, listener

    def start(self, name: str) -> None:
        """Make the node, listen on its ports, and send it `Started`."""
        process = self.processes[name]
        assert process.node is None, f"{name} runs already"
        process.node = process.make()
        process.runner_metrics = RunnerMetrics()
        process.timers.clear()  # Timers that were set after `Stopped` belong to no node.
        process.workers = self._make_workers(process)
        for listener, port in process.ports:
            self._listen(process, listener, port)
        self.call_soon(self._send_started, process)

    def _make_workers(self, process: Process) -> Workers:
        if not process.on_disk:
            return LoopWorkers(lambda call: self.call_soon(_call, call))
        return ThreadWorkers(process.name, lambda call: self._loop.call_soon_threadsafe(self._on_disk_done, call))

    def _on_disk_done(self, call: Callable[[], None]) -> None:
        call()
        self.end_turn()

    def _send_started(self, process: Process) -> None:
        if process.node is not None:
            self._handle(process, Started())

    def stop(self, name: str) -> None:
        """Ask a node to stop; it runs until its shutdown is complete."""
        process = self.processes[name]
        assert process.node is not None, f"{name} does not run"
        self.call_soon(self._send_stop, process)

    def _send_stop(self, process: Process) -> None:
        if process.node is not None:
            self._handle(process, Stop())

    def kill(self, name: str) -> None:
        """Kill a node; its disk is kept, and all other state is lost."""
        self._end(self.processes[name])

    def runs(self, name: str) -> bool:
        """Return whether a node is running."""
        return self.processes[name].node is not None

    async def wait_for_disk(self, name: str) -> None:
        """Wait until the disk jobs of a node that has ended are finished."""
        process = self.processes[name]
        threads, process.ending_threads = process.ending_threads, []
        for thread in threads:
            await self._loop.run_in_executor(None, thread.join)

    def close(self) -> None:
        """Kill every node and cancel the timers of the host; ports stay bound."""
        for process in self.processes.values():
            if process.node is not None:
                self._end(process)
        self._queue.clear()
        self._timers.close()
        self._sweep_timer.cancel()
        for _, future in self._conditions:
            future.cancel()

    def _end(self, process: Process) -> None:
        assert process.node is not None, f"{process.name} does not run"
        process.node = None
        process.timers.clear()
        if process.workers is not None:
            process.ending_threads += process.workers.end()
            process.workers = None
        for listening in process.listening:
            listening.close()
        process.listening.clear()
        for link in (*process.outbound.values(), *process.inbound.values()):
            link.close()
        process.outbound.clear()
        process.inbound.clear()

    # -- turns --------------------------------------------------------------------------------

    def call_soon(self, call: Callable[[Any], None], argument: Any) -> None:
        """Queue a call for after the current event, in the order of the `call_soon` calls."""
        self._queue.append((call, argument))
        if not self._is_in_turn and not self._is_planned:
            self._is_planned = True
            self._loop.call_soon(self._planned_turn)

    def _planned_turn(self) -> None:
        self._is_planned = False
        self.end_turn()

    def end_turn(self) -> None:
        """Run the queued calls, then write the pending frames and check the conditions of `until`."""
        self._is_in_turn = True
        queue, events_left = self._queue, EVENTS_PER_TURN
        while queue and events_left:
            call, argument = queue.popleft()
            call(argument)
            events_left -= 1
        while self._unflushed:
            link, _ = self._unflushed.popitem()
            link.flush()
        if self._conditions:
            self._check_conditions()
        self._is_in_turn = False
        if queue and not self._is_planned:
            self._is_planned = True
            self._loop.call_soon(self._planned_turn)

    def until(self, condition: Callable[[], bool]) -> asyncio.Future[None]:
        """Return a future that is done when `condition` holds at the end of a turn."""
        future = self._loop.create_future()
        self._conditions.append((condition, future))
        self.call_soon(_call, _nothing)
        return future

    def _check_conditions(self) -> None:
        waiting = []
        for condition, future in self._conditions:
            if future.done():
                continue
            if condition():
                future.set_result(None)
            else:
                waiting.append((condition, future))
        self._conditions = waiting

    def perform(self, name: str, effects: list[Any]) -> None:
        """Execute effects of a process outside an event: this is how scripts act through their client."""
        process = self.processes[name]
        for effect in effects:
            self._executors[type(effect)](process, effect)
        self.call_soon(_call, _nothing)

    def _handle(self, process: Process, event: Event) -> None:
        """Deliver an event to a running node, and execute its effects."""
        assert process.node is not None, process.name
        self._is_in_turn = True
        try:
            effects = process.node.handle(self.now(), event)
        except Exception as error:
            self.crashes.append((process.name, error))
            self._end(process)
            self._note(process, Note(f"ended by {error!r}", GaveUp(repr(error))))
            return
        for effect in effects:
            self._executors[type(effect)](process, effect)

    # -- timers and disks ---------------------------------------------------------------------

    def _fire(self, process: Any, key: TimerKey) -> None:
        self._handle(process, TimerFired(key))

    def _set_timer(self, process: Process, effect: SetTimer) -> None:
        self._timers.set(process, effect.key, effect.at)

    def _cancel_timer(self, process: Process, effect: CancelTimer) -> None:
        self._timers.cancel(process, effect.key)

    def _work_on_disk(self, process: Process, work: DiskWork) -> None:
        workers = process.workers
        if workers is None:
            return  # The node has already stopped.

        def on_done(done: DiskDone) -> None:
            if process.workers is workers:
                self._handle(process, done)

        workers.submit(work, on_done)

    def _stopped(self, process: Process, _: Stopped) -> None:
        for link in (*process.outbound.values(), *process.inbound.values()):
            link.flush()
        if process.node is not None:
            self._end(process)

    def _note(self, process: Process, note: Note) -> None:
        for call in self.on_note:
            call(process.name, note)

    # -- links --------------------------------------------------------------------------------

    def on_frame(self, link: Inbound | Outbound, frame: Chunk) -> None:
        """Deliver a frame to the node at this end of a link."""
        name = link.name
        process = self.processes[link.process]
        if isinstance(name, InboundLink):
            self._handle(process, RequestReceived(name, frame))
        else:
            self._handle(process, ResponseReceived(name, frame))

    def on_link_lost(self, link: Inbound | Outbound, reason: str) -> None:
        """Send `LinkClosed` to the node at this end."""
        process, name = self.processes[link.process], link.name
        if isinstance(name, InboundLink):
            was_open = process.inbound.pop(name, None) is not None
        else:
            was_open = process.outbound.pop(name, None) is not None
        if was_open and process.node is not None:
            self._handle(process, LinkClosed(name, reason if isinstance(name, OutboundLink) else ""))

    def _open_with_tls(self, process: Process, effect: OpenLink) -> None:
        """Open a TLS link over TCP, even to a node of this host, as links within the host have no TLS."""
        previous = process.outbound.pop(effect.link, None)
        if previous is not None:
            previous.close()
        process.outbound[effect.link] = self._dial(process, effect.link, effect.tls)

    def _dial(self, process: Process, name: OutboundLink, tls: TlsSettings | None = None) -> OutgoingLink:
        failures = process.failed_dials.get(name.peer, 0)
        setup_max = from_ms(process.options.setup.pause_ms(failures))
        return OutgoingLink(self._loop, process.name, name, self._on_connected, self._on_not_connected, setup_max, tls)

    def _send(self, process: Process, effect: Send) -> None:
        link = process.outbound.get(effect.link)
        if link is None:
            link = self._open(process, effect.link)
            if link is None:
                return
        link.send(effect.chunks)
        self._unflushed[link] = None

    def _reply(self, process: Process, effect: Reply) -> None:
        link = process.inbound.get(effect.link)
        if link is None:
            return
        if effect.timing is None:
            link.send(effect.chunks)
        else:
            link.send_timed(effect.chunks, partial(process.runner_metrics.answered, effect.timing, self.now()))
        self._unflushed[link] = None

    def _count_link(self, process: Process, effect: CountLink) -> None:
        process.runner_metrics.links[effect.link] = LinkCounts()

    def _reply_bytes(self, process: Process, effect: ReplyBytes) -> None:
        link = process.inbound.get(effect.link)
        if isinstance(link, TcpLink):
            link.send_bytes(effect.data)
            self._unflushed[link] = None
        elif link is not None:
            link.close()
            self.call_soon(self._on_local_link_lost, link)

    def _on_local_link_lost(self, link: LocalEnd) -> None:
        self.on_link_lost(link, "it carries frames and no bytes")

    def unsent_bytes(self, name: str, link: OutboundLink) -> int:
        """Return the bytes that a process sent on a TCP link and the system has not taken yet."""
        outgoing = self.processes[name].outbound.get(link)
        return outgoing.waiting_bytes if isinstance(outgoing, OutgoingLink) else 0

    def _close_link(self, process: Process, effect: CloseLink) -> None:
        name = effect.link
        link = process.outbound.pop(name, None) if isinstance(name, OutboundLink) else process.inbound.pop(name, None)
        if link is not None:
            link.flush()  # Frames sent before the link is closed are still written.
            link.close()

    def _stop_reading(self, process: Process, effect: StopReading) -> None:
        link = process.inbound.get(effect.link)
        if link is not None:
            link.set_reading(False)

    def _resume_reading(self, process: Process, effect: ResumeReading) -> None:
        link = process.inbound.get(effect.link)
        if link is not None:
            link.set_reading(True)

    def _next_name(self, *origin: Any) -> InboundLink:
        self._link_count += 1
        return InboundLink((*origin, self._link_count))

    def _open(self, process: Process, name: OutboundLink) -> Outbound | None:
        """Open a link to another node; None if that node belongs to this host and is not running."""
        found = self._listeners_at.get(name.peer)
        if found is None:
            outgoing = process.outbound[name] = self._dial(process, name)
            return outgoing
        server, listener = found
        if server.node is None:
            self.call_soon(self._notify_refused, (process, process.workers, name))
            return None
        client_end = LocalEnd(self, process.name, name)
        server_end = LocalEnd(self, server.name, self._next_name(process.name))
        client_end.connect(server_end)
        client_end.count(process.runner_metrics.links.get(name))
        assert isinstance(server_end.name, InboundLink), "just made"
        process.outbound[name] = client_end
        server.inbound[server_end.name] = server_end
        self.call_soon(self._notify_opened, (server, server_end, listener, NO_ADDRESS))
        return client_end

    def _notify_opened(self, opened: tuple[Process, Inbound, ListenerSpec, Endpoint]) -> None:
        process, link, listener, address = opened
        if link.is_open:
            assert isinstance(link.name, InboundLink), "a client opened it"
            self._handle(process, LinkOpened(link.name, listener.name, listener.principal, address))

    def _notify_refused(self, refused: tuple[Process, Workers | None, OutboundLink]) -> None:
        process, workers, name = refused
        if process.node is not None and process.workers is workers:
            self._handle(process, LinkClosed(name))

    # -- TCP ----------------------------------------------------------------------------------

    def _listen(self, process: Process, listener: ListenerSpec, port: Port) -> None:
        options = process.options

        def on_accepted(connected: socket.socket, address: Endpoint) -> None:
            name = self._next_name(str(address))
            reader = FrameReader(options.request_bytes_max, self._scratch)
            link = TcpLink(self._loop, self, process.name, name, connected, reader)
            process.inbound[name] = link
            link.on_closed = lambda: listening.on_link_closed(address)
            self._notify_opened((process, link, listener, address))
            self.end_turn()

        listening = Listener(self._loop, port.listen(BACKLOG), options, on_accepted)
        process.listening.append(listening)

    def _on_connected(self, outgoing: OutgoingLink, connected: socket.socket, end: TlsEnd | None) -> TcpLink:
        self.processes[outgoing.process].failed_dials.pop(outgoing.name.peer, None)
        # `socket.request.max.bytes` limits requests from others, not the responses to our requests.
        reader = FrameReader(INT_MAX, self._scratch)
        counts = self.processes[outgoing.process].runner_metrics.links.get(outgoing.name)
        if end is None:
            return TcpLink(self._loop, self, outgoing.process, outgoing.name, connected, reader, counts)
        if counts is not None:
            counts.secured.record(self.now())
        return TlsLink(self._loop, self, outgoing.process, outgoing.name, connected, reader, end, counts)

    def _on_not_connected(self, outgoing: OutgoingLink, reason: str) -> None:
        process = self.processes[outgoing.process]
        failed_dials, counts = process.failed_dials, process.runner_metrics.links.get(outgoing.name)
        if outgoing.is_tls_failed and counts is not None:
            counts.not_secured.record(self.now())
        failed_dials[outgoing.name.peer] = failed_dials.get(outgoing.name.peer, 0) + 1
        self.on_link_lost(outgoing, reason)
        self.end_turn()

    def _sweep(self) -> None:
        """Close idle links, free unused buffers, and follow the wall clock."""
        self._scratch.sweep()
        if self._clock.follow_wall():
            self._timers.reschedule()
        now: Instant = self.now()
        for process in self.processes.values():
            idle_links = [
                link
                for link in process.inbound.values()
                if isinstance(link, TcpLink) and link.idle_for(now) > process.options.idle_max
            ]
            for link in idle_links:
                link.abort("idle")
        self.end_turn()
        self._sweep_timer = self._loop.call_later(SWEEP_INTERVAL_S, self._sweep)


def _call(call: Callable[[], None]) -> None:
    call()


def _nothing() -> None:
    pass
