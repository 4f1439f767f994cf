"""State shared by all parts of a running history: clusters, account, story and clock.

`Scene` decides nothing. Its methods that read the state of clusters also work while a controller is down: they then use
the state of the brokers, because clients are served from it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from kmirror.cluster.coordinators.groups.classic.group import ClassicGroup
from kmirror.cluster.coordinators.groups.coordinator import GroupCoordinator
from kmirror.cluster.images import MetadataImage
from kmirror.cluster.node.partition import Partition
from kmirror.histories.account import Account, Span
from kmirror.histories.metadata_cache import MetadataCache
from kmirror.histories.plan import Plan
from kmirror.histories.scripts import Scripts
from kmirror.kernel.clock import MILLISECOND, Duration, Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.rng import Rng
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.component import MirrorComponent
from kmirror.mirror.context import MirrorContext
from kmirror.sim.cluster import Cluster
from kmirror.sim.simulation import Simulation
from kmirror.sim.world import Process
from kmirror.spec.api_keys import API_KEYS
from kmirror.spec.apis import version_served
from kmirror.spec.releases import has_topic_ids, last_version
from kmirror.spec.topics import is_internal


@dataclass(slots=True)
class Trap:
    """An action to run after a partition enters a state or cuts its log, or after another event of replication."""

    cluster: str
    topic: str
    event: str
    """Name of a state, CUT, or a row of REPLICATION_EVENTS."""
    spring: Callable[[TopicPartition], None]
    check: Callable[[], TopicPartition | None] | None = None
    """For an event of replication: return its partition if it has happened since the last call, else None. Called after
    every event of the simulation.
    """


@dataclass(slots=True)
class Scene:
    plan: Plan
    simulation: Simulation
    clusters: dict[str, Cluster] = field(default_factory=dict)
    metadata_caches: dict[str, MetadataCache] = field(default_factory=dict)
    account: Account = field(default_factory=Account)
    story: list[tuple[Instant, str]] = field(default_factory=list)
    traps: list[Trap] = field(default_factory=list)
    open_spans: dict[tuple[str, str], Instant] = field(default_factory=dict)
    """(kind, subject) of each node or line that is down or disturbed now, to the time at which that began."""
    began: Instant = 0
    writing: bool = True
    """Producers continue while true; then they finish their current work and stop."""
    reading: bool = True
    clients_paused_until: Instant = 0
    """Clients do nothing before this time. A long pause costs few events."""
    busy: int = 0
    """Number of producers that have not finished yet."""
    scripts: Scripts = field(init=False)

    def __post_init__(self) -> None:
        self.scripts = Scripts(self.simulation.world)

    @property
    def now(self) -> Instant:
        """Return microseconds since the clusters were up."""
        return self.simulation.world.now - self.began

    def note(self, text: str) -> None:
        """Add a line to the story."""
        self.story.append((self.now, text))

    def after(self, span_us: Duration, action: Callable[[], None]) -> None:
        """Schedule `action` in `span_us` microseconds."""
        world = self.simulation.world
        world.at(world.now + span_us, action)

    def after_ms(self, span_ms: int, action: Callable[[], None]) -> None:
        self.after(span_ms * MILLISECOND, action)

    def rng(self, name: str) -> Rng:
        """Return an independent random stream for `name`: draws from other streams do not shift it."""
        return Rng(self.plan.seed).split(f"history {name}")

    # -- spans --------------------------------------------------------------------------------

    def begin_span(self, kind: str, subject: str) -> None:
        self.open_spans[kind, subject] = self.now

    def end_span(self, kind: str, subject: str) -> None:
        """Record that the subject was down or disturbed until now; do nothing if it was not."""
        begin = self.open_spans.pop((kind, subject), None)
        if begin is not None:
            self.account.spans.append(Span(kind, subject, begin, self.now))

    # -- state of clusters ---------------------------------------------------------------------

    def process(self, cluster: str, node_id: int) -> Process:
        """Return the process in which a node runs or ran."""
        return self.simulation.world.processes[self.clusters[cluster].process(node_id)]

    def local_time(self, cluster: str, node_id: int) -> Instant:
        """Return the time shown by a node's clock."""
        return self.process(cluster, node_id).local(self.simulation.world.now)

    def image(self, cluster: str) -> MetadataImage:
        """Return the controller's image, or its last one if the controller is down."""
        return self.clusters[cluster].image

    def leader(self, cluster: str, tp: TopicPartition) -> Partition | None:
        """Return the partition at the running broker that leads it in the highest epoch, or None.

        A broker that has not learned of the topic's deletion is ignored, even if a new topic has the same name.
        """
        found = self.clusters[cluster]
        topic = self.image(cluster).topics.get(tp.topic)
        best: Partition | None = None
        for broker_id in found.broker_ids:
            if found.runs(broker_id):
                led = found.broker(broker_id).parts.replicas.partitions.find_led(tp)
                if led is None or topic is None or led.topic_id != topic.topic_id:
                    continue
                if best is None or led.leader_epoch > best.leader_epoch:
                    best = led
        return best

    def mirror_component(self, cluster: str, broker_id: int) -> MirrorComponent | None:
        """Return the mirror component of a running broker; None if its release has no mirrors."""
        components = self.clusters[cluster].broker(broker_id).parts.components
        return next((part for part in components if isinstance(part, MirrorComponent)), None)

    def mirror_context(self, cluster: str, broker_id: int) -> MirrorContext | None:
        """Return the mirror context of a running broker; None if its release has no mirrors."""
        component = self.mirror_component(cluster, broker_id)
        return None if component is None else component.context

    def partitions(self, cluster: str) -> list[TopicPartition]:
        """Return all partitions of topics that are not internal."""
        topics = self.image(cluster).topics
        return [TopicPartition(n, i) for n in sorted(topics) if not is_internal(n) for i in topics[n].partitions]

    def committed_offsets(self, cluster: str) -> dict[tuple[str, TopicPartition], tuple[int, int, str]]:
        """Return the committed offsets of consumer groups: offset, leader epoch and metadata by (group, partition)."""
        found: dict[tuple[str, TopicPartition], tuple[int, int, str]] = {}
        brokers = self.clusters[cluster]
        for broker_id in brokers.living():
            for shard in brokers.broker(broker_id).parts.components.get(GroupCoordinator).runtime.states().values():
                for name in [name for group in shard.offsets.groups() for name in shard.offsets.keys(group)]:
                    offset = shard.offsets.committed(name)
                    if offset is not None:
                        found[name.group, name.tp] = offset.offset, offset.leader_epoch, offset.metadata
        return found

    def pending_offsets(self, cluster: str) -> list[tuple[str, TopicPartition]]:
        """Return the groups and partitions for which an open transaction has committed offsets."""
        brokers = self.clusters[cluster]
        shards = [
            shard
            for broker_id in brokers.living()
            for shard in brokers.broker(broker_id).parts.components.get(GroupCoordinator).runtime.states().values()
        ]
        keys = [
            name for shard in shards for group in shard.offsets.groups() for name in shard.offsets.pending_keys(group)
        ]
        return [(name.group, name.tp) for name in keys]

    def has_members(self, cluster: str, group: str) -> bool:
        """Return whether the group has members in this cluster now."""
        brokers = self.clusters[cluster]
        found = (
            brokers.broker(broker_id).parts.components.get(GroupCoordinator).find(group)
            for broker_id in brokers.living()
        )
        return any(isinstance(one, ClassicGroup) and one.members for one in found)

    def topic_id(self, cluster: str, topic: str) -> Uuid:
        """Return a topic's id as clients see it; zeros if there is no such topic, or the release has no topic ids."""
        known = self.image(cluster).topics.get(topic)
        return Uuid.ZERO if known is None or not self.has_topic_ids(cluster) else known.topic_id

    def has_topic_ids(self, cluster: str) -> bool:
        """Return whether the brokers of a cluster report topic ids."""
        return has_topic_ids(self.release(cluster))

    def release(self, cluster: str) -> str:
        """Return the earlier release that a cluster imitates; empty for none."""
        return next(row.release for row in self.plan.clusters if row.name == cluster)

    def last_version(self, cluster: str, api: str) -> int:
        """Return the last version of an API that the brokers of a cluster offer to clients, according to the plan."""
        release = self.release(cluster)
        return last_version(api, release) if release else version_served(API_KEYS[api], mirror=True)
