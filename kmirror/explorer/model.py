"""Model of two clusters that mirror each other: the possible steps, and the invariants of each state.

A state is one integer: the index of cluster A, of cluster B, and of the records that must not be lost. Local steps
depend on one cluster only, steps between the clusters on little of the other one, so all steps are memoised.

Both clusters follow the same rules. A destination's request for the cut epoch, and a fetch with its response, are one
step: late responses are not modelled. Neither are transactions, retention, and the deletion of a mirror.
"""

from __future__ import annotations

from typing import NamedTuple

from kmirror.explorer.cluster import IDLE, OWN_EPOCHS, Cluster, Move
from kmirror.explorer.logs import FetchResult, Logs, is_reset
from kmirror.explorer.rules import Rules, cut_epoch_for
from kmirror.explorer.scopes import Scope
from kmirror.explorer.steps import Steps
from kmirror.mirror.cut_rules import NOTHING_KEPT, has_kept_records, kept_after_cut
from kmirror.mirror.states import MirrorState

SHIFT = 28
MASK = (1 << SHIFT) - 1
UNCLEAN = "unclean"
ORDERS = ("add", "remove")

State = int
ProtectedRecords = frozenset[tuple[int, int]]
"""(offset, entry) of clients' records that both clusters had committed at the time of an order."""


class ModelStep(NamedTuple):
    """One step of the model: the number of the cluster that moves (0 for A), its move, and the state after it."""

    cluster_number: int
    move: Move
    state: State


class LocalSteps(NamedTuple):
    """Steps of one cluster, by index, in the order of `moves`."""

    moves: tuple[Move, ...]
    plain: tuple[int, ...]
    orders: tuple[int, ...]
    unclean: tuple[int, ...]
    targets: tuple[int, ...]


class Model:
    """Steps and invariants of one scope under one set of rules."""

    def __init__(self, scope: Scope, rules: Rules) -> None:
        self.scope = scope
        self.rules = rules
        self.logs = Logs()
        self.steps = Steps(rules, scope, self.logs)
        self.clusters: list[Cluster] = []
        self._index: dict[tuple[int, Cluster], int] = {}
        self._cluster_numbers: list[int] = []
        self._local_steps_by_index: list[LocalSteps | None] = []
        self._views: list[int] = []
        self._view_index: dict[tuple[int, int, int, MirrorState, int], int] = {}
        self._isr_entries: list[ProtectedRecords] = []
        self.violations: list[str] = []
        """For each cluster the invariant violated within it, or an empty string."""
        self._pulls: dict[int, tuple[Move, int] | None] = {}
        self._protected: list[ProtectedRecords] = [frozenset()]
        self._protected_index: dict[ProtectedRecords, int] = {frozenset(): 0}
        self._common: dict[int, ProtectedRecords] = {}
        self._unequal: dict[int, str] = {}

    def initial_state(self) -> State:
        """Return the initial state."""
        return self._intern(0, self.steps.initial_cluster(0)) | self._intern(1, self.steps.initial_cluster(1)) << SHIFT

    def pair(self, state: State) -> tuple[Cluster, Cluster]:
        return self.clusters[state & MASK], self.clusters[state >> SHIFT & MASK]

    def protected(self, state: State) -> ProtectedRecords:
        """Return the records that must not be lost from here on."""
        return self._protected[state >> 2 * SHIFT]

    def state(self, a: Cluster, b: Cluster, protected: ProtectedRecords) -> State:
        """Return the state with these parts."""
        return self._intern_protected(protected) << 2 * SHIFT | self._intern(1, b) << SHIFT | self._intern(0, a)

    # -- clusters by index --------------------------------------------------------------------

    def _intern(self, cluster_number: int, cluster: Cluster) -> int:
        found = self._index.get((cluster_number, cluster))
        if found is None:
            found = self._index[cluster_number, cluster] = len(self.clusters)
            self.clusters.append(cluster)
            self._cluster_numbers.append(cluster_number)
            self._local_steps_by_index.append(None)
            view = (cluster.leader.log, cluster.hw, cluster.epoch, cluster.state, cluster.lme)
            self._views.append(self._view_index.setdefault(view, len(self._view_index)))
            logs = [self.logs.logs[replica.log].entries for replica in cluster.replicas if replica.in_isr]
            self._isr_entries.append(frozenset(item for entries in logs for item in enumerate(entries)))
            self.violations.append(self._violation_within(cluster))
        return found

    def _local_steps(self, index: int) -> LocalSteps:
        known = self._local_steps_by_index[index]
        if known is None:
            cluster_number = self._cluster_numbers[index]
            # Steps without a change, and a second step to the same cluster, are left out.
            moves: dict[int, Move] = {}
            for move in self.steps.local_steps(self.clusters[index], cluster_number):
                moves.setdefault(self._intern(cluster_number, move.after), move)
            moves.pop(index, None)
            plain = tuple(target for target, m in moves.items() if m.kind != UNCLEAN and m.kind not in ORDERS)
            orders = tuple(target for target, m in moves.items() if m.kind in ORDERS)
            unclean = tuple(target for target, m in moves.items() if m.kind == UNCLEAN)
            known = LocalSteps(tuple(moves.values()), plain, orders, unclean, tuple(moves))
            self._local_steps_by_index[index] = known
        return known

    # -- steps --------------------------------------------------------------------------------

    def successors(self, state: State) -> list[State]:
        """Return the states after one step, possibly with duplicates."""
        a, b, protected = state & MASK, state >> SHIFT & MASK, state >> 2 * SHIFT
        steps_of_a, steps_of_b = self._local_steps(a), self._local_steps(b)
        found = [state - a + after for after in steps_of_a.plain]
        found += [state + (after - b << SHIFT) for after in steps_of_b.plain]
        if steps_of_a.orders or steps_of_b.orders:
            if steps_of_a.orders and self._may_be_added(a, b):
                base = self._protect(protected, a, b) << 2 * SHIFT | b << SHIFT
                found += [base | after for after in steps_of_a.orders]
            if steps_of_b.orders:
                base = self._protect(protected, b, a) << 2 * SHIFT | a
                found += [base | after << SHIFT for after in steps_of_b.orders]
        # After an unclean election the rules are not to blame for a loss.
        if steps_of_a.unclean and self._may_elect_uncleanly(a, b):
            found += [b << SHIFT | after for after in steps_of_a.unclean]
        if steps_of_b.unclean and self._may_elect_uncleanly(b, a):
            found += [after << SHIFT | a for after in steps_of_b.unclean]
        exchange = self._pull(a, b)
        if exchange is not None:
            found.append(state - a + exchange[1])
        exchange = self._pull(b, a)
        if exchange is not None:
            found.append(state + (exchange[1] - b << SHIFT))
        return found

    def described_steps(self, state: State) -> list[ModelStep]:
        """Return the same steps with their descriptions: for stories, not for speed."""
        a, b = state & MASK, state >> SHIFT & MASK
        reached = dict.fromkeys(self.successors(state))
        found = []
        for cluster_number, (index, other) in enumerate(((a, b), (b, a))):
            known = self._local_steps(index)
            rows = list(zip(known.moves, known.targets, strict=True))
            exchange = self._pull(index, other)
            for move, target in [*rows, *([] if exchange is None else [exchange])]:
                for after in reached:
                    pair = (after & MASK, after >> SHIFT & MASK)
                    if pair == ((target, b) if cluster_number == 0 else (a, target)):
                        found.append(ModelStep(cluster_number, move, after))
        return found

    def _may_elect_uncleanly(self, index: int, other: int) -> bool:
        if not self.scope.unclean_while_stopped:
            return True
        return self.clusters[index].state in OWN_EPOCHS and self.clusters[other].state is MirrorState.STOPPED

    def _may_be_added(self, a: int, b: int) -> bool:
        """Return whether A may get its next order. Add is one of them in the states in which it is writable."""
        other = self.clusters[b]
        has_mirrored = other.state is MirrorState.STOPPED and other.lme >= 0
        return has_mirrored or not self.scope.b_is_new or self.clusters[a].is_foreign

    # -- between clusters ---------------------------------------------------------------------

    def _pull(self, index: int, other: int) -> tuple[Move, int] | None:
        """Return the step of destination `index` with source `other`, a request for its epoch or a fetch, or None."""
        state = self.clusters[index].state
        if state is not MirrorState.PREPARING and state is not MirrorState.MIRRORING:
            return None
        key = index << SHIFT | self._views[other]
        if key not in self._pulls:
            move = self._compute_pull(self.clusters[index], self.clusters[other])
            target = index if move is None else self._intern(self._cluster_numbers[index], move.after)
            self._pulls[key] = None if move is None or target == index else (move, target)
        return self._pulls[key]

    def _compute_pull(self, cluster: Cluster, source: Cluster) -> Move | None:
        if cluster.state is MirrorState.PREPARING:
            if cluster.phase != IDLE or self.steps.has_confirmations(cluster):
                return None
            lossless = self._cut_loses_nothing(cluster, source)
            cut_epoch = cut_epoch_for(self.rules, source.state, source.lme, cluster.lme, loses_nothing=lossless)
            return (
                None
                if cut_epoch is None
                else self.steps.move("decide", 0, self.steps.with_cut_epoch(cluster, cut_epoch))
            )
        result, log = self._mirror_fetch(cluster, source)
        epoch = max(cluster.epoch, source.epoch) if self.rules.follows_epochs else cluster.epoch
        if result is FetchResult.SERVED:
            after = cluster._replace(replicas=(cluster.leader._replace(log=log), *cluster.replicas[1:]))
            return self.steps.move("mirror", 0, self.steps.with_epoch(after, epoch))
        return self.steps.move("mirror-cut", 0, self.steps.with_epoch(self.steps.cut_leader_log(cluster, log), epoch))

    def _cut_loses_nothing(self, cluster: Cluster, source: Cluster) -> bool:
        """Return whether a cut to the LME of `cluster` removes only records that the source has (D25)."""
        own_log, source_log = self.logs.logs[cluster.leader.log], self.logs.logs[source.leader.log]
        if not own_log.entries:
            return True
        remaining = kept_after_cut(own_log, cluster.lme)
        if not self.rules.shared_copy_continues or remaining == NOTHING_KEPT:
            return False
        source_end = source_log.epochs.end_offset_for(remaining.epoch, source_log.log_end_offset)
        return all(is_reset(entry) for entry in own_log.entries[remaining.end_offset :]) and (
            remaining.end_offset == 0 or has_kept_records(remaining, source_end, source_log.log_start_offset)
        )

    def _mirror_fetch(self, cluster: Cluster, source: Cluster) -> tuple[FetchResult, int]:
        return self.logs.fetch(
            cluster.leader.log, source.leader.log, foreign=source.is_foreign, bound=source.hw,
            one=self.scope.one_by_one,
        )  # fmt: skip

    # -- records that both had ----------------------------------------------------------------

    def _protect(self, protected: int, index: int, other: int) -> int:
        """Return the index of the records that must not be lost once `index` gets an order in this state.

        These are the records that both have. If `index` will mirror a cluster that has stopped, and neither ever
        mirrored the other, they include its own records: no other cluster can have them (D25).
        """
        if not self.scope.copies:
            return protected
        key = index << SHIFT | other
        common = self._common.get(key)
        if common is None:
            committed = self._committed(index)
            peer = self.clusters[other]
            cluster = self.clusters[index]
            has_mirrored = cluster.lme >= 0 or peer.lme >= 0
            is_alone = peer.state is MirrorState.STOPPED and not has_mirrored and not cluster.is_foreign
            common = self._common[key] = committed if is_alone else committed & self._committed(other)
        if common <= self._protected[protected]:
            return protected
        return self._intern_protected(self._protected[protected] | common)

    def _intern_protected(self, protected: ProtectedRecords) -> int:
        found = self._protected_index.get(protected)
        if found is None:
            found = self._protected_index[protected] = len(self._protected)
            self._protected.append(protected)
        return found

    def _committed(self, index: int) -> ProtectedRecords:
        cluster = self.clusters[index]
        entries = self.logs.logs[cluster.leader.log].entries[: cluster.hw]
        return frozenset((offset, number) for offset, number in enumerate(entries) if not is_reset(number))

    # -- judgement ----------------------------------------------------------------------------

    def violation(self, state: State) -> str:
        """Return the invariant that a state violates, or an empty string."""
        a, b, protected = state & MASK, state >> SHIFT & MASK, state >> 2 * SHIFT
        return (
            self.violations[a] or self.violations[b] or self._violation_between(a, b) or self._violation_between(b, a)
            or (self._loss_violation(protected, a, b) if protected else "")
        )  # fmt: skip

    def _violation_within(self, cluster: Cluster) -> str:
        log = self.logs.logs[cluster.leader.log].entries
        for replica in cluster.replicas[1:]:
            if replica.in_isr and self.logs.logs[replica.log].entries[: cluster.hw] != log[: cluster.hw]:
                return "divergence: two in-sync replicas have different records below the high watermark"
        if len(log) < cluster.committed:
            return "acked-lost: the leader lacks a record that its cluster had committed"
        return ""

    def _violation_between(self, index: int, other: int) -> str:
        """Return the violation if a destination that counts as caught up differs from its source."""
        cluster = self.clusters[index]
        if cluster.state is not MirrorState.MIRRORING:
            return ""
        source = self.clusters[other]
        log_index, source_index = cluster.leader.log, source.leader.log
        key = (log_index << SHIFT | self._views[other]) << 1 | source.is_foreign
        found = self._unequal.get(key)
        if found is None:
            result, fetched_index = self._mirror_fetch(cluster, source)
            caught_up = result is FetchResult.SERVED and fetched_index == log_index
            end = min(self.logs.ends[log_index], source.hw)
            is_equal = self.logs.logs[log_index].entries[:end] == self.logs.logs[source_index].entries[:end]
            found = (
                ""
                if is_equal or not caught_up
                else ("divergence: the destination has caught up but has other records than its source")
            )
            self._unequal[key] = found
        return found

    def _loss_violation(self, protected: int, a: int, b: int) -> str:
        missing = self._protected[protected] - self._isr_entries[a]
        if missing and not missing <= self._isr_entries[b]:
            text = (
                "a record that both clusters had committed when the order was given is no longer on any in-sync replica"
            )
            return f"last-copy-lost: {text}"
        return ""
