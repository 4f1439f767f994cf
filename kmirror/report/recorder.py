"""What is worth drawing of a demo, noted while it runs: states and cuts, as facts, and the trace of mirroring."""

from __future__ import annotations

from dataclasses import dataclass, field

from kmirror.experiments.demo import Demo
from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.mirror.partition import LogCut, StateEntered
from kmirror.sim.world import START

TRACE_MAX = 4000
# Lines of the trace that are no mirroring: every request, every timer.
_DULL = ("request from", "response from", "timer ", "follower ", "link to", "ClientGone", "Started")


@dataclass(frozen=True, slots=True)
class StateChange:
    cluster: str
    tp: TopicPartition
    at_ms: int
    state: str


@dataclass(frozen=True, slots=True)
class RecordedCut:
    cluster: str
    at_ms: int
    cut: LogCut


@dataclass(slots=True)
class Recording:
    states: list[StateChange] = field(default_factory=list)
    cuts: list[RecordedCut] = field(default_factory=list)
    trace: list[str] = field(default_factory=list)
    left_out: int = 0
    """Lines beyond the first TRACE_MAX."""
    end_ms: int = 0


class Recorder:
    """Listens to a demo; attach it before the demo runs."""

    def __init__(self, demo: Demo) -> None:
        self.recording = Recording()
        self._world = demo.simulation.world
        self._world.trace.listeners.append(self._on_line)
        self._world.on_fact.append(self._on_fact)

    @staticmethod
    def _ms(now: Instant) -> int:
        return (now - START) // MILLISECOND

    def _on_line(self, now: Instant, process: str, text: str) -> None:
        self.recording.end_ms = self._ms(now)
        if text.startswith(_DULL):
            return
        if len(self.recording.trace) < TRACE_MAX:
            self.recording.trace.append(f"{self._ms(now):>8} ms  {process:<14} {text}")
        else:
            self.recording.left_out += 1

    def _on_fact(self, process: str, fact: object) -> None:
        cluster, at_ms = process.partition("-")[0], self._ms(self._world.now)
        if isinstance(fact, LogCut):
            self.recording.cuts.append(RecordedCut(cluster, at_ms, fact))
        elif isinstance(fact, StateEntered):
            self.recording.states.append(StateChange(cluster, fact.tp, at_ms, fact.state.name))
