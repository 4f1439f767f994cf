"""`kmirror fuzz client`: a port that serves a client library, and breaks some of the responses.

With --client a program is run repeatedly and judged; without it the port serves any client until it is stopped. The
responses come from a kmirror broker, or from any broker behind the proxy.
"""

from __future__ import annotations

import json
import shlex
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from kmirror.cli.fuzz_display import EXIT_STOPPED, CampaignDisplay
from kmirror.cli.output import write_stderr
from kmirror.cli.screen import add_names, add_numbers, make_console, plain_table
from kmirror.cli.serve import Signals
from kmirror.errors import UsageError
from kmirror.fuzz.clients.campaign import (
    MEMORY_MIB,
    NAME,
    REPLAY_TRIES,
    TIMEOUT_S,
    Client,
    ClientCampaign,
    ClientTally,
    entries_of,
)
from kmirror.fuzz.clients.response_interceptor import ResponseInterceptor
from kmirror.fuzz.clients.servers import OwnCluster, Servers
from kmirror.fuzz.clients.session import LATE_S, RandomPlan, Reaction, ReactionKey, Session
from kmirror.fuzz.clients.stored_responses import Names
from kmirror.fuzz.findings import Fault, Finding, to_json
from kmirror.proxy.proxy import HOST, PORT_MAX, Proxy

C = TypeVar("C", bound=Callable[..., Any])
POLL_INTERVAL_S = 0.25
_OPTIONS = (
    click.option("--client", metavar="WORDS", help="Command of the client; {bootstrap} is replaced by the address."),
    click.option("--listen", metavar="[HOST:]PORT", help="Address for clients; default: a free port of 127.0.0.1."),
    click.option("--patience", type=click.FloatRange(min=0, min_open=True), default=TIMEOUT_S, show_default=True,
                 metavar="SECONDS", help="Time limit of a run of --client."),
    click.option("--memory", type=click.IntRange(min=1), default=MEMORY_MIB, show_default=True,
                 metavar="MIB", help="Memory that the client may use in addition to its use with valid responses."),
    click.option("--late", type=click.FloatRange(min=0), default=LATE_S, show_default=True,
                 metavar="SECONDS", help="Delay of late responses; choose more than the client's request timeout."),
    click.option("--strict", is_flag=True, help="Report each exit code of the client other than 0 as a finding."),
)  # fmt: skip


def client_options(command: C) -> C:
    """Add the options of the target `client` to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True)
class ClientOptions:
    """Options for a client, and for the port that serves it."""

    bootstrap_server: str | None
    owns_host: bool
    shrinks: bool
    client: str | None
    listen: str | None
    patience: float
    memory: int
    late: float
    strict: bool

    @property
    def program(self) -> Client:
        """Return the program to run; raise UsageError if none is given."""
        words = tuple(shlex.split(self.client or ""))
        if not words:
            raise UsageError("give the command of the client, as in --client 'python3 my_client.py {bootstrap}'")
        return Client(words, self.patience, self.memory, self.strict, self.late)


class _ProxyServers(Proxy):
    """Proxy whose ports are the servers of the client; the brokers behind it may be of any implementation."""

    def names(self) -> Names:
        """Return the endpoints of the proxy's ports; topic ids are the broker's, and stay while it has the topics."""
        first = [each.endpoint for name, each in self._ports.items() if name in self._bootstrap]
        return Names([*first, *self.brokers.values()])


@contextmanager
def _open_servers(options: ClientOptions, interceptor: ResponseInterceptor) -> Iterator[Servers]:
    """Run the server that answers clients, until the block ends."""
    host, port = _address(options.listen)
    if options.bootstrap_server is None:
        with OwnCluster(interceptor, host=host, port=port) as cluster:
            yield cluster
        return
    if host != HOST:
        raise UsageError(
            f"in front of a broker that is not kmirror's, the proxy listens on {HOST} only: use --listen PORT"
        )
    servers = options.bootstrap_server
    with _ProxyServers(servers, port=port, own_host=options.owns_host, interpose=interceptor.interpose) as proxy:
        yield proxy


def _address(listen: str | None) -> tuple[str, int]:
    host, _, port = (listen or "0").rpartition(":")
    if not port.isdecimal() or int(port) > PORT_MAX:
        raise UsageError(f"--listen must be PORT or HOST:PORT, not {listen!r}")
    return host.strip("[]") or HOST, int(port)


def fuzz_client(
    display: CampaignDisplay,
    options: ClientOptions,
    seed: int,
    output: str,
    *,
    frames: int | None,
    seconds: float | None,
) -> int:
    """Fuzz a client, and print the results; return the exit code."""
    interceptor = ResponseInterceptor()
    if options.client is None:
        with _open_servers(options, interceptor) as servers:
            port = _ClientPort(interceptor, servers, seed, options.late, frames=frames, seconds=seconds)
            is_stopped = port.run(output)
        _print_summary(port.tally, seed, output)
        return EXIT_STOPPED if is_stopped else 0
    with _open_servers(options, interceptor) as servers:
        campaign = ClientCampaign(
            options.program, servers, interceptor, seed, shrinks=options.shrinks, on_finding=display.add_finding
        )
        with _sigterm_as_interrupt():
            display.show(campaign.run(frames=frames, seconds=seconds), campaign.tally)
    _print_summary(campaign.tally, seed, output)
    return display.exit_code


@contextmanager
def _sigterm_as_interrupt() -> Iterator[None]:
    """Let SIGTERM end like Ctrl-C: the client's program is ended, and a summary is printed."""
    previous_handler = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous_handler)


def replay_client(finding: Finding, options: ClientOptions) -> Fault | None:
    """Send a program the responses of a finding again; return the fault in its behaviour, or None.

    The program is the one in --client: no file determines which program is run.
    """
    interceptor = ResponseInterceptor()
    with _open_servers(options, interceptor) as servers:
        campaign = ClientCampaign(options.program, servers, interceptor, finding.seed)
        campaign.measure_baseline()
        return campaign.replay(entries_of(finding), REPLAY_TRIES)


class _ClientPort:
    """A port that serves any client; each link is a session."""

    def __init__(
        self,
        interceptor: ResponseInterceptor,
        servers: Servers,
        seed: int,
        late_s: float,
        *,
        frames: int | None,
        seconds: float | None,
    ) -> None:
        self.tally = ClientTally()
        self._servers = servers
        self._seed = seed
        self._late_s = late_s
        self._frames = frames
        self._seconds = seconds
        self._session_count = 0
        self._open: dict[int, Session] = {}
        interceptor.get_session, interceptor.on_link_closed = self._begin, self._end

    def run(self, output: str) -> bool:
        """Print the bootstrap servers, and serve until the limit or a signal; return whether a signal came."""
        signals = Signals()
        with signals.handle_signals():
            servers = self._servers.bootstrap_servers
            fields = {"bootstrap_servers": servers, "seed": self._seed}
            click.echo(json.dumps(fields) if output == "json" else f"bootstrap.servers={servers}")
            began = time.monotonic()
            while not signals.end_requested.wait(POLL_INTERVAL_S) and not self._is_done(time.monotonic() - began):
                pass
        for session in list(self._open.values()):
            self._end(session)
        return signals.end_requested.is_set()

    def _is_done(self, seconds: float) -> bool:
        self.tally.seconds = seconds
        response_count = self.tally.frames + sum(session.response_count for session in list(self._open.values()))
        return (self._frames is not None and response_count >= self._frames) or (
            self._seconds is not None and seconds >= self._seconds
        )

    def _begin(self) -> Session:
        number, self._session_count = self._session_count, self._session_count + 1
        session = self._open[number] = Session(
            number, RandomPlan(self._seed, number, late_s=self._late_s), self._servers.names()
        )
        return session

    def _end(self, session: Session) -> None:
        if self._open.pop(session.number, None) is None:
            return
        session.finish()
        self.tally.add(session)
        last = session.last
        if last is not None and last.story:
            text = f"{last.entry} ({', '.join(last.story)}), then {last.reaction.value}"
            write_stderr(f"kmirror: link {session.number} of seed {self._seed}: {text}\n")


# -- the end --------------------------------------------------------------------------------------


def _print_summary(tally: ClientTally, seed: int, output: str) -> None:
    if output == "json":
        click.echo(json.dumps(_as_json(tally, seed)))
        return
    console = make_console()
    table = plain_table()
    add_names(table, "answer")
    add_numbers(table, "version", "whole", "broken", *(f"broken, {reaction.value}" for reaction in Reaction))
    for (message, version), counts in _counts_by_response(tally.reactions).items():
        broken = [counts[True, reaction] for reaction in Reaction]
        valid = sum(counts[False, reaction] for reaction in Reaction)
        table.add_row(message, str(version), *(f"{each:,}" for each in (valid, sum(broken), *broken)))
    console.print(table)
    outcomes = plain_table()
    add_names(outcomes, "the program's end")
    add_numbers(outcomes, "times")
    for outcome, count in tally.program_outcomes.most_common():
        outcomes.add_row(outcome, f"{count:,}")
    for cause, count in tally.unconfirmed.most_common():
        outcomes.add_row(f"not seen again: {cause}", f"{count:,}")
    if tally.program_outcomes:
        console.print(outcomes)
    console.print(
        f"{NAME}, seed {seed}: {tally.sessions:,} sessions, {tally.frames:,} responses, "
        f"{tally.frames - tally.taken:,} broken, in {tally.seconds:,.1f} s; {len(tally.findings)} findings",
        highlight=False,
    )


def _counts_by_response(reactions: Counter[ReactionKey]) -> dict[tuple[str, int], Counter[tuple[bool, Reaction]]]:
    found: dict[tuple[str, int], Counter[tuple[bool, Reaction]]] = {}
    for row, count in sorted(reactions.items(), key=lambda each: each[0][:2]):
        found.setdefault((row.message, row.version), Counter())[row.is_broken, row.reaction] += count
    return found


def _as_json(tally: ClientTally, seed: int) -> dict[str, Any]:
    return {
        "target": NAME,
        "seed": seed,
        "sessions": tally.sessions,
        "frames": tally.frames,
        "taken": tally.taken,
        "seconds": round(tally.seconds, 3),
        "answers": [
            {
                "message": row.message,
                "version": row.version,
                "broken": row.is_broken,
                "next": row.reaction.value,
                "times": n,
            }
            for row, n in sorted(tally.reactions.items(), key=lambda each: (each[0][:3], each[0].reaction.value))
        ],
        "ends": dict(tally.program_outcomes),
        "notSeenAgain": dict(tally.unconfirmed),
        "findings": [{**to_json(each), "times": tally.counts[cause]} for cause, each in tally.findings.items()],
    }
