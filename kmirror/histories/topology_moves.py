"""Moves with several mirrors of one topic, with orders in the wrong order, and with long pauses.

The table of all moves is in moves.py.
"""

from __future__ import annotations

from kmirror.histories.orders import NOBODY
from kmirror.histories.plan import Value
from kmirror.histories.step_drawing import ADDED, NEW, REMOVED, Line, Move, PlanDraft, move_on_line

IN_A_MOMENT_MS = (10, 600)
"""Shorter than most stops take."""
STOPPED_MS = (1_500, 5_000)
"""Longer than an undisturbed stop takes."""
LONG_PAUSE_MS = (40_000, 75_000)
"""Longer than short-lived producer ids are kept (draw.py)."""


def _where(line: Line) -> dict[str, Value]:
    return {"mirror": line.mirror, "source": line.source, "destination": line.destination}


def _either(story: PlanDraft) -> tuple[int, int]:
    return IN_A_MOMENT_MS if story.rng.chance(1, 3) else STOPPED_MS


def _shares_topics(one: Line, other: Line) -> bool:
    return any(topic in other.topics.split(",") for topic in one.topics.split(","))


# -- several mirrors of one topic ---------------------------------------------------------------


@move_on_line(ADDED)
def _middle_fails_back(story: PlanDraft, line: Line) -> bool:
    """Promote the middle of a chain while its mirror continues, or fail it back; then give that mirror another source.

    For the topics of a>b and b>c: b stops, then usually mirrors a in reverse, and c may switch to a.
    """
    last = next((o for o in story.lines if o.source == line.destination and o.phase == ADDED), None)
    if last is None or not line.is_reversible or not _shares_topics(line, last):
        return False
    first, middle = line.source, line.destination
    story.fail_over(line)
    story.wait(*_either(story))
    if story.rng.chance(2, 3) and story.conflicting_line(line, first) is None:
        story.fail_back(line)
        story.wait(200, 3_000)
    if story.rng.chance(1, 2):
        return True
    story.remove(last)
    story.wait(*_either(story))
    other = Line(f"{last.mirror}-{first}", last.topics, first, last.destination)
    if other.destination == first or other.destination == middle:
        return True
    story.lines.append(other)
    story.add(other)
    return True


@move_on_line(NEW, REMOVED)
def _take_over(story: PlanDraft, line: Line) -> bool:
    """Move a topic to another mirror at its destination, sometimes with a first attempt that is refused."""
    conflicting_line = story.conflicting_line(line)
    if conflicting_line is None:
        return False
    if story.rng.chance(1, 2):
        story.add(line)
        story.wait(100, 1_500)
    story.remove(conflicting_line)
    story.wait(*_either(story))
    story.add(line)
    if story.rng.chance(1, 4):  # And back again, before or after anything was mirrored.
        story.wait(*_either(story))
        story.remove(line)
        story.wait(*_either(story))
        story.add(conflicting_line)
    return True


@move_on_line(ADDED)
def _second_mirror(story: PlanDraft, line: Line) -> bool:
    """Create another mirror for topics that have one: adds and other orders for them are refused; then delete it."""
    others = [name for name in story.clusters if name not in (line.source, line.destination)]
    source = story.rng.choice([line.source, *others])
    other = Line(f"{line.mirror}x", line.topics, source, line.destination)
    story.add(other)
    story.step("add", **_where(other), topics=other.topics)
    story.wait(10, 1_000)
    if story.rng.chance(1, 2):
        story.step(story.rng.choice(["remove", "pause", "resume"]), **_where(other), topics=other.topics)
        story.wait(10, 500)
    story.delete_mirror(other)
    return True


@move_on_line(ADDED)
def _move_on(story: PlanDraft, line: Line) -> bool:
    """Fail the topics over and mirror them from their current cluster, as in a ring that is never closed."""
    here = line.destination
    onward = [o for o in story.lines if o is not line and o.phase != ADDED and _shares_topics(o, line)]
    onward = [o for o in onward if o.source == here or (o.is_reversible and o.destination == here)]
    if not onward:
        return False
    story.remove(line)
    story.wait(100, 1_500)
    story.turn(line, here)
    story.wait(*_either(story))
    other = story.rng.choice(onward)
    if other.source != here:
        other.source, other.destination = other.destination, other.source
    story.add(other)
    return True


# -- topics that are deleted and created again on both sides -------------------------------------


@move_on_line(ADDED, REMOVED)
def _recreate_both(story: PlanDraft, line: Line) -> bool:
    """Delete a topic on both sides at nearly the same time, usually create it again, and mirror it again.

    The topic was removed from the mirror long before or just before, or is paused or still mirrored, so that its
    deletion here is refused. Or it is failed back first, and deleted while it is PREPARING.
    """
    if line.phase == ADDED:
        match story.rng.below(4):
            case 0:
                story.pause(line)
            case 1:
                pass
            case _:
                story.remove(line)
        story.wait(*_either(story))
    elif line.is_reversible and story.rng.chance(1, 3) and story.conflicting_line(line, line.source) is None:
        story.fail_back(line)
        story.wait(*IN_A_MOMENT_MS)
    sides = [line.source, line.destination]
    if story.rng.chance(1, 2):
        sides.reverse()
    for cluster in sides:
        story.step("delete_topic", cluster=cluster, topic=line.topic)
        story.wait(0, 300)
    if story.rng.chance(1, 3):
        story.wait(*STOPPED_MS)
    for cluster in sides:
        if cluster == line.source or story.rng.chance(1, 2):
            story.step("create_topic", cluster=cluster, topic=line.topic, partitions=story.rng.between(1, 3))
            story.wait(0, 300)
    if line.phase == REMOVED:
        story.wait(*_either(story))
        story.add(line)
    return True


# -- orders in the wrong order -------------------------------------------------------------------


@move_on_line()
def _wrong_order(story: PlanDraft, line: Line) -> bool:
    """Give orders twice, too early or too late; most are refused, and none may do any harm."""
    if line.phase != ADDED:
        if story.rng.chance(1, 2):  # Delete the mirror while it prepares.
            story.add(line)
            story.wait(*IN_A_MOMENT_MS)
            story.step("delete_mirror", mirror=line.mirror, destination=line.destination)
            story.wait(*IN_A_MOMENT_MS)
            story.remove(line)
        else:
            story.step(story.rng.choice(["resume", "pause"]), **_where(line), topics=line.topics)
        return True
    match story.rng.below(4):
        case 0:
            story.remove(line)
            story.wait(*_either(story))
            story.remove(line)
        case 1:  # Adding again is refused until the topic is STOPPED.
            story.remove(line)
            for _ in range(2):
                story.wait(*IN_A_MOMENT_MS)
                story.add(line)
        case 2:
            story.remove(line)
            story.wait(*_either(story))
            story.step("resume", **_where(line), topics=line.topics)
        case _:  # To unknown servers and back.
            for servers in (NOBODY, line.source):
                story.step("point_mirror", mirror=line.mirror, destination=line.destination, servers=servers)
                story.wait(200, 4_000)
    return True


@move_on_line()
def _look_at_mirror(story: PlanDraft, line: Line) -> bool:
    """Describe a mirror, possibly one that does not exist, during the next order."""
    looked: dict[str, Value] = {"mirror": line.mirror, "destination": line.destination}
    story.step("describe_mirror", **looked)
    story.next_order(line)
    story.wait(*IN_A_MOMENT_MS)
    story.step("describe_mirror", **looked)
    return True


# -- long pauses ---------------------------------------------------------------------------------


@move_on_line(ADDED, REMOVED)
def _long_pause(story: PlanDraft, line: Line) -> bool:
    """Give no orders for longer than producer ids are kept; all clients rest."""
    if line.phase == ADDED and story.rng.chance(2, 3):
        if story.rng.chance(1, 2):
            story.pause(line)
            after = story.resume
        else:
            story.remove(line)
            after = story.add if story.rng.chance(1, 2) or not line.is_reversible else story.fail_back
        story.wait(100, 3_000)
    else:
        after = story.next_order
    for_ms = story.drawn(LONG_PAUSE_MS)
    story.step("rest", for_ms=for_ms)
    story.at_ms += for_ms
    after(line)
    return True


TOPOLOGY_MOVES: dict[str, Move] = {
    "middle_fails_back": _middle_fails_back,
    "take_over": _take_over,
    "second_mirror": _second_mirror,
    "move_on": _move_on,
    "recreate_both": _recreate_both,
    "wrong_order": _wrong_order,
    "look_at_mirror": _look_at_mirror,
    "long_pause": _long_pause,
}
