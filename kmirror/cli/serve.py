"""`kmirror serve`: a cluster on TCP ports, for any Kafka client, until it is told to end.

Rule 1: stdout has one line, written when clients can connect: the bootstrap servers, or a JSON object with `-o json`.
All else goes to stderr.
Rule 2: SIGTERM and SIGINT let every broker end in order, with exit code 0; a second one ends at once, with 128 and its
number.
"""

from __future__ import annotations

import json
import signal
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import click

from kmirror.assembly.journal.recorder import JournalEnded, Journals
from kmirror.cli.commands import CONTEXT
from kmirror.cli.journal_files import JournalFiles
from kmirror.cli.output import complain
from kmirror.cli.recovery_progress import recovery_progress
from kmirror.cli.server_properties import Properties, read_properties
from kmirror.cluster.broker.context import LogDirFailed
from kmirror.errors import UsageError
from kmirror.kernel.events import Note
from kmirror.kernel.failures import GaveUp, HandlingFailed
from kmirror.kernel.names import counted, few
from kmirror.net.cluster import TcpCluster
from kmirror.net.profile import SERVED
from kmirror.spec.features import MIRROR_VERSION

DEFAULT_PORT = 9092
DEFAULT_HOST = "127.0.0.1"
NOTHING = Properties({}, None, None, None, ())


class Signals:
    """The first signal asks for an end in order, a second one ends the process."""

    def __init__(self) -> None:
        self.ending = threading.Event()

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if self.ending.is_set():
            raise SystemExit(128 + number)
        self.ending.set()

    @contextmanager
    def caught(self) -> Iterator[None]:
        """Take SIGTERM and SIGINT; what took them before has them again afterwards."""
        former = {number: signal.signal(number, self) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            yield
        finally:
            for number, handler in former.items():
                signal.signal(number, handler)


def serve(cluster: TcpCluster, output: str | None, signals: Signals) -> None:
    """Start a cluster, say where it is, and stop it when a signal comes."""
    cluster.on_note.append(tell)
    cluster.on_note.append(lambda process, note: signals.ending.set() if cluster.is_lost else None)
    with recovery_progress(cluster):
        cluster.start()
    try:
        if not signals.ending.is_set():
            click.echo(as_json(cluster) if output == "json" else f"bootstrap.servers={cluster.bootstrap_servers}")
        signals.ending.wait()
        if cluster.is_lost:
            raise cluster.loss()
        complain("kmirror: stopping; a second signal ends at once\n")
        cluster.stop()
    finally:
        cluster.close()


def as_json(cluster: TcpCluster) -> str:
    """Return what a program wants to know of a cluster that serves."""
    brokers = []
    for broker_id in cluster.broker_ids:
        host, port = cluster.endpoint(broker_id)
        brokers.append({"node_id": broker_id, "host": host, "port": port})
    return json.dumps(
        {"bootstrap_servers": cluster.bootstrap_servers, "cluster_id": cluster.cluster_id, "brokers": brokers}
    )


def tell(process: str, note: Note) -> None:
    """Tell of a failure within a node or its journal: it went on, and somebody has to learn of it."""
    if isinstance(note.fact, HandlingFailed):
        lines = "".join(traceback.format_exception(note.fact.error))
        complain(f"kmirror: {process} failed during {note.fact.during}, and goes on; please report it\n{lines}")
    elif isinstance(note.fact, JournalEnded):
        complain(f"kmirror: the journal of {process} ends here, and {process} goes on: {note.fact.error}\n")
    elif isinstance(note.fact, LogDirFailed):
        complain(f"kmirror: {process} lost log directory {note.fact.log_dir}, and goes on: {note.fact.why}\n")
    elif isinstance(note.fact, GaveUp):
        complain(f"kmirror: {process} ends: {note.fact.why}\n")


def mirror_version(features: Sequence[str]) -> int | None:
    """Return the level of mirror.version, None if none is asked for; UsageError for other features and levels."""
    asked = None
    for feature in features:
        name, _, level = feature.partition("=")
        if name != MIRROR_VERSION or level not in ("0", "1"):
            raise UsageError(f"--feature {feature}: what can be set is {MIRROR_VERSION}=0 and {MIRROR_VERSION}=1")
        asked = int(level)
    return asked


@click.command("serve", context_settings=CONTEXT)
@click.option("--brokers", type=click.IntRange(1, 99), default=1, show_default=True, help="Number of brokers.")
@click.option(
    "--port", type=click.IntRange(0, 65535), help="Port of the first broker; others follow. 0: free ones.  [9092]"
)
@click.option("--host", metavar="ADDRESS", help="Address to listen at.  [127.0.0.1]")
@click.option("--advertised-host", metavar="NAME", help="Name by which clients reach this machine, if not --host.")
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    metavar="DIR",
    multiple=True,
    help="Where logs are kept; made if it is not there. Given again, each broker has a log directory in each.",
)
@click.option("--memory", is_flag=True, help="Keep nothing, whatever the properties say of log.dirs.")
@click.option("--feature", "features", multiple=True, metavar="NAME=LEVEL", help="mirror.version=1 enables mirroring.")
@click.option(
    "--config", "properties", type=click.Path(path_type=Path), metavar="FILE", help="A broker's server.properties."
)
@click.option("--journal", type=click.Path(path_type=Path), metavar="DIR", help="Record what each node is given.")
@click.option("-o", "--output", type=click.Choice(["json"]), help="Print a JSON object when clients can connect.")
def command(
    brokers: int,
    port: int | None,
    host: str | None,
    advertised_host: str | None,
    data: tuple[Path, ...],
    memory: bool,
    features: tuple[str, ...],
    properties: Path | None,
    journal: Path | None,
    output: str | None,
) -> int:
    """Serve a cluster to Kafka clients, until SIGTERM or Ctrl-C.

    One broker is what a freshly formatted Kafka 4.3.1 is; --config changes that. The line on stdout comes
    when clients can connect. Without --data and log.dirs records are kept in memory.

    DIR is a log folder as Kafka has it: an empty one is formatted, that of a Kafka 4.3.1 which was shut down is
    served, and a Kafka 4.3.1 opens it later, unless mirroring was enabled. With several brokers it holds a folder for
    each. With several DIR, or log.dirs, those are the broker's disks: one that fails goes offline, alone.
    """
    if data and memory:
        raise UsageError("--memory keeps nothing, and --data says where: give one of them")
    said = NOTHING if properties is None else read_properties(properties)
    if said.passed_over:
        complain(f"kmirror: {properties}: {counted(len(said.passed_over), 'key')} passed over, for kmirror does not ")
        complain(f"know them: {few(said.passed_over, 'keys')}\n")
    if not data and not memory:
        data = tuple(Path(name.strip()) for name in (said.log_dirs or "").split(",") if name.strip())
    listener_host, listener_port = said.listener or (DEFAULT_HOST, DEFAULT_PORT)
    journals = None if journal is None else JournalFiles(journal)
    cluster = TcpCluster(
        brokers=brokers,
        host=listener_host if host is None else host,
        port=listener_port if port is None else port,
        advertised_host=advertised_host or said.advertised_host,
        configs={**SERVED, **said.configs},
        data=data or None,
        mirror_version=mirror_version(features),
        interpose=None if journals is None else Journals(journals.open),
    )
    signals = Signals()
    with signals.caught():
        serve(cluster, output, signals)
    if journals is not None:
        journals.close()
    return 0
