"""Moves with several mirrors of one topic, with orders in the wrong order, and with long pauses.

The table of all moves is in moves.py.
"""

from __future__ import annotations

from kmirror.histories.orders import NOBODY
from kmirror.histories.plan import Value
from kmirror.histories.plan_draft import ADDED, NEW, REMOVED, Line, Move, PlanDraft, move_on_line

IN_A_MOMENT_MS = (10, 600)
"""Shorter than most stops take."""
STOPPED_MS = (1_500, 5_000)
"""Longer than an undisturbed stop takes."""
LONG_PAUSE_MS = (40_000, 75_000)
"""Longer than short-lived producer ids are kept (draw.py)."""


def _mirror_args(line: Line) -> dict[str, Value]:
    return {"mirror": line.mirror, "source": line.source, "destination": line.destination}


def _pause_range(draft: PlanDraft) -> tuple[int, int]:
    return IN_A_MOMENT_MS if draft.rng.chance(1, 3) else STOPPED_MS


def _shares_topics(one: Line, other: Line) -> bool:
    return any(topic in other.topics.split(",") for topic in one.topics.split(","))


# -- several mirrors of one topic ---------------------------------------------------------------


@move_on_line(ADDED)
def _middle_fails_back(draft: PlanDraft, line: Line) -> bool:
    """Promote the middle of a chain while its mirror continues, or fail it back; then give that mirror another source.

    For the topics of a>b and b>c: b stops, then usually mirrors a in reverse, and c may switch to a.
    """
    last = next((o for o in draft.lines if o.source == line.destination and o.phase == ADDED), None)
    if last is None or not line.is_reversible or not _shares_topics(line, last):
        return False
    first, middle = line.source, line.destination
    draft.fail_over(line)
    draft.wait(*_pause_range(draft))
    if draft.rng.chance(2, 3) and draft.conflicting_line(line, first) is None:
        draft.fail_back(line)
        draft.wait(200, 3_000)
    if draft.rng.chance(1, 2):
        return True
    draft.remove(last)
    draft.wait(*_pause_range(draft))
    other = Line(f"{last.mirror}-{first}", last.topics, first, last.destination)
    if other.destination == first or other.destination == middle:
        return True
    draft.lines.append(other)
    draft.add(other)
    return True


@move_on_line(NEW, REMOVED)
def _take_over(draft: PlanDraft, line: Line) -> bool:
    """Move a topic to another mirror at its destination, sometimes with a first attempt that is refused."""
    conflicting_line = draft.conflicting_line(line)
    if conflicting_line is None:
        return False
    if draft.rng.chance(1, 2):
        draft.add(line)
        draft.wait(100, 1_500)
    draft.remove(conflicting_line)
    draft.wait(*_pause_range(draft))
    draft.add(line)
    if draft.rng.chance(1, 4):  # And back again, before or after anything was mirrored.
        draft.wait(*_pause_range(draft))
        draft.remove(line)
        draft.wait(*_pause_range(draft))
        draft.add(conflicting_line)
    return True


@move_on_line(ADDED)
def _second_mirror(draft: PlanDraft, line: Line) -> bool:
    """Create another mirror for topics that have one: adds and other orders for them are refused; then delete it."""
    others = [name for name in draft.clusters if name not in (line.source, line.destination)]
    source = draft.rng.choice([line.source, *others])
    other = Line(f"{line.mirror}x", line.topics, source, line.destination)
    draft.add(other)
    draft.step("add", **_mirror_args(other), topics=other.topics)
    draft.wait(10, 1_000)
    if draft.rng.chance(1, 2):
        draft.step(draft.rng.choice(["remove", "pause", "resume"]), **_mirror_args(other), topics=other.topics)
        draft.wait(10, 500)
    draft.delete_mirror(other)
    return True


@move_on_line(ADDED)
def _move_on(draft: PlanDraft, line: Line) -> bool:
    """Fail the topics over and mirror them from their current cluster, as in a ring that is never closed."""
    here = line.destination
    onward = [o for o in draft.lines if o is not line and o.phase != ADDED and _shares_topics(o, line)]
    onward = [o for o in onward if o.source == here or (o.is_reversible and o.destination == here)]
    if not onward:
        return False
    draft.remove(line)
    draft.wait(100, 1_500)
    draft.turn(line, here)
    draft.wait(*_pause_range(draft))
    other = draft.rng.choice(onward)
    if other.source != here:
        other.source, other.destination = other.destination, other.source
    draft.add(other)
    return True


# -- topics that are deleted and created again on both sides -------------------------------------


@move_on_line(ADDED, REMOVED)
def _recreate_both(draft: PlanDraft, line: Line) -> bool:
    """Delete a topic on both sides at nearly the same time, usually create it again, and mirror it again.

    The topic was removed from the mirror long before or just before, or is paused or still mirrored, so that its
    deletion here is refused. Or it is failed back first, and deleted while it is PREPARING.
    """
    if line.phase == ADDED:
        match draft.rng.below(4):
            case 0:
                draft.pause(line)
            case 1:
                pass
            case _:
                draft.remove(line)
        draft.wait(*_pause_range(draft))
    elif line.is_reversible and draft.rng.chance(1, 3) and draft.conflicting_line(line, line.source) is None:
        draft.fail_back(line)
        draft.wait(*IN_A_MOMENT_MS)
    clusters = [line.source, line.destination]
    if draft.rng.chance(1, 2):
        clusters.reverse()
    for cluster in clusters:
        draft.step("delete_topic", cluster=cluster, topic=line.topic)
        draft.wait(0, 300)
    if draft.rng.chance(1, 3):
        draft.wait(*STOPPED_MS)
    for cluster in clusters:
        if cluster == line.source or draft.rng.chance(1, 2):
            draft.step("create_topic", cluster=cluster, topic=line.topic, partitions=draft.rng.between(1, 3))
            draft.wait(0, 300)
    if line.phase == REMOVED:
        draft.wait(*_pause_range(draft))
        draft.add(line)
    return True


# -- orders in the wrong order -------------------------------------------------------------------


@move_on_line()
def _wrong_order(draft: PlanDraft, line: Line) -> bool:
    """Give orders twice, too early or too late; most are refused, and none may do any harm."""
    if line.phase != ADDED:
        if draft.rng.chance(1, 2):  # Delete the mirror while it prepares.
            draft.add(line)
            draft.wait(*IN_A_MOMENT_MS)
            draft.step("delete_mirror", mirror=line.mirror, destination=line.destination)
            draft.wait(*IN_A_MOMENT_MS)
            draft.remove(line)
        else:
            draft.step(draft.rng.choice(["resume", "pause"]), **_mirror_args(line), topics=line.topics)
        return True
    match draft.rng.below(4):
        case 0:
            draft.remove(line)
            draft.wait(*_pause_range(draft))
            draft.remove(line)
        case 1:  # Adding again is refused until the topic is STOPPED.
            draft.remove(line)
            for _ in range(2):
                draft.wait(*IN_A_MOMENT_MS)
                draft.add(line)
        case 2:
            draft.remove(line)
            draft.wait(*_pause_range(draft))
            draft.step("resume", **_mirror_args(line), topics=line.topics)
        case _:  # To unknown servers and back.
            for servers in (NOBODY, line.source):
                draft.step("point_mirror", mirror=line.mirror, destination=line.destination, servers=servers)
                draft.wait(200, 4_000)
    return True


@move_on_line()
def _describe_mirror(draft: PlanDraft, line: Line) -> bool:
    """Describe a mirror, possibly one that does not exist, during the next order."""
    mirror_args: dict[str, Value] = {"mirror": line.mirror, "destination": line.destination}
    draft.step("describe_mirror", **mirror_args)
    draft.next_order(line)
    draft.wait(*IN_A_MOMENT_MS)
    draft.step("describe_mirror", **mirror_args)
    return True


# -- long pauses ---------------------------------------------------------------------------------


@move_on_line(ADDED, REMOVED)
def _long_pause(draft: PlanDraft, line: Line) -> bool:
    """Give no orders for longer than producer ids are kept; all clients rest."""
    if line.phase == ADDED and draft.rng.chance(2, 3):
        if draft.rng.chance(1, 2):
            draft.pause(line)
            after = draft.resume
        else:
            draft.remove(line)
            after = draft.add if draft.rng.chance(1, 2) or not line.is_reversible else draft.fail_back
        draft.wait(100, 3_000)
    else:
        after = draft.next_order
    for_ms = draft.draw_ms(LONG_PAUSE_MS)
    draft.step("rest", for_ms=for_ms)
    draft.at_ms += for_ms
    after(line)
    return True


TOPOLOGY_MOVES: dict[str, Move] = {
    "middle_fails_back": _middle_fails_back,
    "take_over": _take_over,
    "second_mirror": _second_mirror,
    "move_on": _move_on,
    "recreate_both": _recreate_both,
    "wrong_order": _wrong_order,
    "look_at_mirror": _describe_mirror,
    "long_pause": _long_pause,
}
