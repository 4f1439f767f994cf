"""What a new leader of a mirrored partition does before it serves anything: read, gather, cut (D9, D30).

1. It reads the persisted state.
2. A topic may have been in another mirror before. What replicas owe from then is still owed, and who wrote the log is
   still true: both move over, into our state first, then out of theirs, so that no crash between the two loses them.
3. If it is itself on the list it cuts its log, and serves when it is persisted that it has.

Until all that is done its `state` is None, so the broker withholds the log.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from kmirror.kernel.clock import Instant
from kmirror.mirror.configs import mirror_names
from kmirror.mirror.coordinator import StateWrite
from kmirror.mirror.cutting import NOBODY, SESSION, cut_offset, merged, without
from kmirror.mirror.lineage import OWN
from kmirror.mirror.owing import put_in_force
from kmirror.mirror.partition import MirrorPartition
from kmirror.mirror.state_records import NOT_SETTLED, PartitionState, StateKey
from kmirror.spec.error_codes import ErrorCode

if TYPE_CHECKING:
    from kmirror.mirror.component import MirrorComponent


class Takeover:
    """Brings one broker's partitions to the point from which `look_at` goes on."""

    def __init__(self, component: MirrorComponent) -> None:
        self._component = component
        self._broker = component.broker

    def begin(self, now: Instant, mp: MirrorPartition) -> None:
        """Read what is persisted of `mp`, under its mirror's name and all others."""
        mp.busy = True
        mirrors = [mp.assignment.mirror, *(m for m in mirror_names(self._broker.image) if m != mp.assignment.mirror)]
        keys = [StateKey(mirror, mp.topic_id, mp.tp.partition) for mirror in mirrors]
        found: dict[StateKey, PartitionState] = {}
        left = len(keys)

        def on_read(later: Instant, key: StateKey, state: PartitionState | None) -> None:
            nonlocal left
            left -= 1
            if state is not None:
                found[key] = state
            if left or self._component.partitions.get(mp.tp) is not mp:
                return
            if len(found) < len(keys):
                self._give_up(later, mp, "the mirror coordinator did not answer")
            else:
                self._gather(later, mp, found)

        for key in keys:
            self._component.states.read(
                now,
                key,
                mp.tp.topic,
                lambda later, state, key=key: on_read(later, key, state),  # type: ignore[misc]
            )

    def _gather(self, now: Instant, mp: MirrorPartition, found: dict[StateKey, PartitionState]) -> None:
        """Move what replicas owe, and the lineage, from other mirrors to ours; at once if there is nothing to move."""
        own = found[mp.key]
        elsewhere = {key: state for key, state in found.items() if key != mp.key and _has_more_than_a_state(state)}
        owed, lineage = own.uncut, own.lineage
        for state in elsewhere.values():
            owed = merged(owed, without(state.uncut, [SESSION]))
            # Only the mirror that a topic is in has one; a second is the same, copied by a leader that then crashed.
            lineage = state.lineage if lineage == OWN else lineage
        own = replace(own, uncut=owed, lineage=lineage)

        def emptied(later: Instant) -> None:
            if not elsewhere:
                self._enter(later, mp, own)
                return
            key, state = elsewhere.popitem()
            kept = NOBODY if SESSION not in state.uncut else {SESSION: state.uncut[SESSION]}
            self._persist(later, mp, key, replace(state, uncut=kept, lineage=OWN), emptied)

        if elsewhere:
            self._persist(now, mp, mp.key, own, emptied)
        else:
            emptied(now)

    def _persist(
        self, now: Instant, mp: MirrorPartition, key: StateKey, state: PartitionState, then: Callable[[Instant], None]
    ) -> None:
        partition = self._broker.replicas.led(mp.tp)
        if partition is None:
            return

        def on_written(later: Instant, error: ErrorCode) -> None:
            if self._component.partitions.get(mp.tp) is not mp:
                return
            if error:
                self._give_up(later, mp, f"moving what replicas owe from another mirror: {error.name}")
            else:
                then(later)

        write = StateWrite(
            key, mp.tp.topic, state.state, NOT_SETTLED, partition.leader_epoch, state.uncut, state.stop, state.lineage
        )
        self._component.states.write(now, write, on_written)

    def _give_up(self, now: Instant, mp: MirrorPartition, reason: str) -> None:
        mp.busy = False
        self._component.retry_later(now, mp, reason)

    def _enter(self, now: Instant, mp: MirrorPartition, own: PartitionState) -> None:
        mp.busy = False
        mp.enter(own.state)
        mp.last_mirrored_epoch, mp.stop, mp.lineage = own.last_mirrored_epoch, own.stop, own.lineage
        self._component.note_state(mp, own.state, f"read, last mirrored epoch {own.last_mirrored_epoch}")
        put_in_force(mp, self._broker.replicas.led(mp.tp), own.uncut)
        self.cut_ourselves(now, mp)
        self._component.state_is_known(now, mp)

    def cut_ourselves(self, now: Instant, mp: MirrorPartition) -> None:
        """A listed replica that leads cuts its log, and serves nothing until it is struck off."""
        partition = self._broker.replicas.led(mp.tp)
        epoch = mp.uncut.get(self._broker.node_id)
        if partition is None or epoch is None:
            return
        mp.held = True
        why = f"a cut to epoch {epoch} that this replica missed"
        if epoch < 0:
            self._component.restart(now, mp, partition, 0, why)
        else:
            self._component.cut(now, mp, partition, cut_offset(partition.log, epoch), why)
        partition.log_was_cut(now)


def _has_more_than_a_state(state: PartitionState) -> bool:
    """Does a state tell of replicas, or of the log itself?"""
    return bool(without(state.uncut, [SESSION])) or state.lineage != OWN
