"""Start of a new leader of a mirrored partition: read its states, gather them, cut its log (D9, D30).

1. It reads the persisted state.
2. The topic may have been in another mirror before. The list of uncut replicas and the lineage of that time still hold,
   so both are moved: written to our mirror's state first, then removed from the other, so that no crash loses them.
   The last mirrored epochs of these mirrors stay where they are, and are reported under those mirrors' names: while the
   lineage does not change, they still say which epochs of their sources this log has.
3. If this leader is on the list itself, it cuts its log, and serves it once that is persisted.

Until this is done its `state` is None, so the broker withholds the log.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from kmirror.kernel.clock import Instant
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.configs import mirror_names
from kmirror.mirror.context import MirrorContext
from kmirror.mirror.coordinator import StateWrite, is_of_former_topic
from kmirror.mirror.cut_rules import NO_UNCUT, SESSION, merge_uncut, without_replicas
from kmirror.mirror.lineage import OWN_LINEAGE
from kmirror.mirror.log_cuts import cut_if_listed
from kmirror.mirror.partition import MirrorPartition
from kmirror.mirror.state_records import NO_STATE, NOT_SETTLED, PartitionState, StateKey
from kmirror.mirror.state_writer import StateWriter
from kmirror.mirror.states import MirrorState
from kmirror.mirror.uncut_replicas import apply_uncut
from kmirror.spec.error_codes import ErrorCode

FAILED_BEFORE = (
    "failed under a former leader, whose log has the reason: remove the topic from the mirror, delete it here if the "
    "source's topic of that name is another one, then add it again"
)
"""The reason of a leader that reads FAILED: reasons are not persisted (D38)."""


class StateLoader:
    """Loads the persisted states of partitions that this broker begins to lead; the driver then does the next step."""

    def __init__(self, context: MirrorContext, writer: StateWriter) -> None:
        self._context = context
        self._writer = writer

    def load(self, now: Instant, mp: MirrorPartition) -> None:
        """Read the persisted states of `mp`, under its mirror's name and under all others, and enter the state."""
        mp.is_busy = True
        mp.state_topic_id = self._context.coordinator.incarnation()
        keys = keys_of(self._context, mp)
        found: dict[StateKey, PartitionState] = {}
        left = len(keys)

        def on_read(later: Instant, key: StateKey, state: PartitionState | None) -> None:
            nonlocal left
            left -= 1
            if state is not None:  # The coordinator may not know yet that there is another topic.
                is_former = is_of_former_topic(self._context.broker.image, key, state)
                found[key] = NO_STATE if is_former else state
            if left or not self._context.is_present(mp):
                return
            if len(found) < len(keys):
                self._retry_later(later, mp, "the mirror's coordinator did not respond")
            else:
                self._gather(later, mp, found)

        for key in keys:
            self._context.states.read(
                key,
                mp.tp.topic,
                lambda later, state, key=key: on_read(later, key, state),  # type: ignore[misc]
            )

    def _gather(self, now: Instant, mp: MirrorPartition, found: dict[StateKey, PartitionState]) -> None:
        """Move uncut replicas and the lineage from other mirrors' states to ours, if there are any; then enter ours."""
        own_state = found[mp.key]
        if own_state.state is MirrorState.UNKNOWN and mp.previous_state is not None:
            own_state, mp.state_topic_id = mp.previous_state, Uuid.ZERO  # It was lost, and is written again (D68).
        other_states = {key: state for key, state in found.items() if key != mp.key and _has_more_than_a_state(state)}
        uncut, lineage = own_state.uncut, own_state.lineage
        for state in other_states.values():
            uncut = merge_uncut(uncut, without_replicas(state.uncut, [SESSION]))
            # Only one mirror has a lineage; a second one is a copy of it, left by a leader that crashed in between.
            lineage = state.lineage if lineage == OWN_LINEAGE else lineage
        own_state = replace(own_state, uncut=uncut, lineage=lineage)
        mp.settled_epochs = {
            key.mirror: state.last_mirrored_epoch
            for key, state in found.items()
            if key != mp.key and state.state is MirrorState.STOPPED and state.last_mirrored_epoch >= 0
        }

        def empty_next(later: Instant) -> None:
            if not other_states:
                self._after_state_read(later, mp, own_state)
                return
            key, state = other_states.popitem()
            session_uncut = NO_UNCUT if SESSION not in state.uncut else {SESSION: state.uncut[SESSION]}
            self._persist(later, mp, key, replace(state, uncut=session_uncut, lineage=OWN_LINEAGE), empty_next)

        if other_states:
            self._persist(now, mp, mp.key, own_state, empty_next)
        else:
            empty_next(now)

    def _persist(
        self,
        now: Instant,
        mp: MirrorPartition,
        key: StateKey,
        state: PartitionState,
        on_persisted: Callable[[Instant], None],
    ) -> None:
        partition = self._context.replicas.partitions.find_led(mp.tp)
        if partition is None:
            return

        def on_written(later: Instant, error: ErrorCode) -> None:
            if not self._context.is_present(mp):
                return
            if error:
                self._retry_later(later, mp, f"moving uncut replicas from another mirror's state: {error.name}")
            else:
                on_persisted(later)

        write = StateWrite(
            key, mp.tp.topic, state.state, NOT_SETTLED, partition.leader_epoch, state.uncut, state.stop, state.lineage
        )
        self._context.states.write(write, on_written, is_wanted=lambda: self._context.is_present(mp))

    def _retry_later(self, now: Instant, mp: MirrorPartition, reason: str) -> None:
        mp.is_busy = False
        self._context.retry_later(now, mp, reason)

    def _after_state_read(self, now: Instant, mp: MirrorPartition, own_state: PartitionState) -> None:
        mp.is_busy, mp.previous_state = False, None
        partition = self._context.replicas.partitions.find_led(mp.tp)
        mp.enter(own_state.state)
        if own_state.state is MirrorState.FAILED and not mp.reason:
            mp.reason = FAILED_BEFORE
        mp.last_mirrored_epoch, mp.stop, mp.lineage = own_state.last_mirrored_epoch, own_state.stop, own_state.lineage
        self._context.note_state(mp, own_state.state, f"read, last mirrored epoch {own_state.last_mirrored_epoch}")
        apply_uncut(mp, partition, own_state.uncut)
        cut_if_listed(self._context, now, mp, missed=True)
        self._context.replicas.changes.mark_changed(mp.tp)  # It is no longer withheld, unless it is held (D30).
        self._writer.continue_in_state(now, mp)


def keys_of(context: MirrorContext, mp: MirrorPartition) -> list[StateKey]:
    """Return the keys under which a partition may have a state: its mirror's first, then all others."""
    own_mirror, names = mp.assignment.mirror, mirror_names(context.broker.image)
    return [
        StateKey(name, mp.topic_id, mp.tp.partition)
        for name in (own_mirror, *(name for name in names if name != own_mirror))
    ]


def _has_more_than_a_state(state: PartitionState) -> bool:
    """Return whether a state has uncut replicas or a lineage, which must be moved to the present mirror."""
    return bool(without_replicas(state.uncut, [SESSION])) or state.lineage != OWN_LINEAGE
