"""Three brokers end one after the other and return: the state of each partition after each step.

The same round is played with Kafka and with kmirror. A fourth broker, besides the controller, stays up and gets the
requests. Each topic has a partition for every order of its three replicas, so that one round covers each order in which
they may end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any, Protocol

from kmirror.protocol.gen.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from kmirror.protocol.gen.describe_topic_partitions_request import DescribeTopicPartitionsRequest, TopicRequest
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kmirror.protocol.gen.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kmirror.protocol.message import Message
from kmirror.records.batch import iter_batches
from kmirror.records.build import build_batch
from kmirror.records.record import RecordData
from kmirror.sim.cluster import Cluster
from kmirror.spec.error_codes import ErrorCode
from tests.interop.mirror.brokers import RealCluster
from tests.interop.mirror.waiting import wait_for
from tests.net.wire import Wire
from tests.sim.cluster.random_requests import RawClient

WATCHER, *VICTIMS = 1, 2, 3, 4
REPLICAS = list(permutations(VICTIMS))
TOPICS: Mapping[str, Mapping[str, str]] = {
    "two": {"min.insync.replicas": "2"},
    "one": {"min.insync.replicas": "1"},
    "unclean": {"min.insync.replicas": "2", "unclean.leader.election.enable": "true"},
}
"""Name of each topic of a round, and its configs."""
CONFIGS = {
    "broker.session.timeout.ms": "2000",
    "broker.heartbeat.interval.ms": "200",
    "replica.lag.time.max.ms": "5000",
    "auto.leader.rebalance.enable": "false",  # Otherwise the leader would depend on the time of the check.
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
}
SESSION_S = 10
T0_MS = 1_700_000_000_000

Place = tuple[str, int]
"""A topic and a partition number."""


@dataclass(frozen=True)
class Description:
    """A broker's description of a partition."""

    leader: int
    isr: tuple[int, ...]
    eligible: tuple[int, ...]
    last_known: tuple[int, ...]


@dataclass(frozen=True)
class Round:
    """Order of the ends, whether each is clean, and order of the returns."""

    ends: Sequence[int]
    clean: Sequence[bool]
    returns: Sequence[int]

    def __str__(self) -> str:
        how = ["stops" if clean else "is killed" for clean in self.clean]
        ends = ", ".join(f"{broker_id} {end}" for broker_id, end in zip(self.ends, how, strict=True))
        return f"{ends}; back come {', '.join(map(str, self.returns))}"


class Side(Protocol):
    """A cluster of four brokers, of Kafka or of kmirror."""

    def ask(self, node_id: int, body: Message, version: int) -> Any: ...
    def end(self, node_id: int, *, clean: bool) -> None: ...
    def begin(self, node_id: int) -> None: ...
    def wait(self, condition: Callable[[], bool], what: str) -> None: ...


class RealSide:
    """Brokers of Kafka; each of the three has its own JVM."""

    def __init__(self, cluster: RealCluster) -> None:
        self._cluster = cluster

    def ask(self, node_id: int, body: Message, version: int) -> Any:
        with Wire(self._cluster.server(node_id)) as wire:
            return wire.ask(body, version)

    def end(self, node_id: int, *, clean: bool) -> None:
        self._cluster.stop(node_id) if clean else self._cluster.kill(node_id)

    def begin(self, node_id: int) -> None:
        self._cluster.restart(node_id)

    def wait(self, condition: Callable[[], bool], what: str) -> None:
        wait_for(condition, what)


class OurSide:
    """Brokers of kmirror in the simulator; a step is over when nothing has changed for several sessions."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._raw = RawClient(cluster)

    def ask(self, node_id: int, body: Message, version: int) -> Any:
        return self._raw.ask(self._cluster.endpoint(node_id), body, version)

    def end(self, node_id: int, *, clean: bool) -> None:
        self._cluster.stop(node_id) if clean else self._cluster.kill(node_id)
        self._cluster.simulation.run_for(span_s=SESSION_S)

    def begin(self, node_id: int) -> None:
        self._cluster.restart(node_id)
        self._cluster.simulation.run_for(span_s=SESSION_S)

    def wait(self, condition: Callable[[], bool], what: str) -> None:
        self._cluster.simulation.run_until(condition, what=what)


class Played:
    """One round with one cluster, step by step."""

    def __init__(self, side: Side, number: int) -> None:
        self._side = side
        self.topics = {f"{kind}-{number}": configs for kind, configs in TOPICS.items()}
        self._written = 0

    def steps(self, played: Round) -> Iterator[str]:
        """Yield the name of each step after it is done, before more records are written."""
        self._create()
        yield "the start"
        for broker_id, clean in zip(played.ends, played.clean, strict=True):
            self._write()
            self._side.end(broker_id, clean=clean)
            yield f"the {'stop' if clean else 'kill'} of {broker_id}"
        for broker_id in played.returns:
            self._side.begin(broker_id)
            yield f"the return of {broker_id}"
            self._write()

    def seen(self) -> dict[Place, Description]:
        """Return a broker's current description of each partition."""
        wanted = [TopicRequest(name=topic) for topic in self.topics]
        reply = self._side.ask(WATCHER, DescribeTopicPartitionsRequest(topics=wanted), 0)
        return {
            (topic.name, row.partition_index): Description(
                row.leader_id,
                tuple(sorted(row.isr_nodes)),  # The order of additions by the leader is arbitrary.
                tuple(row.eligible_leader_replicas or ()),
                tuple(row.last_known_elr or ()),
            )
            for topic in reply.topics
            for row in topic.partitions
        }

    def records(self) -> dict[Place, list[str]]:
        """Return a consumer's records of each partition, once all are committed."""
        return {place: self._read(place, seen.leader) for place, seen in self.seen().items() if seen.leader >= 0}

    def _create(self) -> None:
        topics = [
            CreatableTopic(
                name=topic,
                num_partitions=-1,
                replication_factor=-1,
                assignments=[CreatableReplicaAssignment(n, list(replicas)) for n, replicas in enumerate(REPLICAS)],
                configs=[CreatableTopicConfig(name=name, value=value) for name, value in configs.items()],
            )
            for topic, configs in self.topics.items()
        ]
        reply = self._side.ask(WATCHER, CreateTopicsRequest(topics=topics, timeout_ms=30_000), 5)
        assert not any(row.error_code for row in reply.topics), reply

    def _write(self) -> None:
        """Write a record to each partition with a leader, with acks=all if its ISR is large enough."""
        self._written += 1
        for place, seen in self.seen().items():
            if seen.leader >= 0:
                acks = -1 if len(seen.isr) >= int(self.topics[place[0]]["min.insync.replicas"]) else 1
                self._produce(place, seen.leader, acks, f"r{self._written} acks={acks}")

    def _produce(self, place: Place, leader: int, acks: int, value: str) -> None:
        topic, partition = place
        batch = build_batch([RecordData(value=value.encode())], base_timestamp=T0_MS)
        body = ProduceRequest(
            acks=acks,
            timeout_ms=30_000,
            topic_data=[TopicProduceData(name=topic, partition_data=[PartitionProduceData(partition, batch)])],
        )
        codes: list[ErrorCode] = []

        def is_written() -> bool:
            reply = self._side.ask(leader, body, 9)
            codes.append(ErrorCode(reply.responses[0].partition_responses[0].error_code))
            assert codes[-1] is not ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND, "it would be written twice"
            return codes[-1] is ErrorCode.NONE

        self._side.wait(is_written, f"{value} in {topic}-{partition} ({codes[-1:]})")

    def _read(self, place: Place, leader: int) -> list[str]:
        topic, partition = place
        row = FetchPartition(partition=partition, partition_max_bytes=1 << 20)
        body = FetchRequest(
            replica_id=-1,
            max_bytes=1 << 20,
            session_id=0,
            session_epoch=-1,
            topics=[FetchTopic(topic=topic, partitions=[row])],
        )
        reply = self._side.ask(leader, body, 12)
        found = reply.responses[0].partitions[0]
        assert not found.error_code, (place, ErrorCode(found.error_code))
        batches = iter_batches(found.records or b"")
        return [(record.value or b"").decode() for batch in batches for record in batch.records()]


def compare_round(round_: Round, number: int, real: Side, ours: Side) -> list[str]:
    """Play one round with both; return the differences."""
    theirs, here = Played(real, number), Played(ours, number)
    faults: list[str] = []
    for step, _ in zip(here.steps(round_), theirs.steps(round_), strict=True):
        expected = here.seen()
        try:
            real.wait(lambda expected=expected: theirs.seen() == expected, step)  # type: ignore[misc]
        except AssertionError:
            faults += _differences(step, theirs.seen(), expected)
    expected_records = here.records()
    try:
        real.wait(lambda: theirs.records() == expected_records, "the records")
    except AssertionError:
        faults += _differences("the end", theirs.records(), expected_records)
    return faults


def _differences(step: str, theirs: Mapping[Place, object], ours: Mapping[Place, object]) -> list[str]:
    return [
        f"after {step}, {topic} with replicas {REPLICAS[index]}: {theirs.get((topic, index))} by theirs, "
        f"{ours.get((topic, index))} by ours"
        for topic, index in sorted({*theirs, *ours})
        if theirs.get((topic, index)) != ours.get((topic, index))
    ]
