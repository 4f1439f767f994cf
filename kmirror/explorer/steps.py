"""Local steps of one cluster: appends, fetches of followers, elections, and the steps of a mirrored partition.

A step is the work between two writes to `__mirror_state`, so a leader may fail between any two of them; a write and its
effect are one step. The engine's own objects decide D30 and D35 (`leader`): the list that a write persists, the
replicas that have confirmed a truncation, and the next step of PREPARING.

The HW is the leader's. A new leader's is 0 until every ISR member has fetched from it, which is the lowest HW that a
follower can have from its last fetch. Otherwise it is at once the lowest LEO in the ISR, without the extra fetch. A
stop truncates to the HW: there are no transactions here, so records above the HW represent those above the LSO.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kmirror.cluster.replication.truncation import is_cut
from kmirror.explorer.cluster import (
    CUT,
    DECIDED,
    IDLE,
    NOT_LISTED,
    OWN_EPOCHS,
    Cluster,
    Move,
    Replica,
    canonical,
)
from kmirror.explorer.leader import NOW, Leader
from kmirror.explorer.logs import EMPTY, FetchResult, Logs, entry, entry_epoch, is_reset, last_fetched_epoch
from kmirror.explorer.rules import Listing, ListWriting, Rules, settled_epoch, stop_epoch
from kmirror.explorer.scopes import Scope
from kmirror.explorer.uncut_lists import list_before_cut, list_with_state, may_truncate
from kmirror.mirror.cut_rules import cut_offset
from kmirror.mirror.preparing import PrepareStep, facts_of, next_step, unconfirmed_reason
from kmirror.mirror.state_records import NEVER_MIRRORED, NOT_SETTLED
from kmirror.mirror.states import MirrorState, Wish, next_state
from kmirror.mirror.stopping import isr_behind_reason
from kmirror.mirror.uncut_replicas import has_new_confirmation


class Steps:
    """All local steps under one set of rules, in one scope."""

    def __init__(self, rules: Rules, scope: Scope, logs: Logs) -> None:
        self.rules = rules
        self.scope = scope
        self.logs = logs
        self._high_watermarks: dict[tuple[int, tuple[int, ...]], int] = {}

    def initial_cluster(self, cluster_number: int) -> Cluster:
        """Return the initial state of a cluster: nothing was written, all replicas are in the ISR."""
        scope = self.scope
        log = self.logs.begin_epoch(EMPTY, 0)
        return Cluster(
            epoch=0, hw=0, committed=0, state=MirrorState.UNKNOWN, lme=NOT_SETTLED, session=NOT_LISTED, phase=IDLE,
            cut_epoch=0, appends=scope.appends[cluster_number], clean=scope.clean[cluster_number],
            unclean=scope.unclean[cluster_number],
            sessions=scope.sessions[cluster_number],
            replicas=(Replica(log, True, True, False, NOT_LISTED),) * scope.replicas[cluster_number],
        )  # fmt: skip

    def local_steps(self, cluster: Cluster, cluster_number: int) -> Iterator[Move]:
        """Yield every local step of the cluster."""
        yield from self._append_steps(cluster, cluster_number)
        yield from self._fetch_steps(cluster)
        yield from self._leave_steps(cluster)
        yield from self._election_steps(cluster)
        yield from self._order_steps(cluster)
        if cluster.phase != DECIDED and self.has_confirmations(cluster):
            yield self.move("unlist", 0, self._with_state(cluster, cluster.state))
        elif cluster.state is MirrorState.PREPARING:
            yield from self._prepare_steps(cluster)
        elif cluster.state is MirrorState.STOPPING:
            yield from self._stop_steps(cluster, cluster_number)

    def move(self, kind: str, place: int, after: Cluster, places: Iterable[int] | None = None) -> Move:
        after, order_after = canonical(
            self._with_high_watermark(after), range(len(after.replicas)) if places is None else places
        )
        return Move(kind, place, after, order_after)

    def _with_high_watermark(self, cluster: Cluster) -> Cluster:
        """Return the cluster with its HW raised as far as the ISR allows."""
        ends = self.logs.ends
        known = tuple(ends[row.log] if row.leo_is_known else -1 for row in cluster.replicas if row.in_isr)
        key = (cluster.hw, (ends[cluster.leader.log], *known))
        hw = self._high_watermarks.get(key)
        if hw is None:
            leader = self._leader(cluster)
            leader.partition.advance_high_watermark()
            hw = self._high_watermarks[key] = leader.log.high_watermark
        return cluster if hw == cluster.hw else cluster._replace(hw=hw, committed=max(hw, cluster.committed))

    # -- the list of D30 ----------------------------------------------------------------------

    def _leader(self, cluster: Cluster, *, is_new: bool = False) -> Leader:
        return Leader(cluster, self.logs.logs[cluster.leader.log], self.logs.ends, is_new=is_new)

    def _leader_by_rules(self, cluster: Cluster) -> Leader:
        """Return the leader, with the list ignored where it is not in force by the rules."""
        leader = self._leader(cluster)
        if not self._is_list_in_force(cluster):
            leader.disable_list()
        return leader

    def _is_list_in_force(self, cluster: Cluster) -> bool:
        return not self.rules.only_mirroring or cluster.state is MirrorState.MIRRORING

    def _must_cut(self, cluster: Cluster, replica: Replica) -> bool:
        """Return whether the response to a follower is a truncation rather than records."""
        return replica.must_cut and self._is_list_in_force(cluster)

    def has_confirmations(self, cluster: Cluster) -> bool:
        """Return whether a row must be removed from the list."""
        if not any(replica.has_confirmed for replica in cluster.replicas):
            return False
        leader = self._leader(cluster)
        return has_new_confirmation(leader.mp, leader.partition)

    def _with_state(self, cluster: Cluster, state: MirrorState) -> Cluster:
        """Return the cluster after its leader has persisted `state` with the remaining list."""
        leader = self._leader(cluster)
        leader.persist(list_with_state(self.rules, leader, state))
        return leader.updated_cluster(cluster)._replace(state=state)

    def with_epoch(self, cluster: Cluster, epoch: int) -> Cluster:
        """Return the cluster in another leader epoch of the same leader, which reads the list again."""
        if epoch == cluster.epoch:
            return cluster
        leader = self._leader(cluster)
        leader.enter_epoch(epoch)
        return leader.updated_cluster(cluster)._replace(epoch=epoch)

    # -- replication --------------------------------------------------------------------------

    def session_number(self, cluster: Cluster, cluster_number: int) -> int:
        return self.scope.sessions[cluster_number] - cluster.sessions

    def _append_steps(self, cluster: Cluster, cluster_number: int) -> Iterator[Move]:
        is_new = self.scope.b_is_new and cluster_number == 1 and cluster.state is MirrorState.UNKNOWN
        if cluster.appends and cluster.state in OWN_EPOCHS and not is_new:
            number = entry(cluster.epoch, cluster_number, self.session_number(cluster, cluster_number))
            log = self.logs.append(cluster.leader.log, (number,))
            yield self.move("append", 0, _with_leader(cluster, log)._replace(appends=cluster.appends - 1))

    def _fetch_steps(self, cluster: Cluster) -> Iterator[Move]:
        if cluster.phase == DECIDED:
            return  # The leader truncates its own log before it responds to any fetch.
        for place in range(1, len(cluster.replicas)):
            kind, after = self._fetch(cluster, place)
            if after != cluster:
                yield self.move(kind, place, after)

    def _fetch(self, cluster: Cluster, place: int) -> tuple[str, Cluster]:
        """Return the kind of a follower's fetch, and the cluster after it."""
        replica, leader_log = cluster.replicas[place], cluster.leader.log
        if self._must_cut(cluster, replica) and not self._is_cut(replica):
            return "missed-cut", _with_replica(
                cluster, place, replica._replace(log=self._cut_follower(cluster, replica))
            )
        result, log = self.logs.fetch(
            replica.log, leader_log, foreign=cluster.is_foreign, bound=self.logs.ends[leader_log],
            one=self.scope.one_by_one,
        )  # fmt: skip
        if result is not FetchResult.SERVED:
            return "diverged", _with_replica(cluster, place, replica._replace(log=log))
        leader = self._leader_by_rules(cluster)
        leader.partition.on_follower_fetch(NOW, place, self.logs.ends[log])
        leader.partition.confirm_cut(place)
        in_isr = replica.in_isr or leader.partition.may_join(place)
        after = leader.updated_cluster(cluster).replicas[place]
        has_confirmed = after.has_confirmed and self._is_list_in_force(cluster)
        return "fetch", _with_replica(
            cluster, place, after._replace(log=log, in_isr=in_isr, has_confirmed=has_confirmed)
        )

    def _is_cut(self, replica: Replica) -> bool:
        if self.rules.listing is Listing.OFFSET:
            return self.logs.ends[replica.log] <= replica.listed_cut
        return is_cut(replica.listed_cut, last_fetched_epoch(self.logs.logs[replica.log]))

    def _cut_follower(self, cluster: Cluster, replica: Replica) -> int:
        if self.rules.listing is Listing.OFFSET:
            return self.logs.cut(replica.log, replica.listed_cut)
        return self.logs.cut_by_epoch(replica.log, cluster.leader.log, replica.listed_cut)

    def _leave_steps(self, cluster: Cluster) -> Iterator[Move]:
        for place in range(1, len(cluster.replicas)):
            replica = cluster.replicas[place]
            if replica.in_isr:
                yield self.move("leaves", place, _with_replica(cluster, place, replica._replace(in_isr=False)))

    # -- elections ----------------------------------------------------------------------------

    def _election_steps(self, cluster: Cluster) -> Iterator[Move]:
        for place, replica in enumerate(cluster.replicas):
            if replica.in_isr and cluster.clean:
                after = self._elect(cluster._replace(clean=cluster.clean - 1), place)
                yield self.move("elected", place, after, _moved_to_front(place, len(cluster.replicas)))
            elif not replica.in_isr and cluster.unclean:
                outside_isr = tuple(r._replace(in_isr=False) for r in cluster.replicas)
                after = cluster._replace(unclean=cluster.unclean - 1, committed=0, replicas=outside_isr)
                yield self.move(
                    "unclean", place, self._elect(after, place), _moved_to_front(place, len(cluster.replicas))
                )

    def _elect(self, cluster: Cluster, place: int) -> Cluster:
        """Return the cluster led by the replica at `place`, which knows only persisted values.

        A leader that missed a truncation performs it before it serves anything, and is removed from the list (D30).
        """
        chosen = cluster.replicas[place]
        log, committed, epoch, listed_cut = chosen.log, cluster.committed, cluster.epoch + 1, chosen.listed_cut
        if listed_cut != NOT_LISTED and self._is_list_in_force(cluster):
            log = self._cut_missed(log, listed_cut)
            committed, listed_cut = min(committed, self.logs.ends[log]), NOT_LISTED
        if not cluster.is_foreign:
            log = self.logs.begin_epoch(log, epoch)
        others = [replica for other, replica in enumerate(cluster.replicas) if other != place]
        followers = (r._replace(leo_is_known=False, has_confirmed=False) for r in others)
        after = cluster._replace(
            epoch=epoch, hw=0, committed=committed, phase=IDLE, cut_epoch=0,
            replicas=(Replica(log, True, True, False, listed_cut), *followers),
        )  # fmt: skip
        return self._leader(after, is_new=True).updated_cluster(after)

    def _cut_missed(self, log: int, listed_cut: int) -> int:
        if self.rules.listing is Listing.OFFSET:
            return self.logs.cut(log, listed_cut)
        return self._cut_at_epoch(log, listed_cut)

    def _cut_at_epoch(self, log: int, cut_epoch: int) -> int:
        # As in the engine, a truncation from scratch removes epochs without records too.
        return EMPTY if cut_epoch < 0 else self.logs.cut(log, cut_offset(self.logs.logs[log], cut_epoch))

    # -- orders -------------------------------------------------------------------------------

    def _order_steps(self, cluster: Cluster) -> Iterator[Move]:
        if cluster.state in OWN_EPOCHS and cluster.sessions:
            after = self._with_state(cluster, next_state(Wish.MIRROR, cluster.state))
            yield self.move("add", 0, after._replace(sessions=cluster.sessions - 1))
        may_leave_preparing = cluster.state is MirrorState.PREPARING and self.rules.removes_anywhere
        if cluster.state is MirrorState.MIRRORING or (may_leave_preparing and cluster.phase != DECIDED):
            yield self.move("remove", 0, self._remove(cluster))

    def _remove(self, cluster: Cluster) -> Cluster:
        lme = cluster.lme
        if cluster.state is MirrorState.PREPARING:  # Nothing was mirrored in this session: no new epoch (D37).
            settles = self.rules.prepared_stop_settles
            lme = NOT_SETTLED if settles else NEVER_MIRRORED if lme == NOT_SETTLED else lme
        state = next_state(Wish.REMOVE, cluster.state)
        return self._with_state(cluster, state)._replace(lme=lme, phase=IDLE, cut_epoch=0)

    # -- PREPARING ----------------------------------------------------------------------------

    def with_cut_epoch(self, cluster: Cluster, cut_epoch: int) -> Cluster:
        """Return the cluster once the cut epoch is known: replicas that must truncate are listed persistently (D30).

        If the leader has nothing to truncate, or all are listed, nothing is written, unless the rules require it.
        """
        after = cluster._replace(phase=DECIDED, cut_epoch=cut_epoch)
        leader, left = self._leader(after), self.logs.ends[self._cut_at_epoch(cluster.leader.log, cut_epoch)]
        if may_truncate(self.rules, leader, left) and self.rules.list_written is not ListWriting.AT_EVERY_CUT:
            return self._cut(after)
        leader.persist(list_before_cut(self.rules, leader, left))
        return leader.updated_cluster(after)

    def _cut(self, cluster: Cluster) -> Cluster:
        """Return the cluster after the leader's truncation; an earlier fetch confirms nothing (D35)."""
        log = self._cut_at_epoch(cluster.leader.log, cluster.cut_epoch)
        return self._log_was_cut(self.cut_leader_log(cluster, log))._replace(phase=CUT)

    def _prepare_steps(self, cluster: Cluster) -> Iterator[Move]:
        if cluster.phase == DECIDED:
            # Rules that keep no epochs on the list have written it with the decision.
            if self.rules.listing is not Listing.EPOCH or may_truncate(self.rules, self._leader(cluster), 0):
                yield self.move("cut", 0, self._cut(cluster))
        elif cluster.phase == CUT and self._is_all_cut(cluster):
            after = self._with_state(cluster, MirrorState.MIRRORING)
            yield self.move("mirroring", 0, after._replace(lme=NOT_SETTLED, phase=IDLE, cut_epoch=0))

    def cut_leader_log(self, cluster: Cluster, log: int) -> Cluster:
        """Return the cluster with its leader's log truncated to `log`; with records removed, no follower is known."""
        end = self.logs.ends[log]
        after = _with_leader(cluster, log)._replace(hw=min(cluster.hw, end), committed=min(cluster.committed, end))
        return after if end == self.logs.ends[cluster.leader.log] else self._log_was_cut(after)

    def _log_was_cut(self, cluster: Cluster) -> Cluster:
        leader = self._leader(cluster)
        leader.partition.on_log_cut(NOW)
        return leader.updated_cluster(cluster)

    def _is_all_cut(self, cluster: Cluster) -> bool:
        """Return whether every replica that must confirm the truncation has done so."""
        all_replicas = self.rules.all_replicas
        if self.rules.fetches_confirm:
            leader = self._leader_by_rules(cluster)
            missing = unconfirmed_reason(leader.mp, leader.partition, all_replicas=all_replicas)
            return next_step(facts_of(leader.mp, leader.partition, missing)) is PrepareStep.FINISH
        ends, end = self.logs.ends, self.logs.ends[cluster.leader.log]
        return all(ends[row.log] <= end if row.in_isr else not all_replicas for row in cluster.replicas[1:])

    # -- STOPPING -----------------------------------------------------------------------------

    def _stop_steps(self, cluster: Cluster, cluster_number: int) -> Iterator[Move]:
        is_untouched = self.rules.untouched_stays and cluster.session == NOT_LISTED
        if is_untouched and cluster.lme != NOT_SETTLED:
            yield self.move("stopped", 0, self._stop(cluster))
        elif cluster.lme == NOT_SETTLED and cluster.phase == IDLE and not is_untouched:
            if cluster.knows_all_leos or not self.rules.stop_waits:
                yield self.move("stop-cut", 0, self._stop_cut(cluster))
        elif self._is_behind(cluster):
            return
        elif cluster.lme == NOT_SETTLED:
            lme = settled_epoch(last_fetched_epoch(self.logs.logs[cluster.leader.log]))
            yield self.move("settle", 0, self._with_state(cluster, cluster.state)._replace(lme=lme))
        elif self._is_reset(cluster):
            yield self.move("stopped", 0, self._stop(cluster))
        else:
            yield self.move("reset", 0, self._write_reset(cluster, cluster_number))

    def _is_behind(self, cluster: Cluster) -> bool:
        """Return whether an ISR member is not level with the leader, as far as the leader knows (D37)."""
        return bool(isr_behind_reason(self._leader_by_rules(cluster).partition))

    def _stop_cut(self, cluster: Cluster) -> Cluster:
        """Return the cluster truncated to its HW; `committed` still counts the records above it (ghost)."""
        after = self.cut_leader_log(cluster, self.logs.cut(cluster.leader.log, cluster.hw))
        return after._replace(phase=CUT, committed=cluster.committed)

    def _is_reset(self, cluster: Cluster) -> bool:
        """Return whether the log ends with our own producer reset, in an epoch above all of this session."""
        entries = self.logs.logs[cluster.leader.log].entries
        before = cluster.lme if cluster.session == NOT_LISTED else max(cluster.lme, cluster.session)
        return bool(entries) and is_reset(entries[-1]) and entry_epoch(entries[-1]) > before

    def _write_reset(self, cluster: Cluster, cluster_number: int) -> Cluster:
        log = self.logs.logs[cluster.leader.log]
        epoch = stop_epoch(self.rules, cluster.epoch, cluster.lme, log.latest_epoch)
        number = entry(epoch, cluster_number, self.session_number(cluster, cluster_number), is_reset=True)
        after = self.with_epoch(cluster, epoch)
        return _with_leader(after, self.logs.append(cluster.leader.log, (number,)))

    def _stop(self, cluster: Cluster) -> Cluster:
        log = self.logs.begin_epoch(cluster.leader.log, cluster.epoch)
        return _with_leader(self._with_state(cluster, MirrorState.STOPPED), log)._replace(phase=IDLE)


def _with_replica(cluster: Cluster, place: int, replica: Replica) -> Cluster:
    replicas = cluster.replicas
    return cluster._replace(replicas=(*replicas[:place], replica, *replicas[place + 1 :]))


def _with_leader(cluster: Cluster, log: int) -> Cluster:
    return _with_replica(cluster, 0, cluster.leader._replace(log=log))


def _moved_to_front(place: int, count: int) -> tuple[int, ...]:
    """Return the places with `place` in front."""
    return (place, *(other for other in range(count) if other != place))
