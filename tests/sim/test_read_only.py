"""A mirrored topic is read-only from the moment its config is set until it is STOPPED (D7)."""

from __future__ import annotations

import pytest

from kmirror.errors import KafkaError
from kmirror.protocol.gen.config_record import ConfigRecord
from kmirror.sim.cluster import Cluster
from kmirror.sim.producer import Producer
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import ResourceType
from tests.sim.stage import (
    TOPIC,
    TP,
    WrittenLogs,
    create_topic,
    elect,
    hold,
    leader,
    log_of,
    pair,
    plain,
    records,
    run_until,
    state_of,
    try_write,
    write,
)

LOGS = {TOPIC: [plain(0, 0, "r0", "r1")]}


def set_mirror_name(cluster: Cluster, value: str) -> None:
    """Write `mirror.name` as the mirror APIs do."""
    record = ConfigRecord(resource_type=ResourceType.TOPIC, resource_name=TOPIC, name="mirror.name", value=value)
    controller = cluster.controller
    controller.commit(cluster.simulation.world.now, [record])
    cluster.simulation.run_for(1)


@pytest.mark.decision("D7")
def test_produce_is_refused_while_mirroring_and_accepted_when_stopped() -> None:
    p = pair(logs=WrittenLogs(LOGS))
    p.begin()
    assert try_write(p.b) is ErrorCode.READ_ONLY_TOPIC
    with pytest.raises(KafkaError, match="READ_ONLY_TOPIC"):
        write(p.b, "x")
    p.fail_over()
    assert write(p.b, "x") == 3
    assert try_write(p.a) is ErrorCode.NONE, "the source was never read-only"


@pytest.mark.decision("D7")
def test_produce_is_refused_before_any_state_is_known() -> None:
    """The topic exists at B, its mirror's source does not answer: no state was ever written."""
    p = pair(b_logs=WrittenLogs(LOGS))
    assert try_write(p.b) is ErrorCode.NONE
    set_mirror_name(p.b, "m")
    assert state_of(p.b) == "NONE"
    assert try_write(p.b) is ErrorCode.READ_ONLY_TOPIC


@pytest.mark.decision("D7")
def test_produce_is_refused_while_preparing_and_stopping() -> None:
    p = pair(logs=WrittenLogs(LOGS))
    seen: dict[str, ErrorCode] = {}

    def probe(state: str) -> None:
        run_until(p, lambda: state_of(p.b) == state, state)
        partition = leader(p.b)
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
def test_produce_is_refused_with_the_paused_suffix_and_mirroring_goes_on_without_loss_after_it() -> None:
    p = pair(logs=WrittenLogs(LOGS))
    p.begin()
    set_mirror_name(p.b, "m.paused")
    run_until(p, lambda: state_of(p.b) == "PAUSED", "PAUSED")
    assert try_write(p.b) is ErrorCode.READ_ONLY_TOPIC
    write(p.a, "while paused")
    hold(p, 20, lambda: log_of(p.b).log_end_offset == 2, "nothing arrives while paused")
    elect(p.b)
    run_until(p, lambda: state_of(p.b) == "PAUSED", "PAUSED under the next leader")
    assert try_write(p.b) is ErrorCode.READ_ONLY_TOPIC
    set_mirror_name(p.b, "m")
    run_until(p, lambda: log_of(p.b).high_watermark == 3, "what was written while paused")
    assert p.cuts_of(p.b) == [], "a resumed partition is not cut"


@pytest.mark.decision("D7")
@pytest.mark.decision("D24")
def test_a_writable_topic_stays_writable_under_its_next_leader() -> None:
    p = pair(logs=WrittenLogs(LOGS))
    p.begin()
    p.fail_over()
    producer = Producer(p.b, idempotent=True)
    producer.send(records("before"))
    elect(p.b)
    producer.send(records("after"))  # Retried while the new leader asks for the state; never READ_ONLY_TOPIC.
    assert log_of(p.b).log_end_offset == 5


@pytest.mark.decision("D7")
def test_a_source_side_topic_of_another_mirror_is_not_read_only() -> None:
    p = pair(logs=WrittenLogs({TOPIC: LOGS[TOPIC], "other": [plain(0, 0, "o")]}))
    create_topic(p.b, "local")
    p.begin()
    local = type(TP)("local", 0)
    assert try_write(p.b, local) is ErrorCode.NONE
