"""`Watch`: counts the rows of coverage while a history runs; without it there is no cost.

It only observes: a history has the same digest with and without it.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.cluster.broker.broker import Broker
from kmirror.cluster.controller.controller import Controller
from kmirror.cluster.controller.facts import BrokerUnfenced
from kmirror.cluster.coordinators.groups.classic.group import ClassicGroup
from kmirror.cluster.coordinators.groups.classic.group_states import GroupState
from kmirror.cluster.coordinators.groups.coordinator import GroupCoordinator
from kmirror.cluster.replication.facts import FollowerCut, LogCompacted
from kmirror.histories.coverage import facts, leader_logs, metadata_log, plans, trace_lines, transitions
from kmirror.histories.coverage.frames import Frames
from kmirror.histories.coverage.messages import ROWS as MESSAGES
from kmirror.histories.scene import Scene
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.mirror.facts import LogCut, StateEntered
from kmirror.mirror.naming import MIRROR_NAME, parse
from kmirror.sim.network import Link, Passing
from kmirror.spec.api_keys import API_KEYS
from kmirror.spec.topics import is_internal

_TRACE_PATTERNS = tuple((row.name, re.compile(row.pattern)) for row in trace_lines.ROWS)
_CUT_PATTERNS = tuple((row.name, re.compile(row.pattern)) for row in facts.ROWS if row.pattern)
_IGNORED_PREFIXES = ("request from ", "response from ")
_ISR_CHECK = "timer ('isr',)"
"""When a broker checks its ISRs, its logs are checked for new segments, and for new records of coordinators."""
_GROUP_KEYS = tuple(API_KEYS[name] for name in ("JoinGroup", "SyncGroup", "LeaveGroup", "DeleteGroups"))


@lru_cache(maxsize=1 << 14)
def _matching_rows(line: str) -> tuple[str, ...]:
    return tuple(name for name, pattern in _TRACE_PATTERNS if pattern.search(line))


class Watch:
    """Counts of one history, by row name."""

    def __init__(self, scene: Scene) -> None:
        self.counts: Counter[str] = Counter()
        self._scene = scene
        self._world = scene.simulation.world
        self._frames = Frames(self._world, MESSAGES, self._count)
        self._segments: dict[tuple[str, TopicPartition], int] = {}
        """(process, partition) to the base offset of the newest segment seen."""
        self._tombstones: dict[tuple[str, TopicPartition], dict[int, None]] = {}
        """(process, partition) to the offsets of the tombstones that the cleaner had left."""
        self._opened: dict[str, int] = {}
        """Process to the incarnation whose logs were checked when it was unfenced."""
        self._groups: dict[tuple[str, str], tuple[ClassicGroup, GroupState]] = {}
        """(process, group id) to the group there, and its last seen state."""
        self._coordinators = leader_logs.Coordinators(self._count)

    def attach(self) -> None:
        """Begin to count."""
        world = self._world
        world.trace.listeners.append(self._on_line)
        world.on_fact.append(self._on_fact)
        world.on_frame.append(self._on_frame)
        world.after_event.append(self._after_event)

    def finish(self) -> None:
        """Count the rows of the plan, the story, and the logs at the end."""
        scene = self._scene
        plans.count_rows(scene.plan, scene.story, self._count)
        leader_logs.count_rows(scene, self._coordinators, self._count)
        for cluster in scene.clusters.values():
            node = self._world.processes[cluster.process(CONTROLLER_ID)].inner_node
            if isinstance(node, Controller):
                metadata_log.count_rows(node.context.log, self._count)

    def reached(self) -> dict[str, int]:
        """Return the count of each row that was reached, in the order of their names."""
        return {name: self.counts[name] for name in sorted(self.counts) if self.counts[name]}

    def _count(self, name: str) -> None:
        self.counts[name] += 1

    # -- the trace ----------------------------------------------------------------------------

    def _on_line(self, now: Instant, process_name: str, line: str) -> None:
        if line.startswith(_IGNORED_PREFIXES):
            return
        process = self._world.processes.get(process_name)
        if process is None or not process.is_server:
            role = "client"
        else:
            role = "controller" if process_name.endswith("-controller") else "broker"
        for name in _matching_rows(f"{role}: {line}"):
            self.counts[name] += 1
        if line == _ISR_CHECK:
            self._check_logs(process_name)

    def _check_logs(self, process: str) -> None:
        node = self._world.processes[process].inner_node
        if not isinstance(node, Broker):
            return
        for tp, partition in node.parts.replicas.partitions.items():
            bases = partition.log.segment_base_offsets
            known = self._segments.get((process, tp), bases[-1])
            self.counts["log.rolled"] += sum(base > known for base in bases)
            self._segments[process, tp] = bases[-1]
            if is_internal(tp.topic) and partition.is_leader:
                self._coordinators.read_new_records(process.rpartition("-")[0], partition)

    # -- facts --------------------------------------------------------------------------------

    def _on_fact(self, process: str, fact: object) -> None:
        cluster = process.rpartition("-")[0]
        match fact:
            case LogCut():
                for name, pattern in _CUT_PATTERNS:
                    if pattern.search(fact.why):
                        self._count(name)
                if fact.segments > 1:
                    self._count("cut.many-segments")
            case FollowerCut() if fact.segments > 1:
                self._count("cut.follower-many-segments")
            case LogCompacted():
                if fact.bytes_after < fact.bytes_before:
                    self._count("log.compacted-records")
                self._count_removed_tombstones(process, fact.tp)
            case StateEntered():
                topic = self._scene.image(cluster).configs.topic(fact.tp.topic)
                assignment = parse(topic.get(MIRROR_NAME, ""))
                if assignment is not None and assignment.mirror == fact.mirror:
                    self._count(transitions.wish_row(assignment.wish, fact.state))
            case BrokerUnfenced():
                self._check_load(self._scene.clusters[cluster].process(fact.broker_id))
            case _:
                pass

    def _count_removed_tombstones(self, process: str, tp: TopicPartition) -> None:
        node = self._world.processes[process].inner_node
        assert isinstance(node, Broker), "only brokers report tombstones"
        log = node.parts.replicas.partitions[tp].log
        found = {record.offset: None for batch in log.batches() if not batch.is_control for record in batch.records()
                 if record.key is not None and record.value is None}  # fmt: skip
        before = self._tombstones.get((process, tp), {})
        self.counts["log.compacted-tombstones"] += sum(offset not in found for offset in before)
        self._tombstones[process, tp] = found

    def _check_load(self, name: str) -> None:
        process = self._world.processes[name]
        if not isinstance(process.inner_node, Broker) or self._opened.get(name) == process.incarnation:
            return
        self._opened[name] = process.incarnation
        if process.incarnation > 1:
            self._count("load.clean" if process.inner_node.context.clean_epochs else "load.unclean")
            for partition in process.inner_node.parts.replicas.partitions.values():
                if partition.log.repair is not None:
                    self._count("load.repaired")
                    self.counts["load.repaired-segments"] += bool(partition.log.repair.lost_segments)

    # -- frames and groups --------------------------------------------------------------------

    def _on_frame(self, passing: Passing, link: Link, frame: bytes) -> None:
        self._frames.on_frame(passing, link, frame)
        if passing is Passing.SENT and self._frames.last_key in _GROUP_KEYS:
            self._find_groups()

    def _find_groups(self) -> None:
        known, self._groups = self._groups, {}
        for process in self._world.processes.values():
            if isinstance(process.inner_node, Broker):
                for group in process.inner_node.parts.components.get(GroupCoordinator).live_groups(ClassicGroup):
                    key = process.name, group.group_id
                    before = known.get(key)
                    is_known = before is not None and before[0] is group
                    began = group.state if group.previous_state is GroupState.DEAD else group.previous_state
                    self._groups[key] = before if before and is_known else (group, began)

    def _after_event(self, now: Instant) -> None:
        for key, (group, known) in self._groups.items():
            if group.state is not known:
                if group.previous_state is not known:
                    self._count(transitions.group_row(known, group.previous_state))
                self._count(transitions.group_row(group.previous_state, group.state))
                self._groups[key] = group, group.state
