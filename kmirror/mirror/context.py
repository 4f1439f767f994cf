"""What the parts of mirroring share on one broker.

The mirrored topics, the mirrored partitions that this broker leads, the sources, and a few operations that every part
needs. The parts themselves are not in here: each takes this context and names the other parts that it calls.
"""

from __future__ import annotations

from kmirror.client.remote_cluster import RemoteCluster
from kmirror.cluster.broker.context import BrokerContext
from kmirror.cluster.replication.replicas import ReplicaManager
from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.mirror.configs import SOURCE_CLUSTER_ID, mirror_configs
from kmirror.mirror.coordinator import MirrorCoordinator
from kmirror.mirror.facts import ReasonChanged, StateEntered
from kmirror.mirror.lineage import OWN, Stretches, written_by
from kmirror.mirror.naming import Assignment
from kmirror.mirror.partition import MirrorPartition
from kmirror.mirror.refresh_plan import RefreshPlan
from kmirror.mirror.state_client import StateClient
from kmirror.mirror.states import MirrorState

NAME = "mirror"
"""First element of the keys of this component's timers."""
RETRY_TIMER = "retry"
REFRESH_TIMER = "refresh"
FETCH_TIMER = "fetch"
RETRY_MS = 500


class MirrorContext:
    """What one broker knows of mirroring."""

    def __init__(self, broker: BrokerContext, replicas: ReplicaManager) -> None:
        self.broker = broker
        self.replicas = replicas
        self.coordinator = MirrorCoordinator(broker, replicas)
        self.states = StateClient(broker, self.coordinator)
        self.assignments: dict[str, Assignment] = {}
        """Topic to its mirror and what the user wants of it, for every topic that has `mirror.name`."""
        self.partitions: dict[TopicPartition, MirrorPartition] = {}
        """The mirrored partitions that this broker leads."""
        self.sources: dict[str, RemoteCluster] = {}
        """Mirror to its source."""
        self.refreshes: dict[str, RefreshPlan] = {}
        """Mirror to what it wants to know of its source's topics."""

    # -- what is known ------------------------------------------------------------------------

    def topics_of(self, mirror: str) -> list[str]:
        """Return the topics that belong to `mirror`, whatever the user wants of them."""
        return [topic for topic, a in self.assignments.items() if a.mirror == mirror]

    def partitions_of(self, mirror: str) -> list[MirrorPartition]:
        """Return the partitions of `mirror` that this broker leads."""
        return [mp for mp in self.partitions.values() if mp.assignment.mirror == mirror]

    def coordinates(self, mirror: str) -> bool:
        """Return whether this broker does the metadata sync of `mirror` (D17)."""
        return self.coordinator.leads(self.coordinator.shard_of_mirror(mirror))

    def source_cluster_id(self, mirror: str) -> str:
        """Return the id of the mirror's source as its config remembers it; empty if it was never stored (D15, D16)."""
        configs = mirror_configs(self.broker.image, mirror)
        return "" if configs is None else configs.text(SOURCE_CLUSTER_ID)

    def writers_of(self, mp: MirrorPartition | None) -> Stretches:
        """Return which clusters wrote the log of a partition that this broker leads (D45)."""
        known = OWN if mp is None else mp.lineage
        return known.stretches or written_by(self.broker.cluster_id)

    def is_present(self, mp: MirrorPartition) -> bool:
        """Return whether `mp` is still in use: the broker leads, in the same leader epoch and the same mirror."""
        return self.partitions.get(mp.tp) is mp

    def is_current(self, mp: MirrorPartition, state: MirrorState) -> bool:
        """Return whether `mp` is still in use and in `state`; an answer that was awaited is dropped otherwise."""
        return self.is_present(mp) and mp.state is state

    # -- what is said -------------------------------------------------------------------------

    def note(self, mp: MirrorPartition, text: str, fact: object = None) -> None:
        """Write a line about a partition into the trace."""
        self.broker.outbox.note(f"{mp.tp} {text}", fact)

    def note_state(self, mp: MirrorPartition, state: MirrorState, how: str = "") -> None:
        """Write into the trace which state a partition is in; the line has a StateEntered as its fact."""
        fact = StateEntered(mp.tp, mp.assignment.mirror, state, mp.last_mirrored_epoch)
        self.note(mp, f"state {state.name} {how}".rstrip(), fact)

    def note_reason(self, mp: MirrorPartition) -> None:
        """Tell why a partition waits, or that it waits no more, if that has changed since it was last told."""
        if mp.state is not None and mp.reason != mp.told_reason:
            mp.told_reason = mp.reason
            text = f"waits: {mp.reason}" if mp.reason else "waits no more"
            self.note(mp, text, ReasonChanged(mp.tp, mp.assignment.mirror, mp.state, mp.reason))

    # -- what is done later -------------------------------------------------------------------

    def retry_later(self, now: Instant, mp: MirrorPartition, reason: str) -> None:
        """Look at `mp` again after RETRY_MS, and keep `reason` as what DescribeMirrors shows until then."""
        mp.reason = reason
        mp.retry_at = now + RETRY_MS * MILLISECOND
        self.broker.outbox.set_timer((NAME, RETRY_TIMER, mp.tp), mp.retry_at)

    def refresh_soon(self, now: Instant, mirror: str, *topics: str) -> None:
        """Ask the source for the metadata of `topics`, of all if none is named.

        At once, but not before RETRY_MS after the last time.
        """
        plan = self.refreshes.setdefault(mirror, RefreshPlan())
        plan.want(topics)
        self.refresh_at(mirror, max(now, plan.not_before))

    def refresh_at(self, mirror: str, at: Instant) -> None:
        """See at `at` what is to be refreshed, unless that is done earlier."""
        plan = self.refreshes[mirror]
        if plan.timer_at is None or at < plan.timer_at:
            plan.timer_at = at
            self.broker.outbox.set_timer((NAME, REFRESH_TIMER, mirror), at)
