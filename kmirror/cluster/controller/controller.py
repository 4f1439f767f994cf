"""The controller: decides about metadata, writes its decisions to the metadata log, and replays them.

Every handler reads the image and returns records and a response. The records are proposed to the quorum
(`metadata/quorum.py`), which writes them to `__cluster_metadata` in one batch, and replayed at once. The response is
sent once they are committed, because they could be lost before that. Brokers fetch the committed part of the log like
followers (KIP-630, KIP-631).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from kmirror.cluster.acl_authorizer import authorizer_of
from kmirror.cluster.authorizer import Authorizer, Rights
from kmirror.cluster.controller import min_insync, sessions
from kmirror.cluster.controller.apis import fetch
from kmirror.cluster.controller.apis.routes import DECISIONS, routes
from kmirror.cluster.controller.bootstrap import bootstrap_records, raising_records
from kmirror.cluster.controller.context import ControllerContext
from kmirror.cluster.controller.decisions import Decide
from kmirror.cluster.controller.facts import LeaderElected
from kmirror.cluster.controller.held_answers import HeldAnswers
from kmirror.cluster.controller.metrics import controller_samples
from kmirror.cluster.controller.sessions import BrokerSessions
from kmirror.cluster.error_response import error_response
from kmirror.cluster.images import NO_LEADER, Delta, MetadataImage
from kmirror.cluster.metadata.log import TooManyRecords
from kmirror.cluster.metadata.quorum import Quorum
from kmirror.cluster.metadata.replay import ReplayedBatch, replay
from kmirror.cluster.metadata.single_node import SingleNode
from kmirror.cluster.metrics import Sample
from kmirror.cluster.server import Inbound, Server
from kmirror.errors import CorruptBatch
from kmirror.kernel.clock import Instant
from kmirror.kernel.events import (
    DiskDone,
    Effect,
    Event,
    InboundLink,
    LinkClosed,
    LinkOpened,
    RequestReceived,
    ResponseReceived,
    Started,
    Stop,
    Stopped,
    TimerFired,
    TimerKey,
)
from kmirror.kernel.failures import Failures, GaveUp, OnFailure
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.listeners import Listeners
from kmirror.kernel.outbox import Outbox
from kmirror.kernel.rng import Rng
from kmirror.kernel.runner_metrics import RunnerMetrics
from kmirror.log.disk import Disk
from kmirror.protocol.gen.abort_transaction_record import AbortTransactionRecord
from kmirror.protocol.gen.partition_change_record import PartitionChangeRecord
from kmirror.protocol.gen.partition_record import PartitionRecord
from kmirror.protocol.message import Message
from kmirror.spec.configs import broker_configs
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.features import METADATA_VERSION, is_supported, supported_levels_text


@dataclass(frozen=True, slots=True)
class ControllerOptions:
    """The options that a controller is started with."""

    node_id: int
    cluster_id: str
    listeners: Listeners
    configs: Mapping[str, str] = field(default_factory=dict)
    bootstrap: Sequence[Message] = ()
    """First records of an empty metadata log; features in `bootstrap.checkpoint` take precedence.

    A level of mirror.version in them raises the level in a log that is not empty.
    """
    on_failure: OnFailure = OnFailure.RAISE
    authorizer: Authorizer | None = None
    clock: Callable[[], Instant] | None = None
    """Clock used to measure request processing time; virtual time if None."""


class ControllerComponent(Protocol):
    """A component of a controller that decides requests unknown to the cluster package."""

    def decisions(self) -> Mapping[type[Message], Decide]:
        """Return request class -> function that decides it."""
        ...


class Controller:
    """One controller process; a restart creates a new object over the same disk."""

    def __init__(
        self, options: ControllerOptions, disk: Disk, rng: Rng, components: Sequence[ControllerComponent] = ()
    ) -> None:
        self.options = options
        self.disk = disk
        self.outbox = Outbox()
        self.quorum: Quorum = SingleNode(options.node_id, disk, lambda: self.context.configs, self.outbox, self)
        self.context = ControllerContext(
            options.node_id,
            options.cluster_id,
            broker_configs(options.configs, {}),
            rng,
            self.outbox,
            self.quorum,
            options.configs,
        )
        self.image = self.context.image
        self.sessions = BrokerSessions(self.context, self.commit)
        self._decisions: dict[type[Message], Decide] = dict(DECISIONS)
        for component in components:
            self._decisions.update(component.decisions())
        self.failures = Failures(self.outbox, options.on_failure)
        self._answers = HeldAnswers(self.quorum, self.outbox)
        self.server = Server(
            self.context.api_versions,
            self.context.disabled_versions,
            self.outbox,
            authorizer_of(self.context.configs, self.image, options.authorizer),
            failures=self.failures,
            clock=options.clock,
            on_response=self._answers.put,
        )
        self._is_ending = False
        self._has_given_up = False
        self.server.serve(routes(self.context, self.sessions, self.commit, self.decide))
        self.server.serve(dict.fromkeys(self._decisions, self._on_decision))

    def handle(self, now: Instant, event: Event) -> list[Effect]:
        """Return the effects of `event`, in order."""
        self.server.meters.now = now
        self.failures.process(now, event, self._dispatch, self._follow_up)
        return self.outbox.drain()

    def metrics(self, now: Instant, runner_metrics: RunnerMetrics) -> list[Sample]:
        """Return the metrics of the controller (`spec.metrics`)."""
        requests = self.server.meters.samples(now, runner_metrics.times)
        return [*controller_samples(self.image, decides=self.is_open), *requests]

    def _follow_up(self, now: Instant) -> bool:
        if self._has_given_up:
            return False
        self.quorum.follow_up()
        return not self._is_ending and self.server.run_ready(now)

    def _dispatch(self, now: Instant, event: Event) -> None:
        if self._is_ending and not isinstance(event, DiskDone):
            return
        match event:
            case RequestReceived(link, frame):
                self.server.on_frame(now, link, frame)
            case TimerFired(key):
                self._on_timer(now, key)
            case DiskDone():
                self.quorum.on_disk_done(now, event)
            case LinkOpened():
                self.server.on_opened(event)
            case LinkClosed(InboundLink() as link):
                self.server.on_closed(link)
            case Started():
                self.quorum.start(now)
            case Stop():
                self._is_ending = True
                self.quorum.stop()
            case ResponseReceived() | LinkClosed():
                raise AssertionError("a controller sends no requests")

    # -- from the quorum ----------------------------------------------------------------------

    def on_leading(self, now: Instant, batches: Iterable[ReplayedBatch], bootstrap: Sequence[Message]) -> None:
        """Replay the log, and start to handle the requests that have arrived meanwhile."""
        try:
            aborted = replay(batches, self.image)
        except CorruptBatch as error:
            self.give_up(f"the metadata log cannot be replayed: {error}")
            return
        level = self.image.features.get(METADATA_VERSION)
        if level is not None and not is_supported(METADATA_VERSION, level):
            self.give_up(
                f"the metadata log is of metadata.version {level}, and {supported_levels_text(METADATA_VERSION)}"
            )
            return
        if unenforced := self.image.unenforced_count(
            enforces_acls=bool(self.context.configs.text("authorizer.class.name"))
        ):
            records_text = f"{unenforced} records about ACLs, credentials or quotas"
            self.outbox.note(f"the metadata log has {records_text}, which are kept and not enforced")
        self._read_configs()
        if self.image.offset < 0:
            static_min_insync = self.context.configs.integer(min_insync.KEY)
            records = bootstrap_records(bootstrap, self.options.bootstrap, static_min_insync)
            self.commit(now, records, atomic=True)
        else:
            if aborted:
                self.commit(now, [AbortTransactionRecord(reason="its controller ended before it")])
            self.commit(now, raising_records(self.image.features, self.options.bootstrap))
        self.sessions.start(now)
        self.server.accept()

    def on_committed(self, now: Instant) -> None:
        """Release the responses that waited for a commit."""
        self._answers.release()

    def give_up(self, reason: str) -> None:
        """Stop at once after a fault in the log, like Kafka's controller; responses that wait are dropped."""
        self.outbox.note(reason, GaveUp(reason))
        self._is_ending = self._has_given_up = True
        self.quorum.stop()
        self._answers.drop()
        self.outbox.add(Stopped())

    def on_closed(self) -> None:
        """Stop: all decisions are committed."""
        self.outbox.add(Stopped())

    def _on_timer(self, now: Instant, key: TimerKey) -> None:
        match key:
            case (fetch.TIMER, int(fetch_id)):
                self.context.log.force(now, fetch_id)
            case (sessions.TIMER,):
                self.sessions.on_timer(now)
            case _:
                self.quorum.on_timer(now, key)

    @property
    def is_open(self) -> bool:
        """Whether the metadata log has been replayed; the image is empty before that."""
        return self.quorum.log is not None

    # -- decisions ----------------------------------------------------------------------------

    def _on_decision(self, now: Instant, inbound: Inbound[Message]) -> None:
        answer = self.decide(now, inbound.body, inbound.version, inbound.rights)
        assert answer is not None, "served because it is decided"
        inbound.reply(answer)

    def decide(self, now: Instant, body: Message, version: int, rights: Rights) -> Message | None:
        """Decide a request, persist the records, and return the response; None if no decision exists for its class.

        A decision that does not fit into one batch of the metadata log is rejected with POLICY_VIOLATION.
        """
        if type(body) not in self._decisions:
            return None
        decision = self._decisions[type(body)](self.context, now, body, version, rights)
        cleared = min_insync.clearing_records(self.image, decision.records)
        try:
            self.commit(now, [*decision.records, *cleared], atomic=decision.atomic)
        except TooManyRecords:
            error, message = ErrorCode.POLICY_VIOLATION, "Unable to perform excessively large batch operation."
            return error_response(body, version, error, message)
        return decision.response

    def commit(self, now: Instant, records: Sequence[Message], *, atomic: bool = False) -> None:
        """Propose `records` and replay them, as one batch if `atomic`; TooManyRecords if they do not fit into one.

        Responses wait until the records are committed. If one record cannot be replayed, all are removed again.
        """
        if not records or self._has_given_up:
            return
        end_offset = self.quorum.end_offset
        try:
            last = self.quorum.propose(now, records, atomic=atomic)
        except OSError as error:
            self.give_up(f"the metadata log cannot be written: {error}")
            return
        try:
            delta = self._replay(records)
        except Exception:
            self.remove_uncommitted(end_offset)
            raise
        self.image.offset = last
        if delta.alters_node(self.context.node_id):
            self._read_configs()

    def remove_uncommitted(self, end_offset: int) -> None:
        """Remove the records from `end_offset` on, and rebuild the image from the log before them."""
        former = MetadataImage()
        replay(self.quorum.remove_uncommitted(end_offset), former)
        self.image.replace_by(former)
        self._read_configs()

    def _replay(self, records: Sequence[Message]) -> Delta:
        delta = Delta()
        for record in records:
            if isinstance(record, PartitionRecord | PartitionChangeRecord):
                self._apply_partition(record, delta)
            else:
                self.image.apply(record, delta)
        return delta

    def _apply_partition(self, record: PartitionRecord | PartitionChangeRecord, delta: Delta) -> None:
        """Replay a partition's record, and report the leader if it begins a leader epoch."""
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
