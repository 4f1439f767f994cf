"""Which steps can a plan have? One row of ACTIONS each: orders of an operator, and faults.

A fault with `for_ms` ends by itself after that time, and every fault ends when the plan says that faults end. A
step that makes no sense any more, such as killing a broker that is down, is skipped, and the story says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from kmirror.assembly.inside import CONTROLLER_ID
from kmirror.kernel.clock import MILLISECOND
from kmirror.kernel.ids import TopicPartition
from kmirror.sim.history.observe import Observer
from kmirror.sim.history.orders import NOBODY, ORDERS, Operator
from kmirror.sim.history.plan import ClusterPlan, Plan, Step, Value
from kmirror.sim.history.producing import Desk
from kmirror.sim.history.scene import Scene, Trap
from kmirror.sim.history.workloads import KINDS
from kmirror.sim.lines import Line

Args = Mapping[str, Value]


class StepSkipped(Exception):
    """The step makes no sense as things are."""


@dataclass(slots=True)
class Hands:
    """Carries steps out: orders of operators, faults, and their end."""

    scene: Scene
    observer: Observer
    desks: dict[str, Desk] = field(default_factory=dict)
    operators: dict[str, Operator] = field(default_factory=dict)
    over: bool = False
    """Faults have ended."""

    def do(self, number: int, step: Step) -> None:
        """Carry out a step of the plan, now."""
        action = ACTIONS[step.action]
        words = " ".join(f"{name}={value}" for name, value in step.args.items())
        self.scene.note(f"step {number}: {step.action} {words}")
        if action.carry_out is None:
            self.operators[str(step.args[action.where])].order(number, step)
            return
        try:
            action.carry_out(self, step.args)
        except StepSkipped as skipped:
            self.scene.note(f"step {number} skipped: {skipped}")

    def end_faults(self) -> None:
        """Start the nodes that are down, bring up the lines that are."""
        self.over = True
        scene = self.scene
        scene.traps.clear()
        for kind, subject in list(scene.open_spans):
            if kind == "line":
                _line(scene, subject).bring_up()
            elif kind in ("slow", "lossy"):
                self._calm(kind, subject)
            scene.end_span(kind, subject)
        for cluster in scene.clusters.values():
            for node_id in (CONTROLLER_ID, *cluster.broker_ids):
                if not cluster.runs(node_id):
                    cluster.restart(node_id)
        scene.simulation.world.trace.add(scene.simulation.world.now, "history", "faults end")
        scene.note("faults end: every node runs, every line is up")

    # -- nodes --------------------------------------------------------------------------------

    def kill(self, cluster: str, node_id: int, for_ms: int, *, power_cut: bool = False) -> None:
        """Kill a node, and start it after a while; Skipped if it is down.

        At a `power_cut` its disk also loses what was not flushed.
        """
        scene = self.scene
        found = scene.clusters[cluster]
        if self.over:
            raise StepSkipped("faults have ended")
        if not found.runs(node_id):
            raise StepSkipped(f"{cluster}-{node_id} is down")
        kind = "controller" if node_id == CONTROLLER_ID else "broker"
        found.kill(node_id, power_cut=power_cut)
        scene.begin_span(kind, f"{cluster}-{node_id}")
        scene.note(f"{kind} {cluster}-{node_id} {'loses power' if power_cut else 'dies'}")
        self._later(for_ms, lambda: self.start(cluster, node_id))

    def start(self, cluster: str, node_id: int) -> None:
        """Start a node if it is down."""
        found = self.scene.clusters[cluster]
        if not found.runs(node_id):
            found.restart(node_id)
            kind = "controller" if node_id == CONTROLLER_ID else "broker"
            self.scene.end_span(kind, f"{cluster}-{node_id}")
            self.scene.note(f"{kind} {cluster}-{node_id} is started")

    def _later(self, for_ms: int, undo: Callable[[], None]) -> None:
        if for_ms > 0:
            self.scene.after_ms(for_ms, lambda: None if self.over else undo())

    # -- lines --------------------------------------------------------------------------------

    def take_down(self, subject: str, for_ms: int) -> None:
        """Take down the line `a|b` both ways, or `a>b` one way; Skipped if it is down already."""
        scene = self.scene
        if ("line", subject) in scene.open_spans:
            raise StepSkipped(f"the line {subject} is down")
        _line(scene, subject).take_down()
        scene.note(f"network: line {subject} down")
        scene.begin_span("line", subject)
        self._later(for_ms, lambda: self._bring_up(subject))

    def _bring_up(self, subject: str) -> None:
        scene = self.scene
        if ("line", subject) not in scene.open_spans:
            return
        line = _line(scene, subject)
        line.bring_up()
        scene.end_span("line", subject)
        scene.note(f"network: line {subject} up")
        # What another step took down between the same ends, one way or both, stays down.
        for kind, other in scene.open_spans:
            if kind == "line" and set(_line(scene, other).directions) & set(line.directions):
                _line(scene, other).take_down()

    def disturb(self, kind: str, subject: str, amount: int, for_ms: int) -> None:
        """Make a line slow (milliseconds more) or lossy (packets per million); Skipped if it is so already."""
        scene = self.scene
        if (kind, subject) in scene.open_spans:
            raise StepSkipped(f"{subject} is {kind}")
        line, network = _line(scene, subject), scene.simulation.world.network
        if kind == "slow":
            network.slow_down(line.one, line.other, amount * MILLISECOND)
        else:
            network.lose(line.one, line.other, amount)
        self._note(f"{kind} {subject} {amount}")
        scene.begin_span(kind, subject)
        self._later(for_ms, lambda: self._calm(kind, subject))

    def _calm(self, kind: str, subject: str) -> None:
        scene = self.scene
        if (kind, subject) in scene.open_spans:
            line, network = _line(scene, subject), scene.simulation.world.network
            (network.slow_down if kind == "slow" else network.lose)(line.one, line.other, 0)
            scene.end_span(kind, subject)
            self._note(f"{kind} {subject} no more")

    def _note(self, text: str) -> None:
        world = self.scene.simulation.world
        world.trace.add(world.now, "network", text)
        self.scene.note(f"network: {text}")


def _line(scene: Scene, subject: str) -> Line:
    """Return the line that `a|b`, `a>b` or `a-1|a-100` names."""
    one, other = subject.replace(">", "|").split("|")
    return scene.simulation.line(_place(scene, one), _place(scene, other), one_way=">" in subject)


def _place(scene: Scene, name: str) -> str:
    cluster, _, node = name.partition("-")
    return scene.clusters[cluster].process(int(node)) if node else cluster


# -- carrying out -----------------------------------------------------------------------------


def _for_ms(args: Args) -> int:
    return int(args.get("for_ms", 0))


def _kill(hands: Hands, args: Args) -> None:
    hands.kill(str(args["cluster"]), int(args["broker"]), _for_ms(args))


def _lose_power(hands: Hands, args: Args) -> None:
    """A broker loses power while others have all that it has: acks=all promises that much, and no more."""
    cluster, broker_id = str(args["cluster"]), int(args["broker"])
    found = hands.scene.clusters[cluster]
    # A broker that was killed stands in the ISR until its old session ends, whatever it lost.
    away = [b for b in found.broker_ids if not found.runs(b) or found.broker(b).parts.lifecycle.fenced]
    if away:
        raise StepSkipped(f"brokers {away} of {cluster} are away")
    for topic in hands.scene.image(cluster).topics.values():
        for number, image in topic.partitions.items():
            if broker_id in image.replicas and (len(image.replicas) < 2 or len(image.isr) < len(image.replicas)):
                raise StepSkipped(
                    f"{topic.name}-{number} in {cluster} has ISR {list(image.isr)} of {list(image.replicas)}"
                )
    hands.kill(cluster, broker_id, _for_ms(args), power_cut=True)


def _kill_controller(hands: Hands, args: Args) -> None:
    hands.kill(str(args["cluster"]), CONTROLLER_ID, _for_ms(args))


def _kill_cluster(hands: Hands, args: Args) -> None:
    cluster = str(args["cluster"])
    nodes = [
        n for n in (CONTROLLER_ID, *hands.scene.clusters[cluster].broker_ids) if hands.scene.clusters[cluster].runs(n)
    ]
    if not nodes:
        raise StepSkipped(f"all of {cluster} is down")
    for node_id in nodes:
        hands.kill(cluster, node_id, _for_ms(args))


def _kill_replica(hands: Hands, args: Args) -> None:
    tp = TopicPartition(str(args["topic"]), int(args.get("partition", 0)))
    _kill_role(hands, str(args["cluster"]), tp, str(args["victim"]), _for_ms(args))


def _kill_role(hands: Hands, cluster: str, tp: TopicPartition, role: str, for_ms: int) -> None:
    """Kill the partition's leader, a follower of it, or the cluster's controller."""
    if role == "controller":
        hands.kill(cluster, CONTROLLER_ID, for_ms)
        return
    leader = hands.scene.leader(cluster, tp)
    if leader is None:
        raise StepSkipped(f"nobody leads {tp} in {cluster}")
    victims = [leader.broker_id]
    if role == "follower":
        found = hands.scene.clusters[cluster]
        victims = [b for b in leader.image.replicas if b != leader.broker_id and found.runs(b)]
        if not victims:
            raise StepSkipped(f"{tp} in {cluster} has no follower that runs")
    hands.kill(cluster, victims[0], for_ms)


def _kill_when(hands: Hands, args: Args) -> None:
    scene = hands.scene
    victim = str(args["victim"])
    cluster = str(args["source"] if victim.startswith("source") else args["cluster"])
    role = victim.removeprefix("source_")
    on = str(args["on"])

    def spring(tp: TopicPartition) -> None:
        try:
            scene.note(f"{tp} came to {on}: now the {role} in {cluster}")
            _kill_role(hands, cluster, tp, role, _for_ms(args))
        except StepSkipped as skipped:
            scene.note(f"nobody dies: {skipped}")

    scene.traps.append(Trap(str(args["cluster"]), str(args["topic"]), on, spring))


def _line_down(hands: Hands, args: Args) -> None:
    way = ">" if args.get("one_way", False) else "|"
    hands.take_down(f"{args['one']}{way}{args['other']}", _for_ms(args))


def _line_slow(hands: Hands, args: Args) -> None:
    hands.disturb("slow", f"{args['one']}|{args['other']}", int(args["ms"]), _for_ms(args))


def _line_lossy(hands: Hands, args: Args) -> None:
    hands.disturb("lossy", f"{args['one']}|{args['other']}", int(args["ppm"]), _for_ms(args))


def _turn(hands: Hands, args: Args) -> None:
    cluster = str(args["cluster"])
    names = [name for name in str(args["clients"]).split(",") if name in hands.desks]
    if not names:
        raise StepSkipped("no such client")
    for name in names:
        hands.desks[name].turn(cluster)


@dataclass(frozen=True, slots=True)
class Action:
    """One row: what a step of this name does."""

    name: str
    doc: str
    needs: str
    """Names of the arguments that a step must have."""
    carry_out: Callable[[Hands, Args], None] | None = None
    """None for an order of an operator."""
    where: str = "destination"
    """Of an order: the argument that names the cluster that it goes to."""


ROWS: tuple[Action, ...] = (
    Action(
        "create_mirror",
        "Create a mirror; `servers` names the cluster that it points to, or nobody.",
        "mirror source destination",
    ),
    Action(
        "add",
        "Add topics to a mirror, with their ids at the source unless `named` is false.",
        "mirror source destination topics",
    ),
    Action("remove", "Remove topics from a mirror: failover.", "mirror source destination topics"),
    Action("pause", "Pause topics of a mirror.", "mirror source destination topics"),
    Action("resume", "Resume paused topics of a mirror.", "mirror source destination topics"),
    Action("delete_mirror", "Delete a mirror; refused unless all its topics are STOPPED.", "mirror destination"),
    Action("point_mirror", "Alter a mirror's bootstrap.servers.", "mirror destination servers"),
    Action("alter_mirror", "Alter another config of a mirror.", "mirror destination name value"),
    Action("alter_topic", "Alter a config of a topic.", "cluster topic name value", where="cluster"),
    Action("reset_topic", "Take back what is set for a config of a topic.", "cluster topic name", where="cluster"),
    Action("alter_cluster", "Alter a config of all brokers of a cluster.", "cluster name value", where="cluster"),
    Action("create_topic", "Create a topic.", "cluster topic partitions", where="cluster"),
    Action("grow_topic", "Give a topic more partitions.", "cluster topic partitions", where="cluster"),
    Action("delete_topic", "Delete a topic.", "cluster topic", where="cluster"),
    Action("turn", "Turn clients to another cluster.", "clients cluster", _turn),
    Action("kill_broker", "Kill a broker.", "cluster broker", _kill),
    Action(
        "lose_power",
        "Kill a broker, and lose what it has not flushed; not while a replica is out of the ISR.",
        "cluster broker",
        _lose_power,
    ),
    Action(
        "kill_replica", "Kill whoever leads a partition, or follows: `victim`.", "cluster topic victim", _kill_replica
    ),
    Action("kill_controller", "Kill a controller.", "cluster", _kill_controller),
    Action("kill_cluster", "Kill every node of a cluster: a site is lost.", "cluster", _kill_cluster),
    Action(
        "kill_when",
        "Kill `victim` in the event after a partition comes to a state, or its log is cut.",
        "cluster source topic on victim",
        _kill_when,
    ),
    Action(
        "line_down", "Take down the line between two sites or nodes, both ways or one way.", "one other", _line_down
    ),
    Action("line_slow", "Make everything between two sites or nodes slower.", "one other ms", _line_slow),
    Action("line_lossy", "Lose packets between two sites or nodes.", "one other ppm", _line_lossy),
)
ACTIONS: dict[str, Action] = {row.name: row for row in ROWS}
assert all((row.carry_out is None) == (row.name in ORDERS) for row in ROWS), "an order has a request, a fault has none"


def problem_with(plan: Plan) -> str | None:
    """Say why a plan, such as one from a file, cannot be carried out; None if it can."""
    clusters = {cluster.name: cluster for cluster in plan.clusters}
    for client in plan.clients:
        if client.kind not in KINDS or client.cluster not in clusters:
            return f"client {client.name}: kind {client.kind!r} in cluster {client.cluster!r} is not known"
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
        return f"there is no action {step.action!r}"
    missing = [name for name in action.needs.split() if name not in step.args]
    if missing:
        return f"{step.action} needs {', '.join(missing)}"
    for name in ("cluster", "source", "destination"):
        if name in step.args and step.args[name] not in clusters:
            return f"there is no cluster {step.args[name]!r}"
    if step.args.get("servers", NOBODY) not in (NOBODY, *clusters):
        return f"servers is a cluster or {NOBODY}, not {step.args['servers']!r}"
    nodes = [str(step.args[name]) for name in ("one", "other") if name in step.args]
    if "broker" in step.args:
        nodes.append(f"{step.args['cluster']}-{step.args['broker']}")
    for node in nodes:
        cluster, dash, text = node.partition("-")
        ids = (CONTROLLER_ID, *range(1, clusters[cluster].brokers + 1)) if cluster in clusters else ()
        if not ids or (dash and (not text.isdecimal() or int(text) not in ids)):
            return f"there is no node or site {node!r}"
        if dash and nodes.count(node) > 1:
            return f"no line lies between {node!r} and itself"
    return None
