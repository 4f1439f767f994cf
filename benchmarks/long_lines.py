"""Share of a long line that a mirror uses, with one partition and with four, compared with a consumer (L1 to L3).

In the simulator, by virtual time: the numbers are the same on every machine. The source has 256 MiB in batches of 128
KiB before the mirror starts, and the last three quarters of that are measured. The line between the clusters carries 50
MB/s in each direction. The simulator's links have no TCP window: a frame is sent at the line's rate immediately. The
consumer is `kmirror.Consumer` at the other end of such a line, with the defaults of Kafka's consumer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

from benchmarks.harness import Case, no_runs
from kmirror.kernel.ids import TopicPartition
from kmirror.records import RecordData
from kmirror.sim.cluster import Cluster
from kmirror.sim.consumer import Consumer
from kmirror.sim.mirror import Mirror
from kmirror.sim.producer import Producer
from kmirror.sim.simulation import Simulation

TOPIC = "orders"
MB = 1_000_000
LINE_MB = 50
KBPS = LINE_MB * 8_000
BATCHES, RECORDS, RECORD_BYTES = 2_048, 128, 1_000
FIXED_FETCH_SIZE = (("mirror.replica.fetch.max.bytes", "0"),)
FOUR_FETCHERS = (("mirror.num.replica.fetchers", "4"),)
FLOORS = {1: 0.95, 20: 0.9, 100: 0.8, 200: 0.7}
"""Round trip in ms to the minimum share of the line that one partition must use."""
TIMEOUT_S = 3_600.0


def filled_source(simulation: Simulation, partitions: int = 1) -> Cluster:
    """Return a source of one broker, with the same bytes in total for any number of partitions."""
    cluster = Cluster(simulation, "a", brokers=1)
    cluster.start()
    cluster.create_topic(TOPIC, partitions)
    producer = Producer(cluster)
    rows = [RecordData(None, bytes(RECORD_BYTES))] * RECORDS
    batches = dict.fromkeys(cluster.partitions(), rows)
    for _ in range(BATCHES // partitions):
        producer.send(batches)
    return cluster


def end_offsets_sum(cluster: Cluster) -> int:
    """Return the sum of the log end offsets at the leaders."""
    leaders = [cluster.leader(tp) for tp in cluster.partitions() if tp.topic == TOPIC]
    return sum(leader.log.log_end_offset for leader in leaders if leader is not None)


@cache
def mirror_rate(round_trip_ms: float, partitions: int = 1, configs: tuple[tuple[str, str], ...] = ()) -> float:
    """Return the MB of records that a mirror copies in a second of virtual time."""
    simulation = Simulation(seed=1)
    source = filled_source(simulation, partitions)
    destination = Cluster(simulation, "b", brokers=1, configs=dict(configs))
    destination.start()
    simulation.line(source, destination).set(latency_ms=round_trip_ms / 2, jitter_ms=0, bandwidth_kbps=KBPS)
    mirror = Mirror("dr", source=source, destination=destination)
    mirror.create()
    mirror.add_topics([TOPIC])
    total = BATCHES * RECORDS
    simulation.run_until(lambda: end_offsets_sum(destination) >= total // 4, within_s=TIMEOUT_S)
    started_at, before = simulation.elapsed_s, end_offsets_sum(destination)
    simulation.run_until(lambda: end_offsets_sum(destination) == total, within_s=TIMEOUT_S)
    return (total - before) * RECORD_BYTES / MB / (simulation.elapsed_s - started_at)


@cache
def consumer_rate(round_trip_ms: float) -> float:
    """Return the MB of records that a consumer at the other end of the line gets in a second of virtual time."""
    simulation = Simulation(seed=1)
    source = filled_source(simulation)
    simulation.line("a-client", "a-1").set(latency_ms=round_trip_ms / 2, jitter_ms=0, bandwidth_kbps=KBPS)
    consumer = Consumer(source)
    consumer.assign([TopicPartition(TOPIC, 0)])
    total, received, before, started_at = BATCHES * RECORDS, 0, 0, 0.0
    while received < total:
        received += sum(map(len, consumer.poll(timeout_ms=1_000).values()))
        if received < total // 4:
            started_at, before = simulation.elapsed_s, received
    return (total - before) * RECORD_BYTES / MB / (simulation.elapsed_s - started_at)


def cases() -> list[Case]:
    """Return L1 to L3 for each round trip."""
    return [case for ms, floor in FLOORS.items() for case in _cases(ms, floor)]


def _cases(ms: int, floor: float) -> Iterator[Case]:
    line = f"{LINE_MB} MB/s, {ms} ms round trip"
    yield _case("L1", f"share of a line that a mirror fills, {line}", lambda: mirror_rate(ms) / LINE_MB, floor)
    yield _case("L1", f"the same, fetches do not grow, {line}", lambda: mirror_rate(ms, 1, FIXED_FETCH_SIZE) / LINE_MB)
    yield _case("L2", f"mirror / consumer, {line}", lambda: mirror_rate(ms) / consumer_rate(ms))
    yield _case(
        "L3", f"share that four fetchers fill, {line}", lambda: mirror_rate(ms, 4, FOUR_FETCHERS) / LINE_MB, floor
    )


def _case(id_: str, text: str, measure: Callable[[], float], floor: float | None = None) -> Case:
    """Return a case without noise: all pairs would be equal."""
    return Case(id_, text, "kmirror", no_runs, floor, measure=lambda pairs: [measure()] * 2)
