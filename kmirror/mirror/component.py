"""Mirroring as a component of a broker: the hooks that the broker calls (KIP-1279).

The component learns which topics are mirrored and which of their partitions this broker leads; `driver.py` moves each
of those along.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from kmirror.client.remote_cluster import Changes, RemoteCluster
from kmirror.cluster.broker.parts import BrokerParts
from kmirror.cluster.component import BrokerComponent
from kmirror.cluster.images import Delta
from kmirror.cluster.replication.partition import Partition
from kmirror.cluster.server import Routes
from kmirror.kernel.clock import Instant
from kmirror.kernel.events import TimerKey
from kmirror.kernel.ids import TopicPartition
from kmirror.mirror import access, context
from kmirror.mirror.broker_apis.routes import ROUTES
from kmirror.mirror.context import NAME, MirrorContext
from kmirror.mirror.driver import PartitionDriver
from kmirror.mirror.metadata_sync import MetadataSync
from kmirror.mirror.naming import MIRROR_NAME, parse
from kmirror.mirror.partition import MirrorPartition
from kmirror.mirror.source_refresh import SourceRefresh
from kmirror.mirror.states import MirrorState
from kmirror.mirror.uncut_replicas import has_new_confirmation
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.topics import MIRROR_STATE_TOPIC
from kmirror.spec.wire_values import CoordinatorType, ResourceType


class MirrorComponent(BrokerComponent):
    """Everything of mirroring that one broker does."""

    name = NAME

    def __init__(self, parts: BrokerParts) -> None:
        self.context = MirrorContext(parts.context, parts.replicas)
        self._driver = PartitionDriver(self.context)
        self._refresh = SourceRefresh(self.context, self._driver.stop_fetching, self._on_refreshed)
        self._sync = MetadataSync(self.context)

    def routes(self) -> Routes:
        return {request: partial(handler, self.context) for request, handler in ROUTES.items()}

    # -- what the broker asks -----------------------------------------------------------------

    def coordinator_for(self, key_type: int, key: str) -> TopicPartition | None:
        """Return the partition of `__mirror_state` whose leader coordinates mirror `key`; None for other key types."""
        if key_type != CoordinatorType.MIRROR:
            return None
        return self.context.coordinator.shard_of_mirror(key) or TopicPartition(MIRROR_STATE_TOPIC, 0)

    def produce_error(self, tp: TopicPartition) -> ErrorCode | None:
        return access.produce_error(self.context, tp)

    def marker_error(self, tp: TopicPartition) -> ErrorCode | None:
        return access.marker_error(self.context, tp)

    def withholds(self, partition: Partition) -> bool:
        return access.withholds(self.context, partition)

    def foreign_epochs(self, partition: Partition) -> bool:
        return access.foreign_epochs(self.context, partition)

    # -- what happens -------------------------------------------------------------------------

    def before_metadata(self, now: Instant, delta: Delta) -> None:
        """Read the assignments before leaderships take effect: `foreign_epochs` depends on them."""
        for kind, name in delta.configs:
            if kind != ResourceType.TOPIC:
                continue
            assignment = parse(self.context.broker.image.topic_config(name).get(MIRROR_NAME, ""))
            if assignment is None:
                self.context.assignments.pop(name, None)
            else:
                self.context.assignments[name] = assignment

    def on_metadata(self, now: Instant, delta: Delta) -> None:
        """Follow changed mirrors and assignments, and look at the partitions that changed."""
        changed = {name: None for kind, name in delta.configs if kind == ResourceType.TOPIC}
        if any(kind == ResourceType.MIRROR for kind, _ in delta.configs):
            self._refresh.apply_mirrors(now)
            self._driver.look_at_all(now)  # The source's cluster id may have been stored.
        for tp, partition in self.context.replicas.partitions.items():
            if tp.topic in changed and partition.is_leader:
                self._follow_assignment(now, tp, partition)
        for name in dict.fromkeys((*changed, *delta.topics_created, *delta.topics_deleted)):
            self._refresh.on_assignment(now, name)
        for tp in delta.partitions:
            mp = self.context.partitions.get(tp)
            if mp is not None:
                self._driver.look_at(now, mp)
            elif tp.topic == MIRROR_STATE_TOPIC:
                self._driver.look_at_all(now)

    def on_leadership(self, now: Instant, tp: TopicPartition, *, leads: bool) -> None:
        """Load or drop a shard of `__mirror_state`, or begin or end the work for a mirrored partition."""
        if tp.topic == MIRROR_STATE_TOPIC:
            loaded = self.context.coordinator.runtime.on_leadership(now, tp, leads=leads)
            if loaded:
                for mirror in self.context.sources:
                    self.context.refresh_soon(now, mirror)
            return
        if not leads:
            self._forget(tp)
            return
        self._on_new_leader_epoch(tp)
        self._follow_assignment(now, tp, self.context.replicas.partitions[tp])

    def _on_new_leader_epoch(self, tp: TopicPartition) -> None:
        """Forget what was under way: another broker may have led in between, so the persisted state counts (D9)."""
        mp = self.context.partitions.get(tp)
        if mp is not None:
            self._driver.stop_fetching(mp)
            self.context.partitions[tp] = mp.for_new_leader()

    def _follow_assignment(self, now: Instant, tp: TopicPartition, partition: Partition) -> None:
        assignment = self.context.assignments.get(tp.topic)
        mp = self.context.partitions.get(tp)
        if assignment is None:
            self._forget(tp)
            return
        if mp is None or mp.assignment.mirror != assignment.mirror or mp.topic_id != partition.topic_id:
            self._forget(tp)
            mp = self.context.partitions[tp] = MirrorPartition(tp, partition.topic_id, assignment)
        mp.assignment = assignment
        mp.retry_at = 0
        self._driver.look_at(now, mp)

    def _forget(self, tp: TopicPartition) -> None:
        mp = self.context.partitions.pop(tp, None)
        if mp is not None:
            self._driver.stop_fetching(mp)

    def on_cut_confirmed(self, now: Instant, tp: TopicPartition) -> None:
        self.context.replicas.touch(tp)  # `on_progress` persists it.

    def on_progress(self, now: Instant, tp: TopicPartition) -> None:
        """Look at a partition that waits for its replicas; in MIRRORING only follow the source's log start."""
        mp, partition = self.context.partitions.get(tp), self.context.replicas.led(tp)
        if mp is None or partition is None:
            return
        waits = mp.state in (MirrorState.PREPARING, MirrorState.STOPPING)
        if waits or has_new_confirmation(mp, partition):
            self._driver.look_at(now, mp)
        elif mp.state is MirrorState.MIRRORING:
            self._driver.fetchers.raise_log_start(mp)

    def settle(self, now: Instant) -> bool:
        return self._driver.settle(now)

    def _on_refreshed(
        self, now: Instant, mirror: str, source: RemoteCluster, topics: Sequence[str], changes: Changes
    ) -> None:
        """Create what is missing here of the topics asked about, and look at the partitions of which there is news."""
        self._sync.run(now, mirror, source, topics)
        for mp in self.context.partitions_of(mirror) if changes.cluster_id else self._changed(changes):
            if mp.assignment.mirror == mirror:
                self._driver.look_at(now, mp)

    def _changed(self, changes: Changes) -> list[MirrorPartition]:
        """Return the partitions led here whose topic or whose leader at the source is another one."""
        here = self.context.broker.image.topics
        concerned = [
            TopicPartition(name, index) for name in changes.topics if name in here for index in here[name].partitions
        ]
        found = (self.context.partitions.get(tp) for tp in dict.fromkeys((*concerned, *changes.partitions)))
        return [mp for mp in found if mp is not None]

    def on_timer(self, now: Instant, key: TimerKey) -> None:
        match key:
            case (_, context.RETRY_TIMER, TopicPartition() as tp):
                mp = self.context.partitions.get(tp)
                if mp is not None:
                    self._driver.look_at(now, mp)
            case (_, context.REFRESH_TIMER, str(mirror)):
                self._refresh.on_timer(now, mirror)
            case (_, context.FETCH_TIMER, str(mirror), int(broker_id), int(number)):
                self._driver.fetchers.on_timer(now, mirror, broker_id, number)
            case _:
                raise AssertionError(f"a timer nobody set: {key}")
