"""The list of D30 under each set of rules: the engine's, changed where the rules differ."""

from __future__ import annotations

from kmirror.explorer.leader import Leader
from kmirror.explorer.rules import Listing, ListWriting, Rules
from kmirror.mirror.cut_rules import SESSION, Uncut
from kmirror.mirror.preparing import PrepareStep, facts_of, next_step, uncut_before_cut
from kmirror.mirror.states import MirrorState
from kmirror.mirror.uncut_replicas import uncut_to_persist


def may_truncate(rules: Rules, leader: Leader, left: int) -> bool:
    """Return whether a leader in PREPARING may truncate its log to `left` records: the list must come first (D30)."""
    if rules.listing is Listing.EPOCH:
        return next_step(facts_of(leader.mp, leader.partition, "")) is PrepareStep.CUT
    return left == leader.log.log_end_offset


def list_before_cut(rules: Rules, leader: Leader, left: int) -> Uncut:
    """Return the list that PREPARING persists before the leader truncates its log to `left` records."""
    known, epoch = leader.mp.uncut, leader.mp.cut_epoch
    listed = uncut_before_cut(leader.mp, leader.partition)
    if rules.listing is Listing.NOTHING:
        return {SESSION: listed[SESSION]}
    if rules.listing is Listing.OFFSET:
        return {
            row: listed_cut if row == SESSION else min(known.get(row, left), left) for row, listed_cut in listed.items()
        }
    if rules.replaces_list and epoch is not None:
        return {row: listed_cut if row == SESSION else epoch for row, listed_cut in listed.items()}
    return listed


def list_with_state(rules: Rules, leader: Leader, state: MirrorState) -> Uncut:
    """Return the list that is persisted with `state`: the replicas that have not confirmed."""
    before, known, epoch = leader.mp.state, leader.mp.uncut, leader.mp.cut_epoch
    uncut = uncut_to_persist(leader.mp, leader.partition, state)
    if before is MirrorState.PREPARING and state is MirrorState.MIRRORING and epoch is not None:
        session = {SESSION: uncut[SESSION]}
        end = leader.log.log_end_offset
        if rules.listing is Listing.NOTHING:
            uncut = session
        elif rules.listing is Listing.OFFSET:
            uncut = {row: min(known.get(row, end), end) for row in uncut} | session
        elif rules.list_written is ListWriting.IF_REMOVING:
            uncut = {row: known[row] for row in uncut if row in known} | session
        elif rules.replaces_list:
            uncut = dict.fromkeys(uncut, epoch) | session
    unlists_leader = rules.stop_unlists_leader or MirrorState.MIRRORING in (before, state)
    return uncut if unlists_leader or 0 not in known else {**uncut, 0: known[0]}
