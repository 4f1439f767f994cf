"""A broker: owns logs and coordinators, routes events, says what it wants done.

`handle` is the only entrance. One event is worked on until nothing more follows from it inside the
broker; then the effects leave, in the order in which they arose.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from kmirror.client import requester
from kmirror.client.requester import OnReply, Requester
from kmirror.cluster.broker import clean_shutdown, lifecycle, metadata_follower
from kmirror.cluster.broker.apis.routes import ROUTES
from kmirror.cluster.broker.internal_topics import InternalTopics
from kmirror.cluster.component import BrokerComponent
from kmirror.cluster.coordinators.transactions.coordinator import TransactionCoordinator
from kmirror.cluster.images import Delta, MetadataImage
from kmirror.cluster.replication import follower, isr, replicas
from kmirror.cluster.replication.fetch_sessions import FetchSessions
from kmirror.cluster.replication.partition import Partition
from kmirror.cluster.server import Server
from kmirror.kernel.clock import Instant
from kmirror.kernel.disk_jobs import DiskJobs
from kmirror.kernel.events import (
    DiskDone,
    Effect,
    Event,
    InboundLink,
    LinkClosed,
    LinkOpened,
    OutboundLink,
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
from kmirror.protocol.message import Message
from kmirror.protocol.registry import key_of
from kmirror.spec.apis import version_served, versions_disabled, versions_served
from kmirror.spec.configs import broker_configs
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.features import MIRROR_VERSION
from kmirror.spec.wire_values import ResourceType


@dataclass(frozen=True, slots=True)
class BrokerOptions:
    node_id: int
    cluster_id: str
    endpoint: Endpoint
    controller: Endpoint
    configs: Mapping[str, str] = field(default_factory=dict)
    """Static configs, as in a properties file."""
    on_failure: OnFailure = OnFailure.RAISE


class Broker:
    """One broker process; a restart makes a new object over the same disk."""

    def __init__(self, options: BrokerOptions, disk: Disk, rng: Rng) -> None:
        self.options = options
        self.node_id = options.node_id
        self.cluster_id = options.cluster_id
        self.endpoint = options.endpoint
        self.disk = disk
        self.previous_epoch = clean_shutdown.take(disk)
        """The broker epoch in which the last process over this disk ended cleanly, or None."""
        self.rng = rng
        self.configs = broker_configs(options.configs, {})
        """What holds now; another object after every alteration, so nobody keeps it."""
        self.image = MetadataImage()
        self.outbox = Outbox()
        self.disk_jobs = DiskJobs(self.outbox)
        self.failures = Failures(self.outbox, options.on_failure)
        self.requester = Requester(f"broker-{options.node_id}", self.outbox, self.failures)
        self.server = Server(
            self.api_versions, self.disabled_versions, self.outbox, failures=self.failures, accepting=False
        )
        self.replicas = replicas.ReplicaManager(self)
        self.isr = isr.IsrManager(self)
        self.fetchers = follower.ReplicaFetchers(self)
        self.lifecycle = lifecycle.Lifecycle(self)
        self.metadata = metadata_follower.MetadataFollower(self)
        slots = self.configs.integer("max.incremental.fetch.session.cache.slots")
        self.sessions = FetchSessions(rng.split("sessions"), slots)
        self.internal_topics = InternalTopics(self)
        self.transactions = TransactionCoordinator(self)
        self.server.serve({request: partial(handler, self) for request, handler in ROUTES.items()})
        self.components: list[BrokerComponent] = []
        self._ended = False
        self.add(self.transactions)

    def add(self, component: BrokerComponent) -> None:
        """Plug a component in; before the first event."""
        self.components.append(component)
        self.server.serve(component.routes())

    # -- the entrance -------------------------------------------------------------------------

    def handle(self, now: Instant, event: Event) -> list[Effect]:
        """Return what follows from `event`."""
        self.failures.shield(now, event, self._dispatch, self._follow_up)
        return self.outbox.drain()

    def _follow_up(self, now: Instant) -> bool:
        """Look at whoever waits for what moved, and take up requests; False if there was nothing to do."""
        return not self._ended and (self.replicas.settle(now) or self.server.run_ready(now))

    def _dispatch(self, now: Instant, event: Event) -> None:
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
            case DiskDone():
                self.disk_jobs.on_done(now, event)
            case Stop():
                self.lifecycle.stop(now)

    def stop(self) -> None:
        """End now: close the logs, so that the next start need not recover them; the last thing that a broker does."""
        self.replicas.close()
        clean_shutdown.write(self.disk, self.lifecycle.epoch)
        self.outbox.add(Stopped())
        self._ended = True

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
            case (lifecycle.STOP_TIMER,):
                self.outbox.note("the controller did not let this broker go in time")
                self.stop()
            case (metadata_follower.TIMER,):
                self.metadata.fetch(now)
            case (isr.TIMER,):
                self.isr.on_timer(now)
            case (isr.TIMER, TopicPartition() as tp):
                self.isr.retry(now, tp)
            case _:
                for component in self.components:
                    if component.name == key[0]:
                        component.on_timer(now, key)
                        return
                raise AssertionError(f"a timer nobody set: {key}")

    # -- metadata -----------------------------------------------------------------------------

    def publish(self, now: Instant, delta: Delta) -> None:
        """The image moved on: take over configs and leaderships first, then tell everybody else."""
        altered = delta.alters_node(self.node_id)
        if altered:
            self.configs = broker_configs(self.options.configs, self.image.broker_config(self.node_id))
        for component in self.components:
            component.before_metadata(now, delta)
        changed = self.replicas.apply(now, self._with_defaults(delta) if altered else delta)
        for tp in dict.fromkeys((*delta.partitions, *changed)):
            self.fetchers.assign(now, tp)
        if delta.brokers:
            self.fetchers.on_brokers(now)
        for component in self.components:
            for tp, leads in changed.items():
                component.on_leadership(now, tp, leads=leads)
            component.on_metadata(now, delta)

    def _with_defaults(self, delta: Delta) -> Delta:
        """Return `delta` for logs after our own configs were altered: they are the defaults of every topic."""
        topics: dict[tuple[int, str], None] = {(ResourceType.TOPIC, tp.topic): None for tp in self.replicas.partitions}
        return replace(delta, configs={**delta.configs, **topics})

    # -- what parts ask of the broker ---------------------------------------------------------

    def ask_controller(
        self, now: Instant, request: Message, version: int, on_reply: OnReply, *, channel: str = "controller"
    ) -> None:
        self.requester.send(
            now,
            self.options.controller,
            channel,
            request,
            version,
            on_reply,
            timeout_ms=self.configs.integer("request.timeout.ms"),
        )

    def ask_broker(self, now: Instant, broker_id: int, channel: str, request: Message, on_reply: OnReply) -> bool:
        """Send to another broker of this cluster; False if it is not alive."""
        endpoint = self.image.endpoint(broker_id)
        if endpoint is None:
            return False
        self.requester.send(
            now,
            endpoint,
            channel,
            request,
            self.version_of(request),
            on_reply,
            timeout_ms=self.configs.integer("request.timeout.ms"),
        )
        return True

    @property
    def mirror_enabled(self) -> bool:
        return self.image.features.get(MIRROR_VERSION, 0) >= 1

    def api_versions(self) -> Mapping[int, tuple[int, int]]:
        """Return what this broker serves now: api key to (first, last) version."""
        return versions_served("broker", mirror=self.mirror_enabled)

    def disabled_versions(self) -> Mapping[int, tuple[int, int]]:
        """Return what is answered with UNSUPPORTED_VERSION now (D1)."""
        return versions_disabled("broker", mirror=self.mirror_enabled)

    def version_of(self, request: Message) -> int:
        """Return the version in which this cluster's nodes send `request` to each other."""
        return version_served(key_of(type(request)), mirror=self.mirror_enabled)

    def foreign_epochs(self, partition: Partition) -> bool:
        return any(component.foreign_epochs(partition) for component in self.components)

    def produce_error(self, tp: TopicPartition) -> ErrorCode | None:
        for component in self.components:
            error = component.produce_error(tp)
            if error is not None:
                return error
        return None

    def marker_error(self, tp: TopicPartition) -> ErrorCode | None:
        for component in self.components:
            error = component.marker_error(tp)
            if error is not None:
                return error
        return None

    def on_progress(self, now: Instant, tp: TopicPartition) -> None:
        for component in self.components:
            component.on_progress(now, tp)

    def withholds(self, partition: Partition) -> bool:
        return any(component.withholds(partition) for component in self.components)

    def on_cut_confirmed(self, now: Instant, tp: TopicPartition) -> None:
        for component in self.components:
            component.on_cut_confirmed(now, tp)

    def coordinator_for(self, key_type: int, key: str) -> TopicPartition | None:
        for component in self.components:
            found = component.coordinator_for(key_type, key)
            if found is not None:
                return found
        return None
