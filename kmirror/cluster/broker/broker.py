"""A broker: owns logs and coordinators, takes events and returns effects.

`handle` is the only entrance. One event is worked on until nothing more follows from it inside the
broker; then the effects leave, in the order in which they arose.
"""

from __future__ import annotations

from dataclasses import replace

from kmirror.client import requester
from kmirror.cluster.broker import clean_shutdown, lifecycle, metadata_follower
from kmirror.cluster.broker.apis.routes import routes
from kmirror.cluster.broker.context import BrokerContext, BrokerOptions
from kmirror.cluster.broker.parts import build_parts
from kmirror.cluster.component import BrokerComponent
from kmirror.cluster.coordinators.transactions.apis.routes import routes as transaction_routes
from kmirror.cluster.images import Delta
from kmirror.cluster.replication import follower, isr, log_manager, replicas
from kmirror.kernel.clock import Instant
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
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.rng import Rng
from kmirror.log.disk import Disk
from kmirror.spec.wire_values import ResourceType


class Broker:
    """One broker process; a restart makes a new object over the same disk."""

    def __init__(self, options: BrokerOptions, disk: Disk, rng: Rng) -> None:
        self.context = BrokerContext(options, disk, rng)
        self.parts = build_parts(self.context, self.publish)
        self._ended = False
        self.parts.server.serve(routes(self.parts))
        self.parts.server.serve(transaction_routes(self.parts.transactions))

    def add(self, component: BrokerComponent) -> None:
        """Plug a component in; only before the first event."""
        self.parts.components.add(component)
        self.parts.server.serve(component.routes())

    # -- the entrance -------------------------------------------------------------------------

    def handle(self, now: Instant, event: Event) -> list[Effect]:
        """Return the effects of `event`, in the order in which they arose."""
        self.context.failures.shield(now, event, self._dispatch, self._follow_up)
        return self.context.outbox.drain()

    def _follow_up(self, now: Instant) -> bool:
        """Wake the waiters of partitions that moved, and handle requests; return whether there was any."""
        if self.parts.lifecycle.may_stop and not self._ended:
            self._stop()
        self.parts.logs.settle(now)
        return not self._ended and (self.parts.replicas.wake_waiters(now) or self.parts.server.run_ready(now))

    def _stop(self) -> None:
        """Close the logs, so that the next start need not recover them, and end."""
        try:
            self.parts.replicas.close()
            if self.parts.lifecycle.recovered or self.context.previous_epoch is not None:
                # Logs that nobody has recovered yet are as torn as they were.
                clean_shutdown.write(self.context.disk, self.parts.lifecycle.epoch)
        finally:  # The broker ends even if the disk fails; its next start recovers the logs.
            self.context.outbox.add(Stopped())
            self._ended = True

    def _dispatch(self, now: Instant, event: Event) -> None:
        context, parts = self.context, self.parts
        match event:
            case RequestReceived(link, frame):
                parts.server.on_frame(now, link, frame)
            case ResponseReceived(peer_link, frame):
                context.requester.on_response(now, peer_link, frame)
            case TimerFired(key):
                self._on_timer(now, key)
            case LinkClosed(OutboundLink() as lost):
                context.requester.on_link_closed(now, lost)
            case LinkClosed(InboundLink() as gone):
                parts.server.on_closed(gone)
            case LinkOpened():
                parts.server.on_opened(event)
            case Started():
                parts.lifecycle.start(now)
                parts.metadata.fetch(now)
                parts.isr.start(now)
                parts.replicas.start(now)
                parts.logs.start(now)
            case DiskDone():
                context.disk_jobs.on_done(now, event)
            case Stop():
                parts.lifecycle.stop(now)

    def _on_timer(self, now: Instant, key: TimerKey) -> None:
        parts = self.parts
        match key:
            case (requester.TIMER, int(correlation_id)):
                self.context.requester.on_timeout(now, correlation_id)
            case (replicas.CHECKPOINT_TIMER,):
                parts.replicas.checkpoint(now)
            case (replicas.TIMER, int(parked)):
                parts.replicas.on_timer(now, parked)
            case (follower.TIMER, int(leader)):
                parts.fetchers.on_timer(now, leader)
            case (lifecycle.TIMER,):
                parts.lifecycle.on_timer(now)
            case (lifecycle.STOP_TIMER,):
                parts.lifecycle.give_up_waiting()
            case (metadata_follower.TIMER,):
                parts.metadata.fetch(now)
            case (isr.TIMER,):
                parts.isr.on_timer(now)
            case (isr.TIMER, TopicPartition() as tp):
                parts.isr.retry(now, tp)
            case (log_manager.TIMER, str(task)):
                parts.logs.on_timer(now, task)
            case _:
                parts.components.on_timer(now, key)

    # -- metadata -----------------------------------------------------------------------------

    def publish(self, now: Instant, delta: Delta) -> None:
        """Follow a change of the image: configs and leaderships first, then fetchers and components."""
        context, parts = self.context, self.parts
        altered = delta.alters_node(context.node_id)
        if altered:
            context.take_over_configs()
        parts.components.before_metadata(now, delta)
        changed = parts.replicas.apply(now, self._with_defaults(delta) if altered else delta)
        for tp in dict.fromkeys((*delta.partitions, *changed)):
            parts.fetchers.on_changed(now, tp)
        if delta.brokers:
            parts.fetchers.on_brokers(now)
        parts.components.on_metadata(now, delta, changed)

    def _with_defaults(self, delta: Delta) -> Delta:
        """Return `delta` with every topic as changed: the broker's own configs are the defaults of each log."""
        logs = self.parts.replicas.partitions
        topics: dict[tuple[int, str], None] = {(ResourceType.TOPIC, tp.topic): None for tp in logs}
        return replace(delta, configs={**delta.configs, **topics})
