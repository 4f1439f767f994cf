"""Campaign against a client library: its program runs repeatedly, each time with other broken responses.

A fault is a signal, a timeout, or much more memory, processor time or requests than with valid responses. An exit code
is reported, and is a fault only with `is_strict`. A finding must show again with the same responses.
"""

from __future__ import annotations

import math
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from kmirror.errors import UsageError
from kmirror.fuzz.campaign import Tally
from kmirror.fuzz.clients.delivery_faults import Way
from kmirror.fuzz.clients.program import Bounds, Ended, run_program
from kmirror.fuzz.clients.response_interceptor import Door
from kmirror.fuzz.clients.server_front import Front
from kmirror.fuzz.clients.session import LATE_S, Drawn, Plan, Row, Script, Session, Whole
from kmirror.fuzz.clients.stored_responses import Entry, read_entry
from kmirror.fuzz.findings import Fault, FaultKind, Finding
from kmirror.fuzz.shrink import fewer, shrink

PATIENCE_S = 30.0
MEMORY_MIB = 256
RESERVED_MIB = 768
"""More reserved memory than with valid responses, for the stacks and arenas of the client's threads."""
CONFIRM_TRIES = 3
REPLAY_TRIES = 5
_TRIES_MAX = 60
_SHRINK_S = 240.0
"""Maximum wall-clock time spent on shrinking a finding, in seconds."""
_SETTLE_S = 0.2
_STORM_TIMES = 10
_STORM_MIN = 500
"""A client that sends this many more requests than with valid responses retries without a pause."""
_STDERR_LINES = 40
NAME = "client"


@dataclass(frozen=True)
class Client:
    """A program that uses a client library, and its limits.

    In its words {bootstrap} is replaced by the servers, and {session} by a name that no other run has.
    """

    words: tuple[str, ...]
    patience_s: float = PATIENCE_S
    memory_mib: int = MEMORY_MIB
    """Limit above the memory used with valid responses."""
    is_strict: bool = False
    """Whether an exit code other than 0 is a finding."""
    late_s: float = LATE_S
    """Delay of late responses in seconds, longer than the client waits for a response."""


@dataclass
class ClientTally(Tally):
    """Counts of a campaign; its frames are responses, and `taken` counts those that were not broken."""

    sessions: int = 0
    rows: Counter[Row] = field(default_factory=Counter)
    """Reactions of the client to the responses."""
    ends: Counter[str] = field(default_factory=Counter)
    """Outcomes of the program."""
    unsteady: Counter[str] = field(default_factory=Counter)
    """Faults that did not show again."""

    def add(self, session: Session) -> None:
        """Count the responses of a finished session."""
        self.sessions += 1
        self.frames += session.answers
        self.taken += session.answers - len(session.broken)
        self.rows += session.rows
        self.outcomes.update((row.message, row.version, row.next.value) for row in session.rows if row.is_broken)


class ClientCampaign:
    """Sessions of a client's program at an open front.

    Sets the `session` of the front's door.
    """

    def __init__(
        self,
        client: Client,
        front: Front,
        door: Door,
        seed: int,
        *,
        shrinks: bool = True,
        on_finding: Callable[[Finding], object] | None = None,
    ) -> None:
        self.tally = ClientTally()
        self._client = client
        self._front = front
        self._seed = seed
        self._shrinks = shrinks
        self._on_finding = on_finding
        self._session: Session | None = None
        self._runs = 0
        self._seen: list[tuple[int, int]] = []
        self._whole: Ended | None = None
        self._until = math.inf
        self._whole_answers = 0
        door.session = lambda: self._session

    def run(self, *, frames: int | None = None, seconds: float | None = None) -> Iterator[ClientTally]:
        """Run until `frames` responses were sent, or for `seconds` seconds; yield the tally after each session.

        Without either limit it never ends. Raises `UsageError` if the program fails with valid responses.
        """
        began = time.monotonic()
        self._until = math.inf if seconds is None else began + seconds
        self.begin()
        tally, number = self.tally, 0
        while (frames is None or tally.frames < frames) and (seconds is None or tally.seconds < seconds):
            session, ended = self._run(Drawn(self._seed, number, self._seen, late_s=self._client.late_s), number)
            tally.add(session)
            fault = self.judge_response(session, ended)
            tally.ends[ended.outcome] += 1
            if fault is not None:
                self._found(session, fault, ended)
            number += 1
            tally.seconds = time.monotonic() - began
            yield tally

    def begin(self) -> None:
        """Run the program with valid responses, to record its requests and its use of resources.

        Twice, as the first run has the cluster create its internal topics. Raises `UsageError` if the program fails.
        """
        for _ in range(2):
            session, ended = self._run(Whole(), 0)
        if ended.code or ended.is_late or not session.answers:
            told = ended.outcome if ended.code or ended.is_late else "it has asked nothing"
            raise UsageError(
                f"{self._client.words[0]} must exit with 0 if all responses are valid: {told}\n{ended.stderr[-2000:]}"
            )
        self._seen, self._whole, self._whole_answers = session.seen, ended, session.answers

    def play(self, entries: Sequence[Entry], tries: int = 1) -> Fault | None:
        """Run the program with these responses; return its fault, or None.

        A program with threads may change the order of its requests, so up to `tries` runs are made.
        """
        faults = (self._shown(entries) for _ in range(tries))
        return next((found[0] for found in faults if found is not None), None)

    def judge_response(self, session: Session, ended: Ended) -> Fault | None:
        """Return the fault of a finished session, or None."""
        assert self._whole is not None, "it was run with whole answers first"
        last = session.broken[-1].entry if session.broken else None
        after = f"after {last}" if last is not None else "with whole answers"
        short = last.about if last is not None else "whole answers"
        patience = self._client.patience_s
        if ended.is_large:
            told = f"{_mib(ended.memory)}, {_mib(self._whole.memory)} with whole answers, {after}"
            return Fault(FaultKind.MEMORY, told, f"memory after {short}", f"at most {self._client.memory_mib} MiB more")
        if ended.busy_s > self._whole.busy_s + patience / 2:
            told = f"busy for {ended.busy_s:.1f} s of {ended.seconds:.1f} s {after}"
            return Fault(FaultKind.SLOW, told, f"spins after {short}", f"about {self._whole.busy_s:.1f} s")
        if session.answers > _STORM_TIMES * self._whole_answers + _STORM_MIN:
            told = f"asked {session.answers:,} times in {ended.seconds:.1f} s {after}"
            return Fault(
                FaultKind.SLOW, told, f"asks without pause after {short}", f"about {self._whole_answers:,} times"
            )
        if ended.is_late:
            return Fault(FaultKind.SILENT, f"no end within {patience:g} s {after}", f"hangs after {short}", "an end")
        if ended.code < 0:
            name = signal.Signals(-ended.code).name
            return Fault(FaultKind.RAISED, f"{name} {after}: {ended.reason}", f"{name} after {short}", "no signal")
        if ended.code and self._client.is_strict:
            return Fault(
                FaultKind.RAISED, f"exit code {ended.code} {after}: {ended.reason}", ended.outcome, "exit code 0"
            )
        return None

    # -- one session --------------------------------------------------------------------------

    def _run(self, plan: Plan, number: int) -> tuple[Session, Ended]:
        """Run the program once; return its session and its end."""
        self._runs += 1
        told = {"{bootstrap}": self._front.bootstrap_servers, "{session}": f"s{self._seed}-{self._runs}"}
        words = [_filled(word, told) for word in self._client.words]
        more = self._client.memory_mib << 20
        peak, reserved = (1 << 40, 1 << 40) if self._whole is None else self._whole.memory
        bounds = Bounds(self._client.patience_s, peak + more, reserved + more + (RESERVED_MIB << 20))
        session = self._session = Session(number, plan, self._front.names())
        try:
            ended = run_program(words, bounds)
        finally:
            self._session = None
        until = time.monotonic() + _SETTLE_S
        while session.is_open and time.monotonic() < until:
            time.sleep(0.001)  # Its links are closed; the port takes a moment to notice.
        session.ended()
        return session, ended

    # -- findings -----------------------------------------------------------------------------

    def _found(self, session: Session, fault: Fault, ended: Ended) -> None:
        tally = self.tally
        entries = [given.entry for given in session.broken]
        cause = f"{fault.kind.value} {fault.cause}"
        if cause not in tally.findings:
            needed = self._needed(entries, fault)
            if needed is None:
                tally.unsteady[cause] += 1
                return
            entries, fault, ended = needed
            cause = f"{fault.kind.value} {fault.cause}"
        tally.counts[cause] = tally.counts.get(cause, 0) + 1
        if cause in tally.findings:
            return
        finding = self._finding(session, entries, fault, ended)
        tally.findings[cause] = finding
        if self._on_finding is not None:
            self._on_finding(finding)

    def _needed(self, entries: list[Entry], fault: Fault) -> tuple[list[Entry], Fault, Ended] | None:
        """Return the fewest responses found that show a fault of this kind, and the fault; None if it is not shown."""
        shown: list[tuple[Fault, Ended]] = []

        def shows(some: Sequence[bytes]) -> bool:
            found = self._shown([read_entry(raw) for raw in some])
            if found is not None and found[0].kind is fault.kind:
                shown.append(found)
                return True
            return False

        kept = [entry.to_bytes() for entry in entries]
        if not kept or not any(shows(kept) for _ in range(CONFIRM_TRIES)):
            return None
        if self._shrinks:
            kept = self._shrunk(kept, shows)
        return [read_entry(raw) for raw in kept], *shown[-1]

    def _shrunk(self, kept: list[bytes], shows: Callable[[Sequence[bytes]], bool]) -> list[bytes]:
        until = min(time.monotonic() + _SHRINK_S, self._until)

        def still_shows(some: Sequence[bytes]) -> bool:
            return bool(some) and time.monotonic() < until and shows(some)

        alone = next((raw for raw in kept[::-1][:3] if len(kept) > 1 and still_shows([raw])), None)
        kept = [alone] if alone is not None else fewer(kept, still_shows, _TRIES_MAX, until=until)
        *before, last = kept
        if read_entry(last).way is not Way.WHOLE:
            return kept
        head = read_entry(last).head
        data = shrink(last[len(head) :], lambda data: still_shows([*before, head + data]), _TRIES_MAX, until=until)
        return [*before, head + data]

    def _shown(self, entries: Sequence[Entry]) -> tuple[Fault, Ended] | None:
        session, ended = self._run(Script(entries, self._front.names()), 0)
        fault = self.judge_response(session, ended)
        return None if fault is None else (fault, ended)

    def _finding(self, session: Session, entries: list[Entry], fault: Fault, ended: Ended) -> Finding:
        *before, last = entries
        stories = {(given.entry.key, given.entry.nth): given.story for given in session.broken}
        story = [f"{entry}: {', '.join(stories.get((entry.key, entry.nth), ()))}" for entry in entries]
        told = [f"stderr: {line}" for line in ended.stderr.splitlines()[-_STDERR_LINES:]]
        return Finding(
            NAME, fault.kind, fault.cause, fault.told, fault.expected, last.name, last.version,
            self._seed, session.number, (f"program: {' '.join(self._client.words)}", *story, *told),
            last.to_bytes(), tuple(entry.to_bytes() for entry in before),
        )  # fmt: skip


def entries_of(finding: Finding) -> list[Entry]:
    """Return the responses in a finding, in order; raises `UsageError` for a finding of another target."""
    if finding.target != NAME:
        raise UsageError(f"a finding of the target {finding.target}, not of a client")
    return [read_entry(raw) for raw in (*finding.before, finding.frame)]


def _mib(memory: tuple[int, int]) -> str:
    peak, reserved = (size >> 20 for size in memory)
    return f"{peak} MiB ({reserved} reserved)"


def _filled(word: str, told: dict[str, str]) -> str:
    for name, value in told.items():
        word = word.replace(name, value)
    return word


def open_target(wanted: object) -> NoReturn:
    """Raise `UsageError`: a client sends its own requests, and takes no stream of frames."""
    raise UsageError("the target client does not take frames: run `kmirror fuzz client`")
