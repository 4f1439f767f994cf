"""Mirroring as a component of a broker: the hooks that the broker calls (KIP-1279).

The component keeps track of the mirrored topics and of those of their partitions that this broker leads; `driver.py`
moves each of these partitions along.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from kmirror.client.remote_cluster import Changes, RemoteCluster
from kmirror.cluster.broker.parts import BrokerParts
from kmirror.cluster.component import BrokerComponent, CommitCheck
from kmirror.cluster.coordinators.groups.coordinator import GroupCoordinator
from kmirror.cluster.images import Delta
from kmirror.cluster.metrics import Sample
from kmirror.cluster.node.partition import Partition
from kmirror.cluster.server import Routes
from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.kernel.events import TimerKey
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.runner_metrics import RunnerMetrics
from kmirror.mirror import access, context
from kmirror.mirror.broker_apis.routes import ROUTES
from kmirror.mirror.commit_check import commit_check_for
from kmirror.mirror.configs import mirror_configs
from kmirror.mirror.context import NAME, MirrorContext
from kmirror.mirror.driver import PartitionDriver
from kmirror.mirror.group_coordinators import GroupCoordinators
from kmirror.mirror.metadata_sync import MetadataSync
from kmirror.mirror.metrics import samples
from kmirror.mirror.naming import MIRROR_NAME, parse
from kmirror.mirror.partition import MirrorPartition
from kmirror.mirror.source_refresh import RefreshRequest, SourceRefresh
from kmirror.mirror.states import MirrorState
from kmirror.mirror.uncut_replicas import has_new_confirmation
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.topics import MIRROR_STATE_TOPIC
from kmirror.spec.wire_values import CoordinatorType, ResourceType


class MirrorComponent(BrokerComponent):
    """The mirroring of one broker."""

    name = NAME

    def __init__(self, parts: BrokerParts) -> None:
        self.context = MirrorContext(parts.context, parts.replicas, parts.internal_topics)
        self.guarded_topics = self.context.assignments
        self._driver = PartitionDriver(self.context)
        driver = self._driver
        self._refresh = SourceRefresh(self.context, driver.stop_fetching, driver.schedule_step, self._on_refreshed)
        groups = GroupCoordinators(parts.components.get(GroupCoordinator), parts.internal_topics)
        self._sync = MetadataSync(self.context, groups)
        self._altered_topics: dict[str, None] = {}
        """Topics whose mirror or wish the current change of the image alters."""

    def routes(self) -> Routes:
        return {request: partial(handler, self.context) for request, handler in ROUTES.items()}

    # -- queries of the broker -----------------------------------------------------------------

    def metrics(self, now: Instant, runner_metrics: RunnerMetrics) -> Iterable[Sample]:
        return samples(self.context, self._driver.fetchers, now, runner_metrics.links)

    def coordinator_for(self, key_type: int, key: str) -> TopicPartition | None:
        """Return the partition of `__mirror_state` whose leader coordinates mirror `key`; None for other key types."""
        if key_type != CoordinatorType.MIRROR:
            return None
        return self.context.coordinator.shard_of_mirror(key) or TopicPartition(MIRROR_STATE_TOPIC, 0)

    def produce_error(self, tp: TopicPartition) -> ErrorCode | None:
        return access.produce_error(self.context, tp)

    def marker_error(self, tp: TopicPartition) -> ErrorCode | None:
        return access.marker_error(self.context, tp)

    def commit_check(self, client_id: str) -> CommitCheck | None:
        return commit_check_for(self.context, client_id)

    def withholds_log(self, partition: Partition) -> bool:
        return access.withholds_log(self.context, partition)

    def has_foreign_epochs(self, partition: Partition) -> bool:
        return access.has_foreign_epochs(self.context, partition)

    def may_compact(self, partition: Partition) -> bool:
        return access.may_compact(self.context, partition)

    # -- events -------------------------------------------------------------------------

    def before_metadata(self, now: Instant, delta: Delta) -> None:
        """Read the assignments before leaderships take effect: `has_foreign_epochs` depends on them."""
        for kind, topic in delta.configs:
            if kind != ResourceType.TOPIC:
                continue
            before = self.context.assignments.get(topic)
            assignment = parse(self.context.broker.image.configs.topic(topic).get(MIRROR_NAME, ""))
            if assignment != before:
                self.context.assign(topic, assignment)
                self._altered_topics[topic] = None

    def on_metadata(self, now: Instant, delta: Delta) -> None:
        """Follow changed mirrors and assignments, and do the next step of the partitions that changed."""
        mirrors = [name for kind, name in delta.configs if kind == ResourceType.MIRROR]
        if mirrors:
            self._refresh.apply_mirrors(now)
            self._schedule_all(now, mirrors)  # The source's cluster id may have been stored.
        deleted = [name for name in mirrors if mirror_configs(self.context.broker.image, name) is None]
        for mirror in deleted:
            self._sync.forget(mirror)
            self.context.forget_settled_epochs(mirror)
        if deleted or any(topic in self._altered_topics for topic in delta.topics_deleted):
            self._remove_orphans()
        if MIRROR_STATE_TOPIC in delta.topics_deleted:
            self._schedule_all(now, self.context.sources)  # Leaders write their states again (D68).
            for mirror in self.context.sources:  # The refresh creates the topic again.
                self.context.refresh_soon(now, mirror)
        if delta.alters_node(self.context.broker.node_id):
            self._schedule_all(now, self.context.sources)
        for kind, topic in delta.configs:
            if kind == ResourceType.TOPIC:
                self._follow_topic(now, topic)
        altered_topics, self._altered_topics = self._altered_topics, {}
        for topic in dict.fromkeys((*altered_topics, *delta.topics_created, *delta.topics_deleted)):
            self._refresh.on_topic(now, topic)
        for tp in delta.partitions:
            mp = self.context.partitions.get(tp)
            if mp is not None:
                self._driver.schedule_step(now, mp)
            elif tp.topic == MIRROR_STATE_TOPIC:
                self.context.states.reroute()

    def _remove_orphans(self) -> None:
        """Remove the states of deleted mirrors and topics; a write that fails now is retried."""

        def on_done(now: Instant, error: ErrorCode) -> None:
            if error not in (ErrorCode.NONE, ErrorCode.NOT_COORDINATOR):  # Else another leader does it as it loads.
                self.context.broker.outbox.set_timer(
                    (NAME, context.ORPHANS_TIMER), now + context.RETRY_MS * MILLISECOND
                )

        self.context.coordinator.remove_orphans(on_done)

    def _schedule_all(self, now: Instant, mirrors: Iterable[str]) -> None:
        for mirror in mirrors:
            for mp in self.context.partitions_of(mirror):
                self._driver.schedule_step(now, mp)

    def _follow_topic(self, now: Instant, topic: str) -> None:
        """Follow changed configs of a topic, such as `mirror.name` and `min.insync.replicas`."""
        image = self.context.broker.image.topics.get(topic)
        for index in () if image is None else image.partitions:
            partition = self.context.replicas.partitions.find_led(TopicPartition(topic, index))
            if partition is not None:
                self._follow_assignment(now, partition.tp, partition)

    def on_leadership(self, now: Instant, tp: TopicPartition, *, leads: bool) -> None:
        """Load or drop a shard of `__mirror_state`, or begin or end the work for a mirrored partition."""
        if tp.topic == MIRROR_STATE_TOPIC:
            loaded = self.context.coordinator.runtime.on_leadership(now, tp, leads=leads)
            if loaded:
                self._remove_orphans()  # Its former leader may have died before it had removed them.
                for mirror in self.context.sources:
                    self.context.refresh_soon(now, mirror)
            return
        if not leads:
            self._forget(tp)
            return
        partition = self.context.replicas.partitions[tp]
        self._on_new_leader_epoch(partition)
        self._follow_assignment(now, tp, partition)

    def _on_new_leader_epoch(self, partition: Partition) -> None:
        """Drop all work under way: another broker may have led in between, so the persisted state counts (D9)."""
        mp = self.context.partitions.get(partition.tp)
        if mp is not None:
            self._driver.stop_fetching(mp)
            self.context.add_partition(mp.for_new_leader(led_before=partition.led_before))

    def _follow_assignment(self, now: Instant, tp: TopicPartition, partition: Partition) -> None:
        assignment = self.context.assignments.get(tp.topic)
        mp = self.context.partitions.get(tp)
        if assignment is None:
            self._forget(tp)
            if mp is not None:  # Its mirror was deleted, perhaps before this leader knew that it is STOPPED (D14).
                self.context.replicas.appends.assign_epoch(partition)
            self.context.replicas.changes.mark_changed(tp)  # It may have been withheld until now (D30).
            return
        if mp is None or mp.assignment.mirror != assignment.mirror or mp.topic_id != partition.topic_id:
            self._forget(tp)
            mp = MirrorPartition(tp, partition.topic_id, assignment)
            self.context.add_partition(mp)
            self._refresh.on_leadership(now, assignment.mirror)
        mp.assignment = assignment
        mp.retry_at = 0
        self._driver.schedule_step(now, mp)

    def _forget(self, tp: TopicPartition) -> None:
        mp = self.context.remove_partition(tp)
        if mp is not None:
            self._driver.stop_fetching(mp)

    def on_cut_confirmed(self, now: Instant, tp: TopicPartition) -> None:
        self.context.replicas.changes.mark_changed(tp)  # `on_progress` persists it.

    def on_progress(self, now: Instant, tp: TopicPartition) -> None:
        """Look at a partition that waits for its replicas; in MIRRORING only follow the source's log start."""
        mp = self.context.partitions.get(tp)
        if mp is None:
            return
        if mp.state in (MirrorState.PREPARING, MirrorState.STOPPING):
            if not mp.is_busy:  # Otherwise the pending response triggers the step.
                self._driver.schedule_step(now, mp)
            return
        partition = self.context.replicas.partitions.find_led(tp)
        if partition is not None and has_new_confirmation(mp, partition):
            self._driver.schedule_step(now, mp)
        elif mp.state is MirrorState.MIRRORING:
            self._driver.fetchers.raise_log_start(mp)

    def _on_refreshed(
        self, now: Instant, mirror: str, source: RemoteCluster, refreshed: RefreshRequest, changes: Changes
    ) -> None:
        """Look at the partitions for which a response of the source may make a step possible."""
        self._sync.run(now, mirror, source, refreshed)
        if changes.cluster_id:
            self._schedule_all(now, [mirror])
            return
        of_topics = [mp for topic in changes.topics for mp in self.context.led_of_topic(topic)]
        with_new_leaders = [mp for tp in changes.partitions if (mp := self.context.partitions.get(tp)) is not None]
        for mp in (*of_topics, *with_new_leaders, *self.context.waiting_for(mirror)):
            if mp.assignment.mirror == mirror:
                self._driver.schedule_step(now, mp)

    def on_timer(self, now: Instant, key: TimerKey) -> None:
        match key:
            case (_, context.RETRY_TIMER):
                for mp in self.context.take_retries(now):
                    self._driver.schedule_step(now, mp)
            case (_, context.ORPHANS_TIMER):
                self._remove_orphans()
            case (_, context.STEP_TIMER):
                self._driver.continue_steps()
            case (_, context.UPSTREAM_TIMER):
                self._driver.request_upstream(now)
            case (_, context.REFRESH_TIMER, str(mirror)):
                self._refresh.on_timer(now, mirror)
            case (_, context.PROOF_TIMER, str(mirror)):
                self._driver.fetchers.proofs.on_timer(now, mirror)
            case (_, context.FETCH_TIMER, str(mirror), int(broker_id), int(number)):
                self._driver.fetchers.on_timer(now, mirror, broker_id, number)
            case _:
                raise AssertionError(f"unknown timer: {key}")
