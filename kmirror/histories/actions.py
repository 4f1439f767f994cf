"""Actions of the steps of a plan: orders of an operator and faults, one row of ACTIONS each.

A fault with `for_ms` ends after that time, and every fault ends at `faults_end_ms`. A step that no longer makes sense,
such as killing a broker that is down, is skipped, and the story notes it.
"""

from __future__ import annotations

from collections.abc import Mapping

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.histories import fault_actions
from kmirror.histories.execution import Action, ActionExecutor, Args, StepSkipped
from kmirror.histories.fault_actions import kill_role, lose_power, turn
from kmirror.histories.orders import NOBODY, ORDERS
from kmirror.histories.plan import ClusterPlan, Plan, Step
from kmirror.histories.scene import Trap
from kmirror.histories.workloads import KINDS
from kmirror.kernel.clock import MILLISECOND
from kmirror.kernel.ids import TopicPartition
from kmirror.sim.cluster import CLOCK_PPM_MAX
from kmirror.spec.configs import LONG_MAX

# -- carrying out -----------------------------------------------------------------------------


def _for_ms(args: Args) -> int:
    return int(args.get("for_ms", 0))


def _kill(executor: ActionExecutor, args: Args) -> None:
    executor.kill(str(args["cluster"]), int(args["broker"]), _for_ms(args))


def _lose_power(executor: ActionExecutor, args: Args) -> None:
    lose_power(executor, str(args["cluster"]), int(args["broker"]), _for_ms(args), short=bool(args.get("short", False)))


def _kill_controller(executor: ActionExecutor, args: Args) -> None:
    executor.kill(str(args["cluster"]), CONTROLLER_ID, _for_ms(args))


def _kill_cluster(executor: ActionExecutor, args: Args) -> None:
    cluster = str(args["cluster"])
    nodes = [
        n
        for n in (CONTROLLER_ID, *executor.scene.clusters[cluster].broker_ids)
        if executor.scene.clusters[cluster].runs(n)
    ]
    if not nodes:
        raise StepSkipped(f"every node of {cluster} is down")
    for node_id in nodes:
        executor.kill(cluster, node_id, _for_ms(args))


def _kill_replica(executor: ActionExecutor, args: Args) -> None:
    tp = TopicPartition(str(args["topic"]), int(args.get("partition", 0)))
    kill_role(executor, str(args["cluster"]), tp, str(args["victim"]), _for_ms(args))


def _kill_when(executor: ActionExecutor, args: Args) -> None:
    scene = executor.scene
    victim = str(args["victim"])
    cluster = str(args["source"] if victim.startswith("source") else args["cluster"])
    role = victim.removeprefix("source_")
    event = str(args["on"])

    def spring(tp: TopicPartition) -> None:
        try:
            scene.note(f"{tp} reached {event}: kill the {role} in {cluster}")
            kill_role(executor, cluster, tp, role, _for_ms(args))
        except StepSkipped as skipped:
            scene.note(f"no node is killed: {skipped}")

    scene.traps.append(Trap(str(args["cluster"]), str(args["topic"]), event, spring))


def _line_down(executor: ActionExecutor, args: Args) -> None:
    separator = ">" if args.get("one_way", False) else "|"
    executor.take_down(f"{args['one']}{separator}{args['other']}", _for_ms(args))


def _line_slow(executor: ActionExecutor, args: Args) -> None:
    executor.disturb("slow", f"{args['one']}|{args['other']}", int(args["ms"]), _for_ms(args))


def _line_lossy(executor: ActionExecutor, args: Args) -> None:
    executor.disturb("lossy", f"{args['one']}|{args['other']}", int(args["ppm"]), _for_ms(args))


def _rest(executor: ActionExecutor, args: Args) -> None:
    """Pause all clients. Producers finish their batch; transactions stay open and time out."""
    executor.scene.clients_paused_until = executor.scene.now + _for_ms(args) * MILLISECOND


ROWS: tuple[Action, ...] = (
    Action(
        "create_mirror",
        "Create a mirror; `servers` names the cluster that it points to, or none.",
        "mirror source destination",
        optional="servers timeout_ms topics",
    ),
    Action(
        "add",
        "Add topics to a mirror, with their ids at the source unless `named` is false.",
        "mirror source destination topics",
        optional="named",
    ),
    Action("remove", "Remove topics from a mirror: failover.", "mirror source destination topics"),
    Action("pause", "Pause topics of a mirror.", "mirror source destination topics"),
    Action("resume", "Resume paused topics of a mirror.", "mirror source destination topics"),
    Action("delete_mirror", "Delete a mirror; refused unless all its topics are STOPPED.", "mirror destination"),
    Action("describe_mirror", "Describe a mirror, which changes nothing.", "mirror destination"),
    Action("point_mirror", "Alter a mirror's bootstrap.servers.", "mirror destination servers"),
    Action("alter_mirror", "Alter another config of a mirror.", "mirror destination name value"),
    Action("alter_topic", "Alter a config of a topic.", "cluster topic name value", cluster_argument="cluster"),
    Action(
        "reset_topic", "Reset a config of a topic to its default.", "cluster topic name", cluster_argument="cluster"
    ),
    Action(
        "alter_cluster", "Alter a config of all brokers of a cluster.", "cluster name value", cluster_argument="cluster"
    ),
    Action(
        "reset_cluster", "Reset a config of all brokers to its default.", "cluster name", cluster_argument="cluster"
    ),
    Action("create_topic", "Create a topic.", "cluster topic partitions", cluster_argument="cluster"),
    Action("grow_topic", "Add partitions to a topic.", "cluster topic partitions", cluster_argument="cluster"),
    Action("delete_topic", "Delete a topic.", "cluster topic", cluster_argument="cluster"),
    Action(
        "delete_records",
        "Delete the records of a partition below an offset; -1 deletes all committed records.",
        "cluster topic partition offset",
        cluster_argument="cluster",
    ),
    Action("turn", "Move clients to another cluster.", "clients cluster", turn),
    Action("rest", "Pause all clients for a while, but not brokers and mirrors.", "for_ms", _rest),
    Action("kill_broker", "Kill a broker.", "cluster broker", _kill, optional="for_ms"),
    Action(
        "lose_power",
        "Kill a broker, and lose its unflushed data; not while a replica is out of the ISR, unless `short`, and "
        "then not while the broker is the last one in it.",
        "cluster broker",
        _lose_power,
        optional="for_ms short",
    ),
    Action(
        "kill_replica",
        "Kill the leader or a follower of a partition: `victim`.",
        "cluster topic victim",
        _kill_replica,
        optional="partition for_ms",
    ),
    Action("kill_controller", "Kill a controller.", "cluster", _kill_controller, optional="for_ms"),
    Action(
        "kill_cluster",
        "Kill every node of a cluster, as in the loss of a site.",
        "cluster",
        _kill_cluster,
        optional="for_ms",
    ),
    Action(
        "kill_when",
        "Kill `victim` in the event after a partition enters a state, or its log is cut.",
        "cluster source topic on victim",
        _kill_when,
        optional="for_ms",
    ),
    Action(
        "line_down",
        "Take down the line between two sites or nodes, both ways or one way.",
        "one other",
        _line_down,
        optional="one_way for_ms",
    ),
    Action("line_slow", "Add latency between two sites or nodes.", "one other ms", _line_slow, optional="for_ms"),
    Action("line_lossy", "Lose packets between two sites or nodes.", "one other ppm", _line_lossy, optional="for_ms"),
    *fault_actions.ROWS,
)
ACTIONS: dict[str, Action] = {row.name: row for row in ROWS}
INT_MAX = 2**31 - 1
LATEST_MS = 10**12
"""About thirty years."""
NUMBERS: Mapping[str, tuple[int, int]] = {
    "ahead_ms": (-LATEST_MS, LATEST_MS),
    "broker": (0, INT_MAX),
    "delay_ms": (0, LATEST_MS),
    "for_ms": (0, LATEST_MS),
    "ms": (0, LATEST_MS),
    "number": (0, INT_MAX),
    "offset": (-LONG_MAX, LONG_MAX),
    "partition": (0, INT_MAX),
    "partitions": (-INT_MAX, INT_MAX),
    "ppm": (0, 1_000_000),
    "timeout_ms": (0, INT_MAX),
    "within_ms": (0, LATEST_MS),
}
"""Argument to the smallest and largest integer that it accepts."""
LIMITS: Mapping[tuple[str, str], tuple[int, int]] = {("set_clock", "ppm"): (-CLOCK_PPM_MAX, CLOCK_PPM_MAX)}
"""Limits of arguments that differ from NUMBERS in one action."""
assert all((row.carry_out is None) == (row.name in ORDERS) for row in ROWS), "an order has a request, a fault has none"


def problem_with(plan: Plan) -> str | None:
    """Return why a plan, such as one from a file, cannot be carried out; None if it can."""
    clusters = {cluster.name: cluster for cluster in plan.clusters}
    for client in plan.clients:
        if client.kind not in KINDS or client.cluster not in clusters:
            return f"client {client.name}: unknown kind {client.kind!r} or cluster {client.cluster!r}"
    for topic, text in plan.topics.items():
        count, _, name = text.partition("@")
        if not count.isdecimal() or name not in clusters:
            return f"topic {topic}: {text!r} is not a number of partitions and a cluster, such as 2@a"
    for number, step in enumerate(plan.steps):
        problem = _problem_with_step(step, clusters)
        if problem is not None:
            return f"step {number}: {problem}"
    return None


def _problem_with_step(step: Step, clusters: Mapping[str, ClusterPlan]) -> str | None:
    action = ACTIONS.get(step.action)
    if action is None:
        return f"unknown action {step.action!r}"
    missing = [name for name in action.required.split() if name not in step.args]
    if missing:
        return f"{step.action} needs {', '.join(missing)}"
    unknown = [name for name in step.args if name not in (*action.required.split(), *action.optional.split())]
    if unknown:
        return f"{step.action} has no argument {', '.join(unknown)}"
    for name, value in step.args.items():
        limits = LIMITS.get((step.action, name)) or NUMBERS.get(name)
        if limits is not None and (type(value) is not int or not limits[0] <= value <= limits[1]):
            return f"{name} must be an integer from {limits[0]} to {limits[1]}, not {value!r}"
    if step.action == "when" and (problem := fault_actions.problem_with_trap(step.args)):
        return problem
    for name in ("cluster", "source", "destination"):
        if name in step.args and step.args[name] not in clusters:
            return f"unknown cluster {step.args[name]!r}"
    if step.args.get("servers", NOBODY) not in (NOBODY, *clusters):
        return f"servers must be a cluster or {NOBODY}, not {step.args['servers']!r}"
    nodes = [str(step.args[name]) for name in ("one", "other") if name in step.args]
    if "broker" in step.args:
        nodes.append(f"{step.args['cluster']}-{step.args['broker']}")
    for node in nodes:
        cluster, dash, text = node.partition("-")
        ids = (CONTROLLER_ID, *range(1, clusters[cluster].brokers + 1)) if cluster in clusters else ()
        if not ids or (dash and (not text.isdecimal() or int(text) not in ids)):
            return f"unknown node or site {node!r}"
        if dash and nodes.count(node) > 1:
            return f"there is no line between {node!r} and itself"
    return None
