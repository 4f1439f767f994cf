"""Mirrors from brokers of Apache Kafka over TCP: the same bytes, after a killed leader, a failover and a failback.

The source is a cluster of three brokers of each release that KIP-1279 mirrors from, written to by Kafka's clients. Each
partition of the destination is compared with the source's own folder, up to the last stable offset.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from kmirror.kernel.ids import TopicPartition
from kmirror.net.cluster import TcpCluster
from kmirror.testing.pairs import MirrorPair
from tests.interop.mirror.brokers import RealCluster
from tests.interop.mirror.destination import Mirrored
from tests.interop.mirror.folders import assert_equal, logs
from tests.interop.mirror.source import QUIET, Source, write
from tests.interop.mirror.waiting import WITHIN_S, wait_for

BATCHES_MIN = 25
OURS = {
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
    "mirror.metadata.refresh.interval.ms": "500",
    "log.cleaner.backoff.ms": "600000",  # After the failover each replica is cleaned independently: they would differ.
}
GROUPS = [f"group-{number}" for number in range(6)]


def wait_for_groups(cluster: TcpCluster, offset: int, groups: Sequence[str] = GROUPS) -> None:
    """Wait until each group has committed this offset here."""
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0})

    def has_all() -> bool:
        asked = [admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)]) for group in groups]
        told = [done.result(WITHIN_S).topic_partitions for found in asked for done in found.values()]
        return all(rows and rows[0].offset == offset for rows in told)

    wait_for(has_all, f"offset {offset} of all groups")


@pytest.mark.parametrize("release", ["2.1.1", "3.9.1", "4.3.1"])
def test_a_release_of_kafka_is_mirrored(release: str, class_path_of: Callable[[str], str], tmp_path: Path) -> None:
    ours: dict[str, Any] = {"brokers": 3, "configs": OURS, "mirror_version": 1}
    with (
        RealCluster(release, class_path_of(release), tmp_path / "kafka", brokers=3) as kafka,
        TcpCluster(name="b", data=tmp_path / "b", **ours) as b,
    ):
        source = Source(kafka)
        topics = source.create_topics()
        source.write_everything("before")
        source.clean_and_delete()
        source.commit(GROUPS, 1)
        moving = source.coordinated_by(kafka.killable, GROUPS)
        assert moving
        mirror = Mirrored(kafka.bootstrap_servers, b)
        mirror.add(topics)
        mirror.catch_up()
        wait_for_groups(b, 1)

        kafka.kill()
        wait_for(lambda: not source.leads(kafka.killable), "new leaders")
        source.write_everything("without a broker")
        source.commit(GROUPS, 2)
        assert not source.coordinated_by(kafka.killable, moving)
        mirror.catch_up()
        wait_for_groups(b, 2)
        kafka.restart()
        wait_for(lambda: source.leads(kafka.killable), "the former leader")
        source.write_everything("with it again")
        wait_for(lambda: source.coordinated_by(kafka.killable, GROUPS) == moving, "the former coordinator")
        source.commit(GROUPS, 3)
        source.transaction("open", ends="")
        source.transaction("behind it", ends="commit")
        mirror.catch_up()
        wait_for_groups(b, 3)
        for broker_id in b.broker_ids:
            assert assert_equal(kafka.logs(1), logs(tmp_path / "b", b, broker_id), topics) > BATCHES_MIN

        mirror.fail_over()
        other = Producer({"bootstrap.servers": b.bootstrap_servers, **QUIET})
        failed = write(other, "codecs", [(n % 3, f"after {n}") for n in range(30)])
        assert other.flush(WITHIN_S) == 0 and not failed, failed
        assert not b.failures
        with TcpCluster(name="c", data=tmp_path / "c", **ours) as c:
            pair = MirrorPair(b, c, "back")
            pair.add_topics(*topics)
            pair.catch_up()
            pair.fail_over()
            for broker_id in c.broker_ids:
                left, right = logs(tmp_path / "b", b, broker_id), logs(tmp_path / "c", c, broker_id)
                assert assert_equal(left, right, topics) > BATCHES_MIN
            assert not b.failures and not c.failures


@pytest.mark.decision("D17")
def test_a_group_of_the_consumer_protocol_brings_its_offsets(
    class_path_of: Callable[[str], str], tmp_path: Path
) -> None:
    """While its member is alive at the source; a group of this cluster takes them over as those of a simple group."""
    with (
        RealCluster("4.3.1", class_path_of("4.3.1"), tmp_path / "kafka", brokers=1) as kafka,
        TcpCluster(name="b", brokers=1, configs=OURS, mirror_version=1) as b,
    ):
        source = Source(kafka)
        source.create(NewTopic("new", 1, 1))
        source.produce("new", [(0, f"value {n}") for n in range(10)])
        configs = {"group.id": GROUPS[0], "auto.offset.reset": "earliest", "log_level": 0}
        member = Consumer({**configs, "bootstrap.servers": kafka.bootstrap_servers, "group.protocol": "consumer"})
        member.subscribe(["new"])
        read = [message for _ in range(4) for message in member.consume(1, WITHIN_S)]
        member.commit(read[-1], asynchronous=False)
        mirror = Mirrored(kafka.bootstrap_servers, b)
        mirror.add(["new"])
        mirror.catch_up()
        wait_for_groups(b, 4, GROUPS[:1])
        member.close()
        mirror.fail_over()
        other = Consumer({**configs, "bootstrap.servers": b.bootstrap_servers, "group.protocol": "classic"})
        other.subscribe(["new"])
        assert [message.value() for message in other.consume(1, WITHIN_S)] == [b"value 4"]
        other.close()
        assert not b.failures


@pytest.mark.decision("D12")
@pytest.mark.parametrize("release", ["2.1.1", "4.3.1"])
def test_an_unclean_election_at_the_source_is_followed(
    release: str, class_path_of: Callable[[str], str], tmp_path: Path
) -> None:
    """The only ISR member dies, and an old replica is elected: records that it lacks are removed here as well."""
    topic, tp = "unclean", TopicPartition("unclean", 0)
    with (
        RealCluster(release, class_path_of(release), tmp_path / "kafka", brokers=3, alone=(2, 3)) as kafka,
        TcpCluster(name="b", data=tmp_path / "b", brokers=3, configs=OURS, mirror_version=1) as b,
    ):
        source = Source(kafka)
        source.create(
            NewTopic(topic, 1, replica_assignment=[[2, 3]], config={"unclean.leader.election.enable": "true"})
        )
        source.produce(topic, [(0, f"kept {n}") for n in range(10)])
        mirror = Mirrored(kafka.bootstrap_servers, b)
        mirror.add([topic])
        mirror.catch_up()
        kafka.kill(3)
        wait_for(lambda: source.partition(topic).isrs == [2], "an ISR of one")
        source.produce(topic, [(0, f"lost {n}") for n in range(10)])
        mirror.catch_up()
        assert len(b.read(tp)) == 20
        kafka.kill(2)
        kafka.restart(3)
        wait_for(lambda: source.partition(topic).leader == 3, "an unclean election")
        source.produce(topic, [(0, f"new {n}") for n in range(5)])
        wanted = [b"kept %d" % n for n in range(10)] + [b"new %d" % n for n in range(5)]
        wait_for(lambda: [row.value for row in b.read(tp)] == wanted, "the source's log")
        kafka.restart(2)
        wait_for(lambda: sorted(source.partition(topic).isrs) == [2, 3], "the former leader")
        source.produce(topic, [(0, "last")])
        mirror.catch_up()
        for broker_id in b.broker_ids:
            for other in (2, 3):
                assert assert_equal(kafka.logs(other), logs(tmp_path / "b", b, broker_id), [topic], until_lso=False)
        assert not b.failures
