"""Moves that end in cuts: of diverged logs, with replicas that are down, and through open transactions.

The table of all moves is in moves.py.
"""

from __future__ import annotations

from kmirror.histories.fault_moves import LONG_MS, SHORT_MS, WINDOW_MS, set_trap
from kmirror.histories.step_drawing import ADDED, REMOVED, Line, Move, PlanDraft, move_on_line
from kmirror.histories.topic_moves import flag

ALONE_MS = (500, 1_500)
"""Time for which a cluster writes records that the other one does not receive."""
ELECTED_MS = (2_600, 3_300)
"""Longer than a session timeout: the killed broker has left the ISR, and another one leads."""
AWAY_MS = (8_000, 13_000)
"""Time for which a replica is down: long enough for two cuts."""


def _write_apart(story: PlanDraft, line: Line, *, elects: bool) -> bool:
    """Fail over while the source has more records, usually in an epoch whose number the destination has, too.

    Return False, without any order, if the topics could not be failed back.
    """
    if story.conflicting_line(line) is not None or story.conflicting_line(line, line.source) is not None:
        return False
    if line.phase != ADDED:
        story.add(line)
        story.wait(1_500, 3_000)
    for_ms = story.rng.between(4_500, 6_500) if elects else story.rng.between(2_000, 3_500)
    story.step("line_down", one=line.source, other=line.destination, for_ms=for_ms)
    story.wait(*ALONE_MS)
    if elects:
        story.kill_replica(line, line.source, "leader", for_ms=story.rng.between(200, 2_500))
        story.wait(*ELECTED_MS)
        story.wait(*ALONE_MS)
    story.fail_over(line)
    story.wait(*ALONE_MS)
    return True


@move_on_line(is_reversible=True)
def _missed_cuts(story: PlanDraft, line: Line) -> bool:
    """Let a replica of the old source miss two cuts in a row, come back, and sometimes become leader (D30)."""
    rng, old = story.rng, line.source
    if story.clusters[old].brokers < 2 or not _write_apart(story, line, elects=True):
        return False
    unclean = rng.chance(1, 3)
    if unclean:
        flag(story, "unclean.leader.election.enable", old, line.topic, on=True)
    away_ms, began = story.drawn(AWAY_MS), story.at_ms
    story.kill_replica(line, old, "follower", for_ms=away_ms)
    story.wait(0, 1_000)
    story.fail_back(line)
    story.wait(*ELECTED_MS)
    story.remove(line)
    story.wait(200, 800)
    story.turn(line, old)
    story.wait(*ALONE_MS)
    story.add(line)
    if rng.chance(2, 3):
        until = began + away_ms + (rng.between(-800, 0) if unclean else rng.between(300, 2_000))
        story.at_ms = max(story.at_ms, until)
        story.kill_replica(line, old, "leader", for_ms=story.drawn(LONG_MS))
    return True


@move_on_line(is_reversible=True)
def _dies_listed(story: PlanDraft, line: Line) -> bool:
    """Kill the leader when the list of replicas that owe a cut is persisted; sometimes also the next leader (D30)."""
    rng, old = story.rng, line.source
    if story.clusters[old].brokers < 2 or not _write_apart(story, line, elects=True):
        return False
    delay_ms = story.drawn(WINDOW_MS) if rng.chance(1, 3) else 0
    for_ms = story.drawn(LONG_MS if rng.chance(1, 2) else SHORT_MS)
    back = Line(line.mirror, line.topics, line.destination, old)
    name = set_trap(story, back, old, "LISTED", do="kill", victim="leader", for_ms=for_ms, delay_ms=delay_ms)
    if rng.chance(1, 2):
        on, victim = rng.choice(("ELECTED", "LOAD_ENDS", "CUT")), rng.choice(("leader", "mirror_coordinator"))
        set_trap(story, back, old, on, do="kill", victim=victim, for_ms=story.drawn(SHORT_MS), after=name)
    story.fail_back(line)
    story.wait(1_500, 4_000)
    return True


@move_on_line(ADDED, REMOVED)
def _short_of_replicas(story: PlanDraft, line: Line) -> bool:
    """Bring a topic that supports unclean elections to PREPARING while one of its replicas is down."""
    back = line.is_reversible and story.rng.chance(2, 3) and story.conflicting_line(line, line.source) is None
    cluster = line.source if back else line.destination
    if story.clusters[cluster].brokers < 2:
        return False
    if line.phase == ADDED:
        story.remove(line)
        story.wait(800, 2_500)
    flag(story, "mirror.support.unclean.leader.election", cluster, line.topic, on=True)
    story.wait(0, 300)
    story.kill_replica(line, cluster, "follower", for_ms=story.rng.between(3_500, 6_500))
    story.wait(0, 1_000)
    if back:
        story.fail_back(line)
    else:
        story.add(line)
    return True


@move_on_line(is_reversible=True)
def _cut_transactions(story: PlanDraft, line: Line) -> bool:
    """Cut through transactions by a failback, and stop it before the source has ended them (D29, D42)."""
    rng, old = story.rng, line.source
    if not _write_apart(story, line, elects=rng.chance(1, 2)):
        return False
    back = Line(line.mirror, line.topics, line.destination, old)
    if rng.chance(1, 2):
        set_trap(story, back, old, "CUT", do="line", for_ms=rng.between(1_500, 4_000))
    else:
        set_trap(story, back, old, "CUT", do="order")
    story.fail_back(line)
    story.wait(1_000, 3_500)
    story.remove(line)
    if rng.chance(1, 2):
        story.wait(500, 2_500)
        story.add(line)
    return True


@move_on_line(ADDED, REMOVED)
def _other_mirror(story: PlanDraft, line: Line) -> bool:
    """Move the topics to a mirror of another name, in either direction; usually they stay there (D45)."""
    if line.phase == ADDED:
        story.remove(line)
        story.wait(800, 3_000)
    before, line.mirror = line.mirror, f"{line.mirror}y"
    if line.is_reversible and story.rng.chance(1, 2) and story.conflicting_line(line, line.source) is None:
        story.turn(line, line.destination)
        story.wait(*ALONE_MS)
        story.fail_back(line)
    else:
        story.add(line)
    if story.rng.chance(1, 3):
        story.wait(1_000, 3_000)
        story.remove(line)
        story.wait(800, 2_500)
        line.mirror = before
        story.add(line)
    return True


CUT_MOVES: dict[str, Move] = {
    "missed_cuts": _missed_cuts,
    "dies_listed": _dies_listed,
    "short_of_replicas": _short_of_replicas,
    "cut_transactions": _cut_transactions,
    "other_mirror": _other_mirror,
}
