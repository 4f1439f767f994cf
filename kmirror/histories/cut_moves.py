"""Moves that end in cuts: of diverged logs, with replicas that are down, and through open transactions.

The table of all moves is in moves.py.
"""

from __future__ import annotations

from kmirror.histories.fault_moves import LONG_MS, SHORT_MS, WINDOW_MS, set_trap
from kmirror.histories.plan_draft import ADDED, REMOVED, Line, Move, PlanDraft, move_on_line
from kmirror.histories.topic_moves import flag

ALONE_MS = (500, 1_500)
"""Time for which a cluster writes records that the other one does not receive."""
ELECTED_MS = (2_600, 3_300)
"""Longer than a session timeout: the killed broker has left the ISR, and another one leads."""
AWAY_MS = (8_000, 13_000)
"""Time for which a replica is down: long enough for two cuts."""


def _write_apart(draft: PlanDraft, line: Line, *, elects: bool) -> bool:
    """Fail over while the source has more records, usually in an epoch whose number the destination has, too.

    Return False, without any order, if the topics could not be failed back.
    """
    if draft.conflicting_line(line) is not None or draft.conflicting_line(line, line.source) is not None:
        return False
    if line.phase != ADDED:
        draft.add(line)
        draft.wait(1_500, 3_000)
    for_ms = draft.rng.between(4_500, 6_500) if elects else draft.rng.between(2_000, 3_500)
    draft.step("line_down", one=line.source, other=line.destination, for_ms=for_ms)
    draft.wait(*ALONE_MS)
    if elects:
        draft.kill_replica(line, line.source, "leader", for_ms=draft.rng.between(200, 2_500))
        draft.wait(*ELECTED_MS)
        draft.wait(*ALONE_MS)
    draft.fail_over(line)
    draft.wait(*ALONE_MS)
    return True


@move_on_line(is_reversible=True)
def _missed_cuts(draft: PlanDraft, line: Line) -> bool:
    """Let a replica of the old source miss two cuts in a row, come back, and sometimes become leader (D30)."""
    rng, old_source = draft.rng, line.source
    if draft.clusters[old_source].brokers < 2 or not _write_apart(draft, line, elects=True):
        return False
    unclean = rng.chance(1, 3)
    if unclean:
        flag(draft, "unclean.leader.election.enable", old_source, line.topic, is_enabled=True)
    away_ms, began_ms = draft.draw_ms(AWAY_MS), draft.at_ms
    draft.kill_replica(line, old_source, "follower", for_ms=away_ms)
    draft.wait(0, 1_000)
    draft.fail_back(line)
    draft.wait(*ELECTED_MS)
    draft.remove(line)
    draft.wait(200, 800)
    draft.turn(line, old_source)
    draft.wait(*ALONE_MS)
    draft.add(line)
    if rng.chance(2, 3):
        until = began_ms + away_ms + (rng.between(-800, 0) if unclean else rng.between(300, 2_000))
        draft.at_ms = max(draft.at_ms, until)
        draft.kill_replica(line, old_source, "leader", for_ms=draft.draw_ms(LONG_MS))
    return True


@move_on_line(is_reversible=True)
def _dies_listed(draft: PlanDraft, line: Line) -> bool:
    """Kill the leader when its list of replicas with pending cuts is persisted; sometimes the next one, too (D30)."""
    rng, old_source = draft.rng, line.source
    if draft.clusters[old_source].brokers < 2 or not _write_apart(draft, line, elects=True):
        return False
    delay_ms = draft.draw_ms(WINDOW_MS) if rng.chance(1, 3) else 0
    for_ms = draft.draw_ms(LONG_MS if rng.chance(1, 2) else SHORT_MS)
    reverse_line = Line(line.mirror, line.topics, line.destination, old_source)
    name = set_trap(
        draft, reverse_line, old_source, "LISTED", do="kill", victim="leader", for_ms=for_ms, delay_ms=delay_ms
    )
    if rng.chance(1, 2):
        event, victim = rng.choice(("ELECTED", "LOAD_ENDS", "CUT")), rng.choice(("leader", "mirror_coordinator"))
        set_trap(
            draft, reverse_line, old_source, event, do="kill", victim=victim, for_ms=draft.draw_ms(SHORT_MS), after=name
        )
    draft.fail_back(line)
    draft.wait(1_500, 4_000)
    return True


@move_on_line(ADDED, REMOVED)
def _short_of_replicas(draft: PlanDraft, line: Line) -> bool:
    """Bring a topic that supports unclean elections to PREPARING while one of its replicas is down."""
    is_failback = line.is_reversible and draft.rng.chance(2, 3) and draft.conflicting_line(line, line.source) is None
    cluster = line.source if is_failback else line.destination
    if draft.clusters[cluster].brokers < 2:
        return False
    if line.phase == ADDED:
        draft.remove(line)
        draft.wait(800, 2_500)
    flag(draft, "mirror.support.unclean.leader.election", cluster, line.topic, is_enabled=True)
    draft.wait(0, 300)
    draft.kill_replica(line, cluster, "follower", for_ms=draft.rng.between(3_500, 6_500))
    draft.wait(0, 1_000)
    if is_failback:
        draft.fail_back(line)
    else:
        draft.add(line)
    return True


@move_on_line(is_reversible=True)
def _cut_transactions(draft: PlanDraft, line: Line) -> bool:
    """Cut through transactions by a failback, and stop it before the source has ended them (D29, D42)."""
    rng, old_source = draft.rng, line.source
    if not _write_apart(draft, line, elects=rng.chance(1, 2)):
        return False
    reverse_line = Line(line.mirror, line.topics, line.destination, old_source)
    if rng.chance(1, 2):
        set_trap(draft, reverse_line, old_source, "CUT", do="line", for_ms=rng.between(1_500, 4_000))
    else:
        set_trap(draft, reverse_line, old_source, "CUT", do="order")
    draft.fail_back(line)
    draft.wait(1_000, 3_500)
    draft.remove(line)
    if rng.chance(1, 2):
        draft.wait(500, 2_500)
        draft.add(line)
    return True


@move_on_line(ADDED, REMOVED)
def _other_mirror(draft: PlanDraft, line: Line) -> bool:
    """Move the topics to a mirror of another name, in either direction; usually they stay there (D45)."""
    if line.phase == ADDED:
        draft.remove(line)
        draft.wait(800, 3_000)
    before, line.mirror = line.mirror, f"{line.mirror}y"
    if line.is_reversible and draft.rng.chance(1, 2) and draft.conflicting_line(line, line.source) is None:
        draft.turn(line, line.destination)
        draft.wait(*ALONE_MS)
        draft.fail_back(line)
    else:
        draft.add(line)
    if draft.rng.chance(1, 3):
        draft.wait(1_000, 3_000)
        draft.remove(line)
        draft.wait(800, 2_500)
        line.mirror = before
        draft.add(line)
    return True


CUT_MOVES: dict[str, Move] = {
    "missed_cuts": _missed_cuts,
    "dies_listed": _dies_listed,
    "short_of_replicas": _short_of_replicas,
    "cut_transactions": _cut_transactions,
    "other_mirror": _other_mirror,
}
