"""The world: a heap of events in virtual time, the nodes they go to, and the trace of it all.

Events at the same instant happen in the order in which they were planned. A node that dies takes
its timers and links with it; what it wrote to its disk stays. One seed is one run: nothing here
reads a clock, iterates a set, or depends on the address of an object.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from kmirror.errors import SimulationFailure, UsageError, moment_of_run
from kmirror.kernel.clock import Duration, Instant
from kmirror.kernel.events import (
    CancelTimer,
    CloseLink,
    DiskDone,
    DiskWork,
    Effect,
    Event,
    InboundLink,
    LinkClosed,
    LinkOpened,
    Node,
    Note,
    OutboundLink,
    Reply,
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
from kmirror.kernel.ids import ANONYMOUS, Endpoint
from kmirror.kernel.rng import Rng
from kmirror.kernel.trace import Trace
from kmirror.sim.disk_work import DiskOptions, DiskWorkers
from kmirror.sim.facts import NodeKilled, NodeStarted, NodeStopped
from kmirror.sim.network import Link, LinkKey, Network, NetworkOptions
from kmirror.sim.watching import Seen, Watchers

START: Instant = 1_798_761_600 * 1_000_000
"""2027-01-01T00:00:00Z: virtual time begins after the timestamps in any log of today."""

LISTENER = "PLAINTEXT"
LOOPBACK = "127.0.0.1"
"""The simulated nodes live on one host, on which each link has a port of its own."""

MakeNode = Callable[[], Node]


@dataclass(slots=True)
class Process:
    """A place where a node runs; it may die and be started anew."""

    name: str
    site: str
    is_server: bool
    """It listens: a broker or a controller, and no client."""
    make: MakeNode
    node: Node | None = None
    incarnation: int = 0
    timers: dict[TimerKey, int] = field(default_factory=dict)


class World:
    """Virtual time and everything in it."""

    def __init__(self, seed: int, network: NetworkOptions | None = None, disk: DiskOptions | None = None) -> None:
        self.seed = seed
        self.now: Instant = START
        self.rng = Rng(seed)
        self.trace = Trace()
        self.network = Network(self.rng.split("network"), network or NetworkOptions())
        self.disk_workers = DiskWorkers(self.rng.split("disk"), disk or DiskOptions())
        self.processes: dict[str, Process] = {}
        self.after_event: list[Callable[[Instant], None]] = []
        """Called after every event: checkers of invariants."""
        self.on_fact: list[Callable[[str, object], None]] = []
        """Called with (process, fact) for every `Note` that carries a fact, in the midst of its event."""
        self.watchers = Watchers()
        """Keep every fact, and are called when its event is over."""
        self.events = 0
        self._heap: list[tuple[Instant, int, Callable[[], None]]] = []
        self._sequence = 0
        self._links: dict[LinkKey, Link] = {}
        self._served: dict[InboundLink, Link] = {}
        self._link_count = 0
        self._timer_count = 0
        self._is_busy = False
        """An event is being carried out, or those are called who watch."""

    def failure(self, message: str) -> SimulationFailure:
        """Return an exception that names this run's seed and the time since it began."""
        return SimulationFailure(message, seed=self.seed, elapsed_us=self.elapsed_us)

    @property
    def elapsed_us(self) -> Duration:
        """Return the virtual time since the run began."""
        return self.now - START

    @property
    def moment(self) -> str:
        """Return this run's seed and the time since it began, as text for an error."""
        return moment_of_run(self.seed, self.elapsed_us)

    # -- processes ----------------------------------------------------------------------------

    def add(self, name: str, site: str, endpoint: Endpoint | None, make: MakeNode) -> None:
        """Place a process; `start` brings it to life."""
        assert name not in self.processes, f"{name} is there already"
        self.processes[name] = Process(name, site, endpoint is not None, make)
        self.network.add(name, site, endpoint)

    def start(self, name: str) -> None:
        process = self.processes[name]
        assert process.node is None, f"{name} runs already"
        process.node = process.make()
        process.incarnation += 1
        self.trace.add(self.now, name, "started")
        with self.one_event():
            if process.is_server:
                self.tell(name, NodeStarted())
            self._deliver(name, process.incarnation, Started())

    def kill(self, name: str) -> None:
        """End a process at once; what is on its disk stays, everything else is gone."""
        with self.one_event():
            process = self.processes[name]
            self._end(process, "killed")
            if process.is_server:
                self.tell(name, NodeKilled())

    def stop(self, name: str) -> None:
        """Ask a process to end; it runs until it has put everything in order."""
        process = self.processes[name]
        assert process.node is not None, f"{name} does not run"
        with self.one_event():
            self._deliver(name, process.incarnation, Stop())

    def _end(self, process: Process, how: str) -> None:
        name = process.name
        assert process.node is not None, f"{name} does not run"
        process.node = None
        process.timers.clear()
        self.trace.add(self.now, name, how)
        for link in [link for link in self._links.values() if name in (link.client, link.server)]:
            self._close(link, tell_client=link.server == name, tell_server=link.client == name)

    def runs(self, name: str) -> bool:
        return self.processes[name].node is not None

    # -- facts --------------------------------------------------------------------------------

    def tell(self, node: str, fact: object) -> None:
        """Keep a fact about a node, or about the `network`; who watches is called when the present event is over."""
        with self.one_event():
            process = self.processes.get(node)
            self.watchers.tell(Seen(self.elapsed_us, "" if process is None else process.site, node, fact))

    @contextmanager
    def one_event(self) -> Iterator[None]:
        """Call who watches when what is done inside is over, and only then; inside an event that is its end."""
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
                "what is called by on() or at() cannot wait for the world, which waits for it: begin what takes time "
                "with begin_create_topic, begin_fail_over and the like, and look at it later"
            )

    # -- time ---------------------------------------------------------------------------------

    def at(self, when: Instant, action: Callable[[], None]) -> None:
        """Plan `action`; plans for the same instant are carried out in the order they were made."""
        assert when >= self.now, "the past is over"
        self._sequence += 1
        heapq.heappush(self._heap, (when, self._sequence, action))

    def step(self) -> bool:
        """Carry out the next plan; False if there is none."""
        self._may_run()
        if not self._heap:
            return False
        self.now, _, action = heapq.heappop(self._heap)
        self.events += 1
        self._is_busy = True
        try:
            action()
            for check in self.after_event:
                check(self.now)
            self.watchers.call()
        finally:
            self._is_busy = False
        return True

    def run_for(self, *, span_us: Duration) -> None:
        """Let `span_us` microseconds pass."""
        self.run_to(self.now + span_us)

    def run_to(self, until: Instant) -> None:
        self._may_run()
        while self._heap and self._heap[0][0] <= until:
            self.step()
        self.now = max(self.now, until)

    def run_until(self, condition: Callable[[], bool], *, within_us: Duration, what: str | Callable[[], str]) -> None:
        """Run until `condition` holds; SimulationFailure if it does not within `within_us` microseconds."""
        deadline = self.now + within_us
        while not condition():
            self._may_run()
            if not self._heap or self._heap[0][0] > deadline:
                self.now = deadline  # Nothing that is planned could still bring it about in time.
                told = what if isinstance(what, str) else what()
                raise self.failure(f"waited {within_us // 1_000_000} virtual seconds for: {told}")
            self.step()

    def perform(self, name: str, effects: list[Effect]) -> None:
        """Carry out what a process wants without an event: how a script acts through its client."""
        with self.one_event():
            for effect in effects:
                self._carry_out(self.processes[name], effect)

    # -- events and effects -------------------------------------------------------------------

    def _deliver(self, name: str, incarnation: int, event: Event) -> None:
        process = self.processes[name]
        if process.node is None or process.incarnation != incarnation:
            return
        match event:
            case RequestReceived(client, frame):
                self.trace.bytes(self.now, name, f"request from {client.name[0]} {len(frame)} B", frame)
            case ResponseReceived(link, frame):
                self.trace.bytes(self.now, name, f"response from {link.peer} on {link.channel} {len(frame)} B", frame)
            case TimerFired(key):
                self.trace.add(self.now, name, f"timer {key}")
            case LinkClosed(OutboundLink(peer, channel)):
                self.trace.add(self.now, name, f"link to {peer} on {channel} closed")
            case LinkClosed(InboundLink()):
                self.trace.add(self.now, name, "ClientGone")
            case DiskDone(work, _, error):
                self.trace.add(self.now, name, f"disk work {work} {'done' if error is None else f'failed: {error}'}")
            case LinkOpened():
                pass  # The request that follows tells enough.
            case _:
                self.trace.add(self.now, name, type(event).__name__)
        for effect in process.node.handle(self.now, event):
            self._carry_out(process, effect)

    def _carry_out(self, process: Process, effect: Effect) -> None:
        match effect:
            case Send(link, chunks):
                self._send(process, link, b"".join(chunks))
            case Reply(client, chunks):
                self._reply(client, b"".join(chunks))
            case SetTimer(key, at):
                self._set_timer(process, key, at)
            case CancelTimer(key):
                process.timers.pop(key, None)
            case CloseLink(OutboundLink() as ours):
                if (opened := self._links.get((process.name, ours))) is not None:
                    self._close(opened, tell_client=False, tell_server=True)
            case CloseLink(InboundLink() as theirs):
                if (served := self._served.get(theirs)) is not None:
                    self._close(served, tell_client=True, tell_server=False)
            case StopReading(muted):
                if (served := self._served.get(muted)) is not None:
                    served.is_read = False
            case ResumeReading(wanted):
                if (served := self._served.get(wanted)) is not None:
                    self._resume(served)
            case DiskWork():
                self._work_on_disk(process, effect)
            case Stopped():
                self._end(process, "stopped")
                self.tell(process.name, NodeStopped())
            case Note(text, fact):
                self.trace.add(self.now, process.name, text)
                if fact is not None:
                    for watcher in self.on_fact:
                        watcher(process.name, fact)
                    self.tell(process.name, fact)

    def _set_timer(self, process: Process, key: TimerKey, at: Instant) -> None:
        self._timer_count += 1
        number = process.timers[key] = self._timer_count
        incarnation = process.incarnation

        def fire() -> None:
            if process.incarnation == incarnation and process.timers.get(key) == number:
                del process.timers[key]
                self._deliver(process.name, incarnation, TimerFired(key))

        self.at(max(at, self.now), fire)

    def _work_on_disk(self, process: Process, work: DiskWork) -> None:
        incarnation = process.incarnation

        def finish() -> None:
            if process.node is not None and process.incarnation == incarnation:
                self._deliver(process.name, incarnation, self.disk_workers.carry_out(process.name, work))

        self.at(self.disk_workers.done_at(self.now, process.name, incarnation, work), finish)

    # -- links --------------------------------------------------------------------------------

    def _send(self, process: Process, name: OutboundLink, frame: bytes) -> None:
        key = (process.name, name)
        link = self._links.get(key)
        if link is None:
            server = self.network.addresses.get(name.peer)
            if server is None or not self.runs(server):
                self._refuse(process, name)
                return
            self._link_count += 1
            link = self._links[key] = Link(key, self._link_count, process.name, server)
            self._served[link.inbound] = link
        if self.network.is_down(link.client, link.server):
            return
        link.there_at = self.network.arrival(self.now, link.client, link.server, link.there_at, len(frame))
        incarnation = self.processes[link.server].incarnation

        def arrive() -> None:
            if link.open and (link.held or not link.is_read):
                link.held.append(frame)
            elif link.open:
                self._on_frame(link, incarnation, frame)

        self.at(link.there_at, arrive)

    def _resume(self, link: Link) -> None:
        """Give the frames that were held to the server, one after the other, as long as it wants them."""
        link.is_read = True
        incarnation = self.processes[link.server].incarnation

        def take() -> None:
            if link.open and link.is_read and link.held:
                self._on_frame(link, incarnation, link.held.popleft())
                self.at(self.now, take)

        self.at(self.now, take)

    def _on_frame(self, link: Link, incarnation: int, frame: bytes) -> None:
        """Give a frame to the server, which is told first who opened the link if it does not know that yet."""
        if not link.is_told:
            link.is_told = True
            opened = LinkOpened(link.inbound, LISTENER, ANONYMOUS, Endpoint(LOOPBACK, link.port))
            self._deliver(link.server, incarnation, opened)
        self._deliver(link.server, incarnation, RequestReceived(link.inbound, frame))

    def _reply(self, name: InboundLink, frame: bytes) -> None:
        link = self._served.get(name)
        if link is None or not link.open or self.network.is_down(link.server, link.client):
            return
        link.back_at = self.network.arrival(self.now, link.server, link.client, link.back_at, len(frame))
        incarnation = self.processes[link.client].incarnation

        def arrive() -> None:
            if link.open:
                self._deliver(link.client, incarnation, ResponseReceived(link.outbound, frame))

        self.at(link.back_at, arrive)

    def _refuse(self, process: Process, name: OutboundLink) -> None:
        """Nobody listens there: the sender learns it after a round trip."""
        incarnation = process.incarnation

        def arrive() -> None:
            self._deliver(process.name, incarnation, LinkClosed(name))

        self.at(self.now + 1000, arrive)

    def _close(self, link: Link, *, tell_client: bool, tell_server: bool) -> None:
        link.open = False
        self._links.pop(link.key, None)
        self._served.pop(link.inbound, None)
        if tell_client and self.runs(link.client) and not self.network.is_down(link.server, link.client):
            incarnation = self.processes[link.client].incarnation
            when = self.network.arrival(self.now, link.server, link.client, link.back_at)
            self.at(when, lambda: self._deliver(link.client, incarnation, LinkClosed(link.outbound)))
        if tell_server and self.runs(link.server) and not self.network.is_down(link.client, link.server):
            served_by = self.processes[link.server].incarnation
            when = self.network.arrival(self.now, link.client, link.server, link.there_at)
            self.at(when, lambda: self._deliver(link.server, served_by, LinkClosed(link.inbound)))
