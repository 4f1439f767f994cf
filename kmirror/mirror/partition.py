"""One mirrored partition at the destination's leader: its persisted state, and the work under way.

Everything but the persisted state ends with the leadership; the next leader derives it again from the log, the metadata
image, and the source.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kmirror.client.fetch_loop import Fetcher
from kmirror.client.remote_cluster import RemoteCluster
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.cut_rules import NO_UNCUT, SESSION, Uncut
from kmirror.mirror.lineage import OWN_LINEAGE, Lineage, Stretches
from kmirror.mirror.naming import Assignment
from kmirror.mirror.reopened_transactions import CutMarkers, StopPlan
from kmirror.mirror.repeated_cuts import RepeatedCuts
from kmirror.mirror.state_records import PartitionState, StateKey
from kmirror.mirror.states import MirrorState
from kmirror.mirror.upstream import Upstream

NOT_AGREED = -2
UNKNOWN_SINCE_ADDED, UNKNOWN_SINCE_ELECTED = -2, -1
"""Values of `caught_up_ms` that say that it is unknown since the topic was added, or since the leader was elected or
resumed."""


@dataclass(slots=True)
class MirrorPartition:
    """The state of one mirrored partition at its leader; a new leader epoch begins with a new object."""

    tp: TopicPartition
    topic_id: Uuid
    assignment: Assignment
    state: MirrorState | None = None
    """The persisted state; None until it has been read from the coordinator."""
    last_mirrored_epoch: int = -1
    uncut: Uncut = field(default_factory=lambda: NO_UNCUT)
    """As persisted: the replicas that have not confirmed a cut, and whether this session touched the log (D30)."""
    settled_epochs: Mapping[str, int] = field(default_factory=dict)
    """For each mirror in which the topic was before, the last mirrored epoch that its stop settled (D10)."""
    lineage: Lineage = OWN_LINEAGE
    """As persisted: the clusters that wrote the log (D45)."""
    is_withheld: bool = False
    """This leader was itself on the list: it has cut its log, and withholds it until that is persisted (D30)."""
    is_busy: bool = False
    """A request or a write is under way; its response triggers another step of the partition."""
    state_topic_id: Uuid = Uuid.ZERO
    """The topic id of the `__mirror_state` from which the state was read, or to which it was written (D68)."""
    previous_state: PartitionState | None = None
    """The state persisted in the leader epoch before: it holds if the state turns out to be lost. None once a state is
    known, or if another broker may have led since."""
    is_unsure: bool = False
    """The outcome of the last write is unknown: another state than `state` may be persisted."""
    retry_at: Instant = 0
    reason: str = ""
    """Why the partition waits or failed: the Reason of DescribeMirrors (D38)."""
    is_failing: bool = False
    """The source was unreachable or returned errors, and nothing was fetched since; moving leaders do not count."""
    traced_reason: str = ""
    """The reason that was last written into the trace."""

    # PREPARING and STOPPING
    cut_epoch: int | None = None
    """The cut that PREPARING has decided on; None before that (D11)."""
    cut_at: int | None = None
    """Where this leader cut its log in the present state; None before the cut."""
    cut_markers: CutMarkers = field(default_factory=dict)
    """The ends of the transactions that cuts of this session reopened (D29, D42)."""
    stop: StopPlan | None = None
    """As persisted: the decisions of the stop under way (D43)."""

    # PREPARING and MIRRORING
    source_lineage: Stretches = ()
    """The clusters that wrote the source's log, as it reported in its leader epoch `source_lineage_epoch` (D45)."""
    source_lineage_epoch: int = -1
    upstream: Upstream | None = None
    """Where the source's log is mirrored from, by its last report; None if it has not reported to this leader (D58)."""
    upstream_requested_from: RemoteCluster | None = None
    """The source with a request for `upstream` under way, sent beside other work."""
    lineage_is_assumed: bool = False
    """The source's broker did not serve DescribeMirrors: `source_lineage` and `upstream` are assumed."""
    reported_since: Instant | None = None
    """PREPARING: since when this log has been reported as mirrored; None while it is not (D58)."""

    # MIRRORING
    source_topic_id: Uuid = Uuid.ZERO
    """The topic id in fetches; zeros if the source has no topic ids."""
    source_epoch: int = -1
    source_offset: int = -1
    """The source's high watermark in its latest response; -1 while it is not known (D22)."""
    source_offset_epoch: int = -1
    """The source's leader epoch of that response."""
    fetcher: Fetcher[MirrorPartition] | None = None
    """The fetcher of the partition, None if it is not fetched."""
    fetch_bytes: int = 0
    """PartitionMaxBytes that the partition has grown to, 0 if it has not grown (D70)."""
    source_log_start: int = -1
    """The source's log start offset in its latest response of this session; -1 before the first one."""
    paused_until: Instant = 0
    resolving: bool = False
    rank: int = 0
    source_without_epochs: bool = False
    """The source has no epochs for messages of formats 0 and 1, so fetches name none for them (D28)."""
    source_is_old: bool = False
    """The source's leader reports no divergence in Fetch responses (before Kafka 2.7)."""
    agreed_epoch: int = NOT_AGREED
    """The source's leader epoch in which its leader was found to have all of our log; for older sources (D12)."""
    bump_requested: bool = False
    cuts: RepeatedCuts = field(default_factory=RepeatedCuts)
    """Counts cuts of the log without progress (D59)."""
    caught_up_ms: int = UNKNOWN_SINCE_ELECTED
    """When our log last had all records of the source, as far as deleted keys are concerned (D64)."""
    is_caught_up: bool = False
    """It had all in the newest response that named the partition; later ones that do not name it confirm that."""

    def for_new_leader(self, *, led_before: bool = False) -> MirrorPartition:
        """Return the partition for a new leader epoch, which keeps only facts about the source.

        The cut markers are kept as well, since they cannot be derived from the log. If this broker led in the epoch
        before (`led_before`), so is the persisted state: `__mirror_state` may be deleted before it has been read (D68).
        """
        previous = self.previous_state
        if self.state is not None:
            last = (self.last_mirrored_epoch, self.uncut, self.stop, self.lineage)
            previous = PartitionState(self.tp.topic, self.state, -1, *last)
        return MirrorPartition(
            self.tp,
            self.topic_id,
            self.assignment,
            previous_state=previous if led_before else None,
            reason=self.reason,
            source_epoch=self.source_epoch,
            source_offset=self.source_offset,
            source_log_start=self.source_log_start,
            cut_markers=self.cut_markers,
            caught_up_ms=self.caught_up_ms,
            source_lineage=self.source_lineage,
            source_lineage_epoch=self.source_lineage_epoch,
            upstream=self.upstream,
            lineage_is_assumed=self.lineage_is_assumed,
            cuts=self.cuts,
        )

    @property
    def is_touched(self) -> bool:
        """Whether this session has cut the log or fed it from the source; else a stop undoes nothing (D33)."""
        return SESSION in self.uncut

    def is_lag_known(self, now: Instant, max_age_us: int) -> bool:
        """Return whether the present source leader has confirmed its high watermark within the last `max_age_us`.

        A fetch session does not repeat unchanged values: each of its responses confirms all partitions in it.
        """
        fetcher = self.fetcher
        return (
            fetcher is not None
            and self.source_offset_epoch == self.source_epoch
            and self.paused_until <= now
            and now - fetcher.answered_at <= max_age_us
            and fetcher.partitions.get(self.tp) is self
            and fetcher.session.fetch_of(self.tp) is not None
        )

    @property
    def key(self) -> StateKey:
        return StateKey(self.assignment.mirror, self.topic_id, self.tp.partition)

    def enter(self, state: MirrorState) -> None:
        """Enter a persisted state; all work of the former one ends."""
        self.state = state
        self.is_unsure = False
        self.cut_epoch = self.cut_at = None
        if state in (MirrorState.PREPARING, MirrorState.STOPPED):
            self.cut_markers = {}
            self.caught_up_ms, self.is_caught_up = UNKNOWN_SINCE_ADDED, False
        if state is not MirrorState.FAILED:  # The reason of a failure stays visible.
            self.reason = self.traced_reason = ""
        self.retry_at = 0
        self.reported_since = None
        if state is not MirrorState.MIRRORING:
            self.resolving = False
            self.source_without_epochs = False
            self.agreed_epoch = NOT_AGREED
            self.is_failing = False
            self.cuts = RepeatedCuts()
            self.source_topic_id = Uuid.ZERO
            self.source_log_start = -1
            self.paused_until = self.fetch_bytes = 0
            self.source_offset_epoch = -1  # When fetching begins again, the lag is unknown until the first response.
        if state in (MirrorState.STOPPING, MirrorState.STOPPED, MirrorState.FAILED, MirrorState.PREPARING):
            self.source_offset = -1
