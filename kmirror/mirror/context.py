"""State and operations that the parts of mirroring share on one broker.

The mirrored topics, the mirrored partitions that this broker leads, the sources, and a few operations that every part
needs. The parts themselves are not in here: each takes this context and the other parts that it calls.
"""

from __future__ import annotations

from kmirror.client.remote_cluster import RemoteCluster
from kmirror.cluster.broker.internal_topics import InternalTopics
from kmirror.cluster.node.context import BrokerContext
from kmirror.cluster.replication.replicas import ReplicaManager
from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.mirror.configs import SOURCE_CLUSTER_ID, mirror_configs
from kmirror.mirror.coordinator import MirrorCoordinator
from kmirror.mirror.facts import ReasonChanged, StateEntered
from kmirror.mirror.lineage import Stretches, parse_lineages, single_stretch, with_local_names
from kmirror.mirror.naming import MIRROR_LINEAGE, Assignment
from kmirror.mirror.partition import MirrorPartition
from kmirror.mirror.proved_brokers import ProvedBroker
from kmirror.mirror.refresh_plan import RefreshPlan
from kmirror.mirror.state_client import StateClient
from kmirror.mirror.states import MirrorState, Wish
from kmirror.mirror.sync_errors import SyncErrors

NAME = "mirror"
"""First element of the keys of this component's timers."""
RETRY_TIMER = "retry"
STEP_TIMER = "look"
REFRESH_TIMER = "refresh"
FETCH_TIMER = "fetch"
ORPHANS_TIMER = "orphans"
UPSTREAM_TIMER = "upstream"
PROOF_TIMER = "proof"
RETRY_MS = 500


class MirrorContext:
    """The shared state of mirroring on one broker."""

    def __init__(self, broker: BrokerContext, replicas: ReplicaManager, internal_topics: InternalTopics) -> None:
        self.broker = broker
        self.replicas = replicas
        self.coordinator = MirrorCoordinator(broker, replicas, internal_topics)
        self.states = StateClient(broker, self.coordinator)
        self.assignments: dict[str, Assignment] = {}
        """Topic to its mirror and the user's wish, for every topic that has `mirror.name`; see `assign`."""
        self.sync_errors = SyncErrors()
        self.partitions: dict[TopicPartition, MirrorPartition] = {}
        """The mirrored partitions that this broker leads; see `add_partition` and `remove_partition`."""
        self.sources: dict[str, RemoteCluster] = {}
        """Mirror to its source."""
        self.source_errors: dict[str, str] = {}
        """Mirror to the reason why its source cannot be reached, for mirrors with a security problem."""
        self.not_created: dict[str, dict[str, str]] = {}
        """Mirror to the topics that its last sync could not create here, each with the reason."""
        self.unclean_topics: dict[str, list[str]] = {}
        """Mirror to those of its topics that allowed unclean elections at the source in the last sync cycle (D67)."""
        self.refreshes: dict[str, RefreshPlan] = {}
        """Mirror to the topics whose metadata it needs from the source."""
        self.proved: dict[tuple[str, Endpoint], ProvedBroker] = {}
        """Mirror and broker of its source to the proofs of that broker (D77)."""
        self._topics: dict[str, dict[str, None]] = {}
        """Mirror to its topics."""
        self._led_partitions: dict[str, dict[TopicPartition, None]] = {}
        """Topic to its partitions in `partitions`."""
        self._waiting: dict[TopicPartition, None] = {}
        """Partitions with a reported reason to wait: any response of their source may end the wait."""
        self._retries: dict[TopicPartition, Instant] = {}
        """Times at which to look again at partitions whose last step failed, the earliest first."""
        self._upstream_requests: dict[TopicPartition, None] = {}
        """Partitions that need to know where their source's log is mirrored from (D58)."""

    # -- topics and partitions ------------------------------------------------------------------

    def assign(self, topic: str, assignment: Assignment | None) -> None:
        """Record which mirror `topic` belongs to, None for no mirror."""
        before = self.assignments.pop(topic, None) if assignment is None else self.assignments.get(topic)
        if before is not None and (assignment is None or before.mirror != assignment.mirror):
            del self._topics[before.mirror][topic]
        if assignment is not None:
            self.assignments[topic] = assignment
            self._topics.setdefault(assignment.mirror, {})[topic] = None

    def add_partition(self, mp: MirrorPartition) -> None:
        """Begin the work for a partition that this broker leads, replacing its earlier state here."""
        self.partitions[mp.tp] = mp
        self._led_partitions.setdefault(mp.tp.topic, {})[mp.tp] = None

    def remove_partition(self, tp: TopicPartition) -> MirrorPartition | None:
        """End the work for a partition; return it, or None if there was none."""
        mp = self.partitions.pop(tp, None)
        if mp is not None:
            self._waiting.pop(tp, None)
            del self._led_partitions[tp.topic][tp]
            if not self._led_partitions[tp.topic]:
                del self._led_partitions[tp.topic]
        return mp

    def forget_settled_epochs(self, mirror: str) -> None:
        """Forget the epochs that the stops of a deleted mirror settled: another mirror may get its name."""
        for mp in self.partitions.values():
            if mirror in mp.settled_epochs:
                mp.settled_epochs = {name: epoch for name, epoch in mp.settled_epochs.items() if name != mirror}

    # -- lookups ------------------------------------------------------------------------------

    def topics_of(self, mirror: str) -> list[str]:
        """Return the topics that belong to `mirror`, whether mirrored, paused or removed."""
        return list(self._topics.get(mirror, ()))

    def led_topics_of(self, mirror: str) -> list[str]:
        """Return the topics of `mirror` with a partition that this broker leads."""
        return [topic for topic in self._topics.get(mirror, ()) if topic in self._led_partitions]

    def led_of_topic(self, topic: str) -> list[MirrorPartition]:
        """Return the partitions of a mirrored topic that this broker leads."""
        return [self.partitions[tp] for tp in self._led_partitions.get(topic, ())]

    def partitions_of(self, mirror: str) -> list[MirrorPartition]:
        """Return the partitions of `mirror` that this broker leads."""
        return [mp for topic in self.led_topics_of(mirror) for mp in self.led_of_topic(topic)]

    def waiting_for(self, mirror: str) -> list[MirrorPartition]:
        """Return those of `partitions_of` that wait for something."""
        waiting = [self.partitions[tp] for tp in self._waiting]
        return [mp for mp in waiting if mp.assignment.mirror == mirror]

    def coordinates(self, mirror: str) -> bool:
        """Return whether this broker does the metadata sync of `mirror` (D17)."""
        return self.coordinator.leads(self.coordinator.shard_of_mirror(mirror))

    def missing_topics(self, mirror: str) -> dict[str, str]:
        """Return the topics that this broker, as the mirror's coordinator, cannot create, with reasons (D38)."""
        found, source = dict(self.not_created.get(mirror, {})), self.sources.get(mirror)
        if source is not None and self.coordinates(mirror):
            found |= {name: reason for name, reason in source.distrusted_topics.items() if not source.has(name)}
        known, assignment = self.broker.image.topics, Assignment(mirror, Wish.MIRROR)
        return {t: reason for t, reason in found.items() if t not in known and self.assignments.get(t) == assignment}

    def source_cluster_id(self, mirror: str) -> str:
        """Return the id of the mirror's source that its config remembers; empty if none was stored yet (D15, D16)."""
        configs = mirror_configs(self.broker.image, mirror)
        return "" if configs is None else configs.text(SOURCE_CLUSTER_ID)

    def writers_of(self, tp: TopicPartition) -> Stretches:
        """Return the clusters that wrote the log of a partition that this broker leads (D45, D51)."""
        mp = self.partitions.get(tp)
        if mp is not None and mp.lineage.stretches:
            return mp.lineage.stretches
        stored = parse_lineages(self.broker.image.configs.topic(tp.topic).get(MIRROR_LINEAGE, ""))
        return stored.get(tp.partition) or single_stretch(self.broker.cluster_id)

    def source_writers_of(self, mp: MirrorPartition) -> Stretches:
        """Return the clusters that wrote the source's log, under the names that they have in our lineage (D45, D53)."""
        return with_local_names(mp.source_lineage, self.source_cluster_id(mp.assignment.mirror), self.writers_of(mp.tp))

    def is_present(self, mp: MirrorPartition) -> bool:
        """Return whether `mp` is still in use: the broker leads, in the same leader epoch and the same mirror."""
        return self.partitions.get(mp.tp) is mp

    def is_current(self, mp: MirrorPartition, state: MirrorState) -> bool:
        """Return whether `mp` is still in use and in `state`; otherwise a response for it is dropped."""
        return self.is_present(mp) and mp.state is state

    # -- trace --------------------------------------------------------------------------------

    def note(self, mp: MirrorPartition, text: str, fact: object = None) -> None:
        """Write a line about a partition into the trace."""
        self.broker.outbox.note(f"{mp.tp} {text}", fact)

    def note_state(self, mp: MirrorPartition, state: MirrorState, detail: str = "") -> None:
        """Write the state of a partition into the trace; the line has a StateEntered as its fact."""
        fact = StateEntered(mp.tp, mp.assignment.mirror, state, mp.last_mirrored_epoch)
        self.note(mp, f"state {state.name} {detail}".rstrip(), fact)

    def note_reason(self, mp: MirrorPartition) -> None:
        """Write into the trace why a partition waits, or that it no longer waits, if that has changed."""
        if mp.reason and mp.state is not MirrorState.FAILED and self.is_present(mp):
            self._waiting[mp.tp] = None
        else:
            self._waiting.pop(mp.tp, None)
        if mp.state is not None and mp.reason != mp.traced_reason:
            mp.traced_reason = mp.reason
            text = f"waits: {mp.reason}" if mp.reason else "no longer waits"
            self.note(mp, text, ReasonChanged(mp.tp, mp.assignment.mirror, mp.state, mp.reason))

    # -- deferred work ------------------------------------------------------------------------

    def retry_later(self, now: Instant, mp: MirrorPartition, reason: str) -> None:
        """Look at `mp` again after RETRY_MS; until then DescribeMirrors shows `reason`."""
        mp.reason = reason
        mp.retry_at = now + RETRY_MS * MILLISECOND
        self._retries.pop(mp.tp, None)
        self._retries[mp.tp] = mp.retry_at
        if len(self._retries) == 1:
            self._set_retry_timer()

    def take_retries(self, now: Instant) -> list[MirrorPartition]:
        """Return the partitions that are due for another look, each once; called when RETRY_TIMER fires."""
        due = []
        for tp, retry_at in self._retries.items():  # RETRY_MS is the same for all, so they are in order of time.
            if retry_at > now:
                break
            due.append(tp)
        for tp in due:
            del self._retries[tp]
        if self._retries:
            self._set_retry_timer()
        return [self.partitions[tp] for tp in due if tp in self.partitions]

    def _set_retry_timer(self) -> None:
        self.broker.outbox.set_timer((NAME, RETRY_TIMER), next(iter(self._retries.values())))

    def request_upstream(self, now: Instant, tp: TopicPartition) -> None:
        """Ask the source of a partition where its log is mirrored from, once the present event is handled."""
        if not self._upstream_requests:
            self.broker.outbox.set_timer((NAME, UPSTREAM_TIMER), now)
        self._upstream_requests[tp] = None

    def take_upstream_requests(self) -> list[MirrorPartition]:
        """Return the partitions that `request_upstream` was called for; called when UPSTREAM_TIMER fires."""
        requests, self._upstream_requests = self._upstream_requests, {}
        return [self.partitions[tp] for tp in requests if tp in self.partitions]

    def refresh_soon(self, now: Instant, mirror: str, *topics: str) -> None:
        """Request the metadata of `topics` from the source; of all topics if none is named.

        At once, but not before RETRY_MS after the last time.
        """
        plan = self.refreshes.setdefault(mirror, RefreshPlan())
        plan.request(topics)
        self.refresh_at(mirror, max(now, plan.not_before))

    def refresh_at(self, mirror: str, at: Instant) -> None:
        """Set the refresh timer to `at`, unless it fires earlier."""
        plan = self.refreshes[mirror]
        if plan.timer_at is None or at < plan.timer_at:
            plan.timer_at = at
            self.broker.outbox.set_timer((NAME, REFRESH_TIMER, mirror), at)
