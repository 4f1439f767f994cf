"""Brokers on TCP ports compared with Apache Kafka: one librdkafka client, in turns (N1 to N6).

N1: processor time of the server for producing; N2: for consuming; N3: the client's wall time for N1; N4: single
records, acks=all, each from `produce` to its delivery report, median and 99th percentile of a hundred, and the same
with a bare socket, whose own time is negligible; N5: start-up time and idle memory. N6 is the same with three brokers,
RF 3, min.insync.replicas 2: one kmirror process against three JVMs, which share the processors with the client. With
one broker each job runs 25 times before it is measured, as the JVM compiles frequent code; with three brokers 8 times,
as they take long.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import count
from typing import Any, NamedTuple

from benchmarks import net_servers
from benchmarks.harness import Case, no_runs
from benchmarks.net_servers import Server
from kmirror.protocol.gen.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kmirror.protocol.gen.produce_response import ProduceResponse
from kmirror.protocol.headers import decode_response, encode_request
from kmirror.protocol.registry import key_of
from kmirror.records.build import build_batch
from kmirror.records.record import RecordData
from kmirror.spec.error_codes import ErrorCode

MIB = 1 << 20
PRODUCED_BYTES = 64 * MIB
RECORD_BYTES = 1_024
PAIRS_MAX = 5
WARM_UP = 25  # After two runs a JVM still compiles: it took more than twice the processor time than after 25.
WARM_UP_OF_THREE = 8
STARTS_OF_THREE = 3
PRODUCE_VERSION = 9
SINGLE_RECORDS = 2_000
SINGLE_RECORDS_OF_THREE = 1_000
WORKLOADS = [(size, codec) for size in (16 << 10, MIB) for codec in ("none", "lz4")]
CONSUMED_PER_CALL_MAX = 10_000
TIMEOUT_S = 120.0
Measure = Callable[[int], list[float]]
_numbers = count()


class Cost(NamedTuple):
    """Cost of one run."""

    cpu_s: float
    wall_s: float


def values() -> list[bytes]:
    """Return records that lz4 compresses to about half."""
    return [os.urandom(RECORD_BYTES // 2).hex().encode() for _ in range(512)]


def measure_cost(server: Server, run: Callable[[], None]) -> Cost:
    cpu, wall = server.cpu_s(), time.perf_counter()
    run()
    return Cost(server.cpu_s() - cpu, time.perf_counter() - wall)


def produce(server: Server, topic: str, batch_bytes: int, codec: str) -> None:
    """Write `PRODUCED_BYTES` in batches of about `batch_bytes`, and wait for all responses."""
    from confluent_kafka import Producer

    producer: Any = Producer(
        {
            "bootstrap.servers": server.addresses,
            "log_level": 0,
            "acks": "all",
            "batch.size": batch_bytes,
            "batch.num.messages": 1_000_000,
            "message.max.bytes": 4_000_000,
            "linger.ms": 50,
            "compression.type": codec,
            "queue.buffering.max.kbytes": 2 * PRODUCED_BYTES // 1_024,
            "queue.buffering.max.messages": 1_000_000,
        }
    )
    rows = values()
    for number in range(PRODUCED_BYTES // RECORD_BYTES):
        producer.produce(topic, rows[number % len(rows)], partition=0)
    assert producer.flush(TIMEOUT_S) == 0


def consume(server: Server, topic: str) -> None:
    """Read all records of the topic."""
    from confluent_kafka import Consumer, TopicPartition

    consumer: Any = Consumer(
        {
            "bootstrap.servers": server.addresses,
            "log_level": 0,
            "group.id": "none",
            "enable.auto.commit": False,
            "fetch.wait.max.ms": 50,
        }
    )
    consumer.assign([TopicPartition(topic, 0, 0)])
    left, deadline = PRODUCED_BYTES // RECORD_BYTES, time.monotonic() + TIMEOUT_S
    while left > 0:
        requested = min(left, CONSUMED_PER_CALL_MAX)  # For more records it would wait the whole second.
        left -= sum(message.error() is None for message in consumer.consume(requested, 1.0))
        assert time.monotonic() < deadline, f"{left} records did not come from {server.name}"
    consumer.close()


@cache
def measure_costs(batch_bytes: int, codec: str, pairs: int, brokers: int = 1) -> list[dict[str, tuple[Cost, Cost]]]:
    """Return for each pair the costs of producing and, with one broker, of consuming: kmirror's and Kafka's."""
    jobs: dict[str, Callable[[Server, str], None]] = {
        "produce": lambda *arguments: produce(*arguments, batch_bytes, codec)
    }
    if brokers == 1:
        jobs["consume"] = consume
    found = []
    with net_servers.both_servers(brokers) as servers:
        warm_up = WARM_UP if brokers == 1 else WARM_UP_OF_THREE
        for turn in range(warm_up + pairs):
            spent: dict[str, dict[str, Cost]] = {job: {} for job in jobs}
            for server in servers if turn % 2 else reversed(servers):
                topic = f"bench-{next(_numbers)}"
                server.create_topic(topic)
                for job, run in jobs.items():
                    spent[job][server.name] = measure_cost(server, partial(run, server, topic))
            if turn >= warm_up:
                found.append({job: (each["kmirror"], each["kafka"]) for job, each in spent.items()})
    return found


def ratios(batch_bytes: int, codec: str, job: str, field: str, brokers: int = 1) -> Measure:
    """Return a function that measures Kafka's seconds over kmirror's."""

    def measure(pairs: int) -> list[float]:
        rows = [row[job] for row in measure_costs(batch_bytes, codec, min(pairs, PAIRS_MAX), brokers)]
        return [getattr(theirs, field) / getattr(ours, field) for ours, theirs in rows]

    return measure


# -- single records -----------------------------------------------------------------------------


def delivery_times(server: Server) -> list[float]:
    """Return the times that a librdkafka client needs for single records, in seconds, sorted."""
    from confluent_kafka import Producer

    topic = f"single-{next(_numbers)}"
    server.create_topic(topic)
    producer: Any = Producer({"bootstrap.servers": server.addresses, "log_level": 0, "acks": "all", "linger.ms": 0})
    delivered: list[object] = []

    def on_delivery(error: object, _: object) -> None:
        assert error is None, error
        delivered.append(error)

    spent = []
    for number in range(_single_record_count(server)):
        started_at = time.perf_counter()
        producer.produce(topic, b"x" * 100, partition=0, on_delivery=on_delivery)
        while len(delivered) <= number:
            producer.poll(1.0)
        spent.append(time.perf_counter() - started_at)
    return sorted(spent)


def _single_record_count(server: Server) -> int:
    return SINGLE_RECORDS if len(server.ports) == 1 else SINGLE_RECORDS_OF_THREE


def round_trips(server: Server) -> list[float]:
    """Return the times of single records over a bare socket, in seconds, sorted."""
    topic = f"single-{next(_numbers)}"
    port = server.create_topic(topic)
    batch = bytes(build_batch([RecordData(value=b"x" * 100)], timestamp_ms=time.time_ns() // 1_000_000))
    data = [TopicProduceData(name=topic, partition_data=[PartitionProduceData(index=0, records=batch)])]
    request = ProduceRequest(acks=-1, timeout_ms=10_000, topic_data=data)
    frame = encode_request(request, PRODUCE_VERSION, correlation_id=1, client_id="c")
    wire = len(frame).to_bytes(4, "big") + frame
    spent = []
    with socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT_S) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while len(spent) < _single_record_count(server):
            started_at = time.perf_counter()
            connection.sendall(wire)
            answer = connection.recv(4_096)
            spent.append(time.perf_counter() - started_at)
            assert len(answer) > 4 and len(answer) == 4 + int.from_bytes(answer[:4], "big"), answer
            error = _error_in(answer[4:])
            if error == ErrorCode.NOT_LEADER_OR_FOLLOWER and len(spent) == 1:
                spent.clear()  # The leader does not know yet that it is the leader.
            else:
                assert not error, error
    return sorted(spent)


def _error_in(frame: bytes) -> int:
    """Return the error code in the response to a single record."""
    body = decode_response(frame, key_of(ProduceRequest), PRODUCE_VERSION).body
    assert isinstance(body, ProduceResponse)
    return body.responses[0].partition_responses[0].error_code


@cache
def latencies(
    pairs: int, brokers: int, measure_times: Callable[[Server], list[float]]
) -> list[tuple[list[float], list[float]]]:
    """Return the times of kmirror and of Kafka, once for each pair."""
    found = []
    with net_servers.both_servers(brokers) as (ours, theirs):
        warm_up = WARM_UP if brokers == 1 else WARM_UP_OF_THREE
        for turn in range(warm_up + pairs):
            if turn % 2:
                pair = measure_times(ours), measure_times(theirs)
            else:
                other = measure_times(theirs)
                pair = measure_times(ours), other
            if turn >= warm_up:
                found.append(pair)
    return found


def latency(
    per_cent: int, brokers: int = 1, measure_times: Callable[[Server], list[float]] = delivery_times
) -> Measure:
    """Return a function that measures a percentile of Kafka's times over kmirror's."""

    def measure(pairs: int) -> list[float]:
        rows = latencies(min(pairs, PAIRS_MAX), brokers, measure_times)
        return [theirs[len(theirs) * per_cent // 100] / ours[len(ours) * per_cent // 100] for ours, theirs in rows]

    return measure


# -- at rest ------------------------------------------------------------------------------------


@cache
def measure_starts(pairs: int, brokers: int) -> list[tuple[tuple[float, int], tuple[float, int]]]:
    """Return seconds until all ports are open, and resident bytes then: kmirror's and Kafka's, for each pair."""

    def start_up(begin: Callable[[int], Any]) -> tuple[float, int]:
        with begin(brokers) as server:
            return server.started_in_s, server.resident_bytes()

    return [(start_up(net_servers.kmirror), start_up(net_servers.kafka)) for _ in range(pairs)]


def start_up_or_memory(index: int, brokers: int = 1) -> Measure:
    """Return a function that measures Kafka's start-up (0) or memory (1) over kmirror's."""
    pairs_max = PAIRS_MAX if brokers == 1 else STARTS_OF_THREE
    return lambda pairs: [
        theirs[index] / ours[index] for ours, theirs in measure_starts(min(pairs, pairs_max), brokers)
    ]


def cases() -> list[Case]:
    """Return N1 to N6, or nothing without Kafka."""
    return list(_cases()) if net_servers.version() is not None else []


def _cases() -> Iterator[Case]:
    version = net_servers.version()

    def case(
        id_: str, text: str, floor: float | None, reach: float | None, measure: Callable[[int], list[float]]
    ) -> Case:
        return Case(id_, text, "kafka", no_runs, floor, reach, measure=measure, version=version)

    for size, codec in WORKLOADS:
        text = f"batches of {size >> 10} KiB, {codec}"
        yield case("N1", f"produce, CPU, {text}", 1, 3, ratios(size, codec, "produce", "cpu_s"))
        yield case("N2", f"consume, CPU, {text}", 1, 1.5, ratios(size, codec, "consume", "cpu_s"))
        yield case("N3", f"produce, wall, {text}", 0.8, 1.2, ratios(size, codec, "produce", "wall_s"))
    yield case("N4", "a single record, acks=all, median", 1, None, latency(50))
    yield case("N4", "a single record, acks=all, 99 %", 1, None, latency(99))
    yield case("N4", "a single record by a bare socket, median", None, None, latency(50, 1, round_trips))
    yield case("N4", "a single record by a bare socket, 99 %", None, None, latency(99, 1, round_trips))
    yield case("N5", "start-up to an open port", None, None, start_up_or_memory(0))
    yield case("N5", "resident memory at rest", None, None, start_up_or_memory(1))
    size, codec = WORKLOADS[0]
    text = f"three brokers: produce, RF 3, {{}}, batches of {size >> 10} KiB, {codec}"
    yield case("N6", text.format("CPU"), 1, 3, ratios(size, codec, "produce", "cpu_s", 3))
    yield case("N6", text.format("wall"), 0.8, 1.2, ratios(size, codec, "produce", "wall_s", 3))
    yield case("N6", "three brokers: a single record, RF 3, acks=all, median", 1, None, latency(50, 3))
    yield case("N6", "three brokers: a single record, RF 3, acks=all, 99 %", 1, None, latency(99, 3))
    yield case("N6", "three brokers: start-up to open ports", None, None, start_up_or_memory(0, 3))
    yield case("N6", "three brokers: resident memory at rest", None, None, start_up_or_memory(1, 3))
