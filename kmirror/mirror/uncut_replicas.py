"""The replicas that have not confirmed a cut: the persisted list of D30, and how this leader enforces it.

`MirrorPartition.uncut` is the persisted list. In the leader's `Partition` it becomes `required_cuts` (followers
whose fetches get a divergence until a fetch shows that they have cut) and `barred_from_isr` (replicas that stay out of
the ISR until it is persisted that they have cut).
"""

from __future__ import annotations

from kmirror.cluster.node.partition import NO_REPLICAS, Partition
from kmirror.mirror.cut_rules import SESSION, Uncut, merge_uncut
from kmirror.mirror.partition import MirrorPartition
from kmirror.mirror.states import MirrorState


def uncut_to_persist(mp: MirrorPartition, partition: Partition, state: MirrorState) -> Uncut:
    """Return the list to persist with `state`: the replicas that have not confirmed. This leader has cut its log."""
    uncut = {r: e for r, e in mp.uncut.items() if r == SESSION or r in partition.required_cuts}
    if state is MirrorState.STOPPED:
        uncut.pop(SESSION, None)
    elif state is MirrorState.MIRRORING and mp.state is MirrorState.PREPARING:
        assert mp.cut_epoch is not None, "PREPARING has cut"
        # An unconfirmed replica may hold foreign epochs even if the leader itself had nothing to cut.
        late = dict.fromkeys(partition.unconfirmed_members(partition.image.replicas), mp.cut_epoch)
        uncut = dict(merge_uncut(uncut, {SESSION: mp.cut_epoch, **late}))
    return uncut


def apply_uncut(mp: MirrorPartition, partition: Partition | None, uncut: Uncut) -> None:
    """Enforce a persisted list: followers on it must cut, and are not admitted to the ISR before."""
    known, mp.uncut = mp.uncut, uncut
    if partition is None:
        return
    own_id = partition.broker_id
    for replica, epoch in uncut.items():
        if replica not in (SESSION, own_id) and known.get(replica) != epoch:
            partition.demand_cut(replica, epoch)
    partition.barred_from_isr = (
        frozenset(replica for replica in uncut if replica not in (SESSION, own_id)) or NO_REPLICAS
    )
    mp.is_withheld = mp.is_withheld and own_id in uncut


def has_new_confirmation(mp: MirrorPartition, partition: Partition) -> bool:
    """Return whether a replica on the persisted list has confirmed, so that the list should be written again.

    In PREPARING the members of the ISR do not count: they leave the list with the transition to MIRRORING.
    """
    return any(
        replica not in (SESSION, partition.broker_id)
        and replica not in partition.required_cuts
        and not (mp.state is MirrorState.PREPARING and replica in partition.isr)
        for replica in mp.uncut
    )
