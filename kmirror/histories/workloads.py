"""Workloads: the kinds of applications, one row of KINDS each, whose scripts run until the history ends.

A producer that gets a permanent error starts again with a new InitProducerId, as its application would. When a plan
moves a client to another cluster, the client drops its current work and continues there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kmirror.histories.arbitrary_requests import send_arbitrary_requests
from kmirror.histories.consuming import Consumer
from kmirror.histories.grouping import GroupApplication
from kmirror.histories.library import LibraryReader, library_stream, library_transactions
from kmirror.histories.outages import OPTION, outages
from kmirror.histories.producing import Application, Producer
from kmirror.histories.scripts import Script, Sleep
from kmirror.histories.session_consuming import SessionConsumer
from kmirror.histories.transforming import TransformApp
from kmirror.kernel.clock import MILLISECOND
from kmirror.kernel.ids import TopicPartition
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.features import EPOCH_BUMPS_FROM

REFUSED_PAUSE_MS = 600
ORDER_TIMEOUT_MS = 2_000
"""Time that a producer of an overlapping pair waits for the other one."""


@dataclass(frozen=True, slots=True)
class WorkloadKind:
    """Meaning of a client plan's `kind`."""

    name: str
    doc: str
    scripts: Callable[[Application], list[tuple[str, Script[None]]]]
    """Returns names of processes and their scripts."""
    writes: bool = True
    transactional: bool = False


def start(application: Application) -> None:
    """Start a client of the plan."""
    kind = KINDS[application.plan.kind]
    for name, script in kind.scripts(application):
        application.scene.busy += kind.writes
        application.scene.scripts.start(name, _run_counted(application, script, writes=kind.writes))
    if application.plan.options.get(OPTION):
        application.scene.scripts.start(f"{application.plan.name}-outages", outages(application))  # Never awaited.


def _run_counted(application: Application, script: Script[None], *, writes: bool) -> Script[None]:
    yield Sleep(application.rng.between(0, application.plan.pause_ms))
    yield from script
    application.scene.busy -= writes


# -- without transactions ---------------------------------------------------------------------


def _stream(application: Application, *, idempotent: bool) -> Script[None]:
    """Write batches of one to three values, one after the other."""
    producer = Producer(application, application.plan.name, application.cluster)
    ready, pipelined = not idempotent, "in_flight" in application.plan.options
    while application.is_writing():
        if producer.has_moved:
            producer, ready = Producer(application, application.plan.name, application.cluster), not idempotent
        partitions = application.partitions()
        if not ready:
            ready = yield from producer.init()
        if not ready or not partitions:
            yield Sleep(REFUSED_PAUSE_MS)
            continue
        tp = application.rng.choice(partitions)
        if pipelined:
            yield from producer.write(tp, lambda: application.values(application.rng.between(1, 3)))
            succeeded = not producer.is_broken or (yield from producer.flush())
        else:
            succeeded = (
                yield from producer.send(tp, application.values(application.rng.between(1, 3)))
            ) is ErrorCode.NONE
        if not succeeded:
            ready = not idempotent  # The sequence numbers have a gap, so an idempotent producer needs a new id.
            yield Sleep(REFUSED_PAUSE_MS)
        yield application.pause()
    yield from producer.flush()


# -- with transactions ------------------------------------------------------------------------


@dataclass(slots=True)
class PairOrder:
    """A pair of producers whose transactions overlap: each ends only when the other one has begun a later one."""

    count: int = 0
    last_begun: tuple[int, int] = (0, 0)

    def begin(self, index: int) -> None:
        self.count += 1
        self.last_begun = (self.count, self.last_begun[1]) if index == 0 else (self.last_begun[0], self.count)


class Transactions:
    """An application that writes in transactions; kinds differ in the course of a transaction."""

    def __init__(self, application: Application, name: str, *, only: bool = False) -> None:
        self.application = application
        self.name = name
        self.number = 0
        self.generation = 0
        """Generation of the transactional id: an application that vanished returns with another id."""
        self._only = only
        self.producer = self._make_producer()
        self.ready = False

    def _make_producer(self) -> Producer:
        suffix = f"-{self.generation}" if self.generation else ""
        options, cluster = self.application.plan.options, self.application.cluster
        levels = {row.name: row.transaction_version for row in self.application.scene.plan.clusters}
        return Producer(
            self.application,
            self.name,
            cluster,
            transactional_id=self.name + suffix,
            timeout_ms=int(options.get("timeout_ms", 4_000)),
            bumps_epoch=min(levels[cluster], int(options.get("transaction_version", 0))) >= EPOCH_BUMPS_FROM,
        )

    def prepare(self) -> Script[list[TopicPartition]]:
        """Get a producer id and partitions; return the partitions, empty if that failed."""
        if self.producer.has_moved:
            self.producer, self.ready = self._make_producer(), False
        partitions = self.application.partitions()
        if partitions and not self.ready:
            self.ready = yield from self.producer.init()
        if not partitions or not self.ready:
            yield Sleep(REFUSED_PAUSE_MS)
            return []
        if self._only:  # A pair overlaps in one partition.
            return [partitions[int(self.application.plan.options.get("partition", 0)) % len(partitions)]]
        return [tp for tp in partitions if self.application.rng.chance(2, 3)] or [partitions[0]]

    def open(self, partitions: list[TopicPartition]) -> Script[bool]:
        """Begin a transaction and write to every partition; return False if a batch was not acknowledged."""
        self.number += 1
        self.producer.begin(f"{self.name}/{self.number}")
        added = yield from self.producer.add_partitions(partitions)
        if not added:
            return False
        for tp in partitions:
            succeeded = yield from self.write(tp)
            if not succeeded:
                return False
        return True

    def write(self, tp: TopicPartition) -> Script[bool]:
        application = self.application
        if "in_flight" in application.plan.options:
            yield from self.producer.write(tp, lambda: application.values(application.rng.between(1, 2)))
            return (yield from self.producer.flush())
        return (yield from self.producer.send(tp, application.values(application.rng.between(1, 2)))) is ErrorCode.NONE

    def close(self, *, succeeded: bool) -> Script[None]:
        """Commit, or sometimes abort; abort after an error, and get a new id or epoch if that fails, too."""
        if self.producer.has_moved:
            self.producer.transaction = None  # Given up: the coordinator will time it out.
            return
        commit = succeeded and not self.application.rng.chance(1, 5)
        ended = yield from self.producer.end(commit=commit)
        # After an error the sequence numbers may have a gap; in a new epoch they begin at 0.
        self.ready = ended and (succeeded or self.producer.bumps_epoch)
        if not succeeded:
            yield Sleep(REFUSED_PAUSE_MS)


def _overlapping(application: Application, pair: PairOrder, index: int) -> Script[None]:
    """Act as half of a pair, in which one transaction is open at every moment."""
    scene = application.scene
    app = Transactions(application, f"{application.plan.name}-{index}", only=True)
    while application.is_writing():
        partitions = yield from app.prepare()
        if not partitions:
            continue
        succeeded = yield from app.open(partitions)
        pair.begin(index)
        own_number = pair.count
        until = scene.now + ORDER_TIMEOUT_MS * MILLISECOND
        yield application.pause()
        while succeeded and application.is_writing() and pair.last_begun[1 - index] < own_number and scene.now < until:
            yield Sleep(60)
        yield from app.close(succeeded=succeeded)


FinishTransaction = Callable[[Transactions, list[TopicPartition], bool], Script[None]]
"""Continuation of a transaction in these partitions after it was opened, successfully or not."""


def _transaction_after_transaction(application: Application, finish: FinishTransaction) -> Script[None]:
    """Write one transaction after the other."""
    app = Transactions(application, application.plan.name)
    while application.is_writing():
        partitions = yield from app.prepare()
        if partitions:
            succeeded = yield from app.open(partitions)
            yield from finish(app, partitions, succeeded)
        yield application.pause()


def _short(app: Transactions, partitions: list[TopicPartition], succeeded: bool) -> Script[None]:
    """End at once."""
    yield from app.close(succeeded=succeeded)


def _long(app: Transactions, partitions: list[TopicPartition], succeeded: bool) -> Script[None]:
    """Write for some seconds."""
    application = app.application
    for _ in range(application.rng.between(4, 12)):
        yield Sleep(500)
        if not succeeded or not application.is_writing() or app.producer.has_moved:
            break
        succeeded = yield from app.write(application.rng.choice(partitions))
    yield from app.close(succeeded=succeeded)


def _abandoned(app: Transactions, partitions: list[TopicPartition], succeeded: bool) -> Script[None]:
    """Vanish in one of three cases, and return with another id."""
    if succeeded and app.application.rng.chance(1, 3):
        app.generation += 1
        app.producer, app.ready = app._make_producer(), False
    else:
        yield from app.close(succeeded=succeeded)


def _fenced(app: Transactions, partitions: list[TopicPartition], succeeded: bool) -> Script[None]:
    """Sometimes start the application a second time, while the first instance continues to write."""
    if succeeded and app.application.rng.chance(1, 3):
        old = app.producer
        app.producer = app._make_producer()
        app.ready = yield from app.producer.init()
        yield from old.send(partitions[0], app.application.values(1))
    else:
        yield from app.close(succeeded=succeeded)


def _unadded(application: Application) -> Script[None]:
    """Write without adding the partition to the transaction, as a client that implements the protocol itself may do."""
    app = Transactions(application, application.plan.name)
    while application.is_writing():
        partitions = yield from app.prepare()
        if partitions:
            app.number += 1
            app.producer.begin(f"{app.name}/{app.number}")
            succeeded = yield from app.write(partitions[0])
            yield from app.close(succeeded=succeeded)
        yield application.pause()


# -- rows -------------------------------------------------------------------------------------


def _writer(*, idempotent: bool) -> Callable[[Application], list[tuple[str, Script[None]]]]:
    return lambda application: [(application.plan.name, _stream(application, idempotent=idempotent))]


def _transactions(finish: FinishTransaction) -> Callable[[Application], list[tuple[str, Script[None]]]]:
    return lambda application: [(application.plan.name, _transaction_after_transaction(application, finish))]


def _pair(application: Application) -> list[tuple[str, Script[None]]]:
    pair = PairOrder()
    return [(f"{application.plan.name}-{index}", _overlapping(application, pair, index)) for index in (0, 1)]


def _reader(*, committed: bool) -> Callable[[Application], list[tuple[str, Script[None]]]]:
    return lambda application: [(application.plan.name, Consumer(application, committed_only=committed).run())]


def _single_script(
    script: Callable[[Application], Script[None]],
) -> Callable[[Application], list[tuple[str, Script[None]]]]:
    return lambda application: [(application.plan.name, script(application))]


ROWS: tuple[WorkloadKind, ...] = (
    WorkloadKind(
        "plain", "Batches without a producer id; a lost response causes a duplicate.", _writer(idempotent=False)
    ),
    WorkloadKind("idempotent", "Batches with sequence numbers.", _writer(idempotent=True)),
    WorkloadKind("short", "Small transactions.", _transactions(_short), transactional=True),
    WorkloadKind(
        "overlapping",
        "Two producers; each transaction begins before the other one ends.",
        _pair,
        transactional=True,
    ),
    WorkloadKind("long", "Transactions of several seconds.", _transactions(_long), transactional=True),
    WorkloadKind("abandoned", "Some transactions time out.", _transactions(_abandoned), transactional=True),
    WorkloadKind(
        "fenced",
        "Some transactions are ended by a restart with the same id.",
        _transactions(_fenced),
        transactional=True,
    ),
    WorkloadKind(
        "unadded",
        "Batches of transactions to which their partition was not added: all are rejected.",
        _single_script(_unadded),
        transactional=True,
    ),
    WorkloadKind(
        "asks",
        "Sends every kind of request (arbitrary_requests.py), for existing and unknown objects.",
        _single_script(send_arbitrary_requests),
        writes=False,
    ),
    WorkloadKind("read_uncommitted", "Reads up to the high watermark.", _reader(committed=False), writes=False),
    WorkloadKind("read_committed", "Reads up to the last stable offset.", _reader(committed=True), writes=False),
    WorkloadKind(
        "members",
        "A group whose members join and leave.",
        lambda application: GroupApplication(application).scripts(),
        writes=False,
    ),
    WorkloadKind(
        "transform",
        "A group that copies its input, with outputs and offsets in one transaction.",
        lambda application: TransformApp(application).scripts(),
        transactional=True,
    ),
    WorkloadKind("library", "`kmirror.client` writes idempotent batches.", _single_script(library_stream)),
    WorkloadKind(
        "library_transactions",
        "`kmirror.client` writes in transactions.",
        _single_script(library_transactions),
        transactional=True,
    ),
    WorkloadKind(
        "library_read",
        "`kmirror.client` reads up to the last stable offset.",
        _single_script(lambda application: LibraryReader(application).run()),
        writes=False,
    ),
    WorkloadKind(
        "session_read",
        "Reads up to the last stable offset in incremental fetch sessions.",
        _single_script(lambda application: SessionConsumer(application, committed_only=True).run()),
        writes=False,
    ),
)
KINDS: dict[str, WorkloadKind] = {row.name: row for row in ROWS}
