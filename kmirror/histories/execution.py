"""Execution of a plan's steps, and operations that the actions share: killing nodes, cutting lines.

Each action is a row of actions.ACTIONS; this module knows none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.histories.observer import Observer
from kmirror.histories.orders import Operator
from kmirror.histories.plan import Step, Value
from kmirror.histories.producing import Application
from kmirror.histories.scene import Scene
from kmirror.kernel.clock import MILLISECOND
from kmirror.sim.lines import Line

Args = Mapping[str, Value]
DISK = "disk"
"""Kind of span in which a broker lacks a log directory."""
SLOW_DISK = "slow disk"
"""Kind of span in which the disks of a broker are slow."""


class StepSkipped(Exception):
    """The step makes no sense in the current state."""


@dataclass(slots=True)
class ActionExecutor:
    """Carries out steps: orders of operators, faults, and their end."""

    scene: Scene
    observer: Observer
    actions: Mapping[str, Action] = field(default_factory=dict)
    """Actions by name; see actions.ACTIONS."""
    pending_steps: dict[int, Step] = field(default_factory=dict)
    """Steps of the plan that have not begun, by number."""
    applications: dict[str, Application] = field(default_factory=dict)
    operators: dict[str, Operator] = field(default_factory=dict)
    sprung: dict[str, None] = field(default_factory=dict)
    """Names of traps that have sprung."""
    next_traps: dict[str, list[Callable[[], None]]] = field(default_factory=dict)
    """Name of a trap to functions that set the traps after it."""
    stopping: dict[tuple[str, int], None] = field(default_factory=dict)
    """(cluster, id) of brokers that were asked to stop, and have not started since."""
    wrong_clocks: dict[tuple[str, int], None] = field(default_factory=dict)
    """(cluster, node) of clocks that were set."""
    over: bool = False
    """Faults have ended."""

    def run_step(self, number: int) -> None:
        """Carry out a step of the plan now, unless a trap has already done so."""
        step = self.pending_steps.pop(number, None)
        if step is None:
            return
        action = self.actions[step.action]
        arguments = " ".join(f"{name}={value}" for name, value in step.args.items())
        self.scene.note(f"step {number}: {step.action} {arguments}")
        if action.carry_out is None:
            self.operators[str(step.args[action.cluster_argument])].order(number, step)
            return
        try:
            action.carry_out(self, step.args)
        except StepSkipped as skipped:
            self.scene.note(f"step {number} skipped: {skipped}")

    def next_order(self) -> int | None:
        """Return the number of the next order of the plan that was not given yet, or None."""
        orders = (number for number, step in self.pending_steps.items() if self.actions[step.action].carry_out is None)
        return next(orders, None)

    def end_faults(self) -> None:
        """Start all nodes that are down, bring up all lines, and undo all other faults."""
        self.over = True
        scene = self.scene
        scene.traps.clear()
        for kind, subject in list(scene.open_spans):
            if kind == "line":
                _line(scene, subject).bring_up()
            elif kind in ("slow", "lossy"):
                self._end_disturbance(kind, subject)
            elif kind == DISK:
                self.repair_log_dirs(subject)
            elif kind == SLOW_DISK:
                self._end_slow_disk(subject)
            scene.end_span(kind, subject)
        for place in list(self.stopping):
            self._end_stop(*place)
        for cluster in scene.clusters.values():
            for node_id in (CONTROLLER_ID, *cluster.broker_ids):
                if not cluster.runs(node_id):
                    cluster.restart(node_id)
        for name, node_id in self.wrong_clocks:
            scene.clusters[name].set_clock(node_id)
        scene.simulation.world.trace.add(scene.simulation.world.now, "history", "faults end")
        scene.note("faults end: every node is started, every line is up")

    # -- nodes --------------------------------------------------------------------------------

    def kill(self, cluster: str, node_id: int, for_ms: int, *, power_cut: bool = False) -> None:
        """Kill a node, and start it after a while.

        With `power_cut` its disk also loses unflushed data. Raise StepSkipped if the node is down or faults have ended.
        """
        scene = self.scene
        found = scene.clusters[cluster]
        if self.over:
            raise StepSkipped("faults have ended")
        if not found.runs(node_id):
            raise StepSkipped(f"{cluster}-{node_id} is down")
        kind = "controller" if node_id == CONTROLLER_ID else "broker"
        self.stopping.pop((cluster, node_id), None)
        found.kill(node_id, power_cut=power_cut)
        scene.begin_span(kind, f"{cluster}-{node_id}")
        scene.note(f"{kind} {cluster}-{node_id} {'loses power' if power_cut else 'dies'}")
        self.end_later(for_ms, lambda: self.start(cluster, node_id))

    def stop(self, cluster: str, broker_id: int, for_ms: int) -> None:
        """Stop a broker cleanly, and start it after a while; kill it if it has not ended by then.

        Raise StepSkipped if it is down, or stopping.
        """
        scene, place = self.scene, (cluster, broker_id)
        found = scene.clusters[cluster]
        if self.over or not found.runs(broker_id) or place in self.stopping:
            raise StepSkipped(f"{cluster}-{broker_id} is down, or stopping")
        self.stopping[place] = None
        scene.begin_span("broker", f"{cluster}-{broker_id}")
        scene.note(f"broker {cluster}-{broker_id} is asked to stop")
        scene.simulation.world.stop(found.process(broker_id))
        self.end_later(for_ms, lambda: self._end_stop(cluster, broker_id))

    def _end_stop(self, cluster: str, broker_id: int) -> None:
        found = self.scene.clusters[cluster]
        if (cluster, broker_id) not in self.stopping:
            return
        del self.stopping[cluster, broker_id]
        if found.runs(broker_id):
            found.kill(broker_id)
            self.scene.note(f"broker {cluster}-{broker_id} did not stop in time and is killed")
        self.start(cluster, broker_id)

    def start(self, cluster: str, node_id: int) -> None:
        """Start a node if it is down."""
        found = self.scene.clusters[cluster]
        if not found.runs(node_id):
            found.restart(node_id)
            kind = "controller" if node_id == CONTROLLER_ID else "broker"
            self.scene.end_span(kind, f"{cluster}-{node_id}")
            self.scene.note(f"{kind} {cluster}-{node_id} is started")

    # -- disks --------------------------------------------------------------------------------

    def fail_log_dir(self, cluster: str, broker_id: int, number: int, for_ms: int) -> None:
        """Fail a log directory of a broker; raise StepSkipped if the broker is down or has a failed one."""
        subject = f"{cluster}-{broker_id}"
        found = self.scene.clusters[cluster]
        if not found.runs(broker_id) or (DISK, subject) in self.scene.open_spans:
            raise StepSkipped(f"{subject} is down, or has a failed log directory")
        found.fail_log_dir(broker_id, number)
        self.scene.begin_span(DISK, subject)
        self.scene.note(f"{found.log_dirs[broker_id][number].log_dir} of broker {subject} fails")
        self.end_later(for_ms, lambda: self.repair_log_dirs(subject))

    def slow_disk(self, subject: str, ms: int, for_ms: int) -> None:
        """Make each job of a broker's disks take `ms` longer; raise StepSkipped if they are slow."""
        scene = self.scene
        if (SLOW_DISK, subject) in scene.open_spans:
            raise StepSkipped(f"the disks of {subject} are slow")
        scene.simulation.world.disk_workers.slow[_place(scene, subject)] = ms * MILLISECOND
        scene.begin_span(SLOW_DISK, subject)
        self.end_later(for_ms, lambda: self._end_slow_disk(subject))

    def _end_slow_disk(self, subject: str) -> None:
        self.scene.simulation.world.disk_workers.slow.pop(_place(self.scene, subject), None)
        self.scene.end_span(SLOW_DISK, subject)

    def repair_log_dirs(self, subject: str) -> None:
        """Repair the log directories of a broker, and restart it: it takes them back only at a start."""
        if (DISK, subject) not in self.scene.open_spans:
            return
        cluster, _, node = subject.rpartition("-")
        found, broker_id = self.scene.clusters[cluster], int(node)
        for number in range(len(found.log_dirs[broker_id])):
            found.mend_log_dir(broker_id, number)
        self.scene.end_span(DISK, subject)
        self.scene.note(f"the log directories of broker {subject} are repaired")
        if found.runs(broker_id):
            self.scene.begin_span("broker", subject)
            found.kill(broker_id)
            found.restart(broker_id)
            self.scene.end_span("broker", subject)
            self.scene.note(f"broker {subject} is restarted")

    def end_later(self, for_ms: int, undo: Callable[[], None]) -> None:
        """End a fault after `for_ms`, unless all faults have ended by then; if it is 0, only `end_faults` ends it."""
        if for_ms > 0:
            self.scene.after_ms(for_ms, lambda: None if self.over else undo())

    # -- lines --------------------------------------------------------------------------------

    def take_down(self, subject: str, for_ms: int) -> None:
        """Take down the line `a|b` both ways, or `a>b` one way; raise StepSkipped if it is down."""
        scene = self.scene
        if ("line", subject) in scene.open_spans:
            raise StepSkipped(f"the line {subject} is down")
        _line(scene, subject).take_down()
        scene.note(f"network: line {subject} down")
        scene.begin_span("line", subject)
        self.end_later(for_ms, lambda: self._bring_up(subject))

    def _bring_up(self, subject: str) -> None:
        scene = self.scene
        if ("line", subject) not in scene.open_spans:
            return
        line = _line(scene, subject)
        line.bring_up()
        scene.end_span("line", subject)
        scene.note(f"network: line {subject} up")
        # Directions that another step took down between the same ends stay down.
        for kind, other in scene.open_spans:
            if kind == "line" and set(_line(scene, other).directions) & set(line.directions):
                _line(scene, other).take_down()

    def disturb(self, kind: str, subject: str, amount: int, for_ms: int) -> None:
        """Make a line slow (milliseconds added) or lossy (packets per million); raise StepSkipped if it already is."""
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
        self.end_later(for_ms, lambda: self._end_disturbance(kind, subject))

    def _end_disturbance(self, kind: str, subject: str) -> None:
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
    """Return the line for `a|b`, `a>b` or `a-1|a-100`."""
    one, other = subject.replace(">", "|").split("|")
    return scene.simulation.line(_place(scene, one), _place(scene, other), one_way=">" in subject)


def _place(scene: Scene, name: str) -> str:
    cluster, _, node = name.partition("-")
    return scene.clusters[cluster].process(int(node)) if node else cluster


@dataclass(frozen=True, slots=True)
class Action:
    """Action of the steps of one name."""

    name: str
    doc: str
    required: str
    """Names of the required arguments."""
    carry_out: Callable[[ActionExecutor, Args], None] | None = None
    """None for an order of an operator."""
    cluster_argument: str = "destination"
    """For an order: the argument with the cluster that receives it."""
    optional: str = ""
    """Names of the optional arguments."""
