"""What can one cluster do by itself? Appends, fetches of followers, elections, and the steps of a mirrored partition.

One partition, seen from its leader. The leader is replica 0; followers are sorted, so clusters that differ in the names
of their replicas are one. A step is what lies between two writes to `__mirror_state`, so a leader may be gone between
any two of them; a write and what it says are one step.

The high watermark is that of the leader. A new leader's is 0 until every ISR member has fetched from it: as low as one
can be that a follower got with its last fetch. Otherwise it is the least log end in the ISR at once, without the extra
fetch. A stop cuts to it: there are no transactions here, and what lies above it stands for what lies above the LSO.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kmirror.cluster.replication.truncation import is_cut
from kmirror.mirror.cut_rules import SESSION, Uncut, after_cut, cut_offset, merged
from kmirror.mirror.state_records import NEVER_MIRRORED, NOT_SETTLED
from kmirror.mirror.states import MirrorState, Wish, next_state
from kmirror.sim.explorer.logs import EMPTY, Answer, Logs, entry, epoch_of, is_reset, last_epoch_of
from kmirror.sim.explorer.rules import Listing, Rules, Written, epoch_of_stop, settled_epoch
from kmirror.sim.explorer.scopes import Scope

OWES_NOTHING = 1 << 10
"""In place of a cut epoch: the replica, or the session, is not on D30's list."""

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
    """The leader knows its log end: it fetched since the election, and since the leader cut its own log."""
    paid: bool
    """On the list, but a fetch has shown that it is cut: known to this leader, not persisted yet."""
    owes: int
    """Its row in D30's list, as persisted."""


class Cluster(NamedTuple):
    """One cluster's whole state: what is persisted, what its leader knows, and what is left of its budgets."""

    epoch: int
    hw: int
    committed: int
    """The highest high watermark since the log was last cut by right; no leader may have less (ghost)."""
    state: MirrorState
    lme: int
    session: int
    """The row of SESSION: the least epoch that this session cut to; OWES_NOTHING until it touches the log."""
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

    @property
    def uncut(self) -> Uncut:
        """D30's list, by place."""
        rows = ((SESSION, self.session), *((place, replica.owes) for place, replica in enumerate(self.replicas)))
        return {row: owes for row, owes in rows if owes != OWES_NOTHING}

    @property
    def has_news(self) -> bool:
        """Return whether a row of the list is to be struck off; members of the ISR wait for the end of PREPARING."""
        prepares = self.state is MirrorState.PREPARING
        return any(replica.paid and not (prepares and replica.in_isr) for replica in self.replicas)


class Move(NamedTuple):
    """One step of one cluster: what, by which replica (its place before), what comes out."""

    kind: str
    place: int
    after: Cluster
    places: tuple[int, ...]
    """For each replica after the step, its place before it."""


def canonical(cluster: Cluster, places: Iterable[int]) -> tuple[Cluster, tuple[int, ...]]:
    """Return the cluster with its followers in order and without what does not matter, and the places in that order."""
    counts_all = cluster.state is MirrorState.PREPARING and cluster.phase == CUT
    leader, *followers = (
        (replica if replica.in_isr or counts_all else replica._replace(heard=False), place)
        for replica, place in zip(cluster.replicas, places, strict=True)
    )
    ranked = [leader, *sorted(followers)]
    return cluster._replace(replicas=tuple(row[0] for row in ranked)), tuple(row[1] for row in ranked)


class Steps:
    """All local steps under one set of rules, in one scope."""

    def __init__(self, rules: Rules, scope: Scope, logs: Logs) -> None:
        self.rules = rules
        self.scope = scope
        self.logs = logs

    def first(self, side: int) -> Cluster:
        """Return cluster `side` before anything happened: nothing was written, all replicas are in the ISR."""
        scope = self.scope
        log = self.logs.enter(EMPTY, 0)
        return Cluster(
            epoch=0, hw=0, committed=0, state=MirrorState.UNKNOWN, lme=NOT_SETTLED, session=OWES_NOTHING, phase=IDLE,
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
        if cluster.has_news and cluster.phase != DECIDED:
            yield self.move("strike", 0, self._written(cluster))
        elif cluster.state is MirrorState.PREPARING:
            yield from self._prepares(cluster)
        elif cluster.state is MirrorState.STOPPING:
            yield from self._stops(cluster, side)

    def move(self, kind: str, place: int, after: Cluster, places: Iterable[int] | None = None) -> Move:
        after, order_after = canonical(self._raised(after), range(len(after.replicas)) if places is None else places)
        return Move(kind, place, after, order_after)

    def _raised(self, cluster: Cluster) -> Cluster:
        """Return the cluster with its high watermark raised as far as the ISR allows."""
        if not cluster.has_heard_all:
            return cluster
        ends = self.logs.ends
        hw = max(cluster.hw, min(ends[replica.log] for replica in cluster.replicas if replica.in_isr))
        return cluster._replace(hw=hw, committed=max(hw, cluster.committed))

    # -- the list of D30 ----------------------------------------------------------------------

    def _is_in_force(self, cluster: Cluster) -> bool:
        return not self.rules.only_mirroring or cluster.state is MirrorState.MIRRORING

    def _must_cut(self, cluster: Cluster, replica: Replica) -> bool:
        """Return whether a follower is answered with a cut, and not with records."""
        return replica.owes != OWES_NOTHING and not replica.paid and self._is_in_force(cluster)

    def has_confirmed(self, cluster: Cluster, replica: Replica) -> bool:
        """Return whether a fetch of the follower was answered without divergence since the leader's cut (D35)."""
        return replica.heard and not self._must_cut(cluster, replica)

    def _written(self, cluster: Cluster) -> Cluster:
        """Return the cluster after any write of its state: the leader and those that have paid are off the list."""
        strikes_leader = self.rules.stop_strikes_leader or cluster.state is MirrorState.MIRRORING
        replicas = tuple(
            replica._replace(owes=OWES_NOTHING, paid=False)
            if replica.paid or (place == 0 and strikes_leader) else replica
            for place, replica in enumerate(cluster.replicas)
        )  # fmt: skip
        return cluster._replace(replicas=replicas)

    def _listed(self, cluster: Cluster, uncut: Uncut) -> Cluster:
        """Return the cluster with the list persisted; a replica with a new row has to show that it has cut."""
        replicas = []
        for place, replica in enumerate(cluster.replicas):
            owes = uncut.get(place, OWES_NOTHING)
            replicas.append(replica._replace(owes=owes, paid=replica.paid and owes == replica.owes))
        return cluster._replace(replicas=tuple(replicas))

    def _owed(self, log: int, cut_epoch: int) -> int:
        """Return what stands on the list for a cut that leaves the leader with `log`."""
        return self.logs.ends[log] if self.rules.listing is Listing.OFFSET else cut_epoch

    def reigns_on(self, cluster: Cluster, epoch: int) -> Cluster:
        """Return the cluster in another leader epoch of the same leader, which reads the list anew."""
        if epoch == cluster.epoch:
            return cluster
        replicas = tuple(replica._replace(paid=False) for replica in cluster.replicas)
        return cluster._replace(epoch=epoch, replicas=replicas)

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
        for place in range(1, len(cluster.replicas)):
            kind, replica = self._follow(cluster, cluster.replicas[place])
            if replica != cluster.replicas[place]:
                yield self.move(kind, place, _with(cluster, place, replica))

    def _follow(self, cluster: Cluster, replica: Replica) -> tuple[str, Replica]:
        """Return what a fetch of a follower makes of it."""
        if self._must_cut(cluster, replica) and not self._is_cut(replica):
            return "ordered", replica._replace(log=self._as_ordered(cluster, replica))
        leader = cluster.leader.log
        answer, log = self.logs.fetch(
            replica.log, leader, foreign=cluster.is_foreign, bound=self.logs.ends[leader], one=self.scope.one_by_one
        )
        if answer is not Answer.SERVED:
            return "diverged", replica._replace(log=log)
        is_listed = replica.owes != OWES_NOTHING and self._is_in_force(cluster)
        reached = self.logs.ends[log] >= (cluster.hw if cluster.has_heard_all else self.logs.ends[leader])
        in_isr = replica.in_isr or (reached and not is_listed)
        return "fetch", Replica(log, in_isr, True, is_listed, replica.owes)

    def _is_cut(self, replica: Replica) -> bool:
        if self.rules.listing is Listing.OFFSET:
            return self.logs.ends[replica.log] <= replica.owes
        return is_cut(replica.owes, last_epoch_of(self.logs.logs[replica.log]))

    def _as_ordered(self, cluster: Cluster, replica: Replica) -> int:
        if self.rules.listing is Listing.OFFSET:
            return self.logs.cut(replica.log, replica.owes)
        return self.logs.cut_as_ordered(replica.log, cluster.leader.log, replica.owes)

    def _leaves(self, cluster: Cluster) -> Iterator[Move]:
        for place in range(1, len(cluster.replicas)):
            replica = cluster.replicas[place]
            if replica.in_isr:
                yield self.move("leaves", place, _with(cluster, place, replica._replace(in_isr=False)))

    # -- elections ----------------------------------------------------------------------------

    def _elections(self, cluster: Cluster) -> Iterator[Move]:
        for place, replica in enumerate(cluster.replicas):
            if replica.in_isr and cluster.clean:
                after = self._elected(cluster._replace(clean=cluster.clean - 1), place)
                yield self.move("elected", place, after, _first(place, len(cluster.replicas)))
            elif not replica.in_isr and cluster.unclean:
                alone = tuple(r._replace(in_isr=False) for r in cluster.replicas)
                after = cluster._replace(unclean=cluster.unclean - 1, committed=0, replicas=alone)
                yield self.move("unclean", place, self._elected(after, place), _first(place, len(cluster.replicas)))

    def _elected(self, cluster: Cluster, place: int) -> Cluster:
        """Return the cluster led by the replica at `place`, which knows nothing but what is persisted.

        A leader that has missed a cut makes up for it before it serves anything, and is struck off the list (D30).
        """
        chosen = cluster.replicas[place]
        log, committed, epoch, owes = chosen.log, cluster.committed, cluster.epoch + 1, chosen.owes
        if owes != OWES_NOTHING and self._is_in_force(cluster):
            log = self._made_up(log, owes)
            committed, owes = min(committed, self.logs.ends[log]), OWES_NOTHING
        if not cluster.is_foreign:
            log = self.logs.enter(log, epoch)
        others = [replica for other, replica in enumerate(cluster.replicas) if other != place]
        followers = (r._replace(heard=False, paid=False) for r in others)
        return cluster._replace(
            epoch=epoch, hw=0, committed=committed, phase=IDLE, cut_epoch=0,
            replicas=(Replica(log, True, True, False, owes), *followers),
        )  # fmt: skip

    def _made_up(self, log: int, owes: int) -> int:
        if self.rules.listing is Listing.OFFSET:
            return self.logs.cut(log, owes)
        return self._cut_at_epoch(log, owes)

    def _cut_at_epoch(self, log: int, cut_epoch: int) -> int:
        # As in the engine, a cut from scratch takes epochs without records too.
        return EMPTY if cut_epoch < 0 else self.logs.cut(log, cut_offset(self.logs.logs[log], cut_epoch))

    # -- orders -------------------------------------------------------------------------------

    def _orders(self, cluster: Cluster) -> Iterator[Move]:
        if cluster.state in OWN_EPOCHS and cluster.sessions:
            after = self._written(cluster)._replace(sessions=cluster.sessions - 1)
            yield self.move("add", 0, after._replace(state=next_state(Wish.MIRROR, cluster.state)))
        out_of_preparing = cluster.state is MirrorState.PREPARING and self.rules.removes_anywhere
        if cluster.state is MirrorState.MIRRORING or (out_of_preparing and cluster.phase != DECIDED):
            yield self.move("remove", 0, self._removed(cluster))

    def _removed(self, cluster: Cluster) -> Cluster:
        lme = cluster.lme
        if cluster.state is MirrorState.PREPARING:  # Nothing was mirrored in this session: no new epoch (D37).
            settles = self.rules.prepared_stop_settles
            lme = NOT_SETTLED if settles else NEVER_MIRRORED if lme == NOT_SETTLED else lme
        state = next_state(Wish.REMOVE, cluster.state)
        return self._written(cluster)._replace(state=state, lme=lme, phase=IDLE, cut_epoch=0)

    # -- PREPARING ----------------------------------------------------------------------------

    def decided(self, cluster: Cluster, cut_epoch: int) -> Cluster:
        """Return the cluster once the cut epoch is known: replicas that have to cut are listed, persistently (D30).

        Where the leader has nothing to cut, nothing is written, unless the rules say so.
        """
        log = cluster.leader.log
        cut = self._cut_at_epoch(log, cut_epoch)
        at_once = self.logs.ends[cut] == self.logs.ends[log] and self.rules.written is not Written.AT_EVERY_CUT
        after = cluster._replace(phase=DECIDED, cut_epoch=cut_epoch)
        if at_once:
            return self._cut(after)
        after = after._replace(session=min(cluster.session, cut_epoch))
        if self.rules.listing is Listing.NOTHING:
            return after
        known: Uncut = {} if self.rules.replaced else cluster.uncut
        return self._listed(after, after_cut(known, range(len(cluster.replicas)), self._owed(cut, cut_epoch)))

    def _cut(self, cluster: Cluster) -> Cluster:
        """Return the cluster after the leader's cut; a fetch from before it confirms nothing (D35)."""
        log = self._cut_at_epoch(cluster.leader.log, cluster.cut_epoch)
        return _unheard(self.shortened(cluster, log))._replace(phase=CUT)

    def _prepares(self, cluster: Cluster) -> Iterator[Move]:
        if cluster.phase == DECIDED:
            yield self.move("cut", 0, self._cut(cluster))
        elif cluster.phase == CUT and self._is_all_cut(cluster):
            state = MirrorState.MIRRORING
            after = self._written(self._late_listed(cluster)._replace(state=state))
            yield self.move("mirroring", 0, after._replace(lme=NOT_SETTLED, phase=IDLE, cut_epoch=0))

    def _late_listed(self, cluster: Cluster) -> Cluster:
        """Return the cluster with those on the list that have not confirmed, also if the leader had nothing to cut."""
        after = cluster._replace(session=min(cluster.session, cluster.cut_epoch))
        if self.rules.listing is Listing.NOTHING or self.rules.written is Written.IF_REMOVING:
            return after
        owed = self._owed(cluster.leader.log, cluster.cut_epoch)
        late = [at for at, row in enumerate(cluster.replicas) if at and not self.has_confirmed(cluster, row)]
        known: Uncut = {} if self.rules.replaced else cluster.uncut
        return self._listed(after, merged(known, dict.fromkeys(late, owed)))

    def shortened(self, cluster: Cluster, log: int) -> Cluster:
        """Return the cluster after its leader cut its log to `log`; if that removed records, no follower is known."""
        end = self.logs.ends[log]
        after = _with_leader(cluster, log)._replace(hw=min(cluster.hw, end), committed=min(cluster.committed, end))
        return after if end == self.logs.ends[cluster.leader.log] else _unheard(after)

    def _is_all_cut(self, cluster: Cluster) -> bool:
        end = self.logs.ends[cluster.leader.log]
        for replica in cluster.replicas[1:]:
            if not replica.in_isr:
                if self.rules.all_replicas:
                    return False
            elif self.rules.fetches_confirm:
                if not self.has_confirmed(cluster, replica):
                    return False
            elif self.logs.ends[replica.log] > end:
                return False
        return True

    # -- STOPPING -----------------------------------------------------------------------------

    def _stops(self, cluster: Cluster, side: int) -> Iterator[Move]:
        is_untouched = self.rules.untouched_stays and cluster.session == OWES_NOTHING
        if is_untouched and cluster.lme != NOT_SETTLED:
            yield self.move("stopped", 0, self._stopped(cluster))
        elif cluster.lme == NOT_SETTLED and cluster.phase == IDLE and not is_untouched:
            if cluster.has_heard_all or not self.rules.stop_waits:
                yield self.move("stop-cut", 0, self._stop_cut(cluster))
        elif self._is_behind(cluster):
            return
        elif cluster.lme == NOT_SETTLED:
            lme = settled_epoch(last_epoch_of(self.logs.logs[cluster.leader.log]))
            yield self.move("settle", 0, self._written(cluster)._replace(lme=lme))
        elif self._is_reset(cluster):
            yield self.move("stopped", 0, self._stopped(cluster))
        else:
            yield self.move("reset", 0, self._reset(cluster, side))

    def _is_behind(self, cluster: Cluster) -> bool:
        """Return whether a member of the ISR has less or more than the leader, as far as the leader knows (D37)."""
        if cluster.hw < self.logs.ends[cluster.leader.log]:
            return True
        return any(row.in_isr and not self.has_confirmed(cluster, row) for row in cluster.replicas[1:])

    def _stop_cut(self, cluster: Cluster) -> Cluster:
        """Return the cluster cut to its high watermark; what was committed above it stays on record (ghost)."""
        after = self.shortened(cluster, self.logs.cut(cluster.leader.log, cluster.hw))
        return after._replace(phase=CUT, committed=cluster.committed)

    def _is_reset(self, cluster: Cluster) -> bool:
        """Return whether the log ends in our own producer reset, in an epoch above all of this session."""
        entries = self.logs.logs[cluster.leader.log].entries
        before = cluster.lme if cluster.session == OWES_NOTHING else max(cluster.lme, cluster.session)
        return bool(entries) and is_reset(entries[-1]) and epoch_of(entries[-1]) > before

    def _reset(self, cluster: Cluster, side: int) -> Cluster:
        log = self.logs.logs[cluster.leader.log]
        epoch = epoch_of_stop(self.rules, cluster.epoch, cluster.lme, log.latest_epoch)
        number = entry(epoch, side, self.session_of(cluster, side), is_reset=True)
        after = self.reigns_on(cluster, epoch)
        return _with_leader(after, self.logs.append(cluster.leader.log, (number,)))

    def _stopped(self, cluster: Cluster) -> Cluster:
        log = self.logs.enter(cluster.leader.log, cluster.epoch)
        after = _with_leader(self._written(cluster), log)
        return after._replace(state=MirrorState.STOPPED, session=OWES_NOTHING, phase=IDLE)


def _with(cluster: Cluster, place: int, replica: Replica) -> Cluster:
    replicas = cluster.replicas
    return cluster._replace(replicas=(*replicas[:place], replica, *replicas[place + 1 :]))


def _with_leader(cluster: Cluster, log: int) -> Cluster:
    return _with(cluster, 0, cluster.leader._replace(log=log))


def _unheard(cluster: Cluster) -> Cluster:
    """Return the cluster with a leader that knows of no follower where its log ends."""
    leader, *followers = cluster.replicas
    return cluster._replace(replicas=(leader, *(replica._replace(heard=False) for replica in followers)))


def _first(place: int, count: int) -> tuple[int, ...]:
    """Return the places with `place` in front."""
    return (place, *(other for other in range(count) if other != place))
