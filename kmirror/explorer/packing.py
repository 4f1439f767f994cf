"""States as bytes for other processes; equal states have equal bytes in every process.

In a `Model` a state consists of indexes into tables that depend on the order of the search. A packed state contains the
logs themselves, and the order of its followers does not depend on those tables.
"""

from __future__ import annotations

import marshal
from collections.abc import Iterable

from kmirror.explorer.cluster import Cluster, Replica, canonical
from kmirror.explorer.model import Model, State
from kmirror.mirror.states import MirrorState

MARSHAL_VERSION = 2
"""The last version without back references, which would make the bytes depend on the origin of a state."""

PackedLog = tuple[tuple[int, ...], tuple[tuple[int, int], ...]]
PackedReplica = tuple[PackedLog, int, int, int, int]
PackedCluster = tuple[tuple[int, ...], tuple[PackedReplica, ...]]


def pack(model: Model, state: State) -> bytes:
    """Return a state as bytes."""
    a, b = (_packed(model, cluster) for cluster in model.pair(state))
    return marshal.dumps((a, b, tuple(sorted(model.protected(state)))), MARSHAL_VERSION)


def unpack(model: Model, data: bytes) -> State:
    """Return the state in `data`, for a model with the same scope and rules."""
    a, b, protected = marshal.loads(data)
    return model.state(_unpacked(model, a), _unpacked(model, b), frozenset(protected))


def _packed(model: Model, cluster: Cluster) -> PackedCluster:
    leader, *followers = (_packed_replica(model, replica) for replica in cluster.replicas)
    return tuple(int(value) for value in cluster[:-1]), (leader, *sorted(followers))


def _packed_replica(model: Model, replica: Replica) -> PackedReplica:
    log = model.logs.logs[replica.log]
    starts = tuple((start.epoch, start.start_offset) for start in log.epochs.entries)
    return (
        (log.entries, starts),
        int(replica.in_isr),
        int(replica.leo_is_known),
        int(replica.has_confirmed),
        replica.listed_cut,
    )


def _unpacked(model: Model, packed: PackedCluster) -> Cluster:
    values, replicas = packed
    names = dict(zip(Cluster._fields, values, strict=False))
    cluster = Cluster(
        epoch=names["epoch"], hw=names["hw"], committed=names["committed"], state=MirrorState(names["state"]),
        lme=names["lme"], session=names["session"], phase=names["phase"], cut_epoch=names["cut_epoch"],
        appends=names["appends"], clean=names["clean"], unclean=names["unclean"], sessions=names["sessions"],
        replicas=tuple(_unpacked_replicas(model, replicas)),
    )  # fmt: skip
    return canonical(cluster, range(len(replicas)))[0]


def _unpacked_replicas(model: Model, replicas: Iterable[PackedReplica]) -> Iterable[Replica]:
    for (entries, starts), in_isr, leo_is_known, has_confirmed, listed_cut in replicas:
        yield Replica(
            model.logs.intern_log(entries, starts), bool(in_isr), bool(leo_is_known), bool(has_confirmed), listed_cut
        )
