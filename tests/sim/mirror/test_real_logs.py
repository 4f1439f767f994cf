"""The sample that Apache Kafka wrote, mirrored: gaps, log starts, codecs, epochs and transactions are unchanged."""

from __future__ import annotations

import pytest

from kmirror.kernel.ids import TopicPartition
from kmirror.logdir.load import read_sample
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kmirror.protocol.gen.fetch_response import FetchResponse
from kmirror.protocol.gen.metadata_request import MetadataRequest
from kmirror.protocol.gen.metadata_response import MetadataResponse
from kmirror.records.batch import iter_batches
from tests.sim.stage import Pair, assert_equal, pair, wait_until_stopped

SAMPLE = read_sample()
TOPICS = sorted({tp.topic for tp in SAMPLE.partitions})


def sample_pair(seed: int = 0) -> Pair:
    p = pair(seed, logs=SAMPLE)
    p.begin(TOPICS)
    return p


@pytest.mark.decision("D12")
def test_the_sample_arrives_as_it_was_written() -> None:
    p = sample_pair()
    assert_equal(p.there, TOPICS)
    for tp, files in SAMPLE.partitions.items():
        written = [
            batch.view.tobytes()
            for base in sorted(files.segments)
            for batch in iter_batches(files.segments[base])
            if batch.last_offset >= files.log_start_offset
        ]
        log = p.b.log(tp)
        stable = p.a.log(tp).last_stable_offset
        expected = [data for data in written if int.from_bytes(data[:8], "big") < stable]
        assert [batch.view.tobytes() for batch in log.batches()] == expected, f"{tp} as Kafka wrote it"
        assert log.log_start_offset == files.log_start_offset
        assert log.log_end_offset == stable


@pytest.mark.decision("D12")
def test_the_sample_has_gaps_log_starts_and_all_codecs() -> None:
    gaps = starts = 0
    codecs: dict[int, None] = {}
    for files in SAMPLE.partitions.values():
        starts += files.log_start_offset > 0
        next_offset = None
        for base in sorted(files.segments):
            for batch in iter_batches(files.segments[base]):
                codecs[batch.compression] = None
                gaps += next_offset is not None and batch.base_offset != next_offset
                next_offset = batch.last_offset + 1
    assert gaps >= 10 and starts >= 3 and sorted(codecs) == [0, 1, 2, 3, 4]


@pytest.mark.decision("D14")
@pytest.mark.decision("D12")
def test_consumers_never_see_a_batch_epoch_above_the_metadata() -> None:
    """A consumer that saw an epoch above the leader epoch in its metadata waits for ever."""
    p = sample_pair()

    def check() -> None:
        endpoint = p.b.endpoints()[0]
        reply = p.b.client.call(endpoint, MetadataRequest(topics=None), 12)
        assert isinstance(reply, MetadataResponse)
        known = {
            TopicPartition(topic.name or "", row.partition_index): row.leader_epoch
            for topic in reply.topics
            for row in topic.partitions
        }
        for tp in SAMPLE.partitions:
            epochs = consumer_epochs(p, tp)
            assert all(epoch <= known[tp] for epoch in epochs), f"{tp}: {epochs} above {known[tp]}"

    check()
    victim = p.b.await_leader(TopicPartition("epochs", 0)).broker_id
    p.b.kill(victim)
    p.simulation.run_for(span_s=10)
    p.b.restart(victim)
    assert_equal(p.there, TOPICS)
    check()
    p.simulation.line(p.a, p.b).take_down()
    p.there.remove_topics(TOPICS)
    wait_until_stopped(p.there, TOPICS)
    for tp in p.b.partitions(TOPICS):
        p.b.write("after", tp=tp)
    check()


def consumer_epochs(p: Pair, tp: TopicPartition) -> list[int]:
    """Return the leader epochs of the batches that a consumer fetches from B."""
    log = p.b.log(tp)
    wanted = FetchPartition(partition=tp.partition, fetch_offset=log.log_start_offset, partition_max_bytes=1 << 20)
    topic = FetchTopic(topic_id=p.b.image.topics[tp.topic].topic_id, partitions=[wanted])
    request = FetchRequest(max_bytes=1 << 20, session_epoch=-1, topics=[topic])
    reply = p.b.client.call(p.b.endpoint(p.b.await_leader(tp).broker_id), request, 17)
    assert isinstance(reply, FetchResponse) and not reply.responses[0].partitions[0].error_code
    return [batch.partition_leader_epoch for batch in iter_batches(reply.responses[0].partitions[0].records or b"")]


@pytest.mark.decision("D10")
def test_the_sample_fails_over_and_back_with_every_replica_equal() -> None:
    p = sample_pair(4)
    p.simulation.line(p.a, p.b).take_down()
    tps = p.a.partitions(TOPICS)
    for tp in tps[::3]:
        p.a.write("lost", tp=tp)
    p.there.remove_topics(TOPICS)
    wait_until_stopped(p.there, TOPICS)
    for tp in tps[::2]:
        p.b.write("kept", tp=tp)
    p.simulation.line(p.a, p.b).bring_up()
    p.fail_back(TOPICS)
    assert_equal(p.back, TOPICS)
