"""Simulated world: a heap of events in virtual time, the nodes that handle them, and the trace.

Events at the same instant happen in the order in which they were scheduled. A node that ends loses its timers and
links, but its disk is kept. One seed is one run: no code here reads a clock, iterates over a set, or depends on an
object's address.

Most timers are cancelled: each request has one for the case that no response arrives. A cancelled timer is dropped near
its time, and does not count as an event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Any

from kmirror.errors import SimulationFailure, UsageError, moment_of_run
from kmirror.kernel.clock import SECOND, Duration, Instant
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
from kmirror.kernel.ids import Endpoint
from kmirror.kernel.listeners import ListenerSpec
from kmirror.kernel.rng import Rng
from kmirror.kernel.runner_metrics import LinkCounts, RunnerMetrics
from kmirror.kernel.trace import Trace
from kmirror.kernel.wrapping import WrapNode
from kmirror.sim.clocks import WrongClock
from kmirror.sim.disk_work import DiskOptions, DiskWorkers
from kmirror.sim.facts import NodeKilled, NodeStarted, NodeStopped
from kmirror.sim.network import Link, LinkKey, Network, NetworkOptions, Passing
from kmirror.sim.watching import Seen, Watchers

START: Instant = 1_798_761_600 * 1_000_000
"""2027-01-01T00:00:00Z: virtual time begins after the timestamps in all existing logs."""

END_OF_TIME: Instant = 1 << 63

FAR: Duration = 2 * SECOND
"""Timers set this far ahead wait outside the heap until their time step begins; a step has the same length."""
STEP_BEGIN = 0
"""Plan number that begins a time step: the lowest, so that it precedes the plans due at that time."""

LOOPBACK = "127.0.0.1"
"""The simulated nodes share one host; each link has its own port."""

MakeNode = Callable[[], Node]
Plan = tuple[Instant, int, Callable[[Any, Any], None] | None, Any, Any]
"""(time, plan number, function, and its two arguments); for a timer: None, its process and its key.

Plan numbers are unique, so the later elements are never compared. For a frame, this costs half of a closure.
"""


@dataclass(slots=True)
class Process:
    """Slot in which a node runs; the node may be killed and started again."""

    name: str
    site: str
    is_server: bool
    """Whether it listens: True for brokers and controllers, False for clients."""
    make: MakeNode
    interpose: WrapNode | None = None
    node: Node | None = None
    """Node that receives the events."""
    inner_node: Node | None = None
    """Node that `make` returned: `node` itself, or the node wrapped by it."""
    incarnation: int = 0
    events: int = 0
    """Number of events handled by its nodes; a node's state changes only when this changes."""
    timers: dict[TimerKey, int] = field(default_factory=dict)
    """Timers that are set, each with its plan number."""
    runner_metrics: RunnerMetrics = field(default_factory=RunnerMetrics)
    """Counters of the running node."""
    clock: WrongClock | None = None
    """Clock of the running node; None if it is correct."""
    next_clock: WrongClock | None = None
    """Clock of the next node started here."""

    def local(self, now: Instant) -> Instant:
        """Return the time on the node's clock."""
        return now if self.clock is None else self.clock.local(now)


class World:
    """Virtual time, processes, network and trace of one run."""

    def __init__(self, seed: int, network: NetworkOptions | None = None, disk: DiskOptions | None = None) -> None:
        self.seed = seed
        self.now: Instant = START
        self.rng = Rng(seed)
        self.trace = Trace()
        self.network = Network(self.rng.split("network"), network or NetworkOptions())
        self.disk_workers = DiskWorkers(self.rng.split("disk"), disk or DiskOptions())
        self.processes: dict[str, Process] = {}
        self.after_event: list[Callable[[Instant], None]] = []
        """Callbacks after every event: checkers of invariants."""
        self.on_fact: list[Callable[[str, object], None]] = []
        """Callbacks for every `Note` with a fact, called with (process, fact) while its event is handled."""
        self.on_frame: list[Callable[[Passing, Link, bytes], None]] = []
        """Callbacks for every frame, before its receiver handles it, and when a response is sent."""
        self.on_disk_work: list[Callable[[Process, DiskWork, bool], None]] = []
        """Callbacks (process, work, is done) for disk work: when scheduled, and when done, before the node's event."""
        self.on_late_timer: list[Callable[[Process, TimerKey, Duration], None]] = []
        """Callbacks for timers set in the past, called with (process, key, how late)."""
        self.watchers = Watchers()
        """Store every fact, and are called after its event."""
        self.events = 0
        self.handled_by: Process | None = None
        """Process that handled the last event of the current plan; None if no process did."""
        self._heap: list[Plan] = []
        self._sequence = 0
        self._far: dict[int, list[Plan]] = {}
        """Far timers by time step: most are cancelled and never reach the heap."""
        self._links: dict[LinkKey, Link] = {}
        self._served: dict[InboundLink, Link] = {}
        self._link_count = 0
        self._executors: dict[type, Callable[[Process, Any], None]] = {
            OpenLink: _open_link,
            CountLink: _count_link,
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
        self._is_busy = False
        """Whether an event is being executed or watchers are being called."""

    def failure(self, message: str) -> SimulationFailure:
        """Return an exception that contains this run's seed and the elapsed virtual time."""
        return SimulationFailure(message, seed=self.seed, elapsed_us=self.elapsed_us)

    @property
    def elapsed_us(self) -> Duration:
        """Virtual time in microseconds since the run began."""
        return self.now - START

    @property
    def moment(self) -> str:
        """This run's seed and elapsed virtual time, as text for an error."""
        return moment_of_run(self.seed, self.elapsed_us)

    # -- processes ----------------------------------------------------------------------------

    def add(
        self,
        name: str,
        site: str,
        make: MakeNode,
        listeners: Sequence[ListenerSpec] = (),
        interpose: WrapNode | None = None,
    ) -> None:
        """Place a process; `start` starts its node, wrapped by `interpose`."""
        assert name not in self.processes, f"{name} is there already"
        self.processes[name] = Process(name, site, bool(listeners), make, interpose)
        self.network.add(name, site, listeners)

    def start(self, name: str) -> None:
        process = self.processes[name]
        assert process.node is None, f"{name} runs already"
        process.node = process.inner_node = process.make()
        if process.interpose is not None:
            process.node = process.interpose(name, process.inner_node)
        process.incarnation += 1
        process.clock = process.next_clock
        process.runner_metrics = RunnerMetrics()
        process.timers.clear()  # Timers that were set after `Stopped` belong to no node.
        self.trace.add(self.now, name, "started")
        with self.one_event():
            if process.is_server:
                self.tell(name, NodeStarted())
            self._deliver(process, process.incarnation, Started())

    def kill(self, name: str) -> None:
        """Kill a process; its disk is kept, and all other state is lost."""
        with self.one_event():
            process = self.processes[name]
            self._end(process, "killed")
            if process.is_server:
                self.tell(name, NodeKilled())

    def stop(self, name: str) -> None:
        """Ask a process to stop; it runs until its shutdown is complete."""
        process = self.processes[name]
        assert process.node is not None, f"{name} does not run"
        with self.one_event():
            self._deliver(process, process.incarnation, Stop())

    def set_clock(self, name: str, *, ahead: Duration, ppm: int) -> None:
        """Set the clock error of a process (0 and 0: correct). A clock that would go back changes at the next start."""
        process = self.processes[name]
        clock = process.next_clock = WrongClock(ahead, ppm, self.now) if ahead or ppm else None
        self.trace.add(self.now, name, f"clock {ahead} us ahead, {ppm} ppm")
        new_time = self.now if clock is None else clock.local(self.now)
        if process.node is not None and new_time >= process.local(self.now):
            process.clock = clock

    def _end(self, process: Process, outcome: str) -> None:
        name = process.name
        assert process.node is not None, f"{name} does not run"
        process.node = process.inner_node = None
        process.timers.clear()
        self.trace.add(self.now, name, outcome)
        for link in [link for link in self._links.values() if name in (link.client, link.server)]:
            self._close(link, notify_client=link.client != name, notify_server=link.server != name)

    def runs(self, name: str) -> bool:
        return self.processes[name].node is not None

    # -- facts --------------------------------------------------------------------------------

    def tell(self, node: str, fact: object) -> None:
        """Store a fact about a node or about `network`; watchers are called after the current event."""
        process = self.processes.get(node)
        self.watchers.tell(Seen(self.now - START, "" if process is None else process.site, node, fact))
        if not self._is_busy:
            with self.one_event():
                pass

    @contextmanager
    def one_event(self) -> Iterator[None]:
        """Call watchers only after the code inside; within an event, after that event."""
        if self._is_busy:
            yield
            return
        self._is_busy = True
        try:
            yield
            self.watchers.call()
        finally:
            self._is_busy = False

    def _may_run(self) -> None:
        if self._is_busy:
            raise UsageError(
                "a function that on() or at() calls cannot wait, because the world waits for it: begin an operation "
                "with begin_create_topic, begin_fail_over and the like, and check later whether it is done"
            )

    # -- time ---------------------------------------------------------------------------------

    def at(self, when: Instant, action: Callable[[], None]) -> None:
        """Schedule `action`; plans for the same instant are executed in the order in which they were made."""
        assert when >= self.now, "the past is over"
        self._plan(when, _call, action, None)

    def _plan(self, when: Instant, call: Callable[[Any, Any], None] | None, subject: object, detail: object) -> int:
        self._sequence = number = self._sequence + 1
        heappush(self._heap, (when, number, call, subject, detail))
        return number

    def _advance(self, until: Instant, *, once: bool = True) -> bool:
        """Execute the next plan due by `until`, or all if `once` is unset; return whether a single one was executed."""
        heap, watchers, checks = self._heap, self.watchers, self.after_event
        while heap and heap[0][0] <= until:
            when, number, call, subject, detail = heappop(heap)
            if call is None:
                if number == STEP_BEGIN:
                    self._move_far_timers(detail)
                    continue
                if subject.timers.get(detail) != number:
                    continue  # A cancelled or replaced timer.
            self.now = when
            self.events += 1
            self.handled_by = None
            self._is_busy = True
            try:
                if call is None:
                    self._fire(subject, detail)
                else:
                    call(subject, detail)
                for check in checks:
                    check(when)
                if watchers.is_needed:
                    watchers.call()
            finally:
                self._is_busy = False
            if once:
                return True
        return False

    def step(self) -> bool:
        """Execute the next plan; return False if there is none."""
        self._may_run()
        return self._advance(END_OF_TIME)

    def run_for(self, *, span_us: Duration) -> None:
        """Run for `span_us` microseconds."""
        self.run_to(self.now + span_us)

    def run_to(self, until: Instant) -> None:
        self._may_run()
        self._advance(until, once=False)
        self.now = max(self.now, until)

    def run_until(self, condition: Callable[[], bool], *, within_us: Duration, what: str | Callable[[], str]) -> None:
        """Run until `condition` holds; SimulationFailure if it does not hold within `within_us` microseconds."""
        deadline = self.now + within_us
        while not condition():
            self._may_run()
            if not self._advance(deadline):
                self.now = deadline  # No remaining plan can satisfy it in time.
                description = what if isinstance(what, str) else what()
                raise self.failure(f"waited {within_us // 1_000_000} virtual seconds for: {description}")

    def perform(self, name: str, effects: list[Effect]) -> None:
        """Execute effects of a process outside an event: this is how scripts act through their client."""
        with self.one_event():
            process = self.processes[name]
            for effect in effects:
                self._executors[type(effect)](process, effect)

    # -- events -------------------------------------------------------------------------------

    def _handle(self, process: Process, event: Event) -> None:
        """Deliver an event to a running node, and execute its effects."""
        assert process.node is not None, process.name
        process.events += 1
        self.handled_by = process
        executors = self._executors
        now = self.now if process.clock is None else process.clock.local(self.now)
        for effect in process.node.handle(now, event):
            executors[type(effect)](process, effect)

    def _deliver(self, process: Process, incarnation: int, event: Event) -> None:
        """Deliver an event that is neither a frame nor a timer, if the node it was meant for is still running."""
        if process.node is None or process.incarnation != incarnation:
            return
        match event:
            case LinkClosed(OutboundLink(peer, channel)):
                text = f"link to {peer} on {channel} closed"
            case LinkClosed(InboundLink()):
                text = "ClientGone"
            case DiskDone(work, _, error):
                text = f"disk work {work} {'done' if error is None else f'failed: {error}'}"
            case _:
                text = type(event).__name__
        self.trace.add(self.now, process.name, text)
        self._handle(process, event)

    def _fire(self, process: Process, key: TimerKey) -> None:
        del process.timers[key]
        if process.node is not None:
            self.trace.add(self.now, process.name, f"timer {key}")
            self._handle(process, TimerFired(key))

    # -- effects ------------------------------------------------------------------------------

    def _set_timer(self, process: Process, effect: SetTimer) -> None:
        at, key, now = effect.at, effect.key, self.now
        if process.clock is not None:
            at = process.clock.instant(at)
        process.timers[key] = self._sequence = number = self._sequence + 1
        if at - now < FAR:
            if at < now:
                for watch in self.on_late_timer:
                    watch(process, key, now - at)
            heappush(self._heap, (at if at > now else now, number, None, process, key))
            return
        step = at // FAR
        plans = self._far.get(step)
        if plans is None:
            plans = self._far[step] = []
            heappush(self._heap, (step * FAR, STEP_BEGIN, None, None, step))
        plans.append((at, number, None, process, key))

    def _move_far_timers(self, step: int) -> None:
        """Move the far timers of a time step that are still set into the heap."""
        for plan in self._far.pop(step):
            _, number, _, process, key = plan
            if process.timers.get(key) == number:
                heappush(self._heap, plan)

    def _cancel_timer(self, process: Process, effect: CancelTimer) -> None:
        process.timers.pop(effect.key, None)

    def _stopped(self, process: Process, _: Stopped) -> None:
        self._end(process, "stopped")
        self.tell(process.name, NodeStopped())

    def _note(self, process: Process, note: Note) -> None:
        self.trace.add(self.now, process.name, note.text)
        if note.fact is not None:
            for watcher in self.on_fact:
                watcher(process.name, note.fact)
            self.tell(process.name, note.fact)

    def _work_on_disk(self, process: Process, work: DiskWork) -> None:
        incarnation = process.incarnation

        def finish() -> None:
            if process.node is not None and process.incarnation == incarnation:
                done = self.disk_workers.run_job(process.name, work)
                for watch in self.on_disk_work:
                    watch(process, work, True)
                self._deliver(process, incarnation, done)

        for watch in self.on_disk_work:
            watch(process, work, False)
        self.at(self.disk_workers.done_at(self.now, process.name, incarnation, work), finish)

    # -- links --------------------------------------------------------------------------------

    def _send(self, process: Process, effect: Send) -> None:
        name = effect.link
        link = self._links.get((process.name, name))
        if link is None:
            address = self.network.addresses.get(name.peer)
            if address is None or not self.runs(address.server):
                self._refuse(process, name)
                return
            self._link_count += 1
            key = (process.name, name)
            link = self._links[key] = Link(key, self._link_count, process.name, *address)
            self._served[link.inbound] = link
            link.counts = process.runner_metrics.links.get(name)
            if link.counts is not None:
                link.counts.opened.record(self.now)
        if link.counts is not None:
            link.counts.operations.record(self.now)
        if not link.open or (self.network.down and self.network.is_down(link.client, link.server)):
            return
        frame = b"".join(effect.chunks)
        link.last_request_at = self.network.arrival(
            self.now, link.client, link.server, link.last_request_at, len(frame)
        )
        self._plan(link.last_request_at, self._on_request_frame, link, frame)

    def _on_request_frame(self, link: Link, frame: bytes) -> None:
        if link.open and (link.held_frames or not link.is_read):
            link.held_frames.append(frame)
        elif link.open:
            self._deliver_request(link, frame)

    def _stop_reading(self, _: Process, effect: StopReading) -> None:
        if (link := self._served.get(effect.link)) is not None:
            link.is_read = False

    def _resume_reading(self, _: Process, effect: ResumeReading) -> None:
        """Deliver the held frames to the server one by one while it wants them."""
        if (link := self._served.get(effect.link)) is not None:
            link.is_read = True
            self._plan(self.now, self._deliver_held, link, None)

    def _deliver_held(self, link: Link, _: None) -> None:
        if link.open and link.is_read and link.held_frames:
            self._deliver_request(link, link.held_frames.popleft())
            self._plan(self.now, self._deliver_held, link, None)

    def _deliver_request(self, link: Link, frame: bytes) -> None:
        """Deliver a frame to the server; the first frame is preceded by `LinkOpened`.

        An open link has both ends: a node that ends closes its links.
        """
        server = self.processes[link.server]
        if not link.is_announced:
            link.is_announced = True
            name, principal = link.listener.name, link.listener.principal
            opened = LinkOpened(link.inbound, name, principal, Endpoint(LOOPBACK, link.port))
            self._handle(server, opened)  # The trace entry of the request that follows is sufficient.
            if not link.open:
                return
        self.trace.add(self.now, server.name, f"{link.request_text} {len(frame)} B", frame)
        for watch in self.on_frame:
            watch(Passing.REQUEST, link, frame)
        self._handle(server, RequestReceived(link.inbound, frame))

    def _reply(self, process: Process, effect: Reply) -> None:
        link = self._served.get(effect.link)
        if link is None:
            return
        frame = b"".join(effect.chunks)
        is_lost = bool(self.network.down) and self.network.is_down(link.server, link.client)
        for watch in self.on_frame:
            watch(Passing.LOST if is_lost else Passing.SENT, link, frame)
        if is_lost:
            return
        if effect.timing is not None:
            local = process.local(self.now)
            process.runner_metrics.answered(effect.timing, local, local, local)
        link.last_response_at = self.network.arrival(
            self.now, link.server, link.client, link.last_response_at, len(frame)
        )
        self._plan(link.last_response_at, self._deliver_response, link, frame)

    def _reply_bytes(self, _: Process, effect: ReplyBytes) -> None:
        link = self._served.get(effect.link)
        if link is not None:
            self._close(link, notify_client=True, notify_server=True)

    def _deliver_response(self, link: Link, frame: bytes) -> None:
        for watch in self.on_frame:
            watch(Passing.RECEIVED if link.open else Passing.TOO_LATE, link, frame)
        if link.open:
            client = self.processes[link.client]
            if link.counts is not None:
                link.counts.wakeups.record(self.now)
                link.counts.operations.record(self.now)
            self.trace.add(self.now, client.name, f"{link.response_text} {len(frame)} B", frame)
            self._handle(client, ResponseReceived(link.outbound, frame))

    def _refuse(self, process: Process, name: OutboundLink) -> None:
        """Notify the sender after a round trip that no node listens there."""
        incarnation = process.incarnation
        self.at(self.now + 1000, lambda: self._deliver(process, incarnation, LinkClosed(name)))

    def _close_link(self, process: Process, effect: CloseLink) -> None:
        name = effect.link
        if isinstance(name, OutboundLink):
            if (opened := self._links.get((process.name, name))) is not None:
                self._close(opened, notify_client=False, notify_server=True)
        elif (served := self._served.get(name)) is not None:
            self._close(served, notify_client=True, notify_server=False)

    def reset_links(self, client: str, server: str) -> None:
        """Close all links from one process to another at both ends, as TCP does after data loss."""
        for link in [link for link in self._links.values() if (link.client, link.server) == (client, server)]:
            self._close(link, notify_client=True, notify_server=True)

    def _close(self, link: Link, *, notify_client: bool, notify_server: bool) -> None:
        """Close both ends of a link.

        A closed link stays registered until its client is notified, so that data sent meanwhile is lost.
        """
        if not link.open:
            if not notify_client:
                del self._links[link.key]
            return
        link.open = False
        if link.counts is not None:
            link.counts.closed.record(self.now)
        self._served.pop(link.inbound, None)
        if notify_client and self.runs(link.client) and not self.network.is_down(link.server, link.client):
            client = self.processes[link.client]
            client_incarnation = client.incarnation
            when = self.network.arrival(self.now, link.server, link.client, link.last_response_at)
            self.at(when, lambda: self._on_closed(link, client, client_incarnation))
        else:
            del self._links[link.key]
        if notify_server and self.runs(link.server) and not self.network.is_down(link.client, link.server):
            server = self.processes[link.server]
            server_incarnation = server.incarnation
            when = self.network.arrival(self.now, link.client, link.server, link.last_request_at)
            self.at(when, lambda: self._deliver(server, server_incarnation, LinkClosed(link.inbound)))

    def _on_closed(self, link: Link, client: Process, incarnation: int) -> None:
        """Notify the client that its link is closed, unless it has closed the link itself, or ended."""
        if self._links.get(link.key) is link:
            del self._links[link.key]
            self._deliver(client, incarnation, LinkClosed(link.outbound))


def _open_link(_: Process, effect: OpenLink) -> None:
    """Do nothing: a simulated network needs no encryption, and the first frame opens the link."""


def _count_link(process: Process, effect: CountLink) -> None:
    process.runner_metrics.links[effect.link] = LinkCounts()


def _call(action: Callable[[], None], _: None) -> None:
    action()
