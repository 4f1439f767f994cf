"""Brokers with several log directories: a failing one goes offline alone, and nothing acknowledged is lost."""

from __future__ import annotations

import pytest

from kmirror.cluster.node.context import LogDirFailed
from kmirror.errors import KafkaError
from kmirror.kernel.failures import GaveUp
from kmirror.kernel.ids import TopicPartition
from kmirror.protocol.gen.describe_log_dirs_request import DescribeLogDirsRequest
from kmirror.protocol.gen.describe_log_dirs_response import DescribeLogDirsResponse
from kmirror.protocol.gen.list_offsets_request import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from kmirror.protocol.gen.list_offsets_response import ListOffsetsResponse
from kmirror.sim.cluster import Cluster
from kmirror.sim.mirror import Mirror
from kmirror.sim.simulation import Simulation
from kmirror.spec.error_codes import ErrorCode

MIN_ISR = {"min.insync.replicas": "2"}


def read_number(cluster: Cluster, broker_id: int, tp: TopicPartition) -> int:
    """Return the log directory of a broker that contains a partition."""
    (found,) = (n for n, disk in enumerate(cluster.log_dirs[broker_id]) if disk.is_open(tp))
    return found


def lying_in(cluster: Cluster, broker_id: int, number: int, topic: str, *, led: bool) -> list[TopicPartition]:
    """Return the partitions of a topic in a log directory of a broker that it leads, or follows."""
    disk, held = cluster.log_dirs[broker_id][number], cluster.broker(broker_id).parts.replicas.partitions
    return [tp for tp, one in held.items() if tp.topic == topic and disk.is_open(tp) and one.is_leader == led]


def values(cluster: Cluster, tp: TopicPartition) -> list[bytes | None]:
    """Return the values of a partition, each once: a producer without idempotence may write retries twice."""
    return list(dict.fromkeys(record.value for record in cluster.read(tp)))


def isr(cluster: Cluster, tp: TopicPartition) -> tuple[int, ...]:
    return cluster.image.topics[tp.topic].partitions[tp.partition].isr


def test_new_replicas_are_placed_in_the_directory_with_the_fewest_logs() -> None:
    with Simulation(seed=1) as simulation, Cluster(simulation, "a", log_dirs=3) as a:
        a.create_topic("orders", 8)
        simulation.run_for(span_s=5)
        for broker_id in a.broker_ids:
            held = [len(disk.partitions()) for disk in a.log_dirs[broker_id]]
            assert max(held) - min(held) <= 1, held
            ids = tuple(disk.directory_id for disk in a.log_dirs[broker_id])
            assert a.image.brokers[broker_id].directories == ids
            for index, partition in a.image.topics["orders"].partitions.items():
                lies_in = a.log_dirs[broker_id][read_number(a, broker_id, TopicPartition("orders", index))]
                assert partition.directory_of(broker_id) == lies_in.directory_id


@pytest.mark.parametrize("led", [True, False])
@pytest.mark.parametrize("number", [1, 2])
def test_leaders_of_a_failed_directory_move_and_other_partitions_stay(led: bool, number: int) -> None:
    with Simulation(seed=2) as simulation, Cluster(simulation, "a", log_dirs=4, configs=MIN_ISR) as a:
        lost: list[str] = []
        ended: list[str] = []
        simulation.on(LogDirFailed, lambda seen: lost.append(f"{seen.node} {seen.fact.log_dir}"))
        simulation.on(GaveUp, lambda seen: ended.append(seen.node))
        a.create_topic("orders", 12)
        tps = a.partitions(["orders"])
        sent: dict[TopicPartition, list[bytes | None]] = {tp: [b"before"] for tp in tps}
        for tp in tps:
            a.produce("orders", tp.partition, [b"before"])
        simulation.run_for(span_s=2)
        (tp, *_) = lying_in(a, 1, number, "orders", led=led)
        there = [each for each in tps if read_number(a, 1, each) == number]
        a.fail_log_dir(1, number)
        for each in tps:
            a.produce("orders", each.partition, [b"after"])  # Retried where the leader has just lost the log.
            sent[each].append(b"after")
        simulation.run_for(span_s=10)
        assert lost == [f"a-1 {a.log_dirs[1][number].log_dir}"] and not ended and a.runs(1)
        assert set(a.broker(1).parts.replicas.partitions.offline) == set(there)
        for each in tps:
            assert (1 in isr(a, each)) == (each not in there), each
        assert a.leader(tp) is not None and a.image.topics.partition(tp).leader != 1  # type: ignore[union-attr]
        assert {each: values(a, each) for each in tps} == sent
        # A restart without the directory leaves it offline, one with it restores it.
        a.stop(1)
        a.restart(1)
        simulation.run_for(span_s=20)
        assert {each for each in tps if 1 not in isr(a, each)} == set(there)
        a.stop(1)
        a.mend_log_dir(1, number)
        a.restart(1)
        simulation.run_for(span_s=30)
        assert all(len(isr(a, each)) == 3 for each in tps)
        assert [read_number(a, 1, each) == number for each in tps] == [each in there for each in tps]
        assert {each: values(a, each) for each in tps} == sent


def test_a_partition_in_a_failed_directory_is_answered_with_a_storage_error() -> None:
    with Simulation(seed=3) as simulation, Cluster(simulation, "a", brokers=1, log_dirs=2) as a:
        a.create_topic("orders", 4)
        tps = a.partitions(["orders"])
        for tp in tps:
            a.produce("orders", tp.partition, [b"one"])
        lost, kept = (lying_in(a, 1, number, "orders", led=True) for number in (1, 0))
        a.fail_log_dir(1, 1)
        with pytest.raises(KafkaError) as refused:
            a.produce("orders", lost[0].partition, [b"two"])
        assert refused.value.code in (ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.REQUEST_TIMED_OUT)
        for tp in kept:
            a.produce("orders", tp.partition, [b"two"])
        request = ListOffsetsRequest(
            replica_id=-1,
            topics=[
                ListOffsetsTopic(
                    name="orders", partitions=[ListOffsetsPartition(tp.partition, -1, -1) for tp in (lost[0], kept[0])]
                )
            ],
        )
        reply = a.client.call(a.endpoint(1), request)
        assert isinstance(reply, ListOffsetsResponse)
        codes = [row.error_code for topic in reply.topics for row in topic.partitions]
        assert codes == [ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.NONE]
        described = a.client.call(a.endpoint(1), DescribeLogDirsRequest(topics=None))
        assert isinstance(described, DescribeLogDirsResponse)
        assert [(row.log_dir, row.error_code) for row in described.results] == [
            (a.log_dirs[1][0].log_dir, ErrorCode.NONE),
            (a.log_dirs[1][1].log_dir, ErrorCode.KAFKA_STORAGE_ERROR),
        ]
        simulation.run_for(span_s=5)
        assert all(a.image.topics.partition(tp).leader == -1 for tp in lost)  # type: ignore[union-attr]
        a.mend_log_dir(1, 1)
        a.stop(1)
        a.restart(1)
        simulation.run_for(span_s=20)
        assert [values(a, tp) for tp in lost] == [[b"one"]] * len(lost)
        assert [values(a, tp) for tp in kept] == [[b"one", b"two"]] * len(kept)


def test_without_the_metadata_directory_or_the_last_one_a_broker_ends() -> None:
    for failing in ([0], [1, 2, 0]):
        with Simulation(seed=4) as simulation, Cluster(simulation, "a", log_dirs=3, configs=MIN_ISR) as a:
            a.create_topic("orders", 9)
            for number in failing:
                assert a.runs(1)
                a.fail_log_dir(1, number)
                for tp in a.partitions(["orders"]):
                    a.produce("orders", tp.partition, [b"%d" % number])
                simulation.run_for(span_s=20)
            assert not a.runs(1)
            sent = [b"%d" % number for number in failing]
            assert all(values(a, tp) == sent for tp in a.partitions(["orders"]))


def test_a_new_topic_has_its_place_while_a_directory_is_offline() -> None:
    with Simulation(seed=5) as simulation, Cluster(simulation, "a", log_dirs=2, replication_factor=3) as a:
        a.create_topic("orders", 4)
        a.fail_log_dir(1, 1)
        for tp in a.partitions(["orders"]):
            a.produce("orders", tp.partition, [b"one"])
        simulation.run_for(span_s=5)
        a.create_topic("more", 4)
        for tp in a.partitions(["more"]):
            a.produce("more", tp.partition, [b"one"])
        simulation.run_for(span_s=10)
        assert all(len(isr(a, tp)) == 3 and read_number(a, 1, tp) == 0 for tp in a.partitions(["more"]))


def test_a_mirrored_partition_continues_at_another_broker() -> None:
    with (
        Simulation(seed=6) as simulation,
        Cluster(simulation, "a", brokers=1) as a,
        Cluster(simulation, "b", log_dirs=2, configs=MIN_ISR) as b,
    ):
        a.create_topic("orders", 6)
        mirror = Mirror("m", source=a, destination=b)
        mirror.create()
        mirror.add_topics(["orders"])
        simulation.run_for(span_s=10)
        lost = lying_in(b, 1, 1, "orders", led=True) or lying_in(b, 1, 1, "orders", led=False)
        b.fail_log_dir(1, 1)
        tps = a.partitions(["orders"])
        for tp in tps:
            a.produce("orders", tp.partition, [b"one", b"two"])
        simulation.run_for(span_s=20)
        assert lost and all(1 not in isr(b, tp) for tp in lost)
        assert all(values(b, tp) == [b"one", b"two"] for tp in tps)


def test_the_same_seed_is_the_same_run() -> None:
    digests = []
    for _ in range(2):
        with Simulation(seed=7) as simulation, Cluster(simulation, "a", log_dirs=2) as a:
            a.create_topic("orders", 4)
            a.fail_log_dir(1, 1)
            for tp in a.partitions(["orders"]):
                a.produce("orders", tp.partition, [b"one"])
            simulation.run_for(span_s=5)
            digests.append(simulation.digest)
    assert digests[0] == digests[1]
