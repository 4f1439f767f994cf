"""Campaign against a client library: its program runs repeatedly, each time with other broken responses.

A fault is a signal, a timeout, or much more memory, processor time or requests than with valid responses. An exit code
is reported, and is a fault only with `is_strict`. A finding must be reproducible with the same responses.
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
from kmirror.fuzz.clients.delivery_faults import Delivery
from kmirror.fuzz.clients.program import Limits, ProgramResult, run_program
from kmirror.fuzz.clients.response_interceptor import ResponseInterceptor
from kmirror.fuzz.clients.servers import Servers
from kmirror.fuzz.clients.session import LATE_S, Plan, RandomPlan, ReactionKey, Session, StoredPlan, UnbrokenPlan
from kmirror.fuzz.clients.stored_responses import Entry, read_entry
from kmirror.fuzz.findings import Fault, FaultKind, Finding
from kmirror.fuzz.shrink import remove_unneeded, shrink

TIMEOUT_S = 30.0
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

    In its command {bootstrap} is replaced by the servers, and {session} by a name that no other run has.
    """

    command: tuple[str, ...]
    timeout_s: float = TIMEOUT_S
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
    reactions: Counter[ReactionKey] = field(default_factory=Counter)
    """Number of responses by the client's reaction."""
    program_outcomes: Counter[str] = field(default_factory=Counter)
    """Number of runs by the outcome of the program."""
    unconfirmed: Counter[str] = field(default_factory=Counter)
    """Faults that were not reproduced."""

    def add(self, session: Session) -> None:
        """Count the responses of a finished session."""
        self.sessions += 1
        self.frames += session.response_count
        self.taken += session.response_count - len(session.broken)
        self.reactions += session.reactions
        self.outcomes.update(
            (row.message, row.version, row.reaction.value) for row in session.reactions if row.is_broken
        )


class ClientCampaign:
    """Sessions of a client's program with running servers.

    Sets `get_session` of the servers' interceptor.
    """

    def __init__(
        self,
        client: Client,
        servers: Servers,
        interceptor: ResponseInterceptor,
        seed: int,
        *,
        shrinks: bool = True,
        on_finding: Callable[[Finding], object] | None = None,
    ) -> None:
        self.tally = ClientTally()
        self._client = client
        self._servers = servers
        self._seed = seed
        self._shrinks = shrinks
        self._on_finding = on_finding
        self._session: Session | None = None
        self._run_count = 0
        self._api_counts: list[tuple[int, int]] = []
        self._baseline: ProgramResult | None = None
        self._until = math.inf
        self._baseline_responses = 0
        interceptor.get_session = lambda: self._session

    def run(self, *, frames: int | None = None, seconds: float | None = None) -> Iterator[ClientTally]:
        """Run until `frames` responses were sent, or for `seconds` seconds; yield the tally after each session.

        Without either limit it never ends. Raises `UsageError` if the program fails with valid responses.
        """
        began = time.monotonic()
        self._until = math.inf if seconds is None else began + seconds
        self.measure_baseline()
        tally, number = self.tally, 0
        while (frames is None or tally.frames < frames) and (seconds is None or tally.seconds < seconds):
            session, result = self._run_session(
                RandomPlan(self._seed, number, self._api_counts, late_s=self._client.late_s), number
            )
            tally.add(session)
            fault = self.judge_session(session, result)
            tally.program_outcomes[result.outcome] += 1
            if fault is not None:
                self._add_fault(session, fault, result)
            number += 1
            tally.seconds = time.monotonic() - began
            yield tally

    def measure_baseline(self) -> None:
        """Run the program with valid responses, to record its requests and its use of resources.

        The program runs twice, as the cluster creates its internal topics during the first run. Raises `UsageError` if
        the program fails.
        """
        for _ in range(2):
            session, result = self._run_session(UnbrokenPlan(), 0)
        if result.code or result.is_late or not session.response_count:
            command = self._client.command[0]
            problem = result.outcome if result.code or result.is_late else "it has sent no request"
            raise UsageError(
                f"{command} must exit with 0 if all responses are valid: {problem}\n{result.stderr[-2000:]}"
            )
        self._api_counts, self._baseline, self._baseline_responses = session.api_counts, result, session.response_count

    def replay(self, entries: Sequence[Entry], tries: int = 1) -> Fault | None:
        """Run the program with these responses; return its fault, or None.

        A program with threads may change the order of its requests, so up to `tries` runs are made.
        """
        faults = (self._replay(entries) for _ in range(tries))
        return next((found[0] for found in faults if found is not None), None)

    def judge_session(self, session: Session, result: ProgramResult) -> Fault | None:
        """Return the fault of a finished session, or None."""
        assert self._baseline is not None, "the baseline is measured first"
        last = session.broken[-1].entry if session.broken else None
        after = f"after {last}" if last is not None else "with valid responses"
        cause = last.full_name if last is not None else "valid responses"
        timeout_s = self._client.timeout_s
        if result.is_large:
            text = f"{_mib(result.memory)}, {_mib(self._baseline.memory)} with valid responses, {after}"
            return Fault(FaultKind.MEMORY, text, f"memory after {cause}", f"at most {self._client.memory_mib} MiB more")
        if result.busy_s > self._baseline.busy_s + timeout_s / 2:
            text = f"busy for {result.busy_s:.1f} s of {result.seconds:.1f} s {after}"
            return Fault(FaultKind.SLOW, text, f"spins after {cause}", f"about {self._baseline.busy_s:.1f} s")
        if session.response_count > _STORM_TIMES * self._baseline_responses + _STORM_MIN:
            text = f"sent {session.response_count:,} requests in {result.seconds:.1f} s {after}"
            return Fault(
                FaultKind.SLOW, text, f"asks without pause after {cause}", f"about {self._baseline_responses:,} times"
            )
        if result.is_late:
            return Fault(FaultKind.SILENT, f"no end within {timeout_s:g} s {after}", f"hangs after {cause}", "an end")
        if result.code < 0:
            name = signal.Signals(-result.code).name
            return Fault(FaultKind.RAISED, f"{name} {after}: {result.reason}", f"{name} after {cause}", "no signal")
        if result.code and self._client.is_strict:
            return Fault(
                FaultKind.RAISED, f"exit code {result.code} {after}: {result.reason}", result.outcome, "exit code 0"
            )
        return None

    # -- one session --------------------------------------------------------------------------

    def _run_session(self, plan: Plan, number: int) -> tuple[Session, ProgramResult]:
        """Run the program once; return its session and its result."""
        self._run_count += 1
        values = {"{bootstrap}": self._servers.bootstrap_servers, "{session}": f"s{self._seed}-{self._run_count}"}
        command = [_fill(word, values) for word in self._client.command]
        extra = self._client.memory_mib << 20
        peak, reserved = (1 << 40, 1 << 40) if self._baseline is None else self._baseline.memory
        limits = Limits(self._client.timeout_s, peak + extra, reserved + extra + (RESERVED_MIB << 20))
        session = self._session = Session(number, plan, self._servers.names())
        try:
            result = run_program(command, limits)
        finally:
            self._session = None
        until = time.monotonic() + _SETTLE_S
        while session.is_open and time.monotonic() < until:
            time.sleep(0.001)  # Its links are closed; the port takes a moment to notice.
        session.finish()
        return session, result

    # -- findings -----------------------------------------------------------------------------

    def _add_fault(self, session: Session, fault: Fault, result: ProgramResult) -> None:
        tally = self.tally
        entries = [sent.entry for sent in session.broken]
        cause = f"{fault.kind.value} {fault.cause}"
        if cause not in tally.findings:
            confirmed = self._confirm(entries, fault)
            if confirmed is None:
                tally.unconfirmed[cause] += 1
                return
            entries, fault, result = confirmed
            cause = f"{fault.kind.value} {fault.cause}"
        tally.counts[cause] = tally.counts.get(cause, 0) + 1
        if cause in tally.findings:
            return
        finding = self._make_finding(session, entries, fault, result)
        tally.findings[cause] = finding
        if self._on_finding is not None:
            self._on_finding(finding)

    def _confirm(self, entries: list[Entry], fault: Fault) -> tuple[list[Entry], Fault, ProgramResult] | None:
        """Return the fewest responses found that reproduce a fault of this kind, and the fault; None if none do."""
        reproduced: list[tuple[Fault, ProgramResult]] = []

        def reproduces(subset: Sequence[bytes]) -> bool:
            found = self._replay([read_entry(raw) for raw in subset])
            if found is not None and found[0].kind is fault.kind:
                reproduced.append(found)
                return True
            return False

        kept = [entry.to_bytes() for entry in entries]
        if not kept or not any(reproduces(kept) for _ in range(CONFIRM_TRIES)):
            return None
        if self._shrinks:
            kept = self._shrink(kept, reproduces)
        return [read_entry(raw) for raw in kept], *reproduced[-1]

    def _shrink(self, kept: list[bytes], reproduces: Callable[[Sequence[bytes]], bool]) -> list[bytes]:
        until = min(time.monotonic() + _SHRINK_S, self._until)

        def still_reproduces(subset: Sequence[bytes]) -> bool:
            return bool(subset) and time.monotonic() < until and reproduces(subset)

        single = next((raw for raw in kept[::-1][:3] if len(kept) > 1 and still_reproduces([raw])), None)
        kept = [single] if single is not None else remove_unneeded(kept, still_reproduces, _TRIES_MAX, until=until)
        *before, last = kept
        if read_entry(last).delivery is not Delivery.WHOLE:
            return kept
        head = read_entry(last).head
        data = shrink(last[len(head) :], lambda data: still_reproduces([*before, head + data]), _TRIES_MAX, until=until)
        return [*before, head + data]

    def _replay(self, entries: Sequence[Entry]) -> tuple[Fault, ProgramResult] | None:
        session, result = self._run_session(StoredPlan(entries, self._servers.names()), 0)
        fault = self.judge_session(session, result)
        return None if fault is None else (fault, result)

    def _make_finding(self, session: Session, entries: list[Entry], fault: Fault, result: ProgramResult) -> Finding:
        *before, last = entries
        stories_by_request = {(sent.entry.key, sent.entry.nth): sent.story for sent in session.broken}
        story = [f"{entry}: {', '.join(stories_by_request.get((entry.key, entry.nth), ()))}" for entry in entries]
        stderr = [f"stderr: {line}" for line in result.stderr.splitlines()[-_STDERR_LINES:]]
        return Finding(
            NAME, fault.kind, fault.cause, fault.description, fault.expected, last.name, last.version,
            self._seed, session.number, (f"program: {' '.join(self._client.command)}", *story, *stderr),
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


def _fill(word: str, values: dict[str, str]) -> str:
    for name, value in values.items():
        word = word.replace(name, value)
    return word


def open_target(options: object) -> NoReturn:
    """Raise `UsageError`: a client sends its own requests, and takes no stream of frames."""
    raise UsageError("the target client does not take frames: run `kmirror fuzz client`")
