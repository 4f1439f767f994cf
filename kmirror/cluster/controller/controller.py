"""The controller: decides about metadata, writes the decision to its log, and replays it.

A quorum of one. Every handler looks at the image and returns records and an answer; the records go
to `__cluster_metadata` in one batch and are replayed; the answer is sent once they are flushed, for until then
a power cut could take them. Brokers fetch the log like followers, as far as it is flushed (KIP-630, KIP-631).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from kmirror.cluster.authorizer import ALLOW_ALL, Authorizer, Rights
from kmirror.cluster.controller import min_insync, sessions, snapshot_generator
from kmirror.cluster.controller.apis import fetch
from kmirror.cluster.controller.apis.routes import DECISIONS, routes
from kmirror.cluster.controller.bootstrap import bootstrap_records, raised_records
from kmirror.cluster.controller.context import ControllerContext
from kmirror.cluster.controller.decisions import Decide
from kmirror.cluster.controller.facts import LeaderElected
from kmirror.cluster.controller.metrics import of_controller
from kmirror.cluster.controller.sessions import BrokerSessions
from kmirror.cluster.controller.snapshot_generator import SnapshotGenerator
from kmirror.cluster.images import NO_LEADER, Delta
from kmirror.cluster.metadata.log import MetadataLog, TooManyRecords, log_config
from kmirror.cluster.metadata.opening import CloseMetadataLog, OpenedMetadataLog, OpenMetadataLog
from kmirror.cluster.metadata.replay import replay
from kmirror.cluster.metrics import Sample
from kmirror.cluster.refusal import refusal
from kmirror.cluster.server import Inbound, Server
from kmirror.errors import CorruptBatch
from kmirror.kernel.clock import Instant, to_ms
from kmirror.kernel.disk_jobs import DiskJobs
from kmirror.kernel.events import (
    CloseLink,
    DiskDone,
    Effect,
    Event,
    InboundLink,
    LinkClosed,
    LinkOpened,
    Reply,
    RequestReceived,
    ResponseReceived,
    Started,
    Stop,
    Stopped,
    TimerFired,
    TimerKey,
)
from kmirror.kernel.failures import Failures, GaveUp, OnFailure
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.kernel.rng import Rng
from kmirror.kernel.told_by_runner import ToldByRunner
from kmirror.log.disk import Disk
from kmirror.protocol.gen.abort_transaction_record import AbortTransactionRecord
from kmirror.protocol.gen.partition_change_record import PartitionChangeRecord
from kmirror.protocol.gen.partition_record import PartitionRecord
from kmirror.protocol.message import Message
from kmirror.spec.configs import broker_configs
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.features import METADATA_VERSION, is_supported, supported_text


@dataclass(frozen=True, slots=True)
class ControllerOptions:
    """What a controller is started with."""

    node_id: int
    cluster_id: str
    endpoint: Endpoint
    configs: Mapping[str, str] = field(default_factory=dict)
    bootstrap: Sequence[Message] = ()
    """Records that an empty metadata log begins with; what `bootstrap.checkpoint` says of a feature comes first. A
    level of mirror.version in them raises that of a log that is not empty."""
    on_failure: OnFailure = OnFailure.RAISE
    authorizer: Authorizer = ALLOW_ALL
    clock: Callable[[], Instant] | None = None
    """As a broker's."""


class ControllerComponent(Protocol):
    """A component of a controller: decides requests that the cluster package does not know."""

    def decisions(self) -> Mapping[type[Message], Decide]:
        """Return the class of each request that it decides, and the function for it."""
        ...


class Controller:
    """One controller process; a restart makes a new object over the same disk."""

    def __init__(
        self, options: ControllerOptions, disk: Disk, rng: Rng, components: Sequence[ControllerComponent] = ()
    ) -> None:
        self.options = options
        self.disk = disk
        self.context = ControllerContext(
            options.node_id, options.cluster_id, broker_configs(options.configs, {}), rng, options.configs
        )
        self.image = self.context.image
        self.outbox = self.context.outbox
        self.sessions = BrokerSessions(self.context, self.commit)
        self._decisions: dict[type[Message], Decide] = dict(DECISIONS)
        for component in components:
            self._decisions.update(component.decisions())
        self.failures = Failures(self.outbox, options.on_failure)
        self.server = Server(
            self.context.api_versions,
            self.context.disabled_versions,
            self.outbox,
            options.authorizer,
            failures=self.failures,
            clock=options.clock,
        )
        self._disk_jobs = DiskJobs(self.outbox)
        self._snapshots = SnapshotGenerator(self.context, self._disk_jobs, disk.log_dir)
        self._held: deque[tuple[int, Reply | CloseLink]] = deque()
        """What is said to clients once the metadata log is committed up to an offset, in the order of offsets."""
        self._is_ending = False
        self._is_closing = False
        self._has_given_up = False
        self.server.serve(routes(self.context, self.sessions, self.commit, self.decide))
        self.server.serve(dict.fromkeys(self._decisions, self._on_decision))

    def handle(self, now: Instant, event: Event) -> list[Effect]:
        """Return the effects of `event`, in the order in which they arose."""
        self.server.now = now
        self.failures.shield(now, event, self._dispatch, self._follow_up)
        return self._when_committed(self.outbox.drain())

    def metrics(self, now: Instant, told: ToldByRunner) -> list[Sample]:
        """Return what the controller tells of itself in numbers (`spec.metrics`)."""
        requests = self.server.meters.samples(now, told.times)
        return [*of_controller(self.image, decides=self.is_open), *requests]

    def _follow_up(self, now: Instant) -> bool:
        if self._is_ending:
            self._end()
            return False
        self._flush()
        return self.server.run_ready(now)

    def _when_committed(self, effects: list[Effect]) -> list[Effect]:
        """Return `effects` without the answers that speak of records which a crash could still take."""
        log = self.context.opened_log
        if self._has_given_up:
            return [effect for effect in effects if not isinstance(effect, Reply)]
        if log is None:
            return effects
        committed, end_offset = log.log.high_watermark, log.log.log_end_offset
        if not self._held and committed >= end_offset:
            return effects
        ready: list[Effect] = []
        while self._held and self._held[0][0] <= committed:
            ready.append(self._held.popleft()[1])
        for effect in effects:
            if isinstance(effect, Reply | CloseLink) and (self._held or committed < end_offset):
                self._held.append((end_offset, effect))
            else:
                ready.append(effect)
        return ready

    def _dispatch(self, now: Instant, event: Event) -> None:
        if self._is_ending and not isinstance(event, DiskDone):
            return
        match event:
            case RequestReceived(link, frame):
                self.server.on_frame(now, link, frame)
            case TimerFired(key):
                self._on_timer(now, key)
            case DiskDone():
                self._disk_jobs.on_done(now, event)
            case LinkOpened():
                self.server.on_opened(event)
            case LinkClosed(InboundLink() as gone):
                self.server.on_closed(gone)
            case Started():
                self._start(now)
            case Stop():
                self._is_ending = True
                self._snapshots.stop()
            case ResponseReceived() | LinkClosed():
                raise AssertionError("a controller sends no requests")

    def _start(self, now: Instant) -> None:
        job = OpenMetadataLog(self.disk, log_config(self.context.configs), to_ms(now))
        self._disk_jobs.order(self.disk.log_dir, job, self._on_opened)

    def _on_opened(self, now: Instant, done: DiskDone) -> None:
        """Replay the log, and begin to answer the requests that have come in the meantime."""
        opened = done.result
        if done.error is not None:
            self._give_up(f"the metadata log cannot be opened: {done.error}")
            return
        assert isinstance(opened, OpenedMetadataLog)
        log = MetadataLog(opened.log, opened.epoch, opened.snapshots, sum(batch.size for batch in opened.batches))
        self.context.opened_log = log
        if self._is_ending:
            return
        try:
            aborted = replay(opened.batches, self.image)
        except CorruptBatch as error:
            self._give_up(f"the metadata log cannot be replayed: {error}")
            return
        level = self.image.features.get(METADATA_VERSION)
        if level is not None and not is_supported(METADATA_VERSION, level):
            self._give_up(f"the metadata log is of metadata.version {level}, and {supported_text(METADATA_VERSION)}")
            return
        if self.image.not_enforced:
            told = f"{self.image.not_enforced} records about ACLs, credentials or quotas"
            self.outbox.note(f"the metadata log has {told}, which are kept and not enforced")
        self._read_configs()
        if self.image.offset < 0:
            static_min_insync = self.context.configs.integer(min_insync.KEY)
            records = bootstrap_records(opened.bootstrap, self.options.bootstrap, static_min_insync)
            self.commit(now, records, atomic=True)
        else:
            if aborted:
                self.commit(now, [AbortTransactionRecord(reason="its controller ended before it")])
            self.commit(now, raised_records(self.image.features, self.options.bootstrap))
        self.sessions.start(now)
        self._snapshots.start(now)
        self.server.accept()

    def _flush(self) -> None:
        log = self.context.opened_log
        job = None if log is None else log.begin_flush()
        if job is not None:
            self._disk_jobs.order(self.disk.log_dir, job, self._on_flushed)

    def _on_flushed(self, now: Instant, done: DiskDone) -> None:
        if done.error is not None:
            self._give_up(f"the metadata log cannot be flushed: {done.error}")
        else:
            self.context.log.finish_flush(now)
            self._snapshots.grown(now)

    def _end(self) -> None:
        """Have the log closed once its disk is idle, and end."""
        if self._is_closing:
            return
        self._flush()
        if not self._disk_jobs.idle:
            return
        self._is_closing = True
        if self.context.opened_log is None:
            self.outbox.add(Stopped())
        else:
            self._disk_jobs.order(self.disk.log_dir, CloseMetadataLog(self.context.log.log), self._on_closed)

    def _on_closed(self, now: Instant, done: DiskDone) -> None:
        if done.error is not None:
            self.outbox.note(f"the metadata log could not be closed: {done.error}")
        self.outbox.add(Stopped())

    def _give_up(self, why: str) -> None:
        """End at once, as Kafka's controller does at a fault of its log; what was not committed was never said."""
        self.outbox.note(why, GaveUp(why))
        self._is_ending = self._is_closing = self._has_given_up = True
        self._held.clear()
        self.outbox.add(Stopped())

    def _on_timer(self, now: Instant, key: TimerKey) -> None:
        match key:
            case (fetch.TIMER, int(parked)):
                self.context.log.force(now, parked)
            case (sessions.TIMER,):
                self.sessions.on_timer(now)
            case (snapshot_generator.TIMER,):
                self._snapshots.on_timer(now)
            case _:
                raise AssertionError(f"a timer nobody set: {key}")

    @property
    def is_open(self) -> bool:
        """Return whether the metadata log has been replayed: before that the image knows nothing."""
        return self.context.opened_log is not None

    # -- decisions ----------------------------------------------------------------------------

    def _on_decision(self, now: Instant, inbound: Inbound[Message]) -> None:
        answer = self.decide(now, inbound.body, inbound.version, inbound.rights)
        assert answer is not None, "served because it is decided"
        inbound.reply(answer)

    def decide(self, now: Instant, body: Message, version: int, rights: Rights) -> Message | None:
        """Decide a request, persist the records, and return the answer; None if no decision exists for its class.

        A decision that no batch of the metadata log can hold is refused with POLICY_VIOLATION.
        """
        if type(body) not in self._decisions:
            return None
        decision = self._decisions[type(body)](self.context, now, body, version, rights)
        cleared = min_insync.clearing_records(self.image, decision.records)
        try:
            self.commit(now, [*decision.records, *cleared], atomic=decision.atomic)
        except TooManyRecords:
            error, message = ErrorCode.POLICY_VIOLATION, "Unable to perform excessively large batch operation."
            return refusal(body, version, error, message)
        return decision.response

    def commit(self, now: Instant, records: Sequence[Message], *, atomic: bool = False) -> None:
        """Append `records` and replay them, as one batch if `atomic`; TooManyRecords if they do not fit into one.

        What follows from them is said once they are flushed.
        """
        if not records or self._has_given_up:
            return
        delta = Delta()
        try:
            last = self.context.log.append(now, records, atomic=atomic)
        except OSError as error:
            self._give_up(f"the metadata log cannot be written: {error}")
            return
        for record in records:
            if isinstance(record, PartitionRecord | PartitionChangeRecord):
                self._apply_partition(record, delta)
            else:
                self.image.apply(record, delta)
        self.image.offset = last
        if delta.alters_node(self.context.node_id):
            self._read_configs()

    def _apply_partition(self, record: PartitionRecord | PartitionChangeRecord, delta: Delta) -> None:
        """Replay a partition's record, and tell of its leader if it begins a leader epoch."""
        tp = TopicPartition(self.image.topics.names[record.topic_id], record.partition_id)
        before = self.image.topics.partition(tp)
        self.image.apply(record, delta)
        after = self.image.topics.partition(tp)
        assert after is not None, "just applied"
        if before is None or before.leader_epoch != after.leader_epoch:
            unclean = before is not None and after.leader not in (NO_LEADER, *before.isr, *before.eligible)
            fact = LeaderElected(tp, after.leader, after.leader_epoch, after.isr, unclean)
            self.outbox.note(str(fact), fact)

    def _read_configs(self) -> None:
        dynamic = self.image.configs.broker(self.context.node_id)
        self.context.configs = broker_configs(self.options.configs, dynamic)
