"""Memory of a mirrored partition: six replicas on two clusters, and the state of brokers and controllers."""

from __future__ import annotations

import gc
import tracemalloc

import kmirror

FEW, MORE = 40, 120
REST_S = 40
"""Longer than every request timeout: the timers of sent requests are over."""


def test_a_mirrored_partition_needs_some_kilobytes() -> None:
    simulation = kmirror.Simulation(seed=1)
    a, b = (kmirror.Cluster(simulation, name, brokers=3) for name in ("a", "b"))
    a.start()
    b.start()
    mirror = kmirror.Mirror("dr", source=a, destination=b)
    mirror.create()

    def bring_up(topic: str, partitions: int) -> int:
        a.create_topic(topic, partitions)
        mirror.add_topics([topic])
        mirror.catch_up()
        simulation.run_for(span_s=REST_S)
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        before = bring_up("few", FEW)
        after = bring_up("more", MORE)
    finally:
        tracemalloc.stop()
    assert (after - before) / MORE < 32_000
