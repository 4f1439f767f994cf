"""The mirror component of a broker: watches what it leads, and moves each partition along (KIP-1279).

Level-triggered: whatever happens, `look_at` compares what the user wants, what is persisted and what
is true here, and does the one next thing. A step that needs an answer marks the partition busy; the
answer looks again. So a lost answer, a new leader, or a restart costs a repetition and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from kmirror.client.remote_cluster import RemoteCluster, parse_servers
from kmirror.cluster.component import BrokerComponent
from kmirror.cluster.images import Delta
from kmirror.cluster.server import Routes
from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.kernel.events import TimerKey
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.broker_apis.routes import ROUTES
from kmirror.mirror.configs import (
    BOOTSTRAP_SERVERS,
    SOURCE_CLUSTER_ID,
    mirror_configs,
    mirror_names,
)
from kmirror.mirror.coordinator import MirrorCoordinator, StateWrite
from kmirror.mirror.cutting import Uncut
from kmirror.mirror.fetchers import MirrorFetchers
from kmirror.mirror.inquiry import Inquiry
from kmirror.mirror.kinship import Kinship
from kmirror.mirror.lineage import Lineage, Stretches
from kmirror.mirror.naming import MIRROR_NAME, Assignment, parse
from kmirror.mirror.owing import has_news, put_in_force, still_owing
from kmirror.mirror.partition import LogCut, MirrorPartition, StateEntered
from kmirror.mirror.preparing import Preparing
from kmirror.mirror.reopened import StopPlan, tail_of
from kmirror.mirror.state_client import StateClient
from kmirror.mirror.state_records import NEVER_MIRRORED, NOT_SETTLED
from kmirror.mirror.states import MirrorState, Wish, following
from kmirror.mirror.stopping import Stopping
from kmirror.mirror.sync import MetadataSync
from kmirror.mirror.takeover import Takeover
from kmirror.protocol.gen.bump_leader_epochs_request import (
    BumpLeaderEpochsRequest,
    LeaderEpochState,
    TopicState,
)
from kmirror.protocol.gen.bump_leader_epochs_response import BumpLeaderEpochsResponse
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.topics import MIRROR_STATE_TOPIC
from kmirror.spec.wire_values import CoordinatorType, ResourceType

if TYPE_CHECKING:
    from kmirror.cluster.broker.broker import Broker
    from kmirror.cluster.replication.partition import Partition

RETRY_MS = 500
ASKED_AGAIN_MAX = 3
"""So many refreshes in a row look for a missing topic at once; after that the regular ones do."""


class MirrorComponent(BrokerComponent):
    """Everything of mirroring that one broker does."""

    name = "mirror"

    def __init__(self, broker: Broker) -> None:
        self.broker = broker
        self.coordinator = MirrorCoordinator(broker)
        self.states = StateClient(broker, self.coordinator)
        self.assignments: dict[str, Assignment] = {}
        """Topic to its place in a mirror, for every topic that has one."""
        self.partitions: dict[TopicPartition, MirrorPartition] = {}
        """The mirrored partitions that this broker leads."""
        self.sources: dict[str, RemoteCluster] = {}
        self._after_refresh: dict[str, list[Callable[[Instant, bool], None]]] = {}
        self._refresh_at: dict[str, Instant] = {}
        self.fetchers = MirrorFetchers(self)
        self.kinship = Kinship(self)
        self.preparing = Preparing(self)
        self.stopping = Stopping(self)
        self.takeover = Takeover(self)
        self.sync = MetadataSync(self)

    def routes(self) -> Routes:
        return {request: partial(handler, self) for request, handler in ROUTES.items()}

    def coordinator_for(self, key_type: int, key: str) -> TopicPartition | None:
        if key_type != CoordinatorType.MIRROR:
            return None
        return self.coordinator.shard_of_mirror(key) or TopicPartition(MIRROR_STATE_TOPIC, 0)

    # -- what others ask ----------------------------------------------------------------------

    def topics_of(self, mirror: str) -> list[str]:
        """Return the topics that belong to `mirror`, whatever the user wants of them."""
        return [topic for topic, a in self.assignments.items() if a.mirror == mirror]

    def coordinates(self, mirror: str) -> bool:
        """Does this broker do the metadata sync of `mirror`?"""
        return self.coordinator.leads(self.coordinator.shard_of_mirror(mirror))

    def source_cluster_id(self, mirror: str) -> str:
        """Return the remembered id of the mirror's source, or the empty string."""
        configs = mirror_configs(self.broker.image, mirror)
        return "" if configs is None else configs.text(SOURCE_CLUSTER_ID)

    def lineage(self, tp: TopicPartition) -> tuple[ErrorCode, int, Stretches]:
        """Return who wrote the log of a partition that this broker leads, for which leader epoch that is true (D45).

        An error if it does not lead, or cannot tell yet.
        """
        partition, mp = self.broker.replicas.led(tp), self.partitions.get(tp)
        if partition is None:
            known = self.broker.image.partition(tp) is not None
            return ErrorCode.NOT_LEADER_OR_FOLLOWER if known else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1, ()
        if self.withholds(partition) or (mp is not None and partition.leader_epoch < mp.lineage.since):
            return ErrorCode.OFFSET_NOT_AVAILABLE, -1, ()
        return ErrorCode.NONE, partition.leader_epoch, self.kinship.of(mp)

    def reason(self, mp: MirrorPartition) -> str:
        """Return why a partition waits or failed, or what it lacks though it is mirrored; empty if all is well."""
        source, here = self.sources.get(mp.assignment.mirror), self.broker.image.topics.get(mp.tp.topic)
        known = None if source is None else source.topics.get(mp.tp.topic)
        if mp.reason or mp.state is not MirrorState.MIRRORING or known is None or here is None:
            return mp.reason
        grown = known.partitions > len(here.partitions)
        text = f"the source's topic has {known.partitions} partitions, here are {len(here.partitions)}: growth is not"
        return f"{text} mirrored yet" if grown else ""

    def produce_error(self, tp: TopicPartition) -> ErrorCode | None:
        """Read-only from the moment the config is set until STOPPED (D7)."""
        assignment = self.assignments.get(tp.topic)
        if assignment is None:
            return None
        if assignment.wish is not Wish.REMOVE:
            return ErrorCode.READ_ONLY_TOPIC
        mp = self.partitions.get(tp)
        if mp is None or mp.state is None or mp.held:
            return ErrorCode.NOT_LEADER_OR_FOLLOWER  # A new leader does not know yet: the client tries again (D24).
        return None if mp.state is MirrorState.STOPPED else ErrorCode.READ_ONLY_TOPIC

    def marker_error(self, tp: TopicPartition) -> ErrorCode | None:
        """As for produce; but until a session touches the log an open local transaction is still there to be ended.

        READ_ONLY_TOPIC would tell the coordinator that the cut removed it, and the marker would be forgotten (D41).
        """
        error, mp = self.produce_error(tp), self.partitions.get(tp)
        if error is ErrorCode.READ_ONLY_TOPIC and (mp is None or mp.state is None or not mp.is_touched):
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        return error

    def withholds(self, partition: Partition) -> bool:
        """A new leader may be on the list of those that owe a cut; until it knows, nobody reads from it (D30)."""
        if partition.tp.topic not in self.assignments:
            return False
        mp = self.partitions.get(partition.tp)
        return mp is None or mp.state is None or mp.held

    def foreign_epochs(self, partition: Partition) -> bool:
        assignment = self.assignments.get(partition.tp.topic)
        if assignment is None:
            return False
        mp = self.partitions.get(partition.tp)
        stopped = mp is not None and mp.state is MirrorState.STOPPED and assignment.wish is Wish.REMOVE
        return not stopped

    # -- what happens -------------------------------------------------------------------------

    def before_metadata(self, now: Instant, delta: Delta) -> None:
        """Learn assignments before leaderships take effect: whose epochs a log carries depends on them."""
        for kind, name in delta.configs:
            if kind != ResourceType.TOPIC:
                continue
            assignment = parse(self.broker.image.topic_config(name).get(MIRROR_NAME, ""))
            if assignment is None:
                self.assignments.pop(name, None)
            else:
                self.assignments[name] = assignment

    def on_metadata(self, now: Instant, delta: Delta) -> None:
        changed = {name: None for kind, name in delta.configs if kind == ResourceType.TOPIC}
        if any(kind == ResourceType.MIRROR for kind, _ in delta.configs):
            self._apply_mirrors(now)
            self._look_at_all(now)  # The source's cluster id may have been stored.
        for tp, partition in self.broker.replicas.partitions.items():
            if tp.topic in changed and partition.is_leader:
                self._follow_assignment(now, tp, partition)
        if changed or delta.topics_created or delta.topics_deleted:
            for mirror in dict.fromkeys(a.mirror for a in self.assignments.values()):
                self.refresh_soon(now, mirror)
        for tp in delta.partitions:
            mp = self.partitions.get(tp)
            if mp is not None:
                self.look_at(now, mp)
            elif tp.topic == MIRROR_STATE_TOPIC:
                self._look_at_all(now)

    def on_leadership(self, now: Instant, tp: TopicPartition, *, leads: bool) -> None:
        if tp.topic == MIRROR_STATE_TOPIC:
            loaded = self.coordinator.runtime.on_leadership(now, tp, leads=leads)
            if loaded:
                for mirror in self.sources:
                    self.refresh_soon(now, mirror)
            return
        if not leads:
            self._forget(tp)
            return
        self._begin_reign(tp)
        self._follow_assignment(now, tp, self.broker.replicas.partitions[tp])

    def _begin_reign(self, tp: TopicPartition) -> None:
        """Somebody else may have led in between: what is persisted counts, not what was under way here (D9)."""
        mp = self.partitions.get(tp)
        if mp is not None:
            self.fetchers.remove(mp)
            self.partitions[tp] = mp.heir()

    def _follow_assignment(self, now: Instant, tp: TopicPartition, partition: Partition) -> None:
        assignment = self.assignments.get(tp.topic)
        mp = self.partitions.get(tp)
        if assignment is None:
            self._forget(tp)
            return
        if mp is None or mp.assignment.mirror != assignment.mirror or mp.topic_id != partition.topic_id:
            self._forget(tp)
            mp = self.partitions[tp] = MirrorPartition(tp, partition.topic_id, assignment)
        mp.assignment = assignment
        mp.retry_at = 0
        self.look_at(now, mp)

    def on_cut_confirmed(self, now: Instant, tp: TopicPartition) -> None:
        self.broker.replicas.touch(tp)  # `on_progress` persists it.

    def _forget(self, tp: TopicPartition) -> None:
        mp = self.partitions.pop(tp, None)
        if mp is not None:
            self.fetchers.remove(mp)

    def on_progress(self, now: Instant, tp: TopicPartition) -> None:
        mp, partition = self.partitions.get(tp), self.broker.replicas.led(tp)
        if mp is None or partition is None:
            return
        waits = mp.state in (MirrorState.PREPARING, MirrorState.STOPPING)
        if waits or has_news(mp, partition):
            self.look_at(now, mp)
        elif mp.state is MirrorState.MIRRORING:
            self.fetchers.raise_log_start(mp)

    def _look_at_all(self, now: Instant) -> None:
        for mp in list(self.partitions.values()):
            self.look_at(now, mp)

    # -- one partition ------------------------------------------------------------------------

    def look_at(self, now: Instant, mp: MirrorPartition) -> None:
        """Do the next thing for `mp`, if there is one and nothing is under way."""
        partition = self.broker.replicas.led(mp.tp)
        if mp.busy or partition is None or self.partitions.get(mp.tp) is not mp or now < mp.retry_at:
            return
        if mp.state is None:
            self.takeover.begin(now, mp)
            return
        target = following(mp.assignment.wish, mp.state)
        if mp.held:
            self.write_state(now, mp, mp.state, NOT_SETTLED)
        elif target is not mp.state:
            self.transition(now, mp, target)
        elif has_news(mp, partition):
            self.write_state(now, mp, mp.state, NOT_SETTLED)
        elif mp.state is MirrorState.PREPARING:
            if self._is_same_source(now, mp):
                self.preparing.act(now, mp, partition)
        elif mp.state is MirrorState.MIRRORING:
            if self._is_same_source(now, mp):
                mp.reason = ""
                self.fetchers.assign(now, mp)
            else:
                self.fetchers.remove(mp)
        elif mp.state is MirrorState.STOPPING:
            self.stopping.act(now, mp, partition)

    def _is_same_source(self, now: Instant, mp: MirrorPartition) -> bool:
        """Is the source the cluster, and its topic the topic, that we know? If not the partition waits (D16).

        Asked before the cut as well: what another cluster says is no reason to cut anything. Another topic of the
        same name, in the cluster that we know, is not coming back: that partition fails.
        """
        mirror, name = mp.assignment.mirror, mp.tp.topic
        source = self.sources.get(mirror)
        if source is None:
            mp.reason = "the mirror's configs are not known here yet"
            return False
        remembered, topic = self.source_cluster_id(mirror), source.topics.get(name)
        if source.cluster_id is None:
            servers = ",".join(str(endpoint) for endpoint in source.servers)
            mp.reason = f"no answer from the source at {servers}"
            self.refresh_soon(now, mirror)
        elif remembered and source.cluster_id != remembered:
            mp.reason = (
                f"the source at {BOOTSTRAP_SERVERS} is cluster {source.cluster_id}, it was {remembered}: nothing is "
                "cut or fetched until that one answers again"
            )
        elif name in source.refused:
            mp.reason = f"the source answers {source.refused[name].name} for topic {name}"
        elif topic is None or name in source.missing:
            mp.reason = f"the source has no topic {name}"
            if source.missing.get(name, 0) < ASKED_AGAIN_MAX:  # One broker may not have heard of it yet.
                self.refresh_soon(now, mirror)
        elif topic.topic_id not in (Uuid.ZERO, mp.topic_id):  # A source before 2.8 has no ids.
            self.fail(now, mp, f"the source's topic has id {topic.topic_id}, ours has {mp.topic_id}")
        elif mp.tp.partition >= topic.partitions:
            mp.reason = f"the source's topic has {topic.partitions} partitions"
        elif not remembered:
            mp.reason = "the source's cluster id is not stored yet"
        else:
            return True
        return False

    def transition(self, now: Instant, mp: MirrorPartition, target: MirrorState) -> None:
        """Persist `target`, then act in it."""
        if target is not MirrorState.MIRRORING:
            self.fetchers.remove(mp)
        epoch = NOT_SETTLED
        untouched = mp.state is MirrorState.PREPARING or (mp.state is MirrorState.FAILED and not mp.is_touched)
        if target is MirrorState.STOPPING and untouched:
            # Nothing was mirrored in this round: what the last stop settled still holds (D37).
            epoch = NEVER_MIRRORED if mp.last_mirrored_epoch == NOT_SETTLED else mp.last_mirrored_epoch
        self.write_state(now, mp, target, epoch)

    def write_state(
        self,
        now: Instant,
        mp: MirrorPartition,
        state: MirrorState,
        epoch: int,
        *,
        uncut: Uncut | None = None,
        stop: StopPlan | None = None,
        lineage: Lineage | None = None,
    ) -> None:
        """Persist a state, and an epoch unless it is NOT_SETTLED; then look at the partition again.

        With it go the list of D30 (`uncut`, or whoever still owes a cut), the lineage, and in STOPPING the stop's plan.
        """
        partition = self.broker.replicas.led(mp.tp)
        assert partition is not None, f"{mp.tp} is led here"
        mp.busy = True
        owing = still_owing(mp, partition, state) if uncut is None else uncut
        plan = (stop or mp.stop) if state is MirrorState.STOPPING else None
        written_by = mp.lineage if lineage is None else lineage
        write = StateWrite(mp.key, mp.tp.topic, state, epoch, partition.leader_epoch, owing, plan, written_by)

        def on_written(later: Instant, error: ErrorCode) -> None:
            if self.partitions.get(mp.tp) is not mp:
                return
            mp.busy = False
            if error in (ErrorCode.FENCED_LEADER_EPOCH, ErrorCode.INVALID_REQUEST):
                mp.state = None  # Somebody else moved it: read what is persisted, and go on from there.
            if error:
                self.retry_later(later, mp, f"writing {state.name}: {error.name}")
                return
            if epoch != NOT_SETTLED:
                mp.last_mirrored_epoch = epoch
            elif state is MirrorState.MIRRORING:
                mp.last_mirrored_epoch = NOT_SETTLED
            put_in_force(mp, partition, owing)
            mp.stop, mp.lineage = plan, written_by
            if mp.state is not state:
                mp.enter(state)
                self.note_state(mp, state)
            elif state is MirrorState.MIRRORING:
                self.takeover.cut_ourselves(later, mp)  # We are on the list if the source was written anew (D45).
            self.state_is_known(later, mp)

        self.states.write(now, write, on_written)

    def state_is_known(self, now: Instant, mp: MirrorPartition) -> None:
        """A state was read or written: go on from there."""
        partition = self.broker.replicas.led(mp.tp)
        if partition is not None and not self.foreign_epochs(partition):
            partition.log.assign_epoch_start(partition.leader_epoch)
        self.look_at(now, mp)

    def fail(self, now: Instant, mp: MirrorPartition, reason: str) -> None:
        """Give a partition up until it is removed and added again (D5)."""
        self.note(mp, f"failed: {reason}")
        self.fetchers.remove(mp)
        if not mp.busy:
            self.transition(now, mp, MirrorState.FAILED)
        mp.reason = reason

    def is_current(self, mp: MirrorPartition, state: MirrorState) -> bool:
        """Is an answer for `mp` in `state` still of use?"""
        return self.partitions.get(mp.tp) is mp and mp.state is state

    def resumes(self, inquiry: Inquiry, state: MirrorState) -> bool:
        """Is an answer of the source still of use? The partition is then free for its next step."""
        mp = inquiry.mp
        if not self.is_current(mp, state):
            return False
        mp.busy = False
        return self.sources.get(mp.assignment.mirror) is inquiry.source

    def retry_later(self, now: Instant, mp: MirrorPartition, reason: str) -> None:
        mp.reason = reason
        mp.retry_at = now + RETRY_MS * MILLISECOND
        self.broker.outbox.set_timer((self.name, "retry", mp.tp), mp.retry_at)

    def bump(self, now: Instant, mp: MirrorPartition, epoch: int) -> None:
        """Ask the controller for a leader epoch of at least `epoch`; the image tells when it is there."""
        mp.bumping = True
        row = LeaderEpochState(partition_index=mp.tp.partition, min_leader_epoch=epoch)
        request = BumpLeaderEpochsRequest(topics=[TopicState(topic_id=mp.topic_id, partitions=[row])])

        def on_reply(later: Instant, reply: Message | None) -> None:
            mp.bumping = False
            done = isinstance(reply, BumpLeaderEpochsResponse) and not _first_error(reply)
            if not done and self.partitions.get(mp.tp) is mp:
                self.retry_later(later, mp, "the controller did not bump the leader epoch")

        self.broker.ask_controller(now, request, self.broker.version_of(request), on_reply)

    def note(self, mp: MirrorPartition, text: str) -> None:
        self.broker.outbox.note(f"{mp.tp} {text}")

    def note_state(self, mp: MirrorPartition, state: MirrorState, how: str = "") -> None:
        """Tell which state a partition has come to."""
        fact = StateEntered(mp.tp, mp.assignment.mirror, state, mp.last_mirrored_epoch)
        self.broker.outbox.note(f"{mp.tp} state {state.name} {how}".rstrip(), fact)

    def cut(self, now: Instant, mp: MirrorPartition, partition: Partition, offset: int, why: str) -> None:
        """Cut the log that this broker leads, and remember how the transactions ended that this reopens."""
        tail = tail_of(partition.log, offset)
        self.note_cut(mp, offset, partition.log.log_end_offset, why)
        self.broker.replicas.cut(now, partition, offset)
        mp.own_markers = tail.reopened(partition.log, mp.own_markers)

    def restart(self, now: Instant, mp: MirrorPartition, partition: Partition, offset: int, why: str) -> None:
        """Empty the log that this broker leads; it begins at `offset`."""
        log = partition.log
        self.note_cut(mp, log.log_start_offset, log.log_end_offset, why)
        self.broker.replicas.restart_at(now, partition, offset)
        mp.own_markers = {}

    def note_cut(self, mp: MirrorPartition, offset: int, end: int, why: str) -> None:
        """Tell what a cut is about to remove."""
        if offset < end:
            fact = LogCut(mp.tp, offset, end, why)
            self.broker.outbox.note(f"{mp.tp} cut at {offset} (was {end}): {why}", fact)

    # -- sources ------------------------------------------------------------------------------

    def _apply_mirrors(self, now: Instant) -> None:
        """Mirrors were created, altered or deleted: connect to the sources that the configs name now."""
        image = self.broker.image
        names = mirror_names(image)
        for gone in [m for m in self.sources if m not in names]:
            del self.sources[gone]
            for then in self._after_refresh.pop(gone, []):
                then(now, False)
        for mirror in names:
            configs = mirror_configs(image, mirror)
            assert configs is not None, f"mirror {mirror} is in the image"
            servers = parse_servers(configs.text(BOOTSTRAP_SERVERS))
            known = self.sources.get(mirror)
            if known is not None and known.servers == servers:
                known.timeout_ms = configs.integer("request.timeout.ms")
                continue
            self.sources[mirror] = RemoteCluster(
                f"mirror-{mirror}",
                self.broker.requester,
                servers,
                timeout_ms=configs.integer("request.timeout.ms"),
                on_refreshed=partial(self._on_refreshed, mirror),
            )
            if known is not None:  # Nothing is known of the new servers; fetching goes on once they have answered.
                for mp in self.partitions.values():
                    if mp.assignment.mirror == mirror:
                        self.fetchers.remove(mp)
                self.refresh_soon(now, mirror)

    def refresh_soon(self, now: Instant, mirror: str) -> None:
        """Look at the source's metadata, at most twice a second."""
        at = max(now, self._refresh_at.get(mirror, now))
        self.broker.outbox.set_timer((self.name, "refresh", mirror), at)

    def refresh_then(self, now: Instant, mirror: str, then: Callable[[Instant, bool], None]) -> None:
        """Look at the source's metadata and hand over whether it answered."""
        self._after_refresh.setdefault(mirror, []).append(then)
        self.refresh_soon(now, mirror)

    def _refresh(self, now: Instant, mirror: str) -> None:
        source = self.sources.get(mirror)
        if source is None or source.refreshing:
            return
        self._refresh_at[mirror] = now + RETRY_MS * MILLISECOND
        mine = {tp.topic for tp, mp in self.partitions.items() if mp.assignment.mirror == mirror}
        topics = self.topics_of(mirror) if self.coordinates(mirror) else sorted(mine)
        if topics:
            source.refresh(now, topics)

    def _on_refreshed(self, mirror: str, now: Instant, answered: bool) -> None:
        interval = self.broker.configs.integer("mirror.metadata.refresh.interval.ms") if answered else RETRY_MS
        at = now + interval * MILLISECOND
        self.broker.outbox.set_timer((self.name, "refresh", mirror), at)
        waiting = self._after_refresh.pop(mirror, [])
        for then in waiting:
            then(now, answered)
        source = self.sources.get(mirror)
        if source is None or not answered:
            return
        self.sync.run(now, mirror, source)
        for mp in list(self.partitions.values()):
            if mp.assignment.mirror == mirror:
                self.look_at(now, mp)

    def on_timer(self, now: Instant, key: TimerKey) -> None:
        match key:
            case (_, "retry", TopicPartition() as tp):
                mp = self.partitions.get(tp)
                if mp is not None:
                    self.look_at(now, mp)
            case (_, "refresh", str(mirror)):
                self._refresh(now, mirror)
            case (_, "fetch", str(mirror), int(broker_id), int(number)):
                self.fetchers.on_timer(now, (mirror, broker_id, number))
            case _:
                raise AssertionError(f"a timer nobody set: {key}")


def _first_error(reply: BumpLeaderEpochsResponse) -> int:
    """Return the first error of an answer, or 0."""
    rows = (row.error_code for topic in reply.topics for row in topic.partitions)
    return reply.error_code or next((error for error in rows if error), 0)
