"""A broker started on the folder of a simulated one serves the simulation's contents, and accepts writes."""

from __future__ import annotations

from pathlib import Path

import pytest

import kmirror
from kmirror.kernel.ids import TopicPartition
from tests.folder_checks import assert_verified
from tests.interop.log.judge import Judge
from tests.interop.log.restarts import ISOLATIONS, LEVELS, read_by_us

CONFIGS = {"transaction.state.log.num.partitions": "1"}
ORDERS = TopicPartition("orders", 0)
# The sample's producers are as old as the sample, and a broker would expire them.
KEEPS_PRODUCERS = {"producer.id.expiration.ms": str(2**31 - 1)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a broker that mirrored the sample, failed over, and has had a transaction since."""
    with kmirror.Simulation(seed=5) as simulation:
        a = kmirror.Cluster(simulation, "a", logs=kmirror.read_sample())
        b = kmirror.Cluster(simulation, "b", configs=CONFIGS)
        a.start()
        b.start()
        mirror = kmirror.Mirror("dr", source=a, destination=b)
        mirror.create()
        mirror.add_topics(["txn", "idem", "codecs", "compacted"])
        mirror.catch_up()
        mirror.fail_over()
        b.create_topic("orders")
        producer = kmirror.Producer(b, transactional_id="till")
        for value, commits in ((b"kept", True), (b"dropped", False), (b"kept too", True)):
            producer.begin_transaction()
            producer.send({ORDERS: [kmirror.RecordData(b"key", value)]})
            (producer.commit_transaction if commits else producer.abort_transaction)()
        simulation.run_for(span_s=1)
        return kmirror.write_log_dirs(b.files(), tmp_path_factory.mktemp("exported") / "b")[1]


def partitions(folder: Path) -> list[TopicPartition]:
    names = [path.name.rpartition("-") for path in folder.iterdir() if path.is_dir()]
    return sorted(TopicPartition(topic, int(index)) for topic, _, index in names if not topic.startswith("__"))


def test_kafka_s_dump_tool_reads_every_segment(folder: Path, judge: Judge) -> None:
    segments = sorted(str(path) for path in folder.glob("*/*.log"))
    told = judge.dump("--files", ",".join(segments))
    assert told.count("Dumping ") == len(segments)
    assert "isvalid: false" not in told and "isvalid: true" in told


def test_a_broker_serves_the_folder_and_leaves_it_valid(folder: Path, judge: Judge) -> None:
    known = partitions(folder)
    expected = {i: {str(tp): read_by_us(folder, tp, i) for tp in known} for i in ISOLATIONS}
    assert [row["offset"] for row in expected["read_committed"][str(ORDERS)]] == [0, 4]
    judge.start(folder, known, **KEEPS_PRODUCERS)
    for isolation in ISOLATIONS:
        assert judge.about("read", isolation=isolation) == expected[isolation]
    config = {"transactional.id": "till"}
    words = {"partitions": [("orders", 0), ("txn", 1)], "end": "commit", "config": config}
    assert len(judge.ask("produce", values=["from Kafka", "as well"], **words)) > 0
    told = [line for line in judge.stop() if line.startswith(LEVELS) and str(folder) in line]
    assert told == []
    assert_verified(folder)
