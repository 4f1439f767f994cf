"""Faults at events: traps that act at a state of a partition or an event of replication, and other special faults.

`when` sets a trap. It waits for a state of a mirror, CUT, or a row of REPLICATION_EVENTS, and then carries out a row of
STRIKES. A trap with `after` is set when the trap of that name springs, so that a second failure follows soon after the
first one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.histories.execution import Action, ActionExecutor, Args, StepSkipped
from kmirror.histories.replication_events import REPLICATION_EVENTS, EventWatch
from kmirror.histories.scene import Trap
from kmirror.kernel.ids import TopicPartition
from kmirror.mirror.states import MirrorState
from kmirror.spec.topics import MIRROR_STATE_TOPIC, TRANSACTION_TOPIC

CUT = "CUT"
FLUSH = "log.flush.interval.messages"
WITHIN_MS = 10_000
"""Default time after which a trap is removed."""
COORDINATORS = {"mirror_coordinator": MIRROR_STATE_TOPIC, "transaction_coordinator": TRANSACTION_TOPIC}
ROLES = ("leader", "follower", "controller", *COORDINATORS)
"""Nodes that can be struck, in the cluster of the trap or, with the prefix `source_`, at the mirror's source."""


def kill_role(executor: ActionExecutor, cluster: str, tp: TopicPartition, role: str, for_ms: int) -> None:
    """Kill the partition's leader, a follower of it, the cluster's controller, or a coordinator."""
    executor.kill(cluster, find_node(executor, cluster, tp, role), for_ms)


def find_node(executor: ActionExecutor, cluster: str, tp: TopicPartition, role: str) -> int:
    """Return the id of the node that has a role now.

    Raise StepSkipped if there is none.
    """
    if role == "controller":
        return CONTROLLER_ID
    coordinator_tp = TopicPartition(COORDINATORS[role], 0) if role in COORDINATORS else tp
    leader = executor.scene.leader(cluster, coordinator_tp)
    if leader is None:
        raise StepSkipped(f"{coordinator_tp} in {cluster} has no leader")
    if role != "follower":
        return leader.broker_id
    found = executor.scene.clusters[cluster]
    victims = [b for b in leader.image.replicas if b != leader.broker_id and found.runs(b)]
    if not victims:
        raise StepSkipped(f"{tp} in {cluster} has no running follower")
    return victims[0]


def lose_power(executor: ActionExecutor, cluster: str, broker_id: int, for_ms: int, *, short: bool = False) -> None:
    """Cut a broker's power if other replicas have all its data: acks=all promises no more than that.

    With `short`, for a cluster with too few brokers, one other running replica in the ISR is enough.
    """
    sim_cluster = executor.scene.clusters[cluster]
    # A killed broker stays in the ISR until its old session ends, even if it lost data.
    down_ids = [
        b for b in sim_cluster.broker_ids if not sim_cluster.runs(b) or sim_cluster.broker(b).parts.lifecycle.fenced
    ]
    if down_ids and not short:
        raise StepSkipped(f"brokers {down_ids} of {cluster} are down or fenced")
    for topic in executor.scene.image(cluster).topics.values():
        for number, image in topic.partitions.items():
            is_alone = len(image.isr) < 2 or any(b in down_ids for b in image.isr)
            is_short = len(image.replicas) < 2 or len(image.isr) < len(image.replicas)
            if (is_alone and broker_id in image.isr) if short else (is_short and broker_id in image.replicas):
                raise StepSkipped(
                    f"{topic.name}-{number} in {cluster} has ISR {list(image.isr)} of {list(image.replicas)}"
                )
    executor.kill(cluster, broker_id, for_ms, power_cut=True)


def turn(executor: ActionExecutor, args: Args) -> None:
    """Move clients to another cluster."""
    cluster = str(args["cluster"])
    names = [name for name in str(args["clients"]).split(",") if name in executor.applications]
    if not names:
        raise StepSkipped("no such client")
    for name in names:
        executor.applications[name].move_to(cluster)


# -- strikes ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Strike:
    """Action of a trap when it springs."""

    name: str
    doc: str
    required: str
    """Names of the arguments that the step must have."""
    carry_out: Callable[[ActionExecutor, Args, TopicPartition], None]


def _for_ms(args: Args) -> int:
    return int(args.get("for_ms", 0))


def _place(args: Args) -> tuple[str, str]:
    """Return the cluster of the node to fail, and its role, such as "leader" or "controller"."""
    victim = str(args["victim"])
    return str(args["source" if victim.startswith("source_") else "cluster"]), victim.removeprefix("source_")


def _kill(executor: ActionExecutor, args: Args, tp: TopicPartition) -> None:
    cluster, role = _place(args)
    kill_role(executor, cluster, tp, role, _for_ms(args))


def _cut_power(executor: ActionExecutor, args: Args, tp: TopicPartition) -> None:
    cluster, role = _place(args)
    node = find_node(executor, cluster, tp, role)
    if node == CONTROLLER_ID:
        executor.kill(cluster, node, _for_ms(args), power_cut=True)
    else:
        lose_power(executor, cluster, node, _for_ms(args))


def _cut_line(executor: ActionExecutor, args: Args, tp: TopicPartition) -> None:
    executor.take_down(f"{args['source']}|{args['cluster']}", _for_ms(args))


def _isolate(executor: ActionExecutor, args: Args, tp: TopicPartition) -> None:
    cluster, role = _place(args)
    node = find_node(executor, cluster, tp, role)
    if node == CONTROLLER_ID:
        raise StepSkipped("a controller has no line to itself")
    executor.take_down(f"{cluster}-{node}|{cluster}-{CONTROLLER_ID}", _for_ms(args))


def _turn(executor: ActionExecutor, args: Args, tp: TopicPartition) -> None:
    turn(executor, args)


def _order(executor: ActionExecutor, args: Args, tp: TopicPartition) -> None:
    number = executor.next_order()
    if number is None:
        raise StepSkipped("every order of the plan was given already")
    executor.run_step(number)


STRIKE_ROWS: tuple[Strike, ...] = (
    Strike("kill", "Kill `victim`.", "victim", _kill),
    Strike("power", "Cut the power of `victim`; of a broker only while all replicas are in the ISR.", "victim",
           _cut_power),
    Strike("line", "Take down the line between the cluster and its source.", "source", _cut_line),
    Strike("isolate", "Take down the line between `victim` and its controller.", "victim", _isolate),
    Strike("turn", "Move clients to the cluster.", "clients", _turn),
    Strike("order", "Give the next order of the plan at once.", "", _order),
)  # fmt: skip
STRIKES: dict[str, Strike] = {row.name: row for row in STRIKE_ROWS}


# -- traps ------------------------------------------------------------------------------------


def problem_with_trap(args: Args) -> str | None:
    """Return why a trap of a plan cannot be set, or None."""
    event, strike, victim = str(args["on"]), STRIKES.get(str(args["do"])), str(args.get("victim", "leader"))
    if event != CUT and event not in REPLICATION_EVENTS and event not in MirrorState.__members__:
        return f"a trap waits for CUT, a state of a mirror, or one of {', '.join(REPLICATION_EVENTS)}, not on {event!r}"
    if strike is None:
        return f"do must be one of {', '.join(STRIKES)}, not {str(args['do'])!r}"
    missing = [name for name in strike.required.split() if name not in args]
    if missing:
        return f"a trap with do={strike.name!r} needs {', '.join(missing)}"
    if victim.startswith("source_") and "source" not in args:
        return f"a trap for the {victim} needs source"
    if victim.removeprefix("source_") not in ROLES:
        return f"a victim must be one of {', '.join(ROLES)}, with or without the prefix source_, not {victim!r}"
    return None


def _when(executor: ActionExecutor, args: Args) -> None:
    parent = str(args.get("after", ""))
    if parent and parent not in executor.sprung:
        executor.next_traps.setdefault(parent, []).append(lambda: _set_trap(executor, args))
    else:
        _set_trap(executor, args)


def _set_trap(executor: ActionExecutor, args: Args) -> None:
    scene = executor.scene
    cluster, topic, event, name = (str(args.get(key, "")) for key in ("cluster", "topic", "on", "name"))

    def strike(tp: TopicPartition) -> None:
        if executor.over:
            return
        if name:
            executor.sprung[name] = None
            for follow in executor.next_traps.pop(name, []):
                follow()
        scene.note(f"{tp} in {cluster} reached {event}: now {args['do']} {args.get('victim', '')}".rstrip())
        try:
            STRIKES[str(args["do"])].carry_out(executor, args, tp)
        except StepSkipped as skipped:
            scene.note(f"the trap does nothing: {skipped}")

    def spring(tp: TopicPartition) -> None:
        delay_ms = int(args.get("delay_ms", 0))
        scene.after_ms(delay_ms, lambda: strike(tp)) if delay_ms else strike(tp)

    event_watch = EventWatch.begin(scene, event, cluster, topic) if event in REPLICATION_EVENTS else None
    trap = Trap(cluster, topic, event, spring, None if event_watch is None else lambda: event_watch.check(scene))
    scene.traps.append(trap)
    scene.after_ms(int(args.get("within_ms", WITHIN_MS)), lambda: _remove_trap(executor, trap))


def _remove_trap(executor: ActionExecutor, trap: Trap) -> None:
    # By identity: two traps may be equal.
    executor.scene.traps[:] = [other for other in executor.scene.traps if other is not trap]


def _fail_log_dir(executor: ActionExecutor, args: Args) -> None:
    cluster, broker_id, number = str(args["cluster"]), int(args["broker"]), int(args["number"])
    if not 0 < number < len(executor.scene.clusters[cluster].log_dirs[broker_id]):
        raise StepSkipped(f"{cluster}-{broker_id} has no log directory {number}, or it contains the metadata log")
    executor.fail_log_dir(cluster, broker_id, number, _for_ms(args))


def _set_clock(executor: ActionExecutor, args: Args) -> None:
    cluster, node_id = str(args["cluster"]), int(args["broker"])
    executor.wrong_clocks[cluster, node_id] = None
    executor.scene.clusters[cluster].set_clock(node_id, ahead_ms=int(args["ahead_ms"]), ppm=int(args.get("ppm", 0)))


def _lose_site_power(executor: ActionExecutor, args: Args) -> None:
    """Cut the power of all nodes of a cluster at once; topics with `flush.messages` above 1 may lose records."""
    cluster = str(args["cluster"])
    found = executor.scene.clusters[cluster]
    if found.configs.get(FLUSH) != "1":
        raise StepSkipped(f"{cluster} acknowledges unflushed records: {FLUSH} is not 1")
    nodes = [node_id for node_id in (CONTROLLER_ID, *found.broker_ids) if found.runs(node_id)]
    if not nodes:
        raise StepSkipped(f"every node of {cluster} is down")
    executor.observer.power.before_loss(cluster)
    for node_id in nodes:
        executor.kill(cluster, node_id, _for_ms(args), power_cut=True)


def _stop_broker(executor: ActionExecutor, args: Args) -> None:
    """Stop a broker cleanly: it hands over its leaderships if its controller allows it."""
    cluster, broker_id = str(args["cluster"]), int(args["broker"])
    executor.stop(cluster, broker_id, _for_ms(args))


def _slow_disk(executor: ActionExecutor, args: Args) -> None:
    executor.slow_disk(f"{args['cluster']}-{args['broker']}", int(args["ms"]), _for_ms(args))


ROWS: tuple[Action, ...] = (
    Action("stop_broker", "Stop a broker cleanly.", "cluster broker", _stop_broker, optional="for_ms"),
    Action(
        "slow_disk", "Make each job of a broker's disks slower.", "cluster broker ms", _slow_disk, optional="for_ms"
    ),
    Action(
        "when",
        "Set a trap: run the action `do` `delay_ms` after the event `on` of a topic, if it happens within `within_ms`. "
        "It may have a name, and be set `after` another one has run.",
        "cluster topic on do",
        _when,
        optional="source victim clients for_ms delay_ms within_ms name after",
    ),
    Action(
        "fail_log_dir",
        "Fail a log directory of a broker, except the first, which has the metadata log; it is repaired with a "
        "restart.",
        "cluster broker number",
        _fail_log_dir,
        optional="for_ms",
    ),
    Action(
        "lose_site_power",
        "Cut the power of every node of a cluster at once; only where `log.flush.interval.messages` is 1, so that "
        "internal topics keep acknowledged records.",
        "cluster",
        _lose_site_power,
        optional="for_ms",
    ),
    Action(
        "set_clock",
        "Set a node's clock: `ahead_ms`, negative values from its next start on, and `ppm` too fast.",
        "cluster broker ahead_ms",
        _set_clock,
        optional="ppm",
    ),
)
