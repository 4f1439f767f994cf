"""Mirroring an Apache Kafka: `kmirror serve`, MirrorMaker 2, and a follower of the same Kafka (M1 to M4).

M1 and M2: log bytes for each second of a process's processor time, user and system, all threads. One client writes 64
MiB of records to four partitions, in batches of 16 KiB, while all peers are stopped; then the follower, kmirror and
MirrorMaker catch up one after the other, from the same source and to files in the page cache. The records are of 1 KiB,
and once of 100 bytes: MirrorMaker handles records, the others batches. MirrorMaker is charged for its own process only,
kmirror also for the broker that stores the log. The gates apply to the first rounds after the start. The peers then
continue until the JVMs' costs no longer fall, and rows without gates show the costs at that time. After each round the
cached pages of the logs are dropped, and before each round memory is touched: memory that a virtual machine has not
used for some seconds is slow. M3: the rate of each peer, and of a program that only receives, checks and writes. M4:
delay until a consumer sees a record, compared with the source, at 10 MB/s.
"""

from __future__ import annotations

import os
import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

from benchmarks import mirror_limit, mirror_servers, net_servers
from benchmarks.harness import Case, no_runs
from benchmarks.mirror_servers import PARTITIONS, TIMEOUT_S, TOPIC, Peer, Source
from benchmarks.tools import mirror_maker_class_path

MB = 1_000_000
WRITTEN_BYTES = 64 << 20
BATCH_BYTES = 16 << 10
PAIRS_MAX = 5
WARM_UP_MIN, WARM_UP_MAX = 6, 24
FIRST_MIB = WARM_UP_MIN * WRITTEN_BYTES >> 20
SETTLED_FACTOR = 0.97
"""A cost still falls while one of the last three runs is below this factor of the best run before them."""
FOLLOWER_GATES = (2.0, 5.0)
STEADY_BYTES = 10 * MB
STEADY_RECORD_BYTES = 10_000
STEADY_TICKS = 100
"""Writes of some records per second."""
STEADY_S = 20
STEADY_WARM_UP_S = 5


class Load(NamedTuple):
    """The mirrored data; rows name it by `text`. The gates are relative to MirrorMaker and to the follower."""

    text: str
    codec: str
    record_bytes: int
    gates: tuple[float | None, float | None]
    follower_gates: tuple[float | None, float | None] = FOLLOWER_GATES


PLAIN = Load("none", "none", 1_024, (15, 35))
LOADS = (
    PLAIN,
    Load("none, 100-byte records", "none", 100, (None, None), (None, None)),
    Load("gzip", "gzip", 1_024, (40, 180)),
    Load("snappy", "snappy", 1_024, (40, None)),
    Load("lz4", "lz4", 1_024, (40, 60)),
    Load("zstd", "zstd", 1_024, (40, 95)),
)


class Round(NamedTuple):
    """Processor seconds of each peer for the same bytes, by its name."""

    log_bytes: int
    cpu_s: dict[str, float]


class Lags(NamedTuple):
    """Delay of each record after it was seen at the source, in seconds, in the order of writing."""

    ours: list[float]
    theirs: list[float]


def values(size: int) -> list[bytes]:
    """Return records that lz4 and snappy compress to about a half, and gzip and zstd, which use digits, to a third."""
    repeated = b"".join(b'"field-%04d":' % number for number in range(size // 2 // 13 + 1))[: size // 2]
    return [os.urandom(size // 4).hex().encode() + repeated for _ in range(512)]


def write(address: str, load: Load) -> None:
    """Write `WRITTEN_BYTES`, and wait for all responses."""
    from confluent_kafka import Producer

    producer: Any = Producer(
        {
            "bootstrap.servers": address,
            "log_level": 0,
            "acks": "1",  # The follower is stopped.
            "batch.size": BATCH_BYTES,
            "linger.ms": 50,
            "compression.type": load.codec,
            "queue.buffering.max.kbytes": 2 * WRITTEN_BYTES // 1_024,
            "queue.buffering.max.messages": 1_000_000,
        }
    )
    rows = values(load.record_bytes)
    for number in range(WRITTEN_BYTES // load.record_bytes):
        producer.produce(TOPIC, rows[number % len(rows)], partition=number % PARTITIONS)
    assert producer.flush(TIMEOUT_S) == 0


def run_round(source: Source, follower: Peer, others: Sequence[Peer], load: Load) -> Round:
    """Let all peers catch up with the same bytes, one after the other."""
    peers = (follower, *others)  # The follower first: consumers get only records that it has.
    before = source.log_bytes()
    for peer in peers:
        peer.stop()
    try:
        write(source.address, load)
        spent = {}
        for peer in peers:
            mirror_servers.touch_memory(2 * WRITTEN_BYTES)
            started_at = peer.cpu_s()
            peer.resume()
            mirror_servers.wait_for_all_records(peer, source)
            spent[peer.name] = peer.cpu_s() - started_at
    finally:
        for peer in peers:
            peer.resume()
    for folder in (source.server.folders[0], *(peer.folder for peer in peers)):
        mirror_servers.drop_cached_pages(folder)
    return Round(source.log_bytes() - before, spent)


def is_settled(costs: Sequence[float]) -> bool:
    """Return whether a cost no longer falls."""
    return len(costs) >= WARM_UP_MIN and min(costs[-3:]) >= SETTLED_FACTOR * min(costs[:-3])


class Measurement(NamedTuple):
    first: list[Round]
    """Rounds of processes that have just started."""
    rounds: list[Round]
    """Rounds after neither JVM's cost falls any more."""
    lags: Lags | None


@cache
def measure_load(load: Load, pairs: int) -> Measurement:
    """Return the first rounds and those after warming up, and for the plain load the lags."""
    with mirror_servers.start_all(load.codec) as (source, ours, theirs, follower):
        for peer in (follower, ours, theirs):
            mirror_servers.wait_for_all_records(peer, source)
        rounds: list[Round] = []
        while True:
            rounds.append(run_round(source, follower, (ours, theirs) if len(rounds) % 2 else (theirs, ours), load))
            costs = [[each.cpu_s[name] for each in rounds] for name in (theirs.name, follower.name)]
            if all(map(is_settled, costs)) or len(rounds) == WARM_UP_MAX:
                break
        warm_up_count = len(rounds)
        print(f"{load.text}: the first {WARM_UP_MIN} rounds: {rates_text(rounds[:WARM_UP_MIN], sum)}", file=sys.stderr)
        for number in range(pairs):
            rounds.append(run_round(source, follower, (ours, theirs) if number % 2 else (theirs, ours), load))
        warm_rounds = rounds[warm_up_count:]
        print(
            f"{load.text}: {rates_text(warm_rounds, statistics.median)}; {warm_up_count} rounds to warm up",
            file=sys.stderr,
        )
        lags = measure_lags(source, ours, theirs) if load is PLAIN else None
    return Measurement(rounds[:WARM_UP_MIN], warm_rounds, lags)


def rates(rounds: Sequence[Round], name: str) -> list[float]:
    """Return MB of log per second of processor time, once for each round."""
    return [each.log_bytes / MB / each.cpu_s[name] for each in rounds]


def rates_text(rounds: Sequence[Round], combine: Callable[[Sequence[float]], float]) -> str:
    """Return the MB of log per CPU-second of each peer, by the sums or the medians of the rounds."""
    log_bytes = combine([each.log_bytes for each in rounds])
    found = {name: log_bytes / MB / combine([each.cpu_s[name] for each in rounds]) for name in rounds[0].cpu_s}
    return "MB of log per CPU-second: " + ", ".join(f"{name} {rate:.0f}" for name, rate in found.items())


# -- at a steady rate ---------------------------------------------------------------------------


class Watch(threading.Thread):
    """A consumer that records when it sees each record, by the number at the start of the record."""

    def __init__(self, address: str, record_count: int) -> None:
        super().__init__(daemon=True)
        self.times_by_number: dict[int, float] = {}
        self._address = address
        self._record_count = record_count
        self.is_ready = threading.Event()
        self.is_stopped = False

    def run(self) -> None:
        from confluent_kafka import OFFSET_END, Consumer, TopicPartition

        configs = {"bootstrap.servers": self._address, "group.id": "none", "log_level": 0, "enable.auto.commit": False}
        consumer: Any = Consumer(configs)
        consumer.assign([TopicPartition(TOPIC, partition, OFFSET_END) for partition in range(PARTITIONS)])
        times_by_number = self.times_by_number
        while len(times_by_number) < self._record_count and not self.is_stopped:
            for message in consumer.consume(100, 0.005):
                now = time.perf_counter()
                if message.error() is None:
                    times_by_number[int(message.value()[:20])] = now
            self.is_ready.set()
        consumer.close()


def measure_lags(source: Source, ours: Peer, theirs: Peer) -> Lags:
    """Write 10 MB/s for a while, and record when the source and both destinations have the records."""
    from confluent_kafka import Producer

    per_tick = STEADY_BYTES // STEADY_RECORD_BYTES // STEADY_TICKS
    record_count = (STEADY_WARM_UP_S + STEADY_S) * STEADY_TICKS * per_tick
    watches = [Watch(address, record_count) for address in (source.address, ours.address, theirs.address)]
    for watch in watches:
        watch.start()
        assert watch.is_ready.wait(TIMEOUT_S)
    time.sleep(2)  # The consumers find their leaders and the log ends.
    producer: Any = Producer({"bootstrap.servers": source.address, "log_level": 0, "linger.ms": 5})
    filler = os.urandom(STEADY_RECORD_BYTES // 2).hex().encode()[20:]
    started_at = time.perf_counter()
    for number in range(record_count):
        tick, place = divmod(number, per_tick)
        if not place:
            time.sleep(max(0.0, started_at + tick / STEADY_TICKS - time.perf_counter()))
        producer.produce(TOPIC, b"%020d" % number + filler, partition=number % PARTITIONS)
    assert producer.flush(TIMEOUT_S) == 0
    deadline = time.monotonic() + TIMEOUT_S
    while any(watch.is_alive() for watch in watches) and time.monotonic() < deadline:
        time.sleep(0.1)
    for watch in watches:
        watch.is_stopped = True
        watch.join()
    source_times, our_times, their_times = (watch.times_by_number for watch in watches)
    seen = [len(watch.times_by_number) for watch in watches]
    assert seen == [record_count] * len(watches), (
        f"of {record_count} records source, ours and MirrorMaker's showed {seen}"
    )
    numbers = range(STEADY_WARM_UP_S * STEADY_TICKS * per_tick, record_count)
    found = Lags(*([at[number] - source_times[number] for number in numbers] for at in (our_times, their_times)))
    text = "; ".join(f"{name} {percentile(lags, 50) * 1e3:.1f} at the median, {percentile(lags, 99) * 1e3:.1f} at 99 %"
                     for name, lags in zip(("kmirror", "mirrormaker"), found, strict=True))  # fmt: skip
    print(f"lag in ms at 10 MB/s: {text}", file=sys.stderr)
    return found


def percentile(found: Sequence[float], per_cent: int) -> float:
    return sorted(found)[len(found) * per_cent // 100]


def quarters(found: Sequence[float]) -> list[Sequence[float]]:
    size = len(found) // 4
    return [found[size * number : size * (number + 1)] for number in range(4)]


# -- rows ---------------------------------------------------------------------------------------


def _steady_rounds(load: Load, pairs: int) -> list[Round]:
    return measure_load(load, min(pairs, PAIRS_MAX)).rounds


def _first_rounds(load: Load, pairs: int) -> list[Round]:
    return measure_load(load, min(pairs, PAIRS_MAX)).first


def compare_with(load: Load, peer: str, rounds: Callable[[Load, int], list[Round]]) -> Callable[[int], list[float]]:
    """Return a function that measures a peer's seconds for the same bytes over kmirror's, once for each round."""
    return lambda pairs: [each.cpu_s[peer] / each.cpu_s["kmirror"] for each in rounds(load, pairs)]


def rate_of_peer(load: Load, name: str) -> Callable[[int], list[float]]:
    """Return a function that measures the MB of log per second of one peer's processor time."""
    return lambda pairs: rates(_steady_rounds(load, pairs), name)


def limit(pairs: int) -> list[float]:
    """Return the MB of log per second of processor time of a program that only receives, checks and writes."""
    found = []
    for _ in range(min(pairs, PAIRS_MAX)):
        mirror_servers.touch_memory(2 * WRITTEN_BYTES)
        found.append(WRITTEN_BYTES / MB / mirror_limit.cpu_s(WRITTEN_BYTES, BATCH_BYTES))
    return found


def lag(per_cent: int) -> Callable[[int], list[float]]:
    """Return a function that measures a percentile of MirrorMaker's lag over kmirror's, for each quarter of a run."""

    def measure(pairs: int) -> list[float]:
        found = measure_load(PLAIN, min(pairs, PAIRS_MAX)).lags
        assert found is not None, "measured with the plain load"
        pairs_of_lags = zip(quarters(found.theirs), quarters(found.ours), strict=True)
        return [percentile(theirs, per_cent) / percentile(ours, per_cent) for theirs, ours in pairs_of_lags]

    return measure


def cases() -> list[Case]:
    """Return M1 to M4, or nothing without MirrorMaker."""
    return list(_cases()) if net_servers.version() is not None and mirror_maker_class_path() is not None else []


def _cases() -> Iterator[Case]:
    version = net_servers.version()

    def case(
        id_: str,
        text: str,
        peer: str,
        measure: Callable[[int], list[float]],
        gates: tuple[float | None, float | None] = (None, None),
    ) -> Case:
        return Case(id_, text, peer, no_runs, *gates, measure=measure, version=version)

    for load in LOADS:
        rows = (("M1", "mirrormaker", load.gates), ("M2", "kafka-follower", load.follower_gates))
        for id_, peer, gates in rows:
            text = f"log bytes per CPU-second, the first {FIRST_MIB} MiB, {load.text}"
            yield case(id_, text, peer, compare_with(load, peer, _first_rounds), gates)
            yield case(
                id_, f"log bytes per CPU-second, JVMs warm, {load.text}", peer, compare_with(load, peer, _steady_rounds)
            )
        for name in ("kmirror", "mirrormaker", "kafka-follower"):
            yield case("M3", f"MB of log per CPU-second, by itself, {load.text}", name, rate_of_peer(load, name))
    yield case("M3", "MB of log per CPU-second, the limit: receive, check, write", "kmirror", limit)
    for per_cent in (50, 99):
        yield case("M4", f"lag at 10 MB/s, {per_cent} %", "mirrormaker", lag(per_cent))
