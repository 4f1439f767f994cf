"""Who owes a cut: the persisted list of D30, and what is in force of it at this leader.

`MirrorPartition.uncut` is what is persisted. In force at the partition are `must_cut` (followers that are answered
with a divergence until a fetch of theirs shows that they have cut) and `not_admitted` (replicas that stay out of the
ISR until it is persisted that they have).
"""

from __future__ import annotations

from kmirror.cluster.replication.partition import Partition
from kmirror.mirror.cut_rules import SESSION, Uncut, merged
from kmirror.mirror.partition import MirrorPartition
from kmirror.mirror.states import MirrorState


def still_uncut(mp: MirrorPartition, partition: Partition, state: MirrorState) -> Uncut:
    """Return the list to persist with `state`: whoever has not confirmed. This leader has cut its own log."""
    uncut = {r: e for r, e in mp.uncut.items() if r == SESSION or r in partition.must_cut}
    if state is MirrorState.STOPPED:
        uncut.pop(SESSION, None)
    elif state is MirrorState.MIRRORING and mp.state is MirrorState.PREPARING:
        assert mp.cut_epoch is not None, "PREPARING has cut"
        # Whoever has not confirmed a cut may hold foreign epochs, also where the leader itself had nothing to cut.
        late = dict.fromkeys(partition.unconfirmed(partition.image.replicas), mp.cut_epoch)
        uncut = dict(merged(uncut, {SESSION: mp.cut_epoch, **late}))
    return uncut


def apply_uncut(mp: MirrorPartition, partition: Partition | None, uncut: Uncut) -> None:
    """A list is persisted, or was read: followers on it are told to cut, and none of them is admitted to the ISR."""
    known, mp.uncut = mp.uncut, uncut
    if partition is None:
        return
    mine = partition.broker_id
    for replica, epoch in uncut.items():
        if replica not in (SESSION, mine) and known.get(replica) != epoch:
            partition.must_cut[replica] = epoch
    partition.not_admitted = frozenset(replica for replica in uncut if replica not in (SESSION, mine))
    mp.held = mp.held and mine in uncut


def has_new_confirmation(mp: MirrorPartition, partition: Partition) -> bool:
    """Has somebody on the persisted list confirmed? Members of the ISR wait for the end of PREPARING."""
    return any(
        replica not in (SESSION, partition.broker_id)
        and replica not in partition.must_cut
        and not (mp.state is MirrorState.PREPARING and replica in partition.isr)
        for replica in mp.uncut
    )
