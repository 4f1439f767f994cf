"""DeleteRecords: followers, waits for them, and the result after a crash."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kmirror.kernel.events import Effect, Event, LinkClosed, OutboundLink, ResponseReceived, Send
from kmirror.kernel.ids import TopicPartition
from kmirror.mirror.state_records import NEVER_MIRRORED
from kmirror.protocol.gen.delete_records_request import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from kmirror.protocol.gen.delete_records_response import DeleteRecordsPartitionResult, DeleteRecordsResponse
from kmirror.protocol.headers import decode_response, encode_request
from kmirror.protocol.registry import key_of
from kmirror.sim.cluster import Cluster
from kmirror.sim.simulation import Simulation
from kmirror.spec.error_codes import ErrorCode
from tests.builders import marker
from tests.sim.cluster.random_requests import RawClient
from tests.sim.stage import (
    ONE_BATCH,
    SMALL,
    TOPIC,
    TP,
    WrittenLogs,
    assert_equal,
    pair,
    plain,
    transactional,
    values,
    wait_until_mirrored,
)

T = TopicPartition("t", 0)


def request(offset: int, topic: str = "t", timeout_ms: int = 60_000) -> DeleteRecordsRequest:
    rows = [DeleteRecordsPartition(partition_index=0, offset=offset)]
    return DeleteRecordsRequest(topics=[DeleteRecordsTopic(name=topic, partitions=rows)], timeout_ms=timeout_ms)


def row_of(answer: object) -> DeleteRecordsPartitionResult:
    assert isinstance(answer, DeleteRecordsResponse)
    return answer.topics[0].partitions[0]


class Later(RawClient):
    """Sends requests and does not wait for the response."""

    def begin(self, cluster: Cluster, broker_id: int, body: DeleteRecordsRequest) -> None:
        frame = encode_request(body, 2, correlation_id=7, client_id="raw")
        link = OutboundLink(cluster.endpoint(broker_id), "later")
        cluster.simulation.world.perform(self.NAME, [Send(link, (frame,))])
        self.answer: DeleteRecordsPartitionResult | None = None

    def handle(self, now: int, event: Event) -> list[Effect]:
        match event:
            case ResponseReceived(_, frame):
                self.answer = row_of(decode_response(frame, key_of(DeleteRecordsRequest), 2).body)
            case LinkClosed():
                raise AssertionError("closed")
            case _:
                pass
        return []


def leader_of(cluster: Cluster) -> int:
    found = cluster.leader(T)
    assert found is not None
    return found.broker_id


def starts(cluster: Cluster) -> list[int]:
    return [cluster.broker(one).parts.replicas.partitions[T].log.log_start_offset for one in cluster.living()]


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    made = Cluster(Simulation(3), "a", configs=SMALL)
    made.start()
    made.create_topic("t")
    made.produce("t", 0, [b"%d" % value for value in range(10)])
    made.simulation.run_until(made.is_settled, what="full ISRs")
    yield made


def test_the_response_waits_until_all_replicas_start_there(cluster: Cluster) -> None:
    leader = leader_of(cluster)
    row = row_of(RawClient(cluster).ask(cluster.endpoint(leader), request(4), 2))
    assert (row.error_code, row.low_watermark) == (0, 4)
    assert starts(cluster) == [4, 4, 4]


def test_minus_one_is_all_that_is_committed(cluster: Cluster) -> None:
    leader = leader_of(cluster)
    row = row_of(RawClient(cluster).ask(cluster.endpoint(leader), request(-1), 2))
    assert (row.error_code, row.low_watermark) == (0, 10)
    assert starts(cluster) == [10, 10, 10]


def test_a_follower_does_not_delete(cluster: Cluster) -> None:
    follower = next(one for one in cluster.living() if one != leader_of(cluster))
    row = row_of(RawClient(cluster).ask(cluster.endpoint(follower), request(4), 2))
    assert (row.error_code, row.low_watermark) == (ErrorCode.NOT_LEADER_OR_FOLLOWER, -1)
    assert starts(cluster) == [0, 0, 0]


def test_a_disconnected_follower_is_waited_for_until_it_is_fenced(cluster: Cluster) -> None:
    leader = leader_of(cluster)
    victim = next(one for one in cluster.living() if one != leader)
    cluster.kill(victim)
    client = Later(cluster)
    client.begin(cluster, leader, request(4))
    cluster.simulation.run_for(span_s=2)
    assert client.answer is None, "its session has not ended"
    assert cluster.broker(leader).parts.replicas.partitions[T].log.log_start_offset == 4
    cluster.simulation.run_until(lambda: client.answer is not None, what="an answer")
    assert not cluster.image.brokers.is_alive(victim)
    assert client.answer is not None
    assert (client.answer.error_code, client.answer.low_watermark) == (0, 4)
    cluster.restart(victim)
    cluster.simulation.run_until(cluster.is_settled, what="full ISRs")
    assert starts(cluster) == [4, 4, 4]


def test_a_timeout_is_reported_although_the_records_are_deleted(cluster: Cluster) -> None:
    leader = leader_of(cluster)
    cluster.kill(next(one for one in cluster.living() if one != leader))
    row = row_of(RawClient(cluster).ask(cluster.endpoint(leader), request(4, timeout_ms=500), 2))
    assert (row.error_code, row.low_watermark) == (ErrorCode.REQUEST_TIMED_OUT, 0)
    assert cluster.broker(leader).parts.replicas.partitions[T].log.log_start_offset == 4


def test_a_deposed_leader_returns_an_error(cluster: Cluster) -> None:
    leader = leader_of(cluster)
    cluster.kill(next(one for one in cluster.living() if one != leader))
    line = cluster.simulation.line(f"a-{leader}", "a-controller")
    line.take_down()
    client = Later(cluster)
    client.begin(cluster, leader, request(4))
    cluster.simulation.run_until(
        lambda: cluster.image.topics.partition(T).leader not in (leader, -1),  # type: ignore[union-attr]
        what="another leader",
    )
    assert client.answer is None, "it does not know yet"
    line.bring_up()
    cluster.simulation.run_until(lambda: client.answer is not None, what="an answer")
    assert client.answer is not None
    assert (client.answer.error_code, client.answer.low_watermark) == (ErrorCode.NOT_LEADER_OR_FOLLOWER, -1)


def test_deleted_records_stay_deleted_after_a_crash(cluster: Cluster) -> None:
    row_of(RawClient(cluster).ask(cluster.endpoint(leader_of(cluster)), request(4), 2))
    cluster.simulation.run_for(span_s=6)  # Longer than the checkpoint interval.
    for one in cluster.broker_ids:
        cluster.kill(one)
    for one in cluster.broker_ids:
        cluster.restart(one)
    cluster.simulation.run_until(cluster.is_settled, what="full ISRs")
    assert starts(cluster) == [4, 4, 4]


@pytest.mark.decision("D7")
def test_records_of_a_mirrored_partition_are_the_sources_to_delete() -> None:
    made = pair()
    made.a.create_topic(TOPIC)
    made.a.produce(TOPIC, 0, [b"x"])
    made.a.settle()
    made.begin()
    leader = made.b.leader(TP)
    assert leader is not None
    client, endpoint = RawClient(made.b), made.b.endpoint(leader.broker_id)
    row = row_of(client.ask(endpoint, request(1, TOPIC), 2))
    assert (row.error_code, row.low_watermark) == (ErrorCode.READ_ONLY_TOPIC, -1)
    made.fail_over()
    row = row_of(client.ask(endpoint, request(1, TOPIC), 2))
    assert (row.error_code, row.low_watermark) == (0, 1)


@pytest.mark.parametrize("flush_messages", ["1", "5"])
def test_a_copy_that_begins_above_offset_0_gets_to_followers_that_flush(flush_messages: str) -> None:
    """Their log is empty there: nothing below its start waits to be flushed."""
    made = pair(b_configs={"log.flush.interval.messages": flush_messages})
    made.a.create_topic(TOPIC)
    made.a.produce(TOPIC, 0, [b"%d" % value for value in range(12)])
    made.a.settle()
    leader = made.a.leader(TP)
    assert leader is not None
    row = row_of(RawClient(made.a).ask(made.a.endpoint(leader.broker_id), request(10, TOPIC), 2))
    assert (row.error_code, row.low_watermark) == (0, 10)
    made.begin()
    wait_until_mirrored(made.there)
    assert_equal(made.there)


@pytest.mark.decision("D23")
def test_a_failback_knows_where_logs_part_that_deletion_had_emptied() -> None:
    made = pair()
    made.a.create_topic(TOPIC)
    made.a.produce(TOPIC, 0, [b"%d" % value for value in range(4)])
    made.a.settle()
    made.begin()
    wait_until_mirrored(made.there)
    made.a.settle()
    leader = made.a.leader(TP)
    assert leader is not None
    row = row_of(RawClient(made.a).ask(made.a.endpoint(leader.broker_id), request(4, TOPIC), 2))
    assert row.low_watermark == 4
    made.run_until(lambda: made.b.log().log_start_offset == 4, "the log start to be taken over")
    made.simulation.line(made.a, made.b).take_down()
    made.a.write("late")
    made.fail_over()
    made.b.write("next")
    made.simulation.line(made.a, made.b).bring_up()
    made.back.create()
    made.back.add_topics([TOPIC])
    wait_until_mirrored(made.back)
    assert_equal(made.back)
    assert [value for _, value in values(made.a.log())] == ["next"]


@pytest.mark.decision("D15")
@pytest.mark.decision("D23")
@pytest.mark.parametrize("start", [0, 1, 3])
def test_a_stop_truncates_a_transaction_that_began_below_the_log_start(start: int) -> None:
    """Otherwise the log would begin lower than before. Truncated records do not count as mirrored."""
    first = [plain(0, 0, "r0")] if start else []
    begins = len(first)
    rest = [transactional(begins + n, 0, 4001, f"x{n}", sequence=n) for n in range(60)]
    made = pair(logs=WrittenLogs({TOPIC: [*first, *rest, marker(offset=begins + 60, epoch=0, pid=4001, commit=True)]}),
                b_configs=ONE_BATCH)  # fmt: skip
    made.there.create()
    made.there.add_topics([TOPIC])
    made.run_until(lambda: made.b.leader(TP) is not None and made.b.log().high_watermark >= 4, "its first records")
    if start:
        leader = made.a.leader(TP)
        assert leader is not None
        row = row_of(RawClient(made.a).ask(made.a.endpoint(leader.broker_id), request(start, TOPIC), 2))
        assert row.low_watermark == start
        made.run_until(lambda: made.b.log().log_start_offset == start, "the log start to be taken over")
    made.simulation.line(made.a, made.b).take_down()
    log = made.b.log()
    assert list(log.producers.ongoing) == [begins] and log.last_stable_offset == start < log.log_end_offset
    made.fail_over()
    assert [offset for offset, _ in made.cuts_of(made.b)] == [start]
    assert made.b.log().log_start_offset == start
    assert made.b.persisted().last_mirrored_epoch == NEVER_MIRRORED
