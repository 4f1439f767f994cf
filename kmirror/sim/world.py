"""The world: a heap of events in virtual time, the nodes they go to, and the trace of it all.

Events at the same instant happen in the order in which they were planned. A node that dies takes
its timers and links with it; what it wrote to its disk stays. One seed is one run: nothing here
reads a clock, iterates a set, or depends on the address of an object.

Most timers are cancelled: each request has one, in case that no answer comes. Such a timer is dropped when its time
comes near, and is no event.
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
from kmirror.kernel.told_by_runner import LinkCounts, ToldByRunner
from kmirror.kernel.trace import Trace
from kmirror.kernel.wrapping import Interpose
from kmirror.sim.clocks import WrongClock
from kmirror.sim.disk_work import DiskOptions, DiskWorkers
from kmirror.sim.facts import NodeKilled, NodeStarted, NodeStopped
from kmirror.sim.network import Link, LinkKey, Network, NetworkOptions, Passing
from kmirror.sim.watching import Seen, Watchers

START: Instant = 1_798_761_600 * 1_000_000
"""2027-01-01T00:00:00Z: virtual time begins after the timestamps in any log of today."""

END_OF_TIME: Instant = 1 << 63

FAR: Duration = 2 * SECOND
"""A timer that is set for so much later waits outside of the heap, until its step of time begins; steps are as long."""
NEARER = 0
"""The number of the plan that begins a step of time: lower than any other, so it comes before what is due then."""

LOOPBACK = "127.0.0.1"
"""The simulated nodes live on one host, on which each link has a port of its own."""

MakeNode = Callable[[], Node]
Plan = tuple[Instant, int, Callable[[Any, Any], None] | None, Any, Any]
"""When, the number of the plan, and what is called with which two arguments; of a timer None, its process and its key.

No two plans have the same number, so nothing after it is ever compared. For a frame that is half the cost of a closure.
"""


@dataclass(slots=True)
class Process:
    """A place where a node runs; it may die and be started anew."""

    name: str
    site: str
    is_server: bool
    """It listens: a broker or a controller, and no client."""
    make: MakeNode
    interpose: Interpose | None = None
    node: Node | None = None
    """What is given the events."""
    inside: Node | None = None
    """What `make` returned: the same, or what is in the midst of `node`."""
    incarnation: int = 0
    events: int = 0
    """Number of events that its nodes have handled; a node's state changes only with it."""
    timers: dict[TimerKey, int] = field(default_factory=dict)
    """Those that are set, each with the number of its plan."""
    told: ToldByRunner = field(default_factory=ToldByRunner)
    """What is counted for the node that runs."""
    clock: WrongClock | None = None
    """The clock of the node that runs; None for one that is right."""
    next_clock: WrongClock | None = None
    """That of the next node that is started here."""

    def local(self, now: Instant) -> Instant:
        """Return the time that the node's clock shows."""
        return now if self.clock is None else self.clock.local(now)


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
        self.on_frame: list[Callable[[Passing, Link, bytes], None]] = []
        """Called for every frame before its receiver is given it, and when an answer is sent."""
        self.on_disk_work: list[Callable[[Process, DiskWork, bool], None]] = []
        """Called with (process, work, whether it is done) when disk work is scheduled, and when it is done, before its
        node handles that."""
        self.on_late_timer: list[Callable[[Process, TimerKey, Duration], None]] = []
        """Called with (process, key, how late) when a node sets a timer in the past."""
        self.watchers = Watchers()
        """Keep every fact, and are called when its event is over."""
        self.events = 0
        self.handled_by: Process | None = None
        """Process that handled the last event of the present plan; None if no process has."""
        self._heap: list[Plan] = []
        self._sequence = 0
        self._far: dict[int, list[Plan]] = {}
        """Timers that were set for far later, by the step of time: most are cancelled, and never reach the heap."""
        self._links: dict[LinkKey, Link] = {}
        self._served: dict[InboundLink, Link] = {}
        self._link_count = 0
        self._carry_out: dict[type, Callable[[Process, Any], None]] = {
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

    def add(
        self,
        name: str,
        site: str,
        make: MakeNode,
        listeners: Sequence[ListenerSpec] = (),
        interpose: Interpose | None = None,
    ) -> None:
        """Place a process; `start` brings it to life, with what `interpose` puts around its node."""
        assert name not in self.processes, f"{name} is there already"
        self.processes[name] = Process(name, site, bool(listeners), make, interpose)
        self.network.add(name, site, listeners)

    def start(self, name: str) -> None:
        process = self.processes[name]
        assert process.node is None, f"{name} runs already"
        process.node = process.inside = process.make()
        if process.interpose is not None:
            process.node = process.interpose(name, process.inside)
        process.incarnation += 1
        process.clock = process.next_clock
        process.told = ToldByRunner()
        process.timers.clear()  # What was wanted after `Stopped` was wanted of nobody.
        self.trace.add(self.now, name, "started")
        with self.one_event():
            if process.is_server:
                self.tell(name, NodeStarted())
            self._deliver(process, process.incarnation, Started())

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
            self._deliver(process, process.incarnation, Stop())

    def set_clock(self, name: str, *, ahead: Duration, ppm: int) -> None:
        """Have a process's clock be wrong; 0 and 0 are right. One that would go back does so at the next start."""
        process = self.processes[name]
        wrong = process.next_clock = WrongClock(ahead, ppm, self.now) if ahead or ppm else None
        self.trace.add(self.now, name, f"clock {ahead} us ahead, {ppm} ppm")
        shown = self.now if wrong is None else wrong.local(self.now)
        if process.node is not None and shown >= process.local(self.now):
            process.clock = wrong

    def _end(self, process: Process, how: str) -> None:
        name = process.name
        assert process.node is not None, f"{name} does not run"
        process.node = process.inside = None
        process.timers.clear()
        self.trace.add(self.now, name, how)
        for link in [link for link in self._links.values() if name in (link.client, link.server)]:
            self._close(link, tell_client=link.client != name, tell_server=link.server != name)

    def runs(self, name: str) -> bool:
        return self.processes[name].node is not None

    # -- facts --------------------------------------------------------------------------------

    def tell(self, node: str, fact: object) -> None:
        """Keep a fact about a node, or about the `network`; who watches is called when the present event is over."""
        process = self.processes.get(node)
        self.watchers.tell(Seen(self.now - START, "" if process is None else process.site, node, fact))
        if not self._is_busy:
            with self.one_event():
                pass

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
        self._plan(when, _call, action, None)

    def _plan(self, when: Instant, call: Callable[[Any, Any], None] | None, subject: object, detail: object) -> int:
        self._sequence = number = self._sequence + 1
        heappush(self._heap, (when, number, call, subject, detail))
        return number

    def _advance(self, until: Instant, *, once: bool = True) -> bool:
        """Carry out the next plan, or all, that are due by `until`; return whether there was one when `once` is set."""
        heap, watchers, checks = self._heap, self.watchers, self.after_event
        while heap and heap[0][0] <= until:
            when, number, call, subject, detail = heappop(heap)
            if call is None:
                if number == NEARER:
                    self._bring_near(detail)
                    continue
                if subject.timers.get(detail) != number:
                    continue  # A timer that was cancelled, or set anew.
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
        """Carry out the next plan; False if there is none."""
        self._may_run()
        return self._advance(END_OF_TIME)

    def run_for(self, *, span_us: Duration) -> None:
        """Let `span_us` microseconds pass."""
        self.run_to(self.now + span_us)

    def run_to(self, until: Instant) -> None:
        self._may_run()
        self._advance(until, once=False)
        self.now = max(self.now, until)

    def run_until(self, condition: Callable[[], bool], *, within_us: Duration, what: str | Callable[[], str]) -> None:
        """Run until `condition` holds; SimulationFailure if it does not within `within_us` microseconds."""
        deadline = self.now + within_us
        while not condition():
            self._may_run()
            if not self._advance(deadline):
                self.now = deadline  # Nothing that is planned could still bring it about in time.
                told = what if isinstance(what, str) else what()
                raise self.failure(f"waited {within_us // 1_000_000} virtual seconds for: {told}")

    def perform(self, name: str, effects: list[Effect]) -> None:
        """Carry out what a process wants without an event: how a script acts through its client."""
        with self.one_event():
            process = self.processes[name]
            for effect in effects:
                self._carry_out[type(effect)](process, effect)

    # -- events -------------------------------------------------------------------------------

    def _handle(self, process: Process, event: Event) -> None:
        """Give an event to a node that runs, and carry out what it wants."""
        assert process.node is not None, process.name
        process.events += 1
        self.handled_by = process
        carry_out = self._carry_out
        now = self.now if process.clock is None else process.clock.local(self.now)
        for effect in process.node.handle(now, event):
            carry_out[type(effect)](process, effect)

    def _deliver(self, process: Process, incarnation: int, event: Event) -> None:
        """Give an event that is neither a frame nor a timer to a node, if it is the one for which it was meant."""
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
        far = self._far.get(step)
        if far is None:
            far = self._far[step] = []
            heappush(self._heap, (step * FAR, NEARER, None, None, step))
        far.append((at, number, None, process, key))

    def _bring_near(self, step: int) -> None:
        """Put the far timers of a step of time into the heap, without those that are not set any more."""
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
                done = self.disk_workers.carry_out(process.name, work)
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
            link.counts = process.told.links.get(name)
            if link.counts is not None:
                link.counts.opened.record(self.now)
        if link.counts is not None:
            link.counts.operations.record(self.now)
        if not link.open or (self.network.down and self.network.is_down(link.client, link.server)):
            return
        frame = b"".join(effect.chunks)
        link.there_at = self.network.arrival(self.now, link.client, link.server, link.there_at, len(frame))
        self._plan(link.there_at, self._arrive, link, frame)

    def _arrive(self, link: Link, frame: bytes) -> None:
        if link.open and (link.held or not link.is_read):
            link.held.append(frame)
        elif link.open:
            self._on_frame(link, frame)

    def _stop_reading(self, _: Process, effect: StopReading) -> None:
        if (link := self._served.get(effect.link)) is not None:
            link.is_read = False

    def _resume_reading(self, _: Process, effect: ResumeReading) -> None:
        """Give the frames that were held to the server, one after the other, as long as it wants them."""
        if (link := self._served.get(effect.link)) is not None:
            link.is_read = True
            self._plan(self.now, self._take_held, link, None)

    def _take_held(self, link: Link, _: None) -> None:
        if link.open and link.is_read and link.held:
            self._on_frame(link, link.held.popleft())
            self._plan(self.now, self._take_held, link, None)

    def _on_frame(self, link: Link, frame: bytes) -> None:
        """Give a frame to the server, which is told first who opened the link if it does not know that yet.

        A link that is open has both of its ends: a node that ends closes its links.
        """
        server = self.processes[link.server]
        if not link.is_told:
            link.is_told = True
            name, principal = link.listener.name, link.listener.principal
            opened = LinkOpened(link.inbound, name, principal, Endpoint(LOOPBACK, link.port))
            self._handle(server, opened)  # The request that follows tells enough for the trace.
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
        if effect.timed is not None:
            local = process.local(self.now)
            process.told.answered(effect.timed, local, local, local)
        link.back_at = self.network.arrival(self.now, link.server, link.client, link.back_at, len(frame))
        self._plan(link.back_at, self._come_back, link, frame)

    def _reply_bytes(self, _: Process, effect: ReplyBytes) -> None:
        link = self._served.get(effect.link)
        if link is not None:
            self._close(link, tell_client=True, tell_server=True)

    def _come_back(self, link: Link, frame: bytes) -> None:
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
        """Nobody listens there: the sender learns it after a round trip."""
        incarnation = process.incarnation
        self.at(self.now + 1000, lambda: self._deliver(process, incarnation, LinkClosed(name)))

    def _close_link(self, process: Process, effect: CloseLink) -> None:
        name = effect.link
        if isinstance(name, OutboundLink):
            if (opened := self._links.get((process.name, name))) is not None:
                self._close(opened, tell_client=False, tell_server=True)
        elif (served := self._served.get(name)) is not None:
            self._close(served, tell_client=True, tell_server=False)

    def reset_links(self, client: str, server: str) -> None:
        """Close the links from one process to another one at both ends, as TCP does after it has lost data."""
        for link in [link for link in self._links.values() if (link.client, link.server) == (client, server)]:
            self._close(link, tell_client=True, tell_server=True)

    def _close(self, link: Link, *, tell_client: bool, tell_server: bool) -> None:
        """Close both ends of a link.

        A closed link keeps its place until its client knows of it, so that what the client sends meanwhile is lost.
        """
        if not link.open:
            if not tell_client:
                del self._links[link.key]
            return
        link.open = False
        if link.counts is not None:
            link.counts.closed.record(self.now)
        self._served.pop(link.inbound, None)
        if tell_client and self.runs(link.client) and not self.network.is_down(link.server, link.client):
            client = self.processes[link.client]
            opened_by = client.incarnation
            when = self.network.arrival(self.now, link.server, link.client, link.back_at)
            self.at(when, lambda: self._on_closed(link, client, opened_by))
        else:
            del self._links[link.key]
        if tell_server and self.runs(link.server) and not self.network.is_down(link.client, link.server):
            server = self.processes[link.server]
            served_by = server.incarnation
            when = self.network.arrival(self.now, link.client, link.server, link.there_at)
            self.at(when, lambda: self._deliver(server, served_by, LinkClosed(link.inbound)))

    def _on_closed(self, link: Link, client: Process, incarnation: int) -> None:
        """Let the client know that its link is closed, unless it has closed it itself, or ended."""
        if self._links.get(link.key) is link:
            del self._links[link.key]
            self._deliver(client, incarnation, LinkClosed(link.outbound))


def _open_link(_: Process, effect: OpenLink) -> None:
    """Do nothing: nobody listens in on a simulated network, and the first frame opens the link."""


def _count_link(process: Process, effect: CountLink) -> None:
    process.told.links[effect.link] = LinkCounts()


def _call(action: Callable[[], None], _: None) -> None:
    action()
