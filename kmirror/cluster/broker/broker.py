"""A broker: owns logs and coordinators, takes events and returns effects.

`handle` is the only entry point. It processes an event and everything that follows from it inside the broker, then
returns the effects in the order in which they arose.
"""

from __future__ import annotations

from dataclasses import replace

from kmirror.client import requester
from kmirror.cluster.broker import metadata_follower
from kmirror.cluster.broker.apis.routes import routes
from kmirror.cluster.broker.metrics import broker_metrics
from kmirror.cluster.broker.parts import build_parts
from kmirror.cluster.component import BrokerComponent
from kmirror.cluster.images import Delta
from kmirror.cluster.metrics import Sample
from kmirror.cluster.node import lifecycle
from kmirror.cluster.node.clean_shutdown import CloseLogs
from kmirror.cluster.node.context import BrokerContext, BrokerOptions
from kmirror.cluster.replication import checkpoints, follower, log_tasks, purgatory
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
from kmirror.kernel.rng import Rng
from kmirror.kernel.runner_metrics import RunnerMetrics
from kmirror.log.disk import Disks
from kmirror.spec.wire_values import ResourceType


class Broker:
    """One broker process; a restart creates a new object over the same disks (its log directories)."""

    def __init__(self, options: BrokerOptions, disks: Disks, rng: Rng) -> None:
        self.context = BrokerContext(options, disks, rng)
        self.parts = build_parts(self.context, self.publish)
        self._is_stopping = False
        """True once the broker shuts down: from then on only disk events are handled."""
        self._is_closing = False
        self.parts.server.serve(routes(self.parts))

    def add(self, component: BrokerComponent) -> None:
        """Plug in a component; allowed only before the first event."""
        self.parts.components.add(component)
        self.parts.server.serve(component.routes())

    # -- the entry point ----------------------------------------------------------------------

    def handle(self, now: Instant, event: Event) -> list[Effect]:
        """Return the effects of `event`, in the order in which they arose."""
        context = self.context
        self.parts.server.meters.now = now
        context.failures.process(now, event, self._dispatch, self._follow_up)
        return context.outbox.drain()

    def metrics(self, now: Instant, runner_metrics: RunnerMetrics) -> list[Sample]:
        """Return the metrics of the broker and its components (`spec.metrics`)."""
        component_samples = (
            sample for component in self.parts.components for sample in component.metrics(now, runner_metrics)
        )
        return [*broker_metrics(self.parts, now, runner_metrics), *component_samples]

    def _follow_up(self, now: Instant) -> bool:
        """Wake waiters of changed partitions, run ready requests or deferred work; return whether any was done."""
        parts = self.parts
        if self.context.newly_failed_dirs:
            self._take_offline(now)
        if self.context.disk_error is not None:
            parts.lifecycle.stop(now)
        if self._is_stopping or parts.lifecycle.may_stop:
            self._stop()
            return False
        changes, server = parts.replicas.changes, parts.server
        if changes.grown_logs or changes.renamed_dirs:
            parts.logs.settle(now)
        if changes.changed and parts.replicas.purgatory.wake_waiters(now):
            return True
        if server.links.ready and server.run_ready(now):
            return True
        return self.context.run_deferred(now)

    def _take_offline(self, now: Instant) -> None:
        """Take partitions in failed log directories offline, publish that change, and report the directories."""
        failed_dirs, self.context.newly_failed_dirs = self.context.newly_failed_dirs, {}
        offline = self.parts.replicas.take_offline(failed_dirs)
        self.parts.logs.take_offline(failed_dirs)
        self.publish(now, Delta(partitions=dict.fromkeys(offline)))
        self.parts.lifecycle.report_failed_directories(now)

    def _stop(self) -> None:
        """Close the logs once the disks are idle, so that the next start need not recover them; then stop."""
        if not self._is_stopping:
            self._is_stopping = True
            self.parts.logs.stop()
        if self.context.disk_jobs.idle and not self._is_closing:
            self._is_closing = True
            partitions = self.parts.replicas.partitions.values()
            for disk in self.context.log_dirs.online:
                logs = [partition.log for partition in partitions if partition.log_dir == disk.log_dir]
                # Logs that are not fully recovered must not be marked as cleanly closed.
                is_clean = self.parts.lifecycle.recovered or disk.log_dir in self.context.clean_epochs
                epoch = self.parts.lifecycle.epoch if is_clean else None
                self.context.disk_jobs.submit(disk.log_dir, CloseLogs(disk, logs, epoch), self._on_closed)

    def _on_closed(self, now: Instant, done: DiskDone) -> None:
        if done.error is not None:  # The broker still stops; its next start recovers the logs.
            self.context.outbox.note(f"the logs could not be closed: {done.error}")
        if self.context.disk_jobs.idle:
            self.context.outbox.add(Stopped())

    def _dispatch(self, now: Instant, event: Event) -> None:
        context, parts = self.context, self.parts
        if self._is_stopping and not isinstance(event, DiskDone):
            return
        # The most frequent event, handled first: a class pattern costs as much as the first steps of a handler.
        if type(event) is RequestReceived:
            parts.server.on_frame(now, event.link, event.frame)
            return
        match event:
            case ResponseReceived(peer_link, frame):
                context.requester.on_response(now, peer_link, frame)
            case TimerFired(key):
                self._on_timer(now, key)
            case LinkClosed(OutboundLink() as link, reason):
                context.requester.on_link_closed(now, link, reason)
            case LinkClosed(InboundLink() as link):
                parts.server.on_closed(link)
            case LinkOpened():
                parts.server.on_opened(event)
            case Started():
                parts.lifecycle.start(now)
                parts.metadata.fetch(now)
                parts.isr.start(now)
                parts.replicas.checkpoints.start(now)
                parts.logs.start(now)
            case DiskDone():
                context.disk_jobs.on_done(now, event)
            case Stop():
                parts.lifecycle.stop(now)

    def _on_timer(self, now: Instant, key: TimerKey) -> None:
        parts = self.parts
        match key:
            case (purgatory.TIMER, int(waiting_id)):
                parts.replicas.purgatory.on_timer(now, waiting_id)
            case (checkpoints.TIMER,):
                parts.replicas.checkpoints.write(now)
            case (requester.TIMER, int(correlation_id)):
                self.context.requester.on_timeout(now, correlation_id)
            case (follower.TIMER, int(leader)):
                parts.fetchers.on_timer(now, leader)
            case (lifecycle.TIMER,):
                parts.lifecycle.on_timer(now)
            case (lifecycle.DIRECTORIES_TIMER, int(count)):
                parts.lifecycle.on_directories_timer(count)
            case (lifecycle.STOP_TIMER,):
                parts.lifecycle.on_stop_timeout()
            case (metadata_follower.TIMER,):
                parts.metadata.fetch(now)
            case (log_tasks.TIMER, str(task)):
                parts.logs.on_timer(now, task)
            case _:
                parts.components.on_timer(now, key)

    # -- metadata -----------------------------------------------------------------------------

    def publish(self, now: Instant, delta: Delta) -> None:
        """Apply an image change: configs and leaderships first, then fetchers and components."""
        context, parts = self.context, self.parts
        parts.metadata_responses.apply(delta)
        has_new_configs = delta.alters_node(context.node_id)
        if has_new_configs:
            context.apply_configs()
        parts.components.before_metadata(now, delta)
        leaderships = parts.replicas.apply(now, self._with_defaults(delta) if has_new_configs else delta)
        for kind, name in delta.configs:
            if kind == ResourceType.TOPIC:
                parts.fetchers.on_topic_config(name)
        for tp in dict.fromkeys((*delta.partitions, *leaderships)):
            parts.fetchers.on_changed(now, tp)
        if delta.brokers:
            parts.fetchers.on_brokers(now, delta.brokers)
        parts.components.on_metadata(now, delta, leaderships)

    def _with_defaults(self, delta: Delta) -> Delta:
        """Return `delta` with every topic marked as changed: the broker's own configs are each log's defaults."""
        logs = self.parts.replicas.partitions
        topics: dict[tuple[int, str], None] = {(ResourceType.TOPIC, tp.topic): None for tp in logs}
        return replace(delta, configs={**delta.configs, **topics})
