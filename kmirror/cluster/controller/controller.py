"""The controller: decides about metadata, writes the decision to its log, and replays it.

A quorum of one. Every handler looks at the image and returns records and an answer; the records go
to `__cluster_metadata` in one batch, are replayed, and only then is the answer sent. Brokers fetch
the log like followers (KIP-630, KIP-631).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from kmirror.cluster.authorizer import ALLOW_ALL, Authorizer, Rights
from kmirror.cluster.controller import sessions
from kmirror.cluster.controller.apis import fetch
from kmirror.cluster.controller.apis.routes import DECISIONS, routes
from kmirror.cluster.controller.context import ControllerContext
from kmirror.cluster.controller.decisions import Decide
from kmirror.cluster.controller.metadata_log import MetadataLog
from kmirror.cluster.controller.sessions import BrokerSessions
from kmirror.cluster.images import Delta
from kmirror.cluster.server import Inbound, Server
from kmirror.kernel.clock import Instant
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
from kmirror.kernel.rng import Rng
from kmirror.log.disk import Disk
from kmirror.protocol.message import Message
from kmirror.spec.configs import broker_configs
from kmirror.spec.topics import METADATA_TOPIC

METADATA_PARTITION = TopicPartition(METADATA_TOPIC, 0)


@dataclass(frozen=True, slots=True)
class ControllerOptions:
    """What a controller is started with."""

    node_id: int
    cluster_id: str
    endpoint: Endpoint
    configs: Mapping[str, str] = field(default_factory=dict)
    bootstrap: Sequence[Message] = ()
    """Records that a formatted but empty metadata log begins with."""
    on_failure: OnFailure = OnFailure.RAISE
    authorizer: Authorizer = ALLOW_ALL


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
        self._disk = disk
        self.context = ControllerContext(options.node_id, options.cluster_id, broker_configs(options.configs, {}), rng)
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
        )
        self._ended = False
        self.server.serve(routes(self.context, self.sessions, self.commit, self.decide))
        self.server.serve(dict.fromkeys(self._decisions, self._on_decision))

    def handle(self, now: Instant, event: Event) -> list[Effect]:
        """Return the effects of `event`, in the order in which they arose."""
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
        log = self.context.opened_log = MetadataLog(self._disk.open(METADATA_PARTITION), now)
        log.replay(self.image)
        self._read_configs()
        if self.image.offset < 0 and self.options.bootstrap:
            self.commit(now, self.options.bootstrap)
        self.sessions.start(now)

    def _stop(self) -> None:
        try:
            if self.context.opened_log is not None:
                self.context.log.log.close()
        finally:
            self.outbox.add(Stopped())
            self._ended = True

    def _on_timer(self, now: Instant, key: TimerKey) -> None:
        match key:
            case (sessions.TIMER,):
                self.sessions.on_timer(now)
            case (fetch.TIMER, int(parked)):
                self.context.log.force(now, parked)
            case _:
                raise AssertionError(f"a timer nobody set: {key}")

    # -- decisions ----------------------------------------------------------------------------

    def _on_decision(self, now: Instant, inbound: Inbound) -> None:
        answer = self.decide(now, inbound.body, inbound.version, inbound.rights)
        assert answer is not None, "served because it is decided"
        inbound.reply(answer)

    def decide(self, now: Instant, body: Message, version: int, rights: Rights) -> Message | None:
        """Decide a request, persist the records, and return the answer; None if no decision exists for its class."""
        if type(body) not in self._decisions:
            return None
        decision = self._decisions[type(body)](self.context, now, body, version, rights)
        self.commit(now, decision.records)
        return decision.response

    def commit(self, now: Instant, records: Sequence[Message]) -> None:
        """Append `records` as one batch and replay them; no records, no batch."""
        if not records:
            return
        delta = Delta()
        last = self.context.log.append(now, records)
        for record in records:
            self.image.apply(record, delta)
        self.image.offset = last
        if delta.alters_node(self.context.node_id):
            self._read_configs()
        self.context.log.wake(now)

    def _read_configs(self) -> None:
        dynamic = self.image.broker_config(self.context.node_id)
        self.context.configs = broker_configs(self.options.configs, dynamic)
