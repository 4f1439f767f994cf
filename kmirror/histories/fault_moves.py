"""Moves that set traps: failures at an event of replication, and second failures soon after.

The table of all moves is in moves.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.histories.plan import Value
from kmirror.histories.plan_draft import ADDED, NEW, REMOVED, Line, Move, PlanDraft, move_on_line

SHORT_MS = (150, 1_200)
LONG_MS = (3_500, 8_000)
WINDOW_MS = (0, 300)
"""Delay of the second failure after the event that triggers it."""


# -- causes of events -------------------------------------------------------------------------


def _no_cause(draft: PlanDraft, line: Line, cluster: str) -> None:
    """Do nothing: the event happens by itself."""


def _stop_follower_fetches(draft: PlanDraft, line: Line, cluster: str) -> None:
    """Stop a follower's fetches for longer than replica.lag.time.max.ms, so that it leaves the ISR and comes back."""
    if draft.rng.chance(1, 2):
        draft.kill_replica(line, cluster, "follower", for_ms=draft.draw_ms(LONG_MS))
        return
    one = draft.broker(cluster)
    other = one % draft.clusters[cluster].brokers + 1
    draft.step("line_down", one=f"{cluster}-{one}", other=f"{cluster}-{other}", for_ms=draft.draw_ms(LONG_MS))


def _lose_the_leader(draft: PlanDraft, line: Line, cluster: str) -> None:
    draft.kill_replica(line, cluster, "leader", for_ms=draft.draw_ms(LONG_MS))


def _lose_a_broker(draft: PlanDraft, line: Line, cluster: str) -> None:
    draft.step("kill_broker", cluster=cluster, broker=draft.broker(cluster), for_ms=draft.draw_ms(LONG_MS))


def _next_order(draft: PlanDraft, line: Line, cluster: str) -> None:
    draft.next_order(line)


CAUSES = {
    "ISR_SHRINKS": _stop_follower_fetches, "ISR_GROWS": _stop_follower_fetches, "PROPOSED": _stop_follower_fetches,
    "ELECTED": _lose_the_leader, "EPOCH_COMMITTED": _lose_the_leader, "FOLLOWER_CUT": _lose_the_leader,
    "COORDINATOR_LOADS": _lose_a_broker, "COORDINATOR_LOADED": _lose_a_broker,
    "ROLLED": _no_cause, "PREPARED": _no_cause, "SNAPSHOT": _no_cause,
}  # fmt: skip
"""Events of any cluster, and the cause of each."""
MIRROR_CAUSES = {
    "BUMPING": _next_order, "LISTED": _next_order, "LINEAGE": _next_order, "CUT": _next_order,
    "LOAD_BEGINS": _lose_the_leader, "LOAD_ENDS": _lose_the_leader,
}  # fmt: skip
"""Events of the destination cluster, and the cause of each."""
WINDOWS = ("ELECTED", "ELECTED", "CUT", "FOLLOWER_CUT", "EPOCH_COMMITTED", "LOAD_BEGINS")
"""Events for a second failure after a first one."""
VICTIMS = (
    "leader", "leader", "follower", "controller", "mirror_coordinator", "transaction_coordinator",
    "source_leader", "source_controller",
)  # fmt: skip


def _strike(draft: PlanDraft, line: Line, *, may_order: bool) -> Mapping[str, Value]:
    """Return the arguments for a trap's action."""
    rng = draft.rng
    kind = rng.choice(("kill", "kill", "kill", "kill", "line", "isolate", "turn", "order"))
    for_ms = draft.draw_ms(LONG_MS if rng.chance(1, 2) else SHORT_MS)
    if kind == "turn":
        names = [name for topic in line.topics.split(",") for name in draft.writers.get(topic, [])]
        if names:
            return {"do": kind, "clients": ",".join(dict.fromkeys(names))}
    if kind == "order" and may_order:
        return {"do": kind}
    if kind == "line":
        return {"do": kind, "for_ms": for_ms}
    if kind == "isolate":
        return {"do": kind, "victim": rng.choice(("leader", "follower", "source_leader")), "for_ms": for_ms}
    return {"do": "kill", "victim": rng.choice(VICTIMS), "for_ms": for_ms}


def set_trap(draft: PlanDraft, line: Line, cluster: str, event: str, **more: Value) -> str:
    """Set a trap in a cluster of the line, and return its name."""
    other = line.source if cluster == line.destination else line.destination
    name = f"trap {len(draft.steps)}"
    draft.step("when", cluster=cluster, source=other, topic=line.topic, on=event, name=name, **more)
    return name


def _trap_and_trigger(
    draft: PlanDraft,
    line: Line,
    cluster: str,
    event: str,
    cause: Callable[[PlanDraft, Line, str], None],
    *,
    follows: bool,
) -> bool:
    """Set a trap, and a second one after it if `follows`; then cause the event that the first one waits for."""
    name = set_trap(draft, line, cluster, event, **_strike(draft, line, may_order=True))
    if follows:
        delay_ms = draft.draw_ms(WINDOW_MS) if draft.rng.chance(2, 3) else 0
        window = draft.rng.choice(WINDOWS)
        set_trap(draft, line, cluster, window, after=name, delay_ms=delay_ms, **_strike(draft, line, may_order=False))
    draft.wait(0, 200)
    cause(draft, line, cluster)
    return True


@move_on_line()
def _strike_at(draft: PlanDraft, line: Line) -> bool:
    """Fail something at an event of replication, and sometimes something else at a later event."""
    cluster, causes = line.destination, {**CAUSES, **MIRROR_CAUSES}
    if line.phase == NEW:  # The topic does not exist there yet, so it has no leader.
        causes = {event: cause for event, cause in MIRROR_CAUSES.items() if cause is _next_order}
    elif draft.rng.chance(1, 3):
        cluster, causes = line.source, CAUSES
    if draft.clusters[cluster].brokers < 2:
        return False
    event = draft.rng.choice(list(causes))
    return _trap_and_trigger(draft, line, cluster, event, causes[event], follows=draft.rng.chance(1, 2))


@move_on_line()
def _second_failure(draft: PlanDraft, line: Line) -> bool:
    """Kill the leader when the ISR has shrunk or is about to grow, and then the next leader or the controller."""
    cluster = line.destination if line.phase != NEW and draft.rng.chance(2, 3) else line.source
    if draft.clusters[cluster].brokers < 3:
        return False
    event = draft.rng.choice(("ISR_SHRINKS", "PROPOSED", "ISR_GROWS"))
    kill_options: dict[str, Value] = {"do": "kill", "for_ms": draft.draw_ms(LONG_MS)}
    name = set_trap(draft, line, cluster, event, victim="leader", **kill_options)
    second_kill_options: dict[str, Value] = {"do": "kill", "for_ms": draft.draw_ms(SHORT_MS)}
    victim = draft.rng.choice(("leader", "controller"))
    if draft.rng.chance(1, 4):
        set_trap(draft, line, cluster, "CUT", after=name, victim=victim, **second_kill_options)
    else:
        set_trap(
            draft,
            line,
            cluster,
            "ELECTED",
            after=name,
            victim=victim,
            delay_ms=draft.draw_ms(WINDOW_MS),
            **second_kill_options,
        )
    draft.wait(0, 200)
    _stop_follower_fetches(draft, line, cluster)
    return True


@move_on_line()
def _isolated_leader(draft: PlanDraft, line: Line) -> bool:
    """Cut a leader off from its controller, so that another one is elected, which then fails as well."""
    cluster = line.source if line.phase == NEW else draft.rng.choice([line.source, line.destination])
    if draft.clusters[cluster].brokers < 2:
        return False
    kind: dict[str, Value] = {"do": "kill", "victim": "leader", "for_ms": draft.draw_ms(SHORT_MS)}
    set_trap(draft, line, cluster, "ELECTED", delay_ms=draft.draw_ms(WINDOW_MS), **kind)
    one = f"{cluster}-{draft.broker(cluster)}"
    draft.step("line_down", one=one, other=f"{cluster}-{CONTROLLER_ID}", for_ms=draft.draw_ms(LONG_MS))
    return True


@move_on_line()
def _slow_controller(draft: PlanDraft, line: Line) -> bool:
    """Delay messages between brokers and their controller while replicas come and go and the leader changes."""
    rng = draft.rng
    cluster = line.source if line.phase == NEW else rng.choice([line.source, line.destination])
    brokers = draft.clusters[cluster].brokers
    if brokers < 2:
        return False
    slow = [broker for broker in range(1, brokers + 1) if rng.chance(2, 3)] or [draft.broker(cluster)]
    for broker in slow:  # With more than 450 ms each way a broker's session would end between two heartbeats.
        one, ms, for_ms = f"{cluster}-{broker}", rng.between(60, 450), rng.between(6_000, 10_000)
        draft.step("line_slow", one=one, other=f"{cluster}-{CONTROLLER_ID}", ms=ms, for_ms=for_ms)
    for _ in range(rng.between(1, 2)):
        draft.wait(0, 600)
        draft.kill_replica(
            line, cluster, "follower", for_ms=rng.choice((rng.between(50, 600), rng.between(3_000, 4_500)))
        )
        draft.wait(200, 2_500)
    if rng.chance(1, 2):
        draft.kill_replica(line, cluster, "leader", for_ms=draft.draw_ms(SHORT_MS))
    return True


@move_on_line()
def _power_at(draft: PlanDraft, line: Line) -> bool:
    """Cut the power of a broker or the controller at an event of the next order; no other node fails."""
    event = draft.rng.choice(("BUMPING", "LISTED", "LINEAGE", "CUT", "PREPARED", "STOPPED", "MIRRORING"))
    victim = draft.rng.choice(("leader", "leader", "follower", "mirror_coordinator", "controller"))
    set_trap(draft, line, line.destination, event, do="power", victim=victim, for_ms=draft.draw_ms(SHORT_MS))
    draft.wait(0, 200)
    draft.next_order(line)
    return True


@move_on_line()
def _lose_site_power(draft: PlanDraft, line: Line) -> bool:
    """Cut the power of a whole site, sometimes during the next order."""
    cluster = draft.rng.choice([line.source, line.destination])
    if draft.rng.chance(1, 2):
        draft.next_order(line)
        draft.wait(0, 1_500)
    draft.step(
        "lose_site_power", cluster=cluster, for_ms=draft.draw_ms(LONG_MS if draft.rng.chance(1, 3) else SHORT_MS)
    )
    return True


def _fail_log_dir(draft: PlanDraft) -> bool:
    """Fail a log directory of a broker; it comes back with a restart."""
    found = [name for name, cluster in draft.clusters.items() if cluster.log_dirs > 1]
    if not found:
        return False
    cluster = draft.rng.choice(found)
    number = draft.rng.between(1, draft.clusters[cluster].log_dirs - 1)
    for_ms = draft.draw_ms(LONG_MS)
    draft.step("fail_log_dir", cluster=cluster, broker=draft.broker(cluster), number=number, for_ms=for_ms)
    return True


MINUTE_MS, HOUR_MS = 60_000, 3_600_000
CLOCKS_MS = ((-20 * HOUR_MS, -HOUR_MS), (-10 * MINUTE_MS, -1_000), (1_000, 10 * MINUTE_MS), (HOUR_MS, 20 * HOUR_MS))
"""Range of clock errors: less than the day after which a producer id expires."""


def _wrong_clock(draft: PlanDraft) -> bool:
    """Make a node's clock leap or drift, or set it back before a restart; sometimes correct it later."""
    cluster = draft.cluster()
    node = CONTROLLER_ID if draft.rng.chance(1, 5) else draft.broker(cluster)
    ahead_ms = draft.draw_ms(draft.rng.choice(CLOCKS_MS))
    ppm = draft.rng.choice((0, 0, -500, 200, 20_000))
    draft.step("set_clock", cluster=cluster, broker=node, ahead_ms=ahead_ms, ppm=ppm)
    if ahead_ms < 0 or draft.rng.chance(1, 3):
        draft.wait(0, 500)
        if node == CONTROLLER_ID:
            draft.step("kill_controller", cluster=cluster, for_ms=draft.draw_ms(SHORT_MS))
        else:
            draft.step("kill_broker", cluster=cluster, broker=node, for_ms=draft.draw_ms(SHORT_MS))
    if draft.rng.chance(1, 3):
        draft.wait(1_000, 4_000)
        draft.step("set_clock", cluster=cluster, broker=node, ahead_ms=0)
    return True


# -- requests that no mirror sends --------------------------------------------------------------


@move_on_line(ADDED, REMOVED)
def _delete_records(draft: PlanDraft, line: Line) -> bool:
    """Delete records at the source, or at the destination, which refuses that while it mirrors the topic."""
    cluster = line.source if draft.rng.chance(2, 3) else line.destination
    offset = -1 if draft.rng.chance(1, 3) else draft.rng.between(1, 60)
    draft.step("delete_records", cluster=cluster, topic=line.topic, partition=draft.rng.below(2), offset=offset)
    return True


@move_on_line(ADDED, REMOVED)
def _throttle(draft: PlanDraft, line: Line) -> bool:
    """Throttle mirroring at the destination, change the rate later, and usually remove the throttle in the end."""
    topic_args: dict[str, Value] = {"cluster": line.destination, "topic": line.topic}
    rate: dict[str, Value] = {"cluster": line.destination, "name": "mirror.replication.throttled.rate"}
    listed = draft.rng.choice(("*", "0:1", "0:1,0:2,1:1"))
    draft.step("alter_topic", **topic_args, name="mirror.replication.throttled.replicas", value=listed)
    if draft.rng.chance(1, 3):  # Stored without effect: replication inside a cluster has no quota.
        draft.step("alter_topic", **topic_args, name="follower.replication.throttled.replicas", value="*")
    for _ in range(draft.rng.between(1, 2)):
        draft.step("alter_cluster", **rate, value=draft.rng.choice(("3000", "10000", "100000")))
        draft.wait(500, 4_000)
    if draft.rng.chance(3, 4):
        draft.step("reset_topic", **topic_args, name="mirror.replication.throttled.replicas")
    return True


# -- sources with outdated metadata -----------------------------------------------------------


@move_on_line(ADDED)
def _stale_source(draft: PlanDraft, line: Line) -> bool:
    """Cut a source broker off from its controller while a topic changes; other brokers are current or unreachable."""
    brokers, rng = draft.clusters[line.source].brokers, draft.rng
    if brokers < 2:
        return False
    cut_off = draft.broker(line.source)
    controller = f"{line.source}-{CONTROLLER_ID}"
    draft.step("line_down", one=f"{line.source}-{cut_off}", other=controller, for_ms=rng.between(5_000, 9_000))
    draft.wait(0, 1_500)
    topic_args: dict[str, Value] = {"cluster": line.source, "topic": line.topic}
    match rng.below(4):
        case 0 if draft.spare_topics:  # The broker that is cut off does not know the topic.
            topic = draft.spare_topics.pop()
            draft.step("create_topic", cluster=line.source, topic=topic, partitions=1)
            draft.wait(100, 800)
            new = Line(line.mirror, topic, line.source, line.destination, is_reversible=line.is_reversible)
            draft.lines.append(new)
            draft.add(new)
        case 1:
            draft.step("grow_topic", **topic_args, partitions=rng.between(2, 4))
        case 2:
            draft.step("delete_topic", **topic_args)
            draft.wait(100, 2_000)
            draft.step("create_topic", **topic_args, partitions=1)
        case _:
            draft.step("alter_topic", **topic_args, name="retention.ms", value=rng.choice(("3600000", "86400000")))
    draft.wait(0, 1_000)
    if rng.chance(1, 2):
        other = rng.choice([broker for broker in range(1, brokers + 1) if broker != cut_off])
        draft.step("kill_broker", cluster=line.source, broker=other, for_ms=draft.draw_ms(LONG_MS))
    elif rng.chance(2, 3):
        for_ms = rng.between(2_500, 5_000)
        for other in (broker for broker in range(1, brokers + 1) if broker != cut_off):
            draft.step("line_down", one=f"{line.source}-{other}", other=line.destination, for_ms=for_ms)
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
