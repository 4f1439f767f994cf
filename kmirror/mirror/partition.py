"""One mirrored partition at the destination's leader: what is persisted, and what is under way.

Everything but the persisted state is forgotten when the leadership ends, and found again by the
next leader: from the log, the metadata image, and the source.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.cut_rules import NONE_UNCUT, SESSION, Uncut
from kmirror.mirror.lineage import OWN, Lineage, Stretches
from kmirror.mirror.naming import Assignment
from kmirror.mirror.reopened_transactions import CutMarkers, StopPlan
from kmirror.mirror.state_records import StateKey
from kmirror.mirror.states import MirrorState


@dataclass(frozen=True, slots=True)
class LogCut:
    """A leader cut a mirrored log: [offset, end) went."""

    tp: TopicPartition
    offset: int
    end: int
    why: str


@dataclass(frozen=True, slots=True)
class StateEntered:
    """A leader came to a state, by writing it or by reading it after its election."""

    tp: TopicPartition
    mirror: str
    state: MirrorState
    last_mirrored_epoch: int


@dataclass(slots=True)
class MirrorPartition:
    tp: TopicPartition
    topic_id: Uuid
    assignment: Assignment
    state: MirrorState | None = None
    """The persisted state; None until the coordinator has told it."""
    last_mirrored_epoch: int = -1
    uncut: Uncut = field(default_factory=lambda: NONE_UNCUT)
    """As persisted: who has not confirmed a cut, and whether this session touched the log (D30)."""
    lineage: Lineage = OWN
    """As persisted: which clusters wrote the log (D45)."""
    held: bool = False
    """This leader was itself on the list: it has cut its log, and serves nothing until that is persisted (D30)."""
    busy: bool = False
    """A question or a write is under way; whoever ends it looks at the partition again."""
    retry_at: Instant = 0
    reason: str = ""
    """Why the partition waits or failed, for people."""

    # PREPARING and STOPPING
    cut_epoch: int | None = None
    """The cut that PREPARING has decided on; None before that (D11)."""
    cut_at: int | None = None
    """Where this leader cut its log in the present state; None before the cut."""
    cut_markers: CutMarkers = field(default_factory=dict)
    """How transactions ended that cuts of this session reopened (D29, D42)."""
    stop: StopPlan | None = None
    """What the stop under way has decided, as persisted (D43)."""

    # PREPARING and MIRRORING
    source_lineage: Stretches = ()
    """Which clusters wrote the source's log, as told for its leader epoch `source_lineage_epoch` (D45)."""
    source_lineage_epoch: int = -1

    # MIRRORING
    source_epoch: int = -1
    source_offset: int = -1
    """The source's high watermark; -1 while it is not known (D22)."""
    source_log_start: int = -1
    paused_until: Instant = 0
    resolving: bool = False
    source_without_epochs: bool = False
    """The source did not know the epoch that messages of old formats count as: it is told no epoch for them (D28)."""
    bumping: bool = False

    def for_new_leader(self) -> MirrorPartition:
        """Return the partition as a new leader sees it: nothing is known but what the source said of itself.

        It keeps what no log can tell: the markers that cuts took.
        """
        return MirrorPartition(
            self.tp,
            self.topic_id,
            self.assignment,
            reason=self.reason,
            source_epoch=self.source_epoch,
            source_offset=self.source_offset,
            source_log_start=self.source_log_start,
            cut_markers=self.cut_markers,
            source_lineage=self.source_lineage,
            source_lineage_epoch=self.source_lineage_epoch,
        )

    @property
    def is_touched(self) -> bool:
        """Has this session cut the log, or fed it from the source? Only then a stop has anything to undo (D33)."""
        return SESSION in self.uncut

    @property
    def key(self) -> StateKey:
        return StateKey(self.assignment.mirror, self.topic_id, self.tp.partition)

    def enter(self, state: MirrorState) -> None:
        """A new state is persisted: what was under way in the old one is over."""
        self.state = state
        self.cut_epoch = self.cut_at = None
        if state in (MirrorState.PREPARING, MirrorState.STOPPED):
            self.cut_markers = {}
        if state is not MirrorState.FAILED:  # There the reason is what people need.
            self.reason = ""
        self.retry_at = 0
        if state is not MirrorState.MIRRORING:
            self.resolving = False
            self.source_without_epochs = False
            self.paused_until = 0
        if state in (MirrorState.STOPPING, MirrorState.STOPPED, MirrorState.FAILED, MirrorState.PREPARING):
            self.source_offset = -1
