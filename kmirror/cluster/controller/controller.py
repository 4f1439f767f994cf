"""The controller: decides about metadata, writes the decision to its log, and replays it.

A quorum of one. Every handler looks at the image and returns records and an answer; the records go
to `__cluster_metadata` in one batch, are replayed, and only then is the answer sent. Brokers fetch
the log like followers (KIP-630, KIP-631).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from kmirror.cluster.controller.apis.fetch import TIMER as FETCH_TIMER
from kmirror.cluster.controller.apis.routes import DECISIONS, ROUTES
from kmirror.cluster.controller.decisions import Decide
from kmirror.cluster.controller.elections import fence_records, unfence_records
from kmirror.cluster.controller.heartbeats import BrokerState, Heartbeats
from kmirror.cluster.controller.metadata_log import MetadataLog
from kmirror.cluster.images import Delta, MetadataImage
from kmirror.cluster.server import Inbound, Server
from kmirror.kernel.clock import MILLISECOND, SECOND, Instant
from kmirror.kernel.events import (
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
from kmirror.kernel.failures import Failures, OnFailure
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.kernel.outbox import Outbox
from kmirror.kernel.rng import Rng
from kmirror.log.disk import Disk
from kmirror.protocol.gen.broker_registration_change_record import BrokerRegistrationChangeRecord
from kmirror.protocol.message import Message
from kmirror.spec.apis import versions_disabled, versions_served
from kmirror.spec.configs import broker_configs
from kmirror.spec.features import MIRROR_VERSION
from kmirror.spec.topics import METADATA_TOPIC

SESSION_TIMER = "sessions"
METADATA_PARTITION = TopicPartition(METADATA_TOPIC, 0)


@dataclass(frozen=True, slots=True)
class ControllerOptions:
    node_id: int
    cluster_id: str
    endpoint: Endpoint
    configs: Mapping[str, str] = field(default_factory=dict)
    bootstrap: Sequence[Message] = ()
    """Records that a formatted but empty metadata log begins with."""
    on_failure: OnFailure = OnFailure.RAISE


class ControllerComponent(Protocol):
    """What plugs into a controller: handlers for APIs that the cluster package does not know."""

    def decisions(self) -> Mapping[type[Message], Decide]: ...


class Controller:
    """One controller process; a restart makes a new object over the same disk."""

    def __init__(
        self, options: ControllerOptions, disk: Disk, rng: Rng, components: Sequence[ControllerComponent] = ()
    ) -> None:
        self.options = options
        self.node_id = options.node_id
        self.cluster_id = options.cluster_id
        self.rng = rng
        self.configs = broker_configs(options.configs, {})
        """What holds now; another object after every alteration, so nobody keeps it."""
        self.image = MetadataImage()
        self.outbox = Outbox()
        self.failures = Failures(self.outbox, options.on_failure)
        self.server = Server(self.api_versions, self.disabled_versions, self.outbox, failures=self.failures)
        self._ended = False
        self.heard_from: dict[int, Instant] = {}
        """When each unfenced broker last reported."""
        self.heartbeats = Heartbeats()
        self._disk = disk
        self.log: MetadataLog | None = None
        self.server.serve({request: partial(handler, self) for request, handler in ROUTES.items()})
        self.decisions: dict[type[Message], Decide] = dict(DECISIONS)
        for component in components:
            self.decisions.update(component.decisions())
        self.server.serve(dict.fromkeys(self.decisions, self._decide))

    def handle(self, now: Instant, event: Event) -> list[Effect]:
        """Return what follows from `event`."""
        self.failures.shield(now, event, self._dispatch, self._follow_up)
        return self.outbox.drain()

    def _follow_up(self, now: Instant) -> bool:
        return not self._ended and self.server.run_ready(now)

    def _dispatch(self, now: Instant, event: Event) -> None:
        match event:
            case Started():
                self._start(now)
            case LinkOpened():
                self.server.on_opened(event)
            case RequestReceived(link, frame):
                self.server.on_frame(now, link, frame)
            case LinkClosed(InboundLink() as gone):
                self.server.on_closed(gone)
            case TimerFired(key):
                self._on_timer(now, key)
            case Stop():
                self._stop()
            case ResponseReceived() | LinkClosed():
                raise AssertionError("a controller sends no requests")

    def _start(self, now: Instant) -> None:
        self.log = MetadataLog(self._disk.open(METADATA_PARTITION), now)
        self.log.replay(self.image)
        self._read_configs()
        if self.image.offset < 0 and self.options.bootstrap:
            self.commit(now, self.options.bootstrap)
        for broker in self.image.brokers.values():
            if not broker.fenced:
                self.heard_from[broker.broker_id] = now
                self.heartbeats.reported(broker.broker_id, BrokerState.UNFENCED, -1, self.image.offset)
        self._watch_sessions(now)

    def _stop(self) -> None:
        if self.log is not None:
            self.log.log.close()
        self.outbox.add(Stopped())
        self._ended = True

    def _on_timer(self, now: Instant, key: TimerKey) -> None:
        match key:
            case (kind,) if kind == SESSION_TIMER:
                self._expire_sessions(now)
                self._watch_sessions(now)
            case (kind, int(parked)) if kind == FETCH_TIMER:
                assert self.log is not None, "started"
                self.log.force(now, parked)
            case _:
                raise AssertionError(f"a timer nobody set: {key}")

    # -- decisions ----------------------------------------------------------------------------

    def _decide(self, now: Instant, inbound: Inbound) -> None:
        inbound.reply(self.decide(now, inbound.body, inbound.version))

    def decide(self, now: Instant, body: Message, version: int) -> Message:
        """Decide a request, persist what was decided, return the answer."""
        decision = self.decisions[type(body)](self, now, body, version)
        self.commit(now, decision.records)
        return decision.response

    def commit(self, now: Instant, records: Sequence[Message]) -> int:
        """Append `records` as one batch and replay them; returns the offset of the last one."""
        if not records:
            return self.image.offset
        assert self.log is not None, "started"
        delta = Delta()
        last = self.log.append(now, records)
        for record in records:
            self.image.apply(record, delta)
        self.image.offset = last
        if delta.alters_node(self.node_id):
            self._read_configs()
        self.log.wake(now)
        return last

    def _read_configs(self) -> None:
        self.configs = broker_configs(self.options.configs, self.image.broker_config(self.node_id))

    def next_offset(self) -> int:
        """Return the offset that the next record will get; a broker's epoch is the one of its registration."""
        return self.image.offset + 1

    # -- liveness -----------------------------------------------------------------------------

    def fence(self, now: Instant, broker_id: int) -> None:
        """Take a broker out: no leaderships, no ISR membership, until it reports again."""
        self.heard_from.pop(broker_id, None)
        self.heartbeats.forget(broker_id)
        broker = self.image.brokers[broker_id]
        self.outbox.note(f"fencing broker {broker_id}")
        records: list[Message] = [
            BrokerRegistrationChangeRecord(broker_id=broker_id, broker_epoch=broker.epoch, fenced=1)
        ]
        records += fence_records(self.image, self.configs, broker_id)
        self.commit(now, records)

    def begin_controlled_shutdown(self, now: Instant, broker_id: int) -> None:
        """Take a broker that wants to stop out of every ISR and leadership, as far as others can take over."""
        broker = self.image.brokers[broker_id]
        self.outbox.note(f"broker {broker_id} begins its controlled shutdown")
        records: list[Message] = []
        if not broker.in_controlled_shutdown:
            records.append(
                BrokerRegistrationChangeRecord(broker_id=broker_id, broker_epoch=broker.epoch, in_controlled_shutdown=1)
            )
        records += fence_records(self.image, self.configs, broker_id)
        self.commit(now, records)

    def unfence(self, now: Instant, broker_id: int) -> None:
        """Let a broker in; partitions without a leader may get one."""
        self.heard_from[broker_id] = now
        broker = self.image.brokers[broker_id]
        self.outbox.note(f"unfencing broker {broker_id}")
        records: list[Message] = [
            BrokerRegistrationChangeRecord(broker_id=broker_id, broker_epoch=broker.epoch, fenced=-1)
        ]
        records += unfence_records(self.image, self.configs, broker_id)
        self.commit(now, records)

    def _watch_sessions(self, now: Instant) -> None:
        self.outbox.set_timer((SESSION_TIMER,), now + SECOND // 2)

    def _expire_sessions(self, now: Instant) -> None:
        timeout = self.configs.integer("broker.session.timeout.ms") * MILLISECOND
        for broker_id, heard in list(self.heard_from.items()):
            if now - heard > timeout:
                self.fence(now, broker_id)

    @property
    def mirror_enabled(self) -> bool:
        return self.image.features.get(MIRROR_VERSION, 0) >= 1

    def api_versions(self) -> Mapping[int, tuple[int, int]]:
        """Return what this controller serves now: api key to (first, last) version."""
        return versions_served("controller", mirror=self.mirror_enabled)

    def disabled_versions(self) -> Mapping[int, tuple[int, int]]:
        """Return what is answered with UNSUPPORTED_VERSION now (D1)."""
        return versions_disabled("controller", mirror=self.mirror_enabled)
