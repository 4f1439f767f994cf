"""`kmirror proxy`: a proxy between any Kafka clients and the brokers of a cluster, until a signal ends it.

Rule 1: the first line on stdout is written when clients can connect, and gives the address, as in `kmirror serve`. The
summary follows at the end. All other output goes to stderr.
Rule 2: SIGTERM and SIGINT end it, with exit code 0; a second one ends at once. SIGUSR1 releases requests held by rules.
"""

from __future__ import annotations

import json
import signal
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from kmirror.cli.commands import CONTEXT
from kmirror.cli.output import write_stderr
from kmirror.cli.screen import add_names, add_numbers, make_console, plain_table
from kmirror.cli.serve import Signals, report_note
from kmirror.hooks.hook import HoldHook
from kmirror.kernel.events import Node, Note
from kmirror.proxy.mutating import MutatedFrame, MutatingNode
from kmirror.proxy.proxy import Proxy
from kmirror.proxy.recording import TrafficRecorder, read_recording
from kmirror.proxy.replay import ReplayedRequest, replay
from kmirror.proxy.rules import Rule, RuleTable, add_rules, read_rules
from kmirror.proxy.traffic import CountKey, Exchange, OnExchange, RequestCounts, Summary, TrafficNode

EXIT_DIFFERS = 4
EVERY = 100
PARTS = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "max": 1.0}


@click.command("proxy", context_settings=CONTEXT)
@click.option("--bootstrap-server", "servers", required=True, metavar="HOST:PORT", help="Brokers of the cluster.")
@click.option(
    "--listen",
    type=click.IntRange(0, 65535),
    default=0,
    metavar="PORT",
    help="Port for the first bootstrap server; the next ones are for further servers and brokers.  [free ones]",
)
@click.option(
    "--rules", type=click.Path(path_type=Path), metavar="FILE", help="TOML file with faults to inject; see the manual."
)
@click.option("--record", type=click.Path(path_type=Path), metavar="FILE", help="Write all traffic as JSON lines.")
@click.option(
    "--replay",
    "recording",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Send the requests of a recording again.",
)
@click.option(
    "--mutate",
    "seed",
    type=click.IntRange(min=0),
    metavar="SEED",
    help="Break requests and responses at random, with this seed.",
)
@click.option(
    "--every", type=click.IntRange(min=1), default=EVERY, show_default=True, help="Break one frame in this many."
)
@click.option("--no-summary", is_flag=True, help="Do not collect counts; faster.")
@click.option(
    "--i-own-this-host", "own_host", is_flag=True, help="Confirm that you may break a cluster that is not on loopback."
)
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(
    servers: str,
    listen: int,
    rules: Path | None,
    record: Path | None,
    recording: Path | None,
    seed: int | None,
    every: int,
    no_summary: bool,
    own_host: bool,
    output: str,
) -> int:
    """Run a proxy between Kafka clients and the brokers of a cluster, until SIGTERM or Ctrl-C.

    Clients connect to the port that is printed; responses direct them to one port of the proxy per broker. All
    APIs in all versions are forwarded, without TLS. --rules makes requests fail, wait or lose their connection;
    --mutate breaks frames. At the end a table shows the requests of each client, their number, errors and response
    times.

    With --replay no client connects: recorded requests are sent to the cluster again and the error codes compared; the
    exit code is 4 if they differ.
    """
    if recording is not None:
        return _replay(recording, servers, own_host, output)
    rules_seed, tables = read_rules(rules) if rules is not None else (0, [])
    with ExitStack() as stack:
        summary = None if no_summary else Summary()
        observers: list[OnExchange] = [] if summary is None else [summary.add]
        if record is not None:
            file = TrafficRecorder(record)
            stack.callback(file.close)
            observers.append(file.add)

        def on_exchange(exchange: Exchange) -> None:
            for call in observers:
                call(exchange)

        def interpose(name: str, node: Node) -> Node:
            if seed is not None:
                node = MutatingNode(name, node, seed, every, _report_mutated)
            return TrafficNode(name, node, on_exchange) if observers else node

        proxy = Proxy(servers, port=listen, seed=rules_seed, own_host=own_host, interpose=interpose)
        applied_rules = _run(proxy, tables, output)
    _print_summary(summary, applied_rules, output)
    return 0


def _run(proxy: Proxy, tables: list[RuleTable], output: str) -> list[Rule]:
    """Serve clients until a signal comes; return the rules with the number of times that each applied."""
    signals = Signals()
    proxy.on_note += [_report_note, lambda _, note: signals.end_requested.set() if proxy.has_failed else None]
    with signals.handle_signals(), proxy:
        rules = add_rules(proxy.hooks, tables)
        previous_handler = signal.signal(signal.SIGUSR1, lambda number, frame: _release(rules))
        try:
            fields = {"bootstrap_servers": proxy.bootstrap_servers}
            click.echo(json.dumps(fields) if output == "json" else f"bootstrap.servers={proxy.bootstrap_servers}")
            signals.end_requested.wait()
        finally:
            signal.signal(signal.SIGUSR1, previous_handler)
        if proxy.has_failed:
            raise proxy.failure()
    return rules


def _release(rules: list[Rule]) -> None:
    for rule in rules:
        if isinstance(rule.hook, HoldHook):
            rule.hook.release()


def _report_note(port: str, note: Note) -> None:
    if note.fact is None:
        write_stderr(f"kmirror: {port}: {note.text}\n")
    else:
        report_note(port, note)


def _report_mutated(mutated: MutatedFrame) -> None:
    write_stderr(f"kmirror: {mutated}\n")


def _print_summary(summary: Summary | None, rules: list[Rule], output: str) -> None:
    lines = [] if summary is None else sorted(summary.counts.items())
    if output == "json":
        applied_counts = [
            {"rule": rule.number, "taken": None if rule.hook is None else rule.hook.count} for rule in rules
        ]
        click.echo(json.dumps({"requests": [_as_json(*row) for row in lines], "rules": applied_counts}))
        return
    for rule in rules:
        click.echo(str(rule))
    if summary is None:
        return
    table = plain_table()
    add_names(table, "API")
    add_numbers(table, "version")
    add_names(table, "client id")
    add_numbers(table, "requests", *(f"{name} ms" for name in PARTS))
    add_names(table, "errors")
    for line, counts in lines:
        spans = ["" if (result := counts.latency_ms(part)) is None else f"{result:.1f}" for part in PARTS.values()]
        version = "" if line.version < 0 else str(line.version)
        table.add_row(line.api, version, line.client_id, f"{counts.requests:,}", *spans, _errors(counts))
    make_console().print(table)


def _errors(counts: RequestCounts) -> str:
    texts = [f"{name} {count:,}" for name, count in counts.errors.most_common()]
    return ", ".join([*texts, *([f"link closed {counts.cut:,}"] if counts.cut else [])])


def _as_json(line: CountKey, counts: RequestCounts) -> dict[str, Any]:
    return {
        "api": line.api,
        "version": line.version,
        "client_id": line.client_id,
        "requests": counts.requests,
        "errors": dict(counts.errors),
        "links_closed": counts.cut,
        "latency_ms": {name: counts.latency_ms(part) for name, part in PARTS.items()},
    }


def _replay(path: Path, servers: str, own_host: bool, output: str) -> int:
    sent = differing = 0
    for result in replay(read_recording(path), servers, own_host=own_host):
        sent += 1
        if result.is_same:
            continue
        differing += 1
        if output == "text":
            click.echo(_difference(path, result))
    if output == "json":
        click.echo(json.dumps({"asked": sent, "differing": differing}))
    else:
        click.echo(f"{sent:,} requests sent again, {differing:,} got other errors")
    return EXIT_DIFFERS if differing else 0


def _difference(path: Path, result: ReplayedRequest) -> str:
    line = result.recorded
    before, after = (", ".join(each) or "NONE" for each in (result.recorded_errors, result.errors))
    return f"{path}, line {line.number}: {line.api} v{line.version}: {before} then, {after} now"
