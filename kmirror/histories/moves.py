"""Moves: short sequences of steps, drawn so that they make sense in the current state of the draft.

A move that does not fit returns False and adds no step.
"""

from __future__ import annotations

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.histories.cut_moves import CUT_MOVES
from kmirror.histories.fault_moves import FAULT_MOVES
from kmirror.histories.node_moves import NODE_MOVES
from kmirror.histories.orders import NOBODY
from kmirror.histories.plan import Step, Value
from kmirror.histories.plan_draft import ADDED, NEW, REMOVED, Line, Move, PlanDraft, move_on_line
from kmirror.histories.stale_moves import STALE_MOVES
from kmirror.histories.topic_moves import TOPIC_MOVES, flag
from kmirror.histories.topology_moves import TOPOLOGY_MOVES

SHORT_MS = (150, 1_200)
LONG_MS = (3_500, 8_000)
"""Longer than a session timeout and than `replica.lag.time.max.ms`."""


# -- orders ---------------------------------------------------------------------------------


@move_on_line()
def _next_order(draft: PlanDraft, line: Line) -> bool:
    draft.next_order(line)
    return True


@move_on_line(ADDED)
def _failover_unreachable(draft: PlanDraft, line: Line) -> bool:
    draft.step("line_down", one=line.source, other=line.destination, for_ms=draft.rng.between(2_000, 6_000))
    draft.wait(300, 1_500)
    draft.fail_over(line)
    return True


@move_on_line(ADDED)
def _failover_dead(draft: PlanDraft, line: Line) -> bool:
    draft.step("kill_cluster", cluster=line.source, for_ms=draft.rng.between(2_500, 7_000))
    draft.wait(200, 1_500)
    draft.fail_over(line)
    return True


@move_on_line(ADDED, is_reversible=True)
def _back_at_once(draft: PlanDraft, line: Line) -> bool:
    draft.fail_over(line)
    draft.wait(20, 600)
    draft.fail_back(line)
    return True


@move_on_line(ADDED, REMOVED)
def _again(draft: PlanDraft, line: Line) -> bool:
    """Remove and add again in the same direction, sometimes while the source is unreachable."""
    if line.phase == ADDED:
        draft.remove(line)
        draft.wait(100, 2_500)
    if draft.rng.chance(1, 4):
        draft.step("line_down", one=line.source, other=line.destination, for_ms=draft.rng.between(1_500, 4_000))
    draft.add(line)
    return True


@move_on_line(NEW, REMOVED)
def _hasty(draft: PlanDraft, line: Line) -> bool:
    """Add, and remove soon afterwards; sometimes the source is unreachable all the time."""
    if draft.rng.chance(1, 2):
        draft.step("line_down", one=line.source, other=line.destination, for_ms=draft.rng.between(2_000, 4_000))
        draft.wait(0, 200)
        draft.add(line)
        draft.wait(300, 1_800)
    else:
        draft.add(line)
        draft.wait(10, 500)
    draft.fail_over(line)
    return True


@move_on_line(ADDED, is_reversible=True)
def _both_ways(draft: PlanDraft, line: Line) -> bool:
    """Mirror the topics back to the source by mistake, and usually correct that."""
    wrong = Line(line.mirror, line.topics, line.destination, line.source)
    draft.add(wrong)
    draft.wait(500, 3_500)
    if draft.rng.chance(3, 4):
        draft.remove(wrong)
    else:
        draft.remove(line)  # The mistake becomes the new direction.
        line.source, line.destination = wrong.source, wrong.destination
        line.phase = ADDED
    return True


@move_on_line(NEW, is_reversible=True)
def _back_to_nothing(draft: PlanDraft, line: Line) -> bool:
    """Remove the topics before the mirror has copied anything, then fail them back."""
    draft.step("line_down", one=line.source, other=line.destination, for_ms=draft.rng.between(2_500, 5_000))
    draft.wait(0, 200)
    draft.add(line)
    draft.wait(500, 2_000)
    draft.remove(line)
    draft.wait(1_000, 4_000)
    draft.fail_back(line)
    return True


@move_on_line(ADDED)
def _pause(draft: PlanDraft, line: Line) -> bool:
    """Pause the topics; sometimes a leader dies meanwhile, or they are removed, or they stay paused."""
    draft.pause(line)
    draft.wait(20, 3_000)
    cluster = draft.rng.choice([line.source, line.destination])
    if draft.rng.chance(1, 3):
        draft.kill_replica(line, cluster, "leader", for_ms=draft.draw_ms(SHORT_MS))
        draft.wait(50, 2_500)
    if draft.rng.chance(1, 5):
        draft.fail_over(line)
    elif draft.rng.chance(5, 6):
        draft.resume(line)
    return True


@move_on_line(NEW, REMOVED)
def _pause_early(draft: PlanDraft, line: Line) -> bool:
    """Pause the topics while they prepare, and resume them before they are PAUSED."""
    draft.add(line)
    draft.wait(10, 800)
    draft.pause(line)
    draft.wait(10, 600)
    draft.resume(line)
    return True


@move_on_line(ADDED, REMOVED)
def _delete_mirror(draft: PlanDraft, line: Line) -> bool:
    """Delete the mirror, sometimes before its topics are STOPPED; sometimes create a mirror again later."""
    if line.phase == ADDED:
        draft.remove(line)
        draft.wait(50, 4_000)
    draft.delete_mirror(line)
    draft.wait(20, 1_500)
    if draft.rng.chance(1, 4):
        draft.add(line)
    elif line.is_reversible and draft.rng.chance(1, 3):
        draft.fail_back(line)
    return True


@move_on_line(NEW, ADDED)
def _wrong_servers(draft: PlanDraft, line: Line) -> bool:
    """Point the mirror to servers that do not exist or to the wrong cluster; then correct it."""
    others = [name for name in draft.clusters if name not in (line.source, line.destination)]
    wrong = draft.rng.choice(others) if others and draft.rng.chance(1, 4) else NOBODY
    mirror_args: dict[str, Value] = {"mirror": line.mirror, "destination": line.destination}
    if line.phase == NEW:
        draft.add(line, servers=wrong)
    else:
        draft.step("point_mirror", **mirror_args, servers=wrong)
    draft.wait(800, 4_000)
    draft.step("point_mirror", **mirror_args, servers=line.source)
    return True


def _local_topic(draft: PlanDraft) -> bool:
    """Create a topic at the destination of a mirror that will be added later."""
    found = [line for line in draft.lines[1:] if line.phase == NEW]
    if not found:
        return False
    line = found[0]
    draft.step("create_topic", cluster=line.destination, topic=line.topic, partitions=1)
    draft.wait(100, 1_000)
    if draft.rng.chance(1, 3):
        draft.add(line)
        draft.steps[-1] = Step(draft.steps[-1].at_ms, "add", {**draft.steps[-1].args, "named": False})
    else:
        draft.add(line)
    return True


@move_on_line()
def _nonexistent_target(draft: PlanDraft, line: Line) -> bool:
    """Send an order about a mirror or topic that does not exist, or exists already."""
    mirror_args: dict[str, Value] = {"mirror": line.mirror, "source": line.source, "destination": line.destination}
    other: dict[str, Value] = {**mirror_args, "destination": line.source, "source": line.destination}
    match draft.rng.below(4):
        case 0:
            draft.step("create_mirror", **mirror_args, servers=line.source, timeout_ms=2_000)
            draft.mirrors[line.destination, line.mirror] = None
        case 1 if (line.source, line.mirror) not in draft.mirrors:
            draft.step("add", **other, topics=line.topics)
        case 2:
            draft.step("remove", **mirror_args, topics="no-such-topic")
        case _ if line.phase == ADDED:
            draft.step("add", **mirror_args, topics=line.topics)
        case _:
            draft.step("remove", **{**mirror_args, "mirror": "no-such-mirror"}, topics=line.topics)
    return True


def _more_topics(draft: PlanDraft) -> bool:
    """Create a topic at the source, and add it to the mirror just before or after."""
    if not draft.spare_topics or draft.lines[0].phase != ADDED:
        return False
    first = draft.lines[0]
    line = Line(first.mirror, draft.spare_topics.pop(), first.source, first.destination)
    draft.lines.append(line)
    topic_args: dict[str, Value] = {"cluster": line.source, "topic": line.topics, "partitions": 1}
    if draft.rng.chance(1, 3):
        draft.add(line)
        draft.wait(100, 1_500)
        draft.step("create_topic", **topic_args)
    else:
        draft.step("create_topic", **topic_args)
        draft.wait(300, 1_500)
        draft.add(line)
    return True


@move_on_line()
def _turn_some(draft: PlanDraft, line: Line) -> bool:
    draft.turn(line, draft.rng.choice([line.source, line.destination]))
    return True


# -- nodes ------------------------------------------------------------------------------------


def _bounce_broker(draft: PlanDraft) -> bool:
    cluster = draft.cluster()
    draft.step("kill_broker", cluster=cluster, broker=draft.broker(cluster), for_ms=draft.draw_ms(SHORT_MS))
    return True


def _broker_away(draft: PlanDraft) -> bool:
    cluster = draft.cluster()
    draft.step("kill_broker", cluster=cluster, broker=draft.broker(cluster), for_ms=draft.draw_ms(LONG_MS))
    return True


def _lose_power(draft: PlanDraft) -> bool:
    cluster = draft.cluster()
    draft.step(
        "lose_power",
        cluster=cluster,
        broker=draft.broker(cluster),
        for_ms=draft.draw_ms(LONG_MS if draft.rng.chance(1, 3) else SHORT_MS),
    )
    return True


def _bounce_controller(draft: PlanDraft) -> bool:
    draft.step("kill_controller", cluster=draft.cluster(), for_ms=draft.draw_ms(SHORT_MS))
    return True


def _controller_away(draft: PlanDraft) -> bool:
    draft.step("kill_controller", cluster=draft.cluster(), for_ms=draft.draw_ms(LONG_MS))
    return True


@move_on_line()
def _kill_some_leader(draft: PlanDraft, line: Line) -> bool:
    cluster = draft.rng.choice([line.source, line.destination])
    draft.kill_replica(line, cluster, "leader", for_ms=draft.draw_ms(LONG_MS if draft.rng.chance(1, 2) else SHORT_MS))
    return True


@move_on_line()
def _source_away(draft: PlanDraft, line: Line) -> bool:
    draft.step("kill_cluster", cluster=line.source, for_ms=draft.rng.between(800, 4_000))
    return True


KILL_EVENTS = {NEW: ("PREPARING", "CUT", "MIRRORING"), ADDED: ("STOPPING", "CUT", "STOPPED")}
VICTIMS = ("leader", "leader", "follower", "controller", "source_leader", "source_controller")


@move_on_line()
def _kill_at(draft: PlanDraft, line: Line) -> bool:
    """Kill a node when a partition enters a state, while the next order is carried out."""
    before = draft.at_ms
    events = KILL_EVENTS.get(line.phase, KILL_EVENTS[NEW])
    first = len(draft.steps)
    draft.next_order(line)
    trap = Step(
        before,
        "kill_when",
        {
            "cluster": line.destination,
            "source": line.source,
            "topic": line.topic,
            "on": draft.rng.choice(events),
            "victim": draft.rng.choice(VICTIMS),
            "for_ms": draft.draw_ms(LONG_MS if draft.rng.chance(1, 2) else SHORT_MS),
        },
    )
    draft.steps.insert(first, trap)
    return True


# -- lines between nodes and sites ------------------------------------------------------------


@move_on_line()
def _line_down(draft: PlanDraft, line: Line) -> bool:
    one, other = line.source, line.destination
    draft.step("line_down", one=one, other=other, for_ms=draft.rng.between(400, 6_000))
    return True


@move_on_line()
def _one_way_down(draft: PlanDraft, line: Line) -> bool:
    one, other = line.source, line.destination
    if draft.rng.chance(1, 2):
        one, other = other, one
    draft.step("line_down", one=one, other=other, one_way=True, for_ms=draft.rng.between(500, 5_000))
    return True


@move_on_line()
def _slow(draft: PlanDraft, line: Line) -> bool:
    one, other = line.source, line.destination
    draft.step("line_slow", one=one, other=other, ms=draft.rng.between(50, 900), for_ms=draft.rng.between(1_000, 6_000))
    return True


@move_on_line()
def _lossy(draft: PlanDraft, line: Line) -> bool:
    one, other = line.source, line.destination
    draft.step(
        "line_lossy",
        one=one,
        other=other,
        ppm=draft.rng.between(20_000, 300_000),
        for_ms=draft.rng.between(1_000, 6_000),
    )
    return True


def _controller_unreachable(draft: PlanDraft) -> bool:
    """Cut a broker off from its controller; it serves its last known metadata."""
    cluster = draft.cluster()
    draft.step(
        "line_down",
        one=f"{cluster}-{draft.broker(cluster)}",
        other=f"{cluster}-{CONTROLLER_ID}",
        for_ms=draft.draw_ms(LONG_MS),
        one_way=draft.rng.chance(1, 5),
    )
    return True


def _replica_unreachable(draft: PlanDraft) -> bool:
    """Cut two brokers of a cluster off from each other: a follower leaves the ISR while both run."""
    found = [name for name, cluster in draft.clusters.items() if cluster.brokers > 1]
    if not found:
        return False
    cluster = draft.rng.choice(found)
    one = draft.broker(cluster)
    other = one % draft.clusters[cluster].brokers + 1
    draft.step("line_down", one=f"{cluster}-{one}", other=f"{cluster}-{other}", for_ms=draft.draw_ms(LONG_MS))
    return True


# -- replicas and controllers -----------------------------------------------------------------


@move_on_line()
def _away_during(draft: PlanDraft, line: Line) -> bool:
    """Kill a replica while the topics enter their next state, so that it misses the cut."""
    is_reversible = line.phase == REMOVED and line.is_reversible
    cluster = line.source if is_reversible and draft.rng.chance(3, 4) else line.destination
    if draft.clusters[cluster].brokers < 2:
        return False
    draft.kill_replica(line, cluster, "follower", for_ms=draft.rng.between(5_000, 9_000))
    draft.wait(2_000, 4_000)
    draft.next_order(line)
    return True


@move_on_line(ADDED, is_reversible=True)
def _two_histories(draft: PlanDraft, line: Line) -> bool:
    """Let both clusters write in leader epochs of equal numbers, then fail back while a replica of the old source is
    down.

    Epoch numbers alone do not show that this replica has other records than its leader (D30).
    """
    rng, old = draft.rng, line.source
    if draft.clusters[old].brokers < 2:
        return False
    draft.step("line_down", one=old, other=line.destination, for_ms=rng.between(6_000, 8_000))
    for _ in range(rng.between(1, 3)):
        draft.wait(200, 600)
        draft.kill_replica(line, old, "leader", for_ms=rng.between(200, 700))
        draft.wait(900, 1_800)
    draft.fail_over(line)
    draft.wait(1_000, 3_000)
    draft.kill_replica(line, old, "follower", for_ms=rng.between(7_000, 12_000))
    draft.wait(2_500, 4_000)
    draft.fail_back(line)
    if rng.chance(1, 2):  # A second cut that it misses.
        draft.wait(1_000, 3_000)
        draft.fail_over(line)
        draft.wait(500, 2_000)
        draft.add(line)
    if rng.chance(1, 2):  # It comes back, and leads.
        draft.wait(4_000, 8_000)
        draft.kill_replica(line, old, "leader", for_ms=rng.between(3_000, 6_000))
    return True


@move_on_line(ADDED, REMOVED)
def _unclean_election(draft: PlanDraft, line: Line) -> bool:
    """Kill all followers; they return when the leader is dead, and one of them leads with its shorter log."""
    cluster = draft.rng.choice([line.source, line.destination])
    brokers = draft.clusters[cluster].brokers
    if brokers < 2:
        return False
    flag(draft, "unclean.leader.election.enable", cluster, line.topic, is_enabled=True)
    draft.wait(100, 400)
    outage_ms = draft.rng.between(4_000, 5_500)
    for _ in range(brokers - 1):
        draft.kill_replica(line, cluster, "follower", for_ms=outage_ms)
    began_ms = draft.at_ms
    if draft.rng.chance(1, 2):
        draft.wait(2_000, 3_000)
        draft.next_order(line)
    draft.at_ms = max(draft.at_ms, began_ms + outage_ms - draft.rng.between(100, 700))
    draft.kill_replica(line, cluster, "leader", for_ms=draft.rng.between(3_500, 6_000))
    return True


@move_on_line(REMOVED, ADDED)
def _stale_leader(draft: PlanDraft, line: Line) -> bool:
    """Fail back while a broker without its controller still names the old leader."""
    if draft.clusters[line.destination].brokers < 2:
        return False
    cluster = line.destination
    if line.phase == ADDED:
        draft.fail_over(line)
        draft.wait(800, 2_500)
    draft.step(
        "line_down",
        one=f"{cluster}-{draft.broker(cluster)}",
        other=f"{cluster}-{CONTROLLER_ID}",
        for_ms=draft.rng.between(5_000, 9_000),
    )
    draft.wait(50, 300)
    draft.kill_replica(line, cluster, "leader", for_ms=draft.rng.between(300, 3_000))
    draft.wait(2_000, 4_000)
    if line.is_reversible:
        draft.fail_back(line)
    else:
        draft.add(line)
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
    "no_such_thing": _nonexistent_target,
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
