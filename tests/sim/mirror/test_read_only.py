"""A mirrored topic is read-only from the moment its config is set until it is STOPPED (D7)."""

from __future__ import annotations

import pytest

from kmirror.errors import KafkaError
from kmirror.kernel.ids import TopicPartition
from kmirror.protocol.gen.config_record import ConfigRecord
from kmirror.sim.producer import Producer
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import ResourceType
from tests.sim.stage import TOPIC, TP, StagedCluster, WrittenLogs, pair, plain, records

LOGS = {TOPIC: [plain(0, 0, "r0", "r1")]}


def set_mirror_name(cluster: StagedCluster, value: str) -> None:
    """Write `mirror.name` like the mirror APIs."""
    record = ConfigRecord(resource_type=ResourceType.TOPIC, resource_name=TOPIC, name="mirror.name", value=value)
    controller = cluster.controller
    controller.commit(cluster.simulation.world.now, [record])
    cluster.simulation.run_for(span_s=1)


@pytest.mark.decision("D7")
def test_produce_is_refused_while_mirroring_and_accepted_when_stopped() -> None:
    p = pair(logs=WrittenLogs(LOGS))
    p.begin()
    assert p.b.try_write() is ErrorCode.READ_ONLY_TOPIC
    with pytest.raises(KafkaError, match="READ_ONLY_TOPIC"):
        p.b.write("x")
    p.fail_over()
    assert p.b.write("x") == 3
    assert p.a.try_write() is ErrorCode.NONE, "the source was never read-only"


@pytest.mark.decision("D7")
def test_produce_is_refused_before_any_state_is_known() -> None:
    """The topic exists at B, but its mirror's source does not respond, so no state was ever written."""
    p = pair(b_logs=WrittenLogs(LOGS))
    assert p.b.try_write() is ErrorCode.NONE
    set_mirror_name(p.b, "m")
    assert p.b.state() == "UNKNOWN", "__mirror_state is created to look, and has nothing"
    assert p.b.try_write() is ErrorCode.READ_ONLY_TOPIC


@pytest.mark.decision("D7")
def test_produce_is_refused_while_preparing_and_stopping() -> None:
    p = pair(logs=WrittenLogs(LOGS))
    seen: dict[str, ErrorCode] = {}

    def probe(state: str) -> None:
        p.run_until(lambda: p.b.state() == state, state)
        partition = p.b.await_leader()
        error = p.b.broker(partition.broker_id).parts.components.produce_error(TP)
        seen[state] = ErrorCode.NONE if error is None else error

    p.there.create()
    p.there.add_topics([TOPIC])
    for state in ("PREPARING", "MIRRORING"):
        probe(state)
    p.there.remove_topics([TOPIC])
    for state in ("STOPPING", "STOPPED"):
        probe(state)
    assert seen == {
        "PREPARING": ErrorCode.READ_ONLY_TOPIC,
        "MIRRORING": ErrorCode.READ_ONLY_TOPIC,
        "STOPPING": ErrorCode.READ_ONLY_TOPIC,
        "STOPPED": ErrorCode.NONE,
    }


@pytest.mark.decision("D7")
def test_a_paused_suffix_refuses_produce_until_mirroring_continues() -> None:
    p = pair(logs=WrittenLogs(LOGS))
    p.begin()
    set_mirror_name(p.b, "m.paused")
    p.run_until(lambda: p.b.state() == "PAUSED", "PAUSED")
    assert p.b.try_write() is ErrorCode.READ_ONLY_TOPIC
    p.a.write("while paused")
    p.hold(20, lambda: p.b.log().log_end_offset == 2, "nothing arrives while paused")
    p.b.elect()
    p.run_until(lambda: p.b.state() == "PAUSED", "PAUSED under the next leader")
    assert p.b.try_write() is ErrorCode.READ_ONLY_TOPIC
    set_mirror_name(p.b, "m")
    p.run_until(lambda: p.b.log().high_watermark == 3, "what was written while paused")
    assert p.cuts_of(p.b) == [], "a resumed partition is not cut"


@pytest.mark.decision("D7")
@pytest.mark.decision("D24")
def test_a_writable_topic_stays_writable_under_its_next_leader() -> None:
    p = pair(logs=WrittenLogs(LOGS))
    p.begin()
    p.fail_over()
    producer = Producer(p.b, idempotent=True)
    producer.send(records("before"))
    p.b.elect()
    producer.send(records("after"))  # Retried while the new leader reads the state; never READ_ONLY_TOPIC.
    assert p.b.log().log_end_offset == 5


@pytest.mark.decision("D7")
def test_a_source_side_topic_of_another_mirror_is_not_read_only() -> None:
    p = pair(logs=WrittenLogs({TOPIC: LOGS[TOPIC], "other": [plain(0, 0, "o")]}))
    p.b.place_topic("local")
    p.begin()
    local = type(TP)("local", 0)
    assert p.b.try_write(local) is ErrorCode.NONE


@pytest.mark.decision("D24")
def test_a_partition_added_after_the_failover_is_never_read_only() -> None:
    """Clients do not retry after READ_ONLY_TOPIC; the partition is STOPPED, without a session, a moment later."""
    p = pair(logs=WrittenLogs(LOGS))
    p.begin()
    p.fail_over()
    added = TopicPartition(TOPIC, 1)
    seen: list[ErrorCode | None] = []

    def note(_: int) -> None:
        leader = p.b.leader(added)
        if leader is not None:
            error = p.b.broker(leader.broker_id).parts.components.produce_error(added)
            if error not in seen:
                seen.append(error)

    p.simulation.world.after_event.append(note)
    assert p.b.grow(TOPIC, 2) is ErrorCode.NONE
    p.run_until(lambda: p.b.state(added) == "STOPPED", "the new partition to be writable")
    assert seen == [ErrorCode.NOT_LEADER_OR_FOLLOWER, None]
    assert p.b.try_write(added) is ErrorCode.NONE
