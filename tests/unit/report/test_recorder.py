"""A recording takes states and cuts from facts, whatever the lines of the trace say."""

from __future__ import annotations

from kmirror.experiments.demo import Demo
from kmirror.kernel.ids import TopicPartition
from kmirror.logdir.load import read_sample
from kmirror.mirror.partition import LogCut, StateEntered
from kmirror.mirror.states import MirrorState
from kmirror.report.recorder import RecordedCut, Recorder, StateChange

TP = TopicPartition("a-topic", 3)


def test_facts_are_recorded_with_cluster_and_time() -> None:
    demo = Demo(read_sample())
    recording = Recorder(demo).recording
    world = demo.simulation.world
    world.run_for(span_us=7_000)
    cut = LogCut(TP, 5, 9, "a divergence")
    for fact in (StateEntered(TP, "m", MirrorState.STOPPING, 4), cut, "a fact of another kind"):
        for watcher in world.on_fact:
            watcher("b-2", fact)
    world.trace.add(world.now, "b-2", "a-topic-3 state STOPPED")
    assert recording.states == [StateChange("b", TP, 7, "STOPPING")]
    assert recording.cuts == [RecordedCut("b", 7, cut)]
    assert recording.trace == ["       7 ms  b-2            a-topic-3 state STOPPED"]
