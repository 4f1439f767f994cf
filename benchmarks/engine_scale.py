"""Whole mirrors between two simulated clusters of three brokers, RF 3: cost per partition by number (E5 to E8, E10).

Each size runs once, in a separate process, so that processor time and memory are those of the run alone. One run
measures the creation of the topics on both clusters, mirroring them, an idle virtual minute afterwards, and the growth
of memory; another one measures the bytes that a failback sends between the sites. All topics are requested at once, and
times are measured from the request until all partitions are ready.

`KMIRROR_BENCH_PARTITIONS` is the larger size, and appears in the names of the rows: 300 gives a rough result quickly.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from benchmarks.harness import Case, no_runs
from benchmarks.tools import ROOT
from kmirror.protocol.gen.create_topics_request import CreatableTopic, CreateTopicsRequest
from kmirror.protocol.gen.create_topics_response import CreateTopicsResponse
from kmirror.records import RecordData
from kmirror.sim.cluster import Cluster
from kmirror.sim.mirror import Mirror
from kmirror.sim.producer import Producer
from kmirror.sim.simulation import Simulation

LARGE = int(os.environ.get("KMIRROR_BENCH_PARTITIONS", "10000"))
MEDIUM = min(1_000, LARGE)
SMALL, FEW = 300, 10
FAILBACK_LARGE, FAILBACK_SMALL = LARGE // 2, 50
PARTITIONS_PER_TOPIC = 10
CREATED_PER_REQUEST_MAX = 5_000  # Like Kafka's, a controller refuses a request that takes 10,000 records or more.
TIMEOUT_S = 3600.0
REST_S = 0.1
KB = 1000


@dataclass(frozen=True, slots=True)
class BringUp:
    """Cost of mirroring `partitions` partitions; seconds are processor time."""

    partitions: int
    creating_s: float
    """From the request to create them on both clusters until each has its leader and its full ISR."""
    mirroring_s: float
    """From the request to mirror them until all are MIRRORING and caught up."""
    idle_s: float
    """A virtual minute, the second one after that."""
    grown_kb: float
    """Growth of the process's memory, from two idle clusters until the end of the idle minute."""


@dataclass(frozen=True, slots=True)
class Failback:
    """Bytes that a failback of `partitions` partitions sent between the sites, both directions."""

    partitions: int
    sent: int


class Pair:
    """Clusters a and b, idle and without a topic."""

    def __init__(self, configs: Mapping[str, str] | None = None) -> None:
        self.simulation = Simulation(seed=1)
        self.a = Cluster(self.simulation, "a", brokers=3, configs=configs)
        self.b = Cluster(self.simulation, "b", brokers=3, configs=configs)
        self.a.start()
        self.b.start()

    def create(self, cluster: Cluster, topics: Sequence[str], partitions: int) -> None:
        """Create topics, and wait until each partition has its leader and its full ISR."""
        rows = [CreatableTopic(name=name, num_partitions=partitions, replication_factor=3) for name in topics]
        while rows:
            chunk_size = max(1, CREATED_PER_REQUEST_MAX // partitions)
            order, rows = CreateTopicsRequest(topics=rows[:chunk_size]), rows[chunk_size:]
            answer = cluster.order(order)
            assert isinstance(answer, CreateTopicsResponse)
            assert not any(row.error_code for row in answer.topics), answer.topics[0].error_message
        while not cluster.is_settled():
            self.simulation.run_for(span_s=REST_S)

    def sent(self) -> int:
        """Return the bytes sent between the sites."""
        return sum(self.simulation.world.network.crossed.values())


def names(partitions: int) -> list[str]:
    return [f"topic-{number}" for number in range(max(1, partitions // PARTITIONS_PER_TOPIC))]


def mirror_topics(pair: Pair, topics: Sequence[str]) -> Mirror:
    """Mirror topics of `a` to `b` until all have caught up."""
    mirror = Mirror("dr", source=pair.a, destination=pair.b)
    mirror.create()
    mirror.add_topics(topics)
    mirror.catch_up(within_s=TIMEOUT_S)
    return mirror


def resident_kb() -> float:
    """Return the current resident memory of this process, in kB."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / KB


def bring_up(partitions: int) -> BringUp:
    topics, partitions_per_topic = names(partitions), min(partitions, PARTITIONS_PER_TOPIC)
    pair = Pair()
    start = time.process_time()
    for cluster in (pair.a, pair.b):
        pair.create(cluster, topics, partitions_per_topic)
    creating_s = time.process_time() - start
    del pair
    pair = Pair()
    start_kb = resident_kb()
    pair.create(pair.a, topics, partitions_per_topic)
    start = time.process_time()
    mirror = mirror_topics(pair, topics)
    mirroring_s = time.process_time() - start
    pair.simulation.run_for(span_s=60)  # Work that the mirror has started finishes.
    gc.collect()  # A collection during the minute would take longer than the minute itself.
    start = time.process_time()
    pair.simulation.run_for(span_s=60)
    idle_s = time.process_time() - start
    grown = resident_kb() - start_kb
    assert len(mirror.partitions()) == partitions
    return BringUp(partitions, creating_s, mirroring_s, idle_s, grown)


def failback(partitions: int) -> Failback:
    """Fail over to `b` and write there; then mirror it to `a`, which finds that it need not truncate."""
    topics, partitions_per_topic = names(partitions), min(partitions, PARTITIONS_PER_TOPIC)
    pair = Pair()
    pair.create(pair.a, topics, partitions_per_topic)
    Producer(pair.a).send({tp: [RecordData(value=b"v" * 100)] for tp in pair.a.partitions()})
    mirror_topics(pair, topics).fail_over(within_s=TIMEOUT_S)
    failback_mirror = Mirror("dr", source=pair.b, destination=pair.a)
    sent_before = pair.sent()
    failback_mirror.create()
    failback_mirror.add_topics(topics)
    failback_mirror.catch_up(within_s=TIMEOUT_S)
    return Failback(partitions, pair.sent() - sent_before)


# -- Processes ----------------------------------------------------------------------------------


def _in_process(run_name: str, partitions: int) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.engine_scale", run_name, str(partitions)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    completed = subprocess.run(command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True)
    found: dict[str, float] = json.loads(completed.stdout)
    return found


@cache
def run_bring_up(partitions: int) -> BringUp:
    """Return the result of `bring_up` in a separate process; the rows that need it share one run."""
    found = _in_process("bring-up", partitions)
    return BringUp(partitions, found["creating_s"], found["mirroring_s"], found["idle_s"], found["grown_kb"])


@cache
def run_failback(partitions: int) -> Failback:
    """Return the result of `failback` in a separate process."""
    return Failback(partitions, int(_in_process("failback", partitions)["sent"]))


def measured_once(ratio: Callable[[], float]) -> Callable[[int], list[float]]:
    """Measure a ratio of long runs only once; its quarters are the ratio itself."""
    return lambda _: [ratio()] * 2


# -- Cases --------------------------------------------------------------------------------------


def cases() -> list[Case]:
    small, large = f"{SMALL:,}", f"{LARGE:,}"
    fewer = MEDIUM if LARGE > MEDIUM else SMALL
    bytes_small, bytes_large = f"{FAILBACK_SMALL:,}", f"{FAILBACK_LARGE:,}"

    def case(id_: str, title: str, floor: float, reach: float, ratio: Callable[[], float]) -> Case:
        return Case(id_, title, "kmirror", no_runs, floor, reach, measured_once(ratio))

    def mirroring(partitions: int) -> float:
        return run_bring_up(partitions).mirroring_s / partitions

    def memory(partitions: int) -> float:
        return run_bring_up(partitions).grown_kb / partitions

    def sent(partitions: int) -> float:
        return run_failback(partitions).sent / partitions

    return [
        case("E5", f"create {MEDIUM:,} partitions on both / mirror them", 0.07, 0.2,
             lambda: run_bring_up(MEDIUM).creating_s / run_bring_up(MEDIUM).mirroring_s),
        case("E6", f"bring-up per partition, {small} / {large}", 0.67, 0.9,
             lambda: mirroring(SMALL) / mirroring(LARGE)),
        case("E7", f"an idle virtual minute, {FEW} / {large} mirrored", 0.3, 0.7,
             lambda: run_bring_up(FEW).idle_s / run_bring_up(LARGE).idle_s),
        case("E8", f"failback bytes per partition, {bytes_small} / {bytes_large}", 0.8, 0.95,
             lambda: sent(FAILBACK_SMALL) / sent(FAILBACK_LARGE)),
        case("E8", f"500 B / failback bytes per partition of {bytes_large}", 0.8, 1,
             lambda: 500 / sent(FAILBACK_LARGE)),
        case("E10", f"memory per mirrored partition, {fewer:,} / {large}", 0.8, 0.95,
             lambda: memory(fewer) / memory(LARGE)),
        case("E10", f"50 kB / memory per mirrored partition of {large}", 1, 1.67, lambda: 50 / memory(LARGE)),
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.engine_scale", description="One run; prints JSON.")
    parser.add_argument("run_name", metavar="RUN", choices=["bring-up", "failback"])
    parser.add_argument("partitions", type=int)
    options = parser.parse_args()
    print(json.dumps(asdict((bring_up if options.run_name == "bring-up" else failback)(options.partitions))))


if __name__ == "__main__":
    main()
