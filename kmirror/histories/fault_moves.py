"""Moves that set traps: failures at an event of replication, and second failures soon after.

The table of all moves is in moves.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.histories.plan import Value
from kmirror.histories.step_drawing import ADDED, NEW, REMOVED, Line, Move, PlanDraft, move_on_line

SHORT_MS = (150, 1_200)
LONG_MS = (3_500, 8_000)
WINDOW_MS = (0, 300)
"""Delay of the second failure after the event that triggers it."""


# -- causes of sights -------------------------------------------------------------------------


def _no_cause(story: PlanDraft, line: Line, cluster: str) -> None:
    """Do nothing: the event happens by itself."""


def _stop_follower_fetches(story: PlanDraft, line: Line, cluster: str) -> None:
    """Stop a follower's fetches for longer than replica.lag.time.max.ms, so that it leaves the ISR and comes back."""
    if story.rng.chance(1, 2):
        story.kill_replica(line, cluster, "follower", for_ms=story.drawn(LONG_MS))
        return
    one = story.broker(cluster)
    other = one % story.clusters[cluster].brokers + 1
    story.step("line_down", one=f"{cluster}-{one}", other=f"{cluster}-{other}", for_ms=story.drawn(LONG_MS))


def _lose_the_leader(story: PlanDraft, line: Line, cluster: str) -> None:
    story.kill_replica(line, cluster, "leader", for_ms=story.drawn(LONG_MS))


def _lose_a_broker(story: PlanDraft, line: Line, cluster: str) -> None:
    story.step("kill_broker", cluster=cluster, broker=story.broker(cluster), for_ms=story.drawn(LONG_MS))


def _next_order(story: PlanDraft, line: Line, cluster: str) -> None:
    story.next_order(line)


CAUSES = {
    "ISR_SHRINKS": _stop_follower_fetches, "ISR_GROWS": _stop_follower_fetches, "PROPOSED": _stop_follower_fetches,
    "ELECTED": _lose_the_leader, "EPOCH_COMMITTED": _lose_the_leader, "FOLLOWER_CUT": _lose_the_leader,
    "COORDINATOR_LOADS": _lose_a_broker, "COORDINATOR_LOADED": _lose_a_broker,
    "ROLLED": _no_cause, "PREPARED": _no_cause, "SNAPSHOT": _no_cause,
}  # fmt: skip
"""Sights of any cluster, and the cause of each."""
MIRROR_CAUSES = {
    "BUMPING": _next_order, "LISTED": _next_order, "LINEAGE": _next_order, "CUT": _next_order,
    "LOAD_BEGINS": _lose_the_leader, "LOAD_ENDS": _lose_the_leader,
}  # fmt: skip
"""Sights of the destination cluster, and the cause of each."""
WINDOWS = ("ELECTED", "ELECTED", "CUT", "FOLLOWER_CUT", "EPOCH_COMMITTED", "LOAD_BEGINS")
"""Events for a second failure after a first one."""
VICTIMS = (
    "leader", "leader", "follower", "controller", "mirror_coordinator", "transaction_coordinator",
    "source_leader", "source_controller",
)  # fmt: skip


def _strike(story: PlanDraft, line: Line, *, may_order: bool) -> Mapping[str, Value]:
    """Return the arguments for a trap's action."""
    rng = story.rng
    kind = rng.choice(("kill", "kill", "kill", "kill", "line", "isolate", "turn", "order"))
    for_ms = story.drawn(LONG_MS if rng.chance(1, 2) else SHORT_MS)
    if kind == "turn":
        names = [name for topic in line.topics.split(",") for name in story.writers.get(topic, [])]
        if names:
            return {"do": kind, "clients": ",".join(dict.fromkeys(names))}
    if kind == "order" and may_order:
        return {"do": kind}
    if kind == "line":
        return {"do": kind, "for_ms": for_ms}
    if kind == "isolate":
        return {"do": kind, "victim": rng.choice(("leader", "follower", "source_leader")), "for_ms": for_ms}
    return {"do": "kill", "victim": rng.choice(VICTIMS), "for_ms": for_ms}


def set_trap(story: PlanDraft, line: Line, cluster: str, on: str, **more: Value) -> str:
    """Set a trap in a cluster of the line, and return its name."""
    other = line.source if cluster == line.destination else line.destination
    name = f"trap {len(story.steps)}"
    story.step("when", cluster=cluster, source=other, topic=line.topic, on=on, name=name, **more)
    return name


def _trap_and_trigger(
    story: PlanDraft, line: Line, cluster: str, on: str, cause: Callable[[PlanDraft, Line, str], None], *, follows: bool
) -> bool:
    """Set a trap, and a second one after it if `follows`; then cause the event that the first one waits for."""
    name = set_trap(story, line, cluster, on, **_strike(story, line, may_order=True))
    if follows:
        delay_ms = story.drawn(WINDOW_MS) if story.rng.chance(2, 3) else 0
        window = story.rng.choice(WINDOWS)
        set_trap(story, line, cluster, window, after=name, delay_ms=delay_ms, **_strike(story, line, may_order=False))
    story.wait(0, 200)
    cause(story, line, cluster)
    return True


@move_on_line()
def _strike_at(story: PlanDraft, line: Line) -> bool:
    """Fail something at an event of replication, and sometimes something else at a later event."""
    cluster, causes = line.destination, {**CAUSES, **MIRROR_CAUSES}
    if line.phase == NEW:  # The topic does not exist there yet, so it has no leader.
        causes = {on: cause for on, cause in MIRROR_CAUSES.items() if cause is _next_order}
    elif story.rng.chance(1, 3):
        cluster, causes = line.source, CAUSES
    if story.clusters[cluster].brokers < 2:
        return False
    on = story.rng.choice(list(causes))
    return _trap_and_trigger(story, line, cluster, on, causes[on], follows=story.rng.chance(1, 2))


@move_on_line()
def _second_failure(story: PlanDraft, line: Line) -> bool:
    """Kill the leader when the ISR has shrunk or is about to grow, and then the next leader or the controller."""
    cluster = line.destination if line.phase != NEW and story.rng.chance(2, 3) else line.source
    if story.clusters[cluster].brokers < 3:
        return False
    on = story.rng.choice(("ISR_SHRINKS", "PROPOSED", "ISR_GROWS"))
    away: dict[str, Value] = {"do": "kill", "for_ms": story.drawn(LONG_MS)}
    name = set_trap(story, line, cluster, on, victim="leader", **away)
    second: dict[str, Value] = {"do": "kill", "for_ms": story.drawn(SHORT_MS)}
    victim = story.rng.choice(("leader", "controller"))
    if story.rng.chance(1, 4):
        set_trap(story, line, cluster, "CUT", after=name, victim=victim, **second)
    else:
        set_trap(story, line, cluster, "ELECTED", after=name, victim=victim, delay_ms=story.drawn(WINDOW_MS), **second)
    story.wait(0, 200)
    _stop_follower_fetches(story, line, cluster)
    return True


@move_on_line()
def _isolated_leader(story: PlanDraft, line: Line) -> bool:
    """Cut a leader off from its controller, so that another one is elected, which then fails as well."""
    cluster = line.source if line.phase == NEW else story.rng.choice([line.source, line.destination])
    if story.clusters[cluster].brokers < 2:
        return False
    kind: dict[str, Value] = {"do": "kill", "victim": "leader", "for_ms": story.drawn(SHORT_MS)}
    set_trap(story, line, cluster, "ELECTED", delay_ms=story.drawn(WINDOW_MS), **kind)
    one = f"{cluster}-{story.broker(cluster)}"
    story.step("line_down", one=one, other=f"{cluster}-{CONTROLLER_ID}", for_ms=story.drawn(LONG_MS))
    return True


@move_on_line()
def _slow_controller(story: PlanDraft, line: Line) -> bool:
    """Delay messages between brokers and their controller while replicas come and go and the leader changes."""
    rng = story.rng
    cluster = line.source if line.phase == NEW else rng.choice([line.source, line.destination])
    brokers = story.clusters[cluster].brokers
    if brokers < 2:
        return False
    slow = [broker for broker in range(1, brokers + 1) if rng.chance(2, 3)] or [story.broker(cluster)]
    for broker in slow:  # With more than 450 ms each way a broker's session would end between two heartbeats.
        one, ms, for_ms = f"{cluster}-{broker}", rng.between(60, 450), rng.between(6_000, 10_000)
        story.step("line_slow", one=one, other=f"{cluster}-{CONTROLLER_ID}", ms=ms, for_ms=for_ms)
    for _ in range(rng.between(1, 2)):
        story.wait(0, 600)
        story.kill_replica(
            line, cluster, "follower", for_ms=rng.choice((rng.between(50, 600), rng.between(3_000, 4_500)))
        )
        story.wait(200, 2_500)
    if rng.chance(1, 2):
        story.kill_replica(line, cluster, "leader", for_ms=story.drawn(SHORT_MS))
    return True


@move_on_line()
def _power_at(story: PlanDraft, line: Line) -> bool:
    """Cut the power of a broker or the controller at an event of the next order; no other node fails."""
    on = story.rng.choice(("BUMPING", "LISTED", "LINEAGE", "CUT", "PREPARED", "STOPPED", "MIRRORING"))
    victim = story.rng.choice(("leader", "leader", "follower", "mirror_coordinator", "controller"))
    set_trap(story, line, line.destination, on, do="power", victim=victim, for_ms=story.drawn(SHORT_MS))
    story.wait(0, 200)
    story.next_order(line)
    return True


@move_on_line()
def _lose_site_power(story: PlanDraft, line: Line) -> bool:
    """Cut the power of a whole site, sometimes during the next order."""
    cluster = story.rng.choice([line.source, line.destination])
    if story.rng.chance(1, 2):
        story.next_order(line)
        story.wait(0, 1_500)
    story.step("lose_site_power", cluster=cluster, for_ms=story.drawn(LONG_MS if story.rng.chance(1, 3) else SHORT_MS))
    return True


def _fail_log_dir(story: PlanDraft) -> bool:
    """Fail a log directory of a broker; it comes back with a restart."""
    found = [name for name, cluster in story.clusters.items() if cluster.log_dirs > 1]
    if not found:
        return False
    cluster = story.rng.choice(found)
    number = story.rng.between(1, story.clusters[cluster].log_dirs - 1)
    for_ms = story.drawn(LONG_MS)
    story.step("fail_log_dir", cluster=cluster, broker=story.broker(cluster), number=number, for_ms=for_ms)
    return True


MINUTE_MS, HOUR_MS = 60_000, 3_600_000
CLOCKS_MS = ((-20 * HOUR_MS, -HOUR_MS), (-10 * MINUTE_MS, -1_000), (1_000, 10 * MINUTE_MS), (HOUR_MS, 20 * HOUR_MS))
"""Range of clock errors: less than the day after which a producer id expires."""


def _wrong_clock(story: PlanDraft) -> bool:
    """Make a node's clock leap or drift, or set it back before a restart; sometimes correct it later."""
    cluster = story.cluster()
    node = CONTROLLER_ID if story.rng.chance(1, 5) else story.broker(cluster)
    ahead_ms = story.drawn(story.rng.choice(CLOCKS_MS))
    ppm = story.rng.choice((0, 0, -500, 200, 20_000))
    story.step("set_clock", cluster=cluster, broker=node, ahead_ms=ahead_ms, ppm=ppm)
    if ahead_ms < 0 or story.rng.chance(1, 3):
        story.wait(0, 500)
        if node == CONTROLLER_ID:
            story.step("kill_controller", cluster=cluster, for_ms=story.drawn(SHORT_MS))
        else:
            story.step("kill_broker", cluster=cluster, broker=node, for_ms=story.drawn(SHORT_MS))
    if story.rng.chance(1, 3):
        story.wait(1_000, 4_000)
        story.step("set_clock", cluster=cluster, broker=node, ahead_ms=0)
    return True


# -- requests that no mirror sends --------------------------------------------------------------


@move_on_line(ADDED, REMOVED)
def _delete_records(story: PlanDraft, line: Line) -> bool:
    """Delete records at the source, or at the destination, which refuses that while it mirrors the topic."""
    cluster = line.source if story.rng.chance(2, 3) else line.destination
    offset = -1 if story.rng.chance(1, 3) else story.rng.between(1, 60)
    story.step("delete_records", cluster=cluster, topic=line.topic, partition=story.rng.below(2), offset=offset)
    return True


@move_on_line(ADDED, REMOVED)
def _throttle(story: PlanDraft, line: Line) -> bool:
    """Throttle mirroring at the destination, change the rate later, and usually remove the throttle in the end."""
    where: dict[str, Value] = {"cluster": line.destination, "topic": line.topic}
    rate: dict[str, Value] = {"cluster": line.destination, "name": "mirror.replication.throttled.rate"}
    listed = story.rng.choice(("*", "0:1", "0:1,0:2,1:1"))
    story.step("alter_topic", **where, name="mirror.replication.throttled.replicas", value=listed)
    if story.rng.chance(1, 3):  # Stored without effect: replication inside a cluster has no quota.
        story.step("alter_topic", **where, name="follower.replication.throttled.replicas", value="*")
    for _ in range(story.rng.between(1, 2)):
        story.step("alter_cluster", **rate, value=story.rng.choice(("3000", "10000", "100000")))
        story.wait(500, 4_000)
    if story.rng.chance(3, 4):
        story.step("reset_topic", **where, name="mirror.replication.throttled.replicas")
    return True


# -- sources with outdated metadata -----------------------------------------------------------


@move_on_line(ADDED)
def _stale_source(story: PlanDraft, line: Line) -> bool:
    """Cut a source broker off from its controller while a topic changes; other brokers are current or unreachable."""
    brokers, rng = story.clusters[line.source].brokers, story.rng
    if brokers < 2:
        return False
    cut_off = story.broker(line.source)
    controller = f"{line.source}-{CONTROLLER_ID}"
    story.step("line_down", one=f"{line.source}-{cut_off}", other=controller, for_ms=rng.between(5_000, 9_000))
    story.wait(0, 1_500)
    where: dict[str, Value] = {"cluster": line.source, "topic": line.topic}
    match rng.below(4):
        case 0 if story.spare_topics:  # The broker that is cut off does not know the topic.
            topic = story.spare_topics.pop()
            story.step("create_topic", cluster=line.source, topic=topic, partitions=1)
            story.wait(100, 800)
            new = Line(line.mirror, topic, line.source, line.destination, is_reversible=line.is_reversible)
            story.lines.append(new)
            story.add(new)
        case 1:
            story.step("grow_topic", **where, partitions=rng.between(2, 4))
        case 2:
            story.step("delete_topic", **where)
            story.wait(100, 2_000)
            story.step("create_topic", **where, partitions=1)
        case _:
            story.step("alter_topic", **where, name="retention.ms", value=rng.choice(("3600000", "86400000")))
    story.wait(0, 1_000)
    if rng.chance(1, 2):
        other = rng.choice([broker for broker in range(1, brokers + 1) if broker != cut_off])
        story.step("kill_broker", cluster=line.source, broker=other, for_ms=story.drawn(LONG_MS))
    elif rng.chance(2, 3):
        for_ms = rng.between(2_500, 5_000)
        for other in (broker for broker in range(1, brokers + 1) if broker != cut_off):
            story.step("line_down", one=f"{line.source}-{other}", other=line.destination, for_ms=for_ms)
    return True


FAULT_MOVES: dict[str, Move] = {
    "strike_at": _strike_at,
    "second_failure": _second_failure,
    "isolated_leader": _isolated_leader,
    "slow_controller": _slow_controller,
    "power_at": _power_at,
    "stale_source": _stale_source,
    "fail_log_dir": _fail_log_dir,
    "wrong_clock": _wrong_clock,
    "lose_site_power": _lose_site_power,
    "delete_records": _delete_records,
    "throttle": _throttle,
}
