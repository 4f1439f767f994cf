"""What can one cluster do by itself? Appends, fetches of followers, elections, and the steps of a mirrored partition.

One partition, seen from its leader. The leader is replica 0; followers are sorted, so clusters that differ in the names
of their replicas are one. What a step costs to persist is not modelled: a step is what lies between two writes to
`__mirror_state`, so a leader may be gone between any two of them.

The high watermark is that of the leader. A new leader's is 0 until every ISR member has fetched from it: as low as one
can be that a follower was last told. Otherwise it is the least log end in the ISR at once, without the extra fetch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from kmirror.mirror.cutting import after_cut, cut_offset, is_cut
from kmirror.mirror.state_records import NEVER_MIRRORED, NOT_SETTLED
from kmirror.mirror.states import MirrorState, Wish, following
from kmirror.sim.explorer.logs import EMPTY, Answer, Logs, entry, epoch_of, is_reset, last_epoch_of
from kmirror.sim.explorer.rules import Listing, Rules, epoch_of_stop, order, settled_epoch
from kmirror.sim.explorer.scopes import Scope

OWES_NOTHING = 1 << 10
"""In place of a cut epoch: the replica is not on D30's list."""

IDLE = 0
DECIDED = 1
"""PREPARING: the list is persisted, the leader's log not cut yet."""
CUT = 2
"""PREPARING and STOPPING: this leader has cut its log."""

OWN_EPOCHS = (MirrorState.UNKNOWN, MirrorState.STOPPED)
"""In these states the partition is writable, and the log carries the cluster's own leader epochs."""


class Replica(NamedTuple):
    log: int
    in_isr: bool
    heard: bool
    """In the ISR, and its log end is known: it fetched since the election, and since the leader's log was cut."""
    confirmed: bool
    """It fetched without divergence since the leader's cut (D35)."""
    owes: int
    """Its row in D30's list."""


class Cluster(NamedTuple):
    """One cluster's whole state: what is persisted, what its leader knows, and what is left of its budgets."""

    epoch: int
    hw: int
    committed: int
    """The highest high watermark since the log was last cut by right; no leader may have less (ghost)."""
    state: MirrorState
    lme: int
    touched: bool
    """The row of SESSION: the session has cut or fed the log."""
    phase: int
    cut_epoch: int
    appends: int
    clean: int
    unclean: int
    sessions: int
    replicas: tuple[Replica, ...]

    @property
    def leader(self) -> Replica:
        return self.replicas[0]

    @property
    def has_heard_all(self) -> bool:
        return all(replica.heard for replica in self.replicas if replica.in_isr)

    @property
    def is_foreign(self) -> bool:
        return self.state not in OWN_EPOCHS


class Move(NamedTuple):
    """One step of one cluster: what, by which replica (its place before), what comes out."""

    kind: str
    who: int
    after: Cluster
    places: tuple[int, ...]
    """For each replica after the step, its place before it."""


Step = Callable[[Cluster], Iterator[Move]]


def canonical(cluster: Cluster, places: Iterable[int]) -> tuple[Cluster, tuple[int, ...]]:
    """Return the cluster with its followers in order, and the places in the same order."""
    leader, *followers = zip(cluster.replicas, places, strict=True)
    ranked = [leader, *sorted(followers)]
    return cluster._replace(replicas=tuple(row[0] for row in ranked)), tuple(row[1] for row in ranked)


class Steps:
    """All local steps under one set of rules, in one scope."""

    def __init__(self, rules: Rules, scope: Scope, logs: Logs) -> None:
        self.rules = rules
        self.scope = scope
        self.logs = logs

    def first(self, side: int) -> Cluster:
        """Return cluster `side` before anything happened: nobody has written, all are in the ISR."""
        scope = self.scope
        log = self.logs.enter(EMPTY, 0)
        return Cluster(
            epoch=0, hw=0, committed=0, state=MirrorState.UNKNOWN, lme=NOT_SETTLED, touched=False, phase=IDLE,
            cut_epoch=0, appends=scope.appends[side], clean=scope.clean[side], unclean=scope.unclean[side],
            sessions=scope.sessions[side],
            replicas=(Replica(log, True, True, False, OWES_NOTHING),) * scope.replicas[side],
        )  # fmt: skip

    def of(self, cluster: Cluster, side: int) -> Iterator[Move]:
        """Yield every step that the cluster can take by itself."""
        yield from self._appends(cluster, side)
        yield from self._follows(cluster)
        yield from self._leaves(cluster)
        yield from self._elections(cluster)
        yield from self._orders(cluster)
        if cluster.state is MirrorState.PREPARING:
            yield from self._prepares(cluster)
        elif cluster.state is MirrorState.STOPPING:
            yield from self._stops(cluster, side)

    def move(self, kind: str, who: int, after: Cluster, places: Iterable[int] | None = None) -> Move:
        after, order_after = canonical(
            self._raised(after), range(len(after.replicas)) if places is None else places
        )
        return Move(kind, who, after, order_after)

    def _raised(self, cluster: Cluster) -> Cluster:
        """Return the cluster with its high watermark raised as far as the ISR allows."""
        if not cluster.has_heard_all:
            return cluster
        ends = self.logs.ends
        hw = max(cluster.hw, min(ends[replica.log] for replica in cluster.replicas if replica.in_isr))
        return cluster._replace(hw=hw, committed=max(hw, cluster.committed))

    # -- replication --------------------------------------------------------------------------

    def session_of(self, cluster: Cluster, side: int) -> int:
        return self.scope.sessions[side] - cluster.sessions

    def _appends(self, cluster: Cluster, side: int) -> Iterator[Move]:
        is_new = self.scope.b_is_new and side == 1 and cluster.state is MirrorState.UNKNOWN
        if cluster.appends and cluster.state in OWN_EPOCHS and not is_new:
            number = entry(cluster.epoch, side, self.session_of(cluster, side))
            log = self.logs.append(cluster.leader.log, (number,))
            yield self.move("append", 0, _with_leader(cluster, log)._replace(appends=cluster.appends - 1))

    def _follows(self, cluster: Cluster) -> Iterator[Move]:
        if cluster.phase == DECIDED:
            return  # The leader cuts its own log before it serves anybody.
        for who in range(1, len(cluster.replicas)):
            kind, after = self._follow(cluster, who)
            if after != cluster:
                yield self.move(kind, who, after)

    def _follow(self, cluster: Cluster, who: int) -> tuple[str, Cluster]:
        """Return what a fetch of follower `who` comes to."""
        replica = cluster.replicas[who]
        if self._is_in_force(cluster) and replica.owes != OWES_NOTHING:
            if not self._has_paid(replica):
                return "ordered", _with(cluster, who, replica._replace(log=self._as_ordered(cluster, replica)))
            # Struck off, persistently, before it is served anything (D30).
            replica = replica._replace(owes=OWES_NOTHING)
        leader = cluster.leader.log
        answer, log = self.logs.fetch(
            replica.log, leader, foreign=cluster.is_foreign, bound=self.logs.ends[leader], one=self.scope.one_by_one
        )
        if answer is not Answer.SERVED:
            return "diverged", _with(cluster, who, replica._replace(log=log))
        confirmed = cluster.state is MirrorState.PREPARING and cluster.phase == CUT
        end = self.logs.ends[log]
        joins = end >= (cluster.hw if cluster.has_heard_all else self.logs.ends[leader])
        in_isr = replica.in_isr or joins
        return "fetch", _with(cluster, who, Replica(log, in_isr, in_isr, confirmed, replica.owes))

    def _is_in_force(self, cluster: Cluster) -> bool:
        return not self.rules.only_mirroring or cluster.state is MirrorState.MIRRORING

    def _has_paid(self, replica: Replica) -> bool:
        if self.rules.listing is Listing.OFFSET:
            return self.logs.ends[replica.log] <= replica.owes
        return is_cut(replica.owes, last_epoch_of(self.logs.logs[replica.log]))

    def _as_ordered(self, cluster: Cluster, replica: Replica) -> int:
        if self.rules.listing is Listing.OFFSET:
            return self.logs.cut(replica.log, replica.owes)
        return self.logs.cut_as_told(replica.log, *order(self.logs.logs[cluster.leader.log], replica.owes))

    def _leaves(self, cluster: Cluster) -> Iterator[Move]:
        for who in range(1, len(cluster.replicas)):
            replica = cluster.replicas[who]
            if replica.in_isr:
                yield self.move("leaves", who, _with(cluster, who, replica._replace(in_isr=False, heard=False)))

    # -- elections ----------------------------------------------------------------------------

    def _elections(self, cluster: Cluster) -> Iterator[Move]:
        for who, replica in enumerate(cluster.replicas):
            if replica.in_isr and cluster.clean:
                after = self._elected(cluster._replace(clean=cluster.clean - 1), who)
                yield self.move("elected", who, after, _first(who, len(cluster.replicas)))
            elif not replica.in_isr and cluster.unclean:
                alone = tuple(r._replace(in_isr=False, heard=False) for r in cluster.replicas)
                after = cluster._replace(unclean=cluster.unclean - 1, committed=0, replicas=alone)
                yield self.move("unclean", who, self._elected(after, who), _first(who, len(cluster.replicas)))

    def _elected(self, cluster: Cluster, who: int) -> Cluster:
        """Return the cluster led by `who`, who knows nothing but what is persisted.

        Who has missed a cut makes up for it before anything else, and is struck off (D30).
        """
        chosen = cluster.replicas[who]
        log, committed, epoch = chosen.log, cluster.committed, cluster.epoch + 1
        if chosen.owes != OWES_NOTHING and self._is_in_force(cluster):
            log = self._cut_to(log, chosen.owes)
            committed = min(committed, self.logs.ends[log])
        if not cluster.is_foreign:
            log = self.logs.enter(log, epoch)
        owes = OWES_NOTHING if self._is_in_force(cluster) else chosen.owes
        leader = Replica(log, True, True, False, owes)
        others = [r for place, r in enumerate(cluster.replicas) if place != who]
        followers = (r._replace(heard=False, confirmed=False) for r in others)
        return cluster._replace(
            epoch=epoch, hw=0, committed=committed, phase=IDLE, cut_epoch=0, replicas=(leader, *followers)
        )

    def _cut_to(self, log: int, owed: int) -> int:
        """Return the log after its owner has cut it to what it owes, an epoch or (wrongly) an offset."""
        if self.rules.listing is Listing.OFFSET:
            return self.logs.cut(log, owed)
        return self._cut_at_epoch(log, owed)

    def _cut_at_epoch(self, log: int, cut_epoch: int) -> int:
        found = self.logs.logs[log]
        # As in the engine, a cut from scratch takes epochs without records too.
        return EMPTY if cut_epoch < 0 else self.logs.cut(log, cut_offset(found, cut_epoch))

    # -- orders -------------------------------------------------------------------------------

    def _orders(self, cluster: Cluster) -> Iterator[Move]:
        if cluster.state in OWN_EPOCHS and cluster.sessions:
            state = following(Wish.MIRROR, cluster.state)
            yield self.move("add", 0, cluster._replace(state=state, sessions=cluster.sessions - 1))
        out_of_preparing = cluster.state is MirrorState.PREPARING and self.rules.removes_anywhere
        if cluster.state is MirrorState.MIRRORING or (out_of_preparing and cluster.phase != DECIDED):
            yield self.move("remove", 0, self._removed(cluster))

    def _removed(self, cluster: Cluster) -> Cluster:
        lme = cluster.lme
        if cluster.state is MirrorState.PREPARING:  # Nothing was mirrored in this session: no new epoch (D37).
            settles = self.rules.prepared_stop_settles
            lme = NOT_SETTLED if settles else NEVER_MIRRORED if lme == NOT_SETTLED else lme
        replicas = self._confirmed(cluster) if self.rules.stop_strikes_leader else cluster.replicas
        return cluster._replace(
            state=following(Wish.REMOVE, cluster.state), lme=lme, phase=IDLE, cut_epoch=0,
            replicas=tuple(replica._replace(confirmed=False) for replica in replicas),
        )  # fmt: skip

    def _confirmed(self, cluster: Cluster) -> tuple[Replica, ...]:
        """Return the replicas, those that have followed the leader's cut, and the leader, no longer on the list."""
        if cluster.phase != CUT:
            return cluster.replicas
        return tuple(
            replica._replace(confirmed=False, owes=OWES_NOTHING if place == 0 or replica.confirmed else replica.owes)
            for place, replica in enumerate(cluster.replicas)
        )

    # -- PREPARING ----------------------------------------------------------------------------

    def decided(self, cluster: Cluster, cut_epoch: int) -> Cluster:
        """Return the cluster once the cut epoch is known: whoever has to cut is on the list, persistently (D30)."""
        log = cluster.leader.log
        cut = self._cut_at_epoch(log, cut_epoch)
        after = cluster._replace(phase=DECIDED, cut_epoch=cut_epoch, touched=True)
        if self.rules.listing is Listing.NOTHING or (self.rules.listed_if_removing and cut == log):
            return after
        owed = self.logs.ends[cut] if self.rules.listing is Listing.OFFSET else cut_epoch
        places = range(len(cluster.replicas))
        uncut = {place: r.owes for place, r in enumerate(cluster.replicas) if r.owes != OWES_NOTHING}
        listed = after_cut({} if self.rules.replaced else uncut, places, owed)
        return after._replace(
            replicas=tuple(r._replace(owes=listed[place]) for place, r in enumerate(cluster.replicas))
        )

    def _prepares(self, cluster: Cluster) -> Iterator[Move]:
        if cluster.phase == DECIDED:
            log = self._cut_at_epoch(cluster.leader.log, cluster.cut_epoch)
            after = self.shortened(cluster, log)._replace(phase=CUT)
            replicas = tuple(replica._replace(confirmed=False) for replica in after.replicas)
            yield self.move("cut", 0, after._replace(replicas=replicas))
        elif cluster.phase == CUT and self._is_all_cut(cluster):
            after = cluster._replace(state=MirrorState.MIRRORING, lme=NOT_SETTLED, replicas=self._confirmed(cluster))
            yield self.move("mirroring", 0, after._replace(phase=IDLE, cut_epoch=0))

    def shortened(self, cluster: Cluster, log: int) -> Cluster:
        """Return the cluster after its leader cut its log to `log`; if that removed records, no follower is known."""
        end = self.logs.ends[log]
        after = _with_leader(cluster, log)._replace(hw=min(cluster.hw, end), committed=min(cluster.committed, end))
        if end == self.logs.ends[cluster.leader.log]:
            return after
        leader, *followers = after.replicas
        return after._replace(replicas=(leader, *(r._replace(heard=False, confirmed=False) for r in followers)))

    def _is_all_cut(self, cluster: Cluster) -> bool:
        end = self.logs.ends[cluster.leader.log]
        for replica in cluster.replicas[1:]:
            if not replica.in_isr:
                if self.rules.all_replicas:
                    return False
            elif self.rules.fetches_confirm:
                if not replica.confirmed:
                    return False
            elif self.logs.ends[replica.log] > end:
                return False
        return True

    # -- STOPPING -----------------------------------------------------------------------------

    def _stops(self, cluster: Cluster, side: int) -> Iterator[Move]:
        is_untouched = self.rules.untouched_stays and not cluster.touched
        if is_untouched and cluster.lme != NOT_SETTLED:
            yield self.move("stopped", 0, self._stopped(cluster))
        elif cluster.phase == IDLE and not is_untouched:
            if cluster.has_heard_all or not self.rules.stop_waits:
                yield self.move("stop-cut", 0, self._stop_cut(cluster))
        elif not cluster.has_heard_all:
            return
        elif cluster.lme == NOT_SETTLED:
            lme = settled_epoch(last_epoch_of(self.logs.logs[cluster.leader.log]))
            yield self.move("settle", 0, cluster._replace(lme=lme))
        elif not self._is_reset(cluster):
            yield self.move("reset", 0, self._reset(cluster, side))
        elif cluster.hw >= self.logs.ends[cluster.leader.log]:
            yield self.move("stopped", 0, self._stopped(cluster))

    def _stop_cut(self, cluster: Cluster) -> Cluster:
        """Return the cluster cut to its high watermark; what was committed above it stays on record (ghost)."""
        after = self.shortened(cluster, self.logs.cut(cluster.leader.log, cluster.hw))
        return after._replace(phase=CUT, committed=cluster.committed)

    def _is_reset(self, cluster: Cluster) -> bool:
        """Does the log end in our own producer reset?"""
        entries = self.logs.logs[cluster.leader.log].entries
        return bool(entries) and is_reset(entries[-1]) and epoch_of(entries[-1]) > cluster.lme

    def _reset(self, cluster: Cluster, side: int) -> Cluster:
        log = self.logs.logs[cluster.leader.log]
        epoch = epoch_of_stop(self.rules, cluster.epoch, cluster.lme, log.latest_epoch)
        number = entry(epoch, side, self.session_of(cluster, side), is_reset=True)
        return _with_leader(cluster, self.logs.append(cluster.leader.log, (number,)))._replace(epoch=epoch)

    def _stopped(self, cluster: Cluster) -> Cluster:
        log = self.logs.enter(cluster.leader.log, cluster.epoch)
        return _with_leader(cluster, log)._replace(state=MirrorState.STOPPED, touched=False, phase=IDLE)


def _with(cluster: Cluster, who: int, replica: Replica) -> Cluster:
    replicas = cluster.replicas
    return cluster._replace(replicas=(*replicas[:who], replica, *replicas[who + 1 :]))


def _with_leader(cluster: Cluster, log: int) -> Cluster:
    return _with(cluster, 0, cluster.leader._replace(log=log))


def _first(who: int, count: int) -> tuple[int, ...]:
    """Return the places with `who` in front."""
    return (who, *(place for place in range(count) if place != who))
