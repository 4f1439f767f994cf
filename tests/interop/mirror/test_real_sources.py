"""Mirrors from brokers of Apache Kafka over TCP: the same bytes, through a killed leader, a failover and a failback.

The source is a cluster of three brokers of each release that KIP-1279 mirrors from; real clients write. Each partition
of the destination is compared with the source's own folder, up to the last stable offset.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from kmirror.net.cluster import TcpCluster
from kmirror.testing.pairs import MirrorPair
from tests.interop.mirror.brokers import RealCluster
from tests.interop.mirror.destination import Mirrored
from tests.interop.mirror.folders import assert_equal, logs
from tests.interop.mirror.source import QUIET, Source, write
from tests.interop.mirror.waiting import WITHIN_S, wait_for

BATCHES_MIN = 25
OURS = {"offsets.topic.num.partitions": "1", "transaction.state.log.num.partitions": "1"}


@pytest.mark.parametrize(("release", "brokers"), [("2.1.1", 3), ("3.9.1", 1), ("4.3.1", 3)])
def test_a_release_of_kafka_is_mirrored(
    release: str, brokers: int, class_path_of: Callable[[str], str], tmp_path: Path
) -> None:
    ours: dict[str, Any] = {"brokers": brokers, "configs": OURS, "mirror_version": 1}
    with (
        RealCluster(release, class_path_of(release), tmp_path / "kafka", brokers=brokers) as kafka,
        TcpCluster(name="b", data=tmp_path / "b", **ours) as b,
    ):
        source = Source(kafka)
        topics = source.create_topics()
        source.write_everything("before")
        source.clean_and_delete()
        mirror = Mirrored(kafka.bootstrap_servers, b)
        mirror.add(topics)
        mirror.catch_up()

        kafka.kill()
        if brokers > 1:
            wait_for(lambda: not source.leads(kafka.killable), "new leaders")
            source.write_everything("without a broker")
            mirror.catch_up()
        kafka.restart()
        wait_for(lambda: source.leads(kafka.killable), "the former leader")
        source.write_everything("with it again")
        source.transaction("open", ends="")
        source.transaction("behind it", ends="commit")
        mirror.catch_up()
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
