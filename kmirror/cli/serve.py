"""`kmirror serve`: a cluster on TCP ports, or one node of it, for any Kafka client, until a signal ends it.

Rule 1: stdout has one line, written when clients can connect: the bootstrap servers, or a JSON object with `-o json`.
For a controller alone the line has its address for brokers. All other output goes to stderr.
Rule 2: SIGTERM and SIGINT shut down every broker cleanly, with exit code 0; a second one ends at once, with 128 plus
its number.
"""

from __future__ import annotations

import json
import re
import signal
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import TypedDict

import click

from kmirror.assembly.journal.recorder import JournalEnded, Journals
from kmirror.cli.commands import CONTEXT
from kmirror.cli.journal_files import JournalFiles
from kmirror.cli.node_properties import node_plan
from kmirror.cli.output import write_stderr
from kmirror.cli.recovery_progress import recovery_progress
from kmirror.cli.server_properties import Properties, read_properties, report_ineffective_keys
from kmirror.cluster.controller.facts import BrokerRefused
from kmirror.cluster.node.context import LogChanged, LogDirFailed
from kmirror.errors import UsageError
from kmirror.kernel.events import Note
from kmirror.kernel.failures import GaveUp, HandlingFailed
from kmirror.kernel.ids import Endpoint
from kmirror.kernel.listeners import ListenerSpec
from kmirror.kernel.wrapping import WrapNode
from kmirror.net.cluster import TcpCluster
from kmirror.net.node import NodePlan, TcpNode
from kmirror.net.profile import SERVED
from kmirror.spec.features import ELIGIBLE_VERSION, MIRROR_VERSION

DEFAULT_PORT = 9092
DEFAULT_HOST = "127.0.0.1"
NO_PROPERTIES = Properties({}, None, None, None, (), {})
CLUSTER_ID = re.compile("[A-Za-z0-9_-]+")
FEATURE_VALUES = [f"{name}={level}" for name in (MIRROR_VERSION, ELIGIBLE_VERSION) for level in (0, 1)]
"""Values of `--feature`."""
REPORT_AFTER_CHECKS = 10
"""Number of half seconds after which the reason of a node's wait is printed."""


class Signals:
    """Handler of signals: the first one requests a clean end, a second one ends the process."""

    def __init__(self) -> None:
        self.end_requested = threading.Event()

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if self.end_requested.is_set():
            raise SystemExit(128 + number)
        self.end_requested.set()

    @contextmanager
    def handle_signals(self) -> Iterator[None]:
        """Handle SIGTERM and SIGINT in the block; restore the former handlers afterwards."""
        former = {number: signal.signal(number, self) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            yield
        finally:
            for number, handler in former.items():
                signal.signal(number, handler)


def serve(
    served: TcpCluster | TcpNode, output: str | None, signals: Signals, metrics_endpoint: Endpoint | None = None
) -> None:
    """Start a cluster, or one node of it, print its address, and stop it when a signal comes.

    Metrics are served from the start, before the node is ready.
    """
    served.on_note.append(report_note)
    served.on_note.append(lambda process, note: signals.end_requested.set() if served.has_failed else None)
    try:
        with recovery_progress(served):
            served.start()
            metrics_url = (
                None if metrics_endpoint is None else served.serve_metrics(metrics_endpoint.host, metrics_endpoint.port)
            )
            if metrics_url is not None:
                write_stderr(f"kmirror: metrics at {metrics_url}\n")
            if isinstance(served, TcpNode):
                served.wait(signals.end_requested.is_set, WaitReporter(served).check)
        if not signals.end_requested.is_set():
            fields = {**description(served), **({} if metrics_url is None else {"metrics": metrics_url})}
            key, value = next(iter(fields.items()))
            click.echo(json.dumps(fields) if output == "json" else f"{key.replace('_', '.')}={value}")
        signals.end_requested.wait()
        if served.has_failed:
            raise served.failure()
        write_stderr("kmirror: stopping; a second signal stops immediately\n")
        served.stop()
    finally:
        served.close()


class WaitReporter:
    """Prints the reason why a node is not ready for long, and again when the reason changes."""

    def __init__(self, node: TcpNode) -> None:
        self._node = node
        self._checks = 0
        self._reported = ""

    def check(self) -> None:
        """Check the reason; called every half second."""
        self._checks += 1
        waits_for = self._node.run_on_loop(lambda: self._node.waits_for)
        if self._checks >= REPORT_AFTER_CHECKS and waits_for != self._reported:
            self._reported = waits_for
            write_stderr(f"kmirror: {self._node.what} waits for {waits_for}\n")


def description(served: TcpCluster | TcpNode) -> dict[str, object]:
    """Return the description of a served cluster for programs, with the address for connections first."""
    if isinstance(served, TcpCluster):
        brokers = {broker_id: served.endpoint(broker_id) for broker_id in served.broker_ids}
        address = {"bootstrap_servers": served.bootstrap_servers}
    elif served.endpoint is not None:
        brokers = {served.plan.node_id: served.endpoint}
        address = {"bootstrap_servers": str(served.endpoint)}
    else:
        brokers = {}
        address = {"controller_quorum_bootstrap_servers": str(served.controller_endpoint)}
    rows = [
        {"node_id": broker_id, "host": endpoint.host, "port": endpoint.port} for broker_id, endpoint in brokers.items()
    ]
    return {**address, "cluster_id": served.cluster_id, "brokers": rows}


def report_note(process: str, note: Note) -> None:
    """Report a failure within a node or its journal on stderr."""
    if isinstance(note.fact, HandlingFailed):
        lines = "".join(traceback.format_exception(note.fact.error))
        write_stderr(
            f"kmirror: {process} failed during {note.fact.operation} and continues; please report this bug\n{lines}"
        )
    elif isinstance(note.fact, JournalEnded):
        write_stderr(f"kmirror: the journal of {process} ends here, and {process} continues: {note.fact.error}\n")
    elif isinstance(note.fact, LogDirFailed):
        write_stderr(f"kmirror: {process} lost log directory {note.fact.log_dir} and continues: {note.fact.reason}\n")
    elif isinstance(note.fact, LogChanged):
        write_stderr(f"kmirror: {process}: {note.fact.text}\n")
    elif isinstance(note.fact, BrokerRefused):
        write_stderr(f"kmirror: {process} rejects a broker: {note.fact}\n")
    elif isinstance(note.fact, GaveUp):
        write_stderr(f"kmirror: {process} ends: {note.fact.reason}\n")


def requested_level(features: Sequence[str], name: str) -> int | None:
    """Return the requested level, or None; raise UsageError for features or levels that cannot be set here."""
    level = None
    for feature in features:
        if feature not in FEATURE_VALUES:
            raise UsageError(f"--feature {feature}: settable features are {', '.join(FEATURE_VALUES)}")
        if feature.startswith(name):
            level = int(feature[-1])
    return level


@click.command("serve", context_settings=CONTEXT)
@click.option("--brokers", type=click.IntRange(1, 99), help="Number of brokers, all in this process.  [1]")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help="Port of the first broker; others use the next ones. 0: free ports.  [9092]",
)
@click.option("--host", metavar="ADDRESS", help="Address to listen on.  [127.0.0.1]")
@click.option("--advertised-host", metavar="NAME", help="Host name that clients connect to, if not --host.")
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    metavar="DIR",
    multiple=True,
    help="Log folder; created if missing. Repeatable: each broker then has a log directory in each.",
)
@click.option("--cluster-id", metavar="ID", help="Cluster id for a folder that is not formatted yet.")
@click.option("--memory", is_flag=True, help="Keep records in memory only, even if the properties have log.dirs.")
@click.option(
    "--feature",
    "features",
    multiple=True,
    metavar="NAME=LEVEL",
    help="mirror.version=1 enables mirroring; eligible.leader.replicas.version=0 applies to a new folder only.",
)
@click.option(
    "--config", "properties", type=click.Path(path_type=Path), metavar="FILE", help="A broker's server.properties file."
)
@click.option(
    "--journal", type=click.Path(path_type=Path), metavar="DIR", help="Record all input of each node in this folder."
)
@click.option(
    "--metrics-port",
    type=click.IntRange(0, 65535),
    metavar="PORT",
    help="Port for Prometheus metrics. 0: a free port.",
)
@click.option("-o", "--output", type=click.Choice(["json"]), help="Print a JSON object once clients can connect.")
def command(
    brokers: int | None,
    port: int | None,
    host: str | None,
    advertised_host: str | None,
    data: tuple[Path, ...],
    cluster_id: str | None,
    memory: bool,
    features: tuple[str, ...],
    properties: Path | None,
    journal: Path | None,
    metrics_port: int | None,
    output: str | None,
) -> int:
    """Serve a cluster, or one node of it, to Kafka clients until SIGTERM or Ctrl-C.

    A single broker behaves like a freshly formatted Kafka 4.3.1; --config changes that. A line is printed on stdout
    once clients can connect. Without --data and log.dirs, records are kept in memory.

    DIR is a log folder in Kafka's layout. An empty folder is formatted. A folder of a Kafka 4.3.1 that was shut down is
    served, and Kafka 4.3.1 can open it afterwards, unless mirroring was enabled. With several brokers, DIR contains one
    folder per broker. With several DIR, or log.dirs, each is a disk of the broker; only a disk that fails goes offline.

    If the properties have process.roles, this process is that node, and the other nodes are other processes; --brokers
    takes precedence.
    """
    if data and memory:
        raise UsageError("--memory and --data cannot be used together")
    if cluster_id is not None and not CLUSTER_ID.fullmatch(cluster_id):
        raise UsageError(f"--cluster-id {cluster_id}: a cluster id has letters, digits, - and _, as in kafka-storage")
    settings = NO_PROPERTIES if properties is None else read_properties(properties)
    if properties is not None:
        report_ineffective_keys(properties, settings)
    if not data and not memory:
        data = tuple(Path(name.strip()) for name in (settings.log_dirs or "").split(",") if name.strip())
    plan = None if properties is None or brokers is not None else node_plan(properties, settings.pairs)
    journals = None if journal is None else JournalFiles(journal)
    common: CommonArguments = {
        "data": data or None,
        "cluster_id": cluster_id,
        "mirror_version": requested_level(features, MIRROR_VERSION),
        "eligible_version": requested_level(features, ELIGIBLE_VERSION),
        "interpose": None if journals is None else Journals(journals.open),
    }
    served: TcpCluster | TcpNode
    if plan is not None:
        served = TcpNode(with_options(plan, host, port, advertised_host), configs=settings.node_configs, **common)
    else:
        listener_host, listener_port = settings.listener or (DEFAULT_HOST, DEFAULT_PORT)
        served = TcpCluster(
            brokers=1 if brokers is None else brokers,
            host=listener_host if host is None else host,
            port=listener_port if port is None else port,
            advertised_host=advertised_host or settings.advertised_host,
            configs={**SERVED, **settings.configs},
            **common,
        )
    metrics_endpoint = None if metrics_port is None else Endpoint(host or DEFAULT_HOST, metrics_port)
    signals = Signals()
    with signals.handle_signals():
        try:
            serve(served, output, signals, metrics_endpoint)
        except OSError as error:
            if error.filename is None:
                raise
            raise UsageError(f"{error.filename}: cannot be used: {error.strerror}") from None
    if journals is not None:
        journals.close()
    return 0


class CommonArguments(TypedDict):
    """Arguments of both a cluster and a node."""

    data: tuple[Path, ...] | None
    cluster_id: str | None
    mirror_version: int | None
    eligible_version: int | None
    interpose: WrapNode | None


def with_options(plan: NodePlan, host: str | None, port: int | None, advertised_host: str | None) -> NodePlan:
    """Return `plan` with the command line's settings for the broker's listener, or for that of a lone controller."""

    def replace_listener(spec: ListenerSpec) -> ListenerSpec:
        endpoint = spec.endpoint
        listener_endpoint = Endpoint(endpoint.host if host is None else host, endpoint.port if port is None else port)
        advertised_endpoint = listener_endpoint if spec.advertised == endpoint else spec.advertised
        advertised = Endpoint(
            advertised_host or advertised_endpoint.host, advertised_endpoint.port if port is None else 0
        )
        return spec._replace(endpoint=listener_endpoint, advertised=advertised)

    if plan.listeners:
        first, *others = plan.listeners
        return replace(plan, listeners=(replace_listener(first), *others))
    assert plan.controller_listener is not None, "a node is one of both"
    return replace(plan, controller_listener=replace_listener(plan.controller_listener))
