"""Moves: short sequences of steps, drawn so that they make sense in the current state of the story.

A move that does not fit returns False and adds no step.
"""

from __future__ import annotations

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.histories.cut_moves import CUT_MOVES
from kmirror.histories.fault_moves import FAULT_MOVES
from kmirror.histories.node_moves import NODE_MOVES
from kmirror.histories.orders import NOBODY
from kmirror.histories.plan import Step, Value
from kmirror.histories.stale_moves import STALE_MOVES
from kmirror.histories.step_drawing import ADDED, NEW, REMOVED, Line, Move, PlanDraft, move_on_line
from kmirror.histories.topic_moves import TOPIC_MOVES, flag
from kmirror.histories.topology_moves import TOPOLOGY_MOVES

SHORT_MS = (150, 1_200)
LONG_MS = (3_500, 8_000)
"""Longer than a session timeout and than `replica.lag.time.max.ms`."""


# -- orders ---------------------------------------------------------------------------------


@move_on_line()
def _next_order(story: PlanDraft, line: Line) -> bool:
    story.next_order(line)
    return True


@move_on_line(ADDED)
def _failover_unreachable(story: PlanDraft, line: Line) -> bool:
    story.step("line_down", one=line.source, other=line.destination, for_ms=story.rng.between(2_000, 6_000))
    story.wait(300, 1_500)
    story.fail_over(line)
    return True


@move_on_line(ADDED)
def _failover_dead(story: PlanDraft, line: Line) -> bool:
    story.step("kill_cluster", cluster=line.source, for_ms=story.rng.between(2_500, 7_000))
    story.wait(200, 1_500)
    story.fail_over(line)
    return True


@move_on_line(ADDED, is_reversible=True)
def _back_at_once(story: PlanDraft, line: Line) -> bool:
    story.fail_over(line)
    story.wait(20, 600)
    story.fail_back(line)
    return True


@move_on_line(ADDED, REMOVED)
def _again(story: PlanDraft, line: Line) -> bool:
    """Remove and add again in the same direction, sometimes while the source is unreachable."""
    if line.phase == ADDED:
        story.remove(line)
        story.wait(100, 2_500)
    if story.rng.chance(1, 4):
        story.step("line_down", one=line.source, other=line.destination, for_ms=story.rng.between(1_500, 4_000))
    story.add(line)
    return True


@move_on_line(NEW, REMOVED)
def _hasty(story: PlanDraft, line: Line) -> bool:
    """Add, and remove soon afterwards; sometimes the source is unreachable all the time."""
    if story.rng.chance(1, 2):
        story.step("line_down", one=line.source, other=line.destination, for_ms=story.rng.between(2_000, 4_000))
        story.wait(0, 200)
        story.add(line)
        story.wait(300, 1_800)
    else:
        story.add(line)
        story.wait(10, 500)
    story.fail_over(line)
    return True


@move_on_line(ADDED, is_reversible=True)
def _both_ways(story: PlanDraft, line: Line) -> bool:
    """Mirror the topics back to the source by mistake, and usually correct that."""
    wrong = Line(line.mirror, line.topics, line.destination, line.source)
    story.add(wrong)
    story.wait(500, 3_500)
    if story.rng.chance(3, 4):
        story.remove(wrong)
    else:
        story.remove(line)  # The mistake becomes the new direction.
        line.source, line.destination = wrong.source, wrong.destination
        line.phase = ADDED
    return True


@move_on_line(NEW, is_reversible=True)
def _back_to_nothing(story: PlanDraft, line: Line) -> bool:
    """Remove the topics before the mirror has copied anything, then fail them back."""
    story.step("line_down", one=line.source, other=line.destination, for_ms=story.rng.between(2_500, 5_000))
    story.wait(0, 200)
    story.add(line)
    story.wait(500, 2_000)
    story.remove(line)
    story.wait(1_000, 4_000)
    story.fail_back(line)
    return True


@move_on_line(ADDED)
def _pause(story: PlanDraft, line: Line) -> bool:
    """Pause the topics; sometimes a leader dies meanwhile, or they are removed, or they stay paused."""
    story.pause(line)
    story.wait(20, 3_000)
    cluster = story.rng.choice([line.source, line.destination])
    if story.rng.chance(1, 3):
        story.kill_replica(line, cluster, "leader", for_ms=story.drawn(SHORT_MS))
        story.wait(50, 2_500)
    if story.rng.chance(1, 5):
        story.fail_over(line)
    elif story.rng.chance(5, 6):
        story.resume(line)
    return True


@move_on_line(NEW, REMOVED)
def _pause_early(story: PlanDraft, line: Line) -> bool:
    """Pause the topics while they prepare, and resume them before they are PAUSED."""
    story.add(line)
    story.wait(10, 800)
    story.pause(line)
    story.wait(10, 600)
    story.resume(line)
    return True


@move_on_line(ADDED, REMOVED)
def _delete_mirror(story: PlanDraft, line: Line) -> bool:
    """Delete the mirror, sometimes before its topics are STOPPED; sometimes create a mirror again later."""
    if line.phase == ADDED:
        story.remove(line)
        story.wait(50, 4_000)
    story.delete_mirror(line)
    story.wait(20, 1_500)
    if story.rng.chance(1, 4):
        story.add(line)
    elif line.is_reversible and story.rng.chance(1, 3):
        story.fail_back(line)
    return True


@move_on_line(NEW, ADDED)
def _wrong_servers(story: PlanDraft, line: Line) -> bool:
    """Point the mirror to servers that do not exist or to the wrong cluster; then correct it."""
    others = [name for name in story.clusters if name not in (line.source, line.destination)]
    wrong = story.rng.choice(others) if others and story.rng.chance(1, 4) else NOBODY
    where: dict[str, Value] = {"mirror": line.mirror, "destination": line.destination}
    if line.phase == NEW:
        story.add(line, servers=wrong)
    else:
        story.step("point_mirror", **where, servers=wrong)
    story.wait(800, 4_000)
    story.step("point_mirror", **where, servers=line.source)
    return True


def _local_topic(story: PlanDraft) -> bool:
    """Create a topic at the destination of a mirror that will be added later."""
    found = [line for line in story.lines[1:] if line.phase == NEW]
    if not found:
        return False
    line = found[0]
    story.step("create_topic", cluster=line.destination, topic=line.topic, partitions=1)
    story.wait(100, 1_000)
    if story.rng.chance(1, 3):
        story.add(line)
        story.steps[-1] = Step(story.steps[-1].at_ms, "add", {**story.steps[-1].args, "named": False})
    else:
        story.add(line)
    return True


@move_on_line()
def _no_such_thing(story: PlanDraft, line: Line) -> bool:
    """Send an order about a mirror or topic that does not exist, or exists already."""
    where: dict[str, Value] = {"mirror": line.mirror, "source": line.source, "destination": line.destination}
    other: dict[str, Value] = {**where, "destination": line.source, "source": line.destination}
    match story.rng.below(4):
        case 0:
            story.step("create_mirror", **where, servers=line.source, timeout_ms=2_000)
            story.mirrors[line.destination, line.mirror] = None
        case 1 if (line.source, line.mirror) not in story.mirrors:
            story.step("add", **other, topics=line.topics)
        case 2:
            story.step("remove", **where, topics="no-such-topic")
        case _ if line.phase == ADDED:
            story.step("add", **where, topics=line.topics)
        case _:
            story.step("remove", **{**where, "mirror": "no-such-mirror"}, topics=line.topics)
    return True


def _more_topics(story: PlanDraft) -> bool:
    """Create a topic at the source, and add it to the mirror just before or after."""
    if not story.spare_topics or story.lines[0].phase != ADDED:
        return False
    first = story.lines[0]
    line = Line(first.mirror, story.spare_topics.pop(), first.source, first.destination)
    story.lines.append(line)
    made: dict[str, Value] = {"cluster": line.source, "topic": line.topics, "partitions": 1}
    if story.rng.chance(1, 3):
        story.add(line)
        story.wait(100, 1_500)
        story.step("create_topic", **made)
    else:
        story.step("create_topic", **made)
        story.wait(300, 1_500)
        story.add(line)
    return True


@move_on_line()
def _turn_some(story: PlanDraft, line: Line) -> bool:
    story.turn(line, story.rng.choice([line.source, line.destination]))
    return True


# -- nodes ------------------------------------------------------------------------------------


def _bounce_broker(story: PlanDraft) -> bool:
    cluster = story.cluster()
    story.step("kill_broker", cluster=cluster, broker=story.broker(cluster), for_ms=story.drawn(SHORT_MS))
    return True


def _broker_away(story: PlanDraft) -> bool:
    cluster = story.cluster()
    story.step("kill_broker", cluster=cluster, broker=story.broker(cluster), for_ms=story.drawn(LONG_MS))
    return True


def _lose_power(story: PlanDraft) -> bool:
    cluster = story.cluster()
    story.step(
        "lose_power",
        cluster=cluster,
        broker=story.broker(cluster),
        for_ms=story.drawn(LONG_MS if story.rng.chance(1, 3) else SHORT_MS),
    )
    return True


def _bounce_controller(story: PlanDraft) -> bool:
    story.step("kill_controller", cluster=story.cluster(), for_ms=story.drawn(SHORT_MS))
    return True


def _controller_away(story: PlanDraft) -> bool:
    story.step("kill_controller", cluster=story.cluster(), for_ms=story.drawn(LONG_MS))
    return True


@move_on_line()
def _kill_some_leader(story: PlanDraft, line: Line) -> bool:
    cluster = story.rng.choice([line.source, line.destination])
    story.kill_replica(line, cluster, "leader", for_ms=story.drawn(LONG_MS if story.rng.chance(1, 2) else SHORT_MS))
    return True


@move_on_line()
def _source_away(story: PlanDraft, line: Line) -> bool:
    story.step("kill_cluster", cluster=line.source, for_ms=story.rng.between(800, 4_000))
    return True


ON = {NEW: ("PREPARING", "CUT", "MIRRORING"), ADDED: ("STOPPING", "CUT", "STOPPED")}
VICTIMS = ("leader", "leader", "follower", "controller", "source_leader", "source_controller")


@move_on_line()
def _kill_at(story: PlanDraft, line: Line) -> bool:
    """Kill a node when a partition enters a state, while the next order is carried out."""
    before = story.at_ms
    on = ON.get(line.phase, ON[NEW])
    first = len(story.steps)
    story.next_order(line)
    trap = Step(
        before,
        "kill_when",
        {
            "cluster": line.destination,
            "source": line.source,
            "topic": line.topic,
            "on": story.rng.choice(on),
            "victim": story.rng.choice(VICTIMS),
            "for_ms": story.drawn(LONG_MS if story.rng.chance(1, 2) else SHORT_MS),
        },
    )
    story.steps.insert(first, trap)
    return True


# -- lines between nodes and sites ------------------------------------------------------------


@move_on_line()
def _line_down(story: PlanDraft, line: Line) -> bool:
    one, other = line.source, line.destination
    story.step("line_down", one=one, other=other, for_ms=story.rng.between(400, 6_000))
    return True


@move_on_line()
def _one_way_down(story: PlanDraft, line: Line) -> bool:
    one, other = line.source, line.destination
    if story.rng.chance(1, 2):
        one, other = other, one
    story.step("line_down", one=one, other=other, one_way=True, for_ms=story.rng.between(500, 5_000))
    return True


@move_on_line()
def _slow(story: PlanDraft, line: Line) -> bool:
    one, other = line.source, line.destination
    story.step("line_slow", one=one, other=other, ms=story.rng.between(50, 900), for_ms=story.rng.between(1_000, 6_000))
    return True


@move_on_line()
def _lossy(story: PlanDraft, line: Line) -> bool:
    one, other = line.source, line.destination
    story.step(
        "line_lossy",
        one=one,
        other=other,
        ppm=story.rng.between(20_000, 300_000),
        for_ms=story.rng.between(1_000, 6_000),
    )
    return True


def _controller_unreachable(story: PlanDraft) -> bool:
    """Cut a broker off from its controller; it serves its last known metadata."""
    cluster = story.cluster()
    story.step(
        "line_down",
        one=f"{cluster}-{story.broker(cluster)}",
        other=f"{cluster}-{CONTROLLER_ID}",
        for_ms=story.drawn(LONG_MS),
        one_way=story.rng.chance(1, 5),
    )
    return True


def _replica_unreachable(story: PlanDraft) -> bool:
    """Cut two brokers of a cluster off from each other: a follower leaves the ISR while both run."""
    found = [name for name, cluster in story.clusters.items() if cluster.brokers > 1]
    if not found:
        return False
    cluster = story.rng.choice(found)
    one = story.broker(cluster)
    other = one % story.clusters[cluster].brokers + 1
    story.step("line_down", one=f"{cluster}-{one}", other=f"{cluster}-{other}", for_ms=story.drawn(LONG_MS))
    return True


# -- replicas and controllers -----------------------------------------------------------------


@move_on_line()
def _away_during(story: PlanDraft, line: Line) -> bool:
    """Kill a replica while the topics enter their next state, so that it misses the cut."""
    is_reversible = line.phase == REMOVED and line.is_reversible
    cluster = line.source if is_reversible and story.rng.chance(3, 4) else line.destination
    if story.clusters[cluster].brokers < 2:
        return False
    story.kill_replica(line, cluster, "follower", for_ms=story.rng.between(5_000, 9_000))
    story.wait(2_000, 4_000)
    story.next_order(line)
    return True


@move_on_line(ADDED, is_reversible=True)
def _two_histories(story: PlanDraft, line: Line) -> bool:
    """Let both clusters write in leader epochs of equal numbers, then fail back while a replica of the old source is
    down.

    Epoch numbers alone do not show that this replica has other records than its leader (D30).
    """
    rng, old = story.rng, line.source
    if story.clusters[old].brokers < 2:
        return False
    story.step("line_down", one=old, other=line.destination, for_ms=rng.between(6_000, 8_000))
    for _ in range(rng.between(1, 3)):
        story.wait(200, 600)
        story.kill_replica(line, old, "leader", for_ms=rng.between(200, 700))
        story.wait(900, 1_800)
    story.fail_over(line)
    story.wait(1_000, 3_000)
    story.kill_replica(line, old, "follower", for_ms=rng.between(7_000, 12_000))
    story.wait(2_500, 4_000)
    story.fail_back(line)
    if rng.chance(1, 2):  # A second cut that it misses.
        story.wait(1_000, 3_000)
        story.fail_over(line)
        story.wait(500, 2_000)
        story.add(line)
    if rng.chance(1, 2):  # It comes back, and leads.
        story.wait(4_000, 8_000)
        story.kill_replica(line, old, "leader", for_ms=rng.between(3_000, 6_000))
    return True


@move_on_line(ADDED, REMOVED)
def _unclean_election(story: PlanDraft, line: Line) -> bool:
    """Kill all followers; they return when the leader is dead, and one of them leads with its shorter log."""
    cluster = story.rng.choice([line.source, line.destination])
    brokers = story.clusters[cluster].brokers
    if brokers < 2:
        return False
    flag(story, "unclean.leader.election.enable", cluster, line.topic, on=True)
    story.wait(100, 400)
    away = story.rng.between(4_000, 5_500)
    for _ in range(brokers - 1):
        story.kill_replica(line, cluster, "follower", for_ms=away)
    began = story.at_ms
    if story.rng.chance(1, 2):
        story.wait(2_000, 3_000)
        story.next_order(line)
    story.at_ms = max(story.at_ms, began + away - story.rng.between(100, 700))
    story.kill_replica(line, cluster, "leader", for_ms=story.rng.between(3_500, 6_000))
    return True


@move_on_line(REMOVED, ADDED)
def _stale_leader(story: PlanDraft, line: Line) -> bool:
    """Fail back while a broker without its controller still names the old leader."""
    if story.clusters[line.destination].brokers < 2:
        return False
    cluster = line.destination
    if line.phase == ADDED:
        story.fail_over(line)
        story.wait(800, 2_500)
    story.step(
        "line_down",
        one=f"{cluster}-{story.broker(cluster)}",
        other=f"{cluster}-{CONTROLLER_ID}",
        for_ms=story.rng.between(5_000, 9_000),
    )
    story.wait(50, 300)
    story.kill_replica(line, cluster, "leader", for_ms=story.rng.between(300, 3_000))
    story.wait(2_000, 4_000)
    if line.is_reversible:
        story.fail_back(line)
    else:
        story.add(line)
    return True


MOVES: dict[str, Move] = {
    "go_on": _next_order,
    "failover_unreachable": _failover_unreachable,
    "failover_dead": _failover_dead,
    "back_at_once": _back_at_once,
    "again": _again,
    "hasty": _hasty,
    "both_ways": _both_ways,
    "back_to_nothing": _back_to_nothing,
    "pause": _pause,
    "pause_early": _pause_early,
    "delete_mirror": _delete_mirror,
    "wrong_servers": _wrong_servers,
    "local_topic": _local_topic,
    "no_such_thing": _no_such_thing,
    "more_topics": _more_topics,
    "turn_some": _turn_some,
    **TOPIC_MOVES,
    **FAULT_MOVES,
    **NODE_MOVES,
    **TOPOLOGY_MOVES,
    **CUT_MOVES,
    **STALE_MOVES,
    "bounce_broker": _bounce_broker,
    "broker_away": _broker_away,
    "lose_power": _lose_power,
    "bounce_controller": _bounce_controller,
    "controller_away": _controller_away,
    "kill_some_leader": _kill_some_leader,
    "kill_at": _kill_at,
    "source_away": _source_away,
    "line_down": _line_down,
    "one_way_down": _one_way_down,
    "slow": _slow,
    "lossy": _lossy,
    "controller_unreachable": _controller_unreachable,
    "replica_unreachable": _replica_unreachable,
    "away_during": _away_during,
    "two_histories": _two_histories,
    "unclean_election": _unclean_election,
    "stale_leader": _stale_leader,
}
