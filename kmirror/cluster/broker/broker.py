"""A broker: owns logs and coordinators, routes events, says what it wants done.

`handle` is the only entrance. One event is worked on until nothing more follows from it inside the
broker; then the effects leave, in the order in which they arose.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from kmirror.client import requester
from kmirror.cluster.broker import lifecycle, metadata_follower
from kmirror.cluster.broker.apis.routes import ROUTES
from kmirror.cluster.broker.context import BrokerContext, BrokerOptions
from kmirror.cluster.broker.internal_topics import InternalTopics
from kmirror.cluster.component import BrokerComponent, Components
from kmirror.cluster.coordinators.transactions.apis.routes import ROUTES as TRANSACTION_ROUTES
from kmirror.cluster.coordinators.transactions.coordinator import TransactionCoordinator
from kmirror.cluster.images import Delta
from kmirror.cluster.replication import follower, isr, replicas
from kmirror.cluster.replication.fetch_sessions import FetchSessions
from kmirror.cluster.server import Server
from kmirror.kernel.clock import Instant
from kmirror.kernel.events import (
    Effect,
    Event,
    InboundLink,
    LinkClosed,
    LinkOpened,
    OutboundLink,
    RequestReceived,
    ResponseReceived,
    Started,
    TimerFired,
    TimerKey,
)
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.rng import Rng
from kmirror.log.disk import Disk
from kmirror.spec.configs import Configs
from kmirror.spec.wire_values import ResourceType


class Broker:
    """One broker process; a restart makes a new object over the same disk."""

    def __init__(self, options: BrokerOptions, disk: Disk, rng: Rng) -> None:
        self.context = context = BrokerContext(options, disk, rng)
        self.node_id = context.node_id
        self.cluster_id = context.cluster_id
        self.endpoint = context.endpoint
        self.disk = disk
        self.rng = rng
        self.image = context.image
        self.outbox = context.outbox
        self.requester = context.requester
        self.ask_controller = context.ask_controller
        self.ask_broker = context.ask_broker
        self.version_of = context.version_of
        self.components = Components()
        self.server = Server(context.api_versions, context.disabled_versions, context.outbox, accepting=False)
        self.lifecycle = lifecycle.Lifecycle(context)
        self.replicas = replicas.ReplicaManager(context, self.components)
        self.isr = isr.IsrManager(context, self.lifecycle, self.replicas)
        self.fetchers = follower.ReplicaFetchers(context, self.lifecycle, self.replicas)
        self.metadata = metadata_follower.MetadataFollower(context, self.lifecycle, self.server, self.publish)
        slots = self.configs.integer("max.incremental.fetch.session.cache.slots")
        self.sessions = FetchSessions(rng.split("sessions"), slots)
        self.internal_topics = InternalTopics(context)
        self.transactions = TransactionCoordinator(context, self.lifecycle, self.replicas)
        self.server.serve({request: partial(handler, self) for request, handler in ROUTES.items()})
        self.server.serve(
            {request: partial(handler, self.transactions) for request, handler in TRANSACTION_ROUTES.items()}
        )
        self.components.add(self.transactions)

    def add(self, component: BrokerComponent) -> None:
        """Plug a component in; before the first event."""
        self.components.add(component)
        self.server.serve(component.routes())

    # -- the entrance -------------------------------------------------------------------------

    def handle(self, now: Instant, event: Event) -> list[Effect]:
        """Return what follows from `event`."""
        match event:
            case RequestReceived(link, frame):
                self.server.on_frame(now, link, frame)
            case ResponseReceived(peer_link, frame):
                self.requester.on_response(now, peer_link, frame)
            case TimerFired(key):
                self._on_timer(now, key)
            case LinkClosed(OutboundLink() as lost):
                self.requester.on_link_closed(now, lost)
            case LinkClosed(InboundLink() as gone):
                self.server.on_closed(gone)
            case LinkOpened():
                self.server.on_opened(event)
            case Started():
                self.lifecycle.start(now)
                self.metadata.fetch(now)
                self.isr.start(now)
                self.replicas.start(now)
        while self.replicas.settle(now) or self.server.run_ready(now):
            pass
        return self.outbox.drain()

    def _on_timer(self, now: Instant, key: TimerKey) -> None:
        match key:
            case (requester.TIMER, int(correlation_id)):
                self.requester.on_timeout(now, correlation_id)
            case (replicas.CHECKPOINT_TIMER,):
                self.replicas.checkpoint(now)
            case (replicas.TIMER, int(parked)):
                self.replicas.on_timer(now, parked)
            case (follower.TIMER, int(leader)):
                self.fetchers.on_timer(now, leader)
            case (lifecycle.TIMER,):
                self.lifecycle.on_timer(now)
            case (metadata_follower.TIMER,):
                self.metadata.fetch(now)
            case (isr.TIMER,):
                self.isr.on_timer(now)
            case (isr.TIMER, TopicPartition() as tp):
                self.isr.retry(now, tp)
            case _:
                self.components.on_timer(now, key)

    # -- metadata -----------------------------------------------------------------------------

    def publish(self, now: Instant, delta: Delta) -> None:
        """The image moved on: take over configs and leaderships first, then tell everybody else."""
        altered = delta.alters_node(self.node_id)
        if altered:
            self.context.take_over_configs()
        self.components.before_metadata(now, delta)
        changed = self.replicas.apply(now, self._with_defaults(delta) if altered else delta)
        for tp in dict.fromkeys((*delta.partitions, *changed)):
            self.fetchers.assign(now, tp)
        if delta.brokers:
            self.fetchers.on_brokers(now)
        self.components.on_metadata(now, delta, changed)

    def _with_defaults(self, delta: Delta) -> Delta:
        """Return `delta` for logs after our own configs were altered: they are the defaults of every topic."""
        topics: dict[tuple[int, str], None] = {(ResourceType.TOPIC, tp.topic): None for tp in self.replicas.partitions}
        return replace(delta, configs={**delta.configs, **topics})

    # -- what parts ask of the broker ---------------------------------------------------------

    @property
    def configs(self) -> Configs:
        return self.context.configs
