"""Rules of timers and disk jobs: no timer is in the past, and no two snapshots are written at once."""

from __future__ import annotations

from collections.abc import Mapping

from kmirror.cluster.metadata.snapshots import WriteSnapshot
from kmirror.histories.monitors.rules import NO_PARTITION, Rules
from kmirror.histories.scene import Scene
from kmirror.kernel.clock import MILLISECOND, Duration
from kmirror.kernel.events import DiskWork, TimerKey
from kmirror.sim.world import Process


class JobMonitor:
    """Judges the timers and the disk jobs of nodes."""

    def __init__(self, scene: Scene, rules: Rules) -> None:
        self._scene = scene
        self._rules = rules
        self._nodes: Mapping[str, tuple[str, int]] = {}
        self._writing: dict[tuple[str, int], None] = {}
        """Processes, with their incarnations, that write a snapshot."""

    def attach(self, nodes: Mapping[str, tuple[str, int]]) -> None:
        """Begin to check the timers and disk jobs of some processes."""
        self._nodes = nodes
        self._scene.simulation.world.on_disk_work.append(self._on_disk_work)
        self._scene.simulation.world.on_late_timer.append(self._on_late_timer)

    def _on_late_timer(self, process: Process, key: TimerKey, late: Duration) -> None:
        if process.name in self._nodes and process.clock is None:
            text = f"timer {key} is set {late / MILLISECOND:.0f} ms in the past"
            self._rules.report(*self._nodes[process.name], NO_PARTITION, "late-timer", text)

    def _on_disk_work(self, process: Process, work: DiskWork, is_done: bool) -> None:
        if not isinstance(work.job, WriteSnapshot) or process.name not in self._nodes:
            return
        key = process.name, process.incarnation
        if is_done:
            self._writing.pop(key, None)
        elif key in self._writing:
            self._rules.report(
                *self._nodes[process.name], NO_PARTITION, "two-snapshots", "two snapshots are written at once"
            )
        else:
            self._writing[key] = None
