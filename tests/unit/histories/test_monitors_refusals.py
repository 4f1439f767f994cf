"""The rule of batches that a leader rejects as out of order, with kept and broken cases."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from kmirror.histories.monitors.refusals import RefusalMonitor
from kmirror.protocol.gen.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kmirror.protocol.gen.produce_response import PartitionProduceResponse, ProduceResponse, TopicProduceResponse
from kmirror.spec.error_codes import ErrorCode
from tests.builders import idempotent
from tests.unit.histories.monitors import TP, FakeScene, Link, answer, ask, broken_rules, rules_of
from tests.unit.log.partitions import follow, open_log

OUT_OF_ORDER = ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


@pytest.mark.parametrize(
    ("sequence", "count", "epoch", "error", "expected"),
    [
        (0, 2, 0, OUT_OF_ORDER, ["refused-written"]),
        (2, 1, 0, OUT_OF_ORDER, ["refused-written"]),
        (0, 2, 0, ErrorCode.NONE, []),
        (0, 2, 0, ErrorCode.DUPLICATE_SEQUENCE_NUMBER, []),
        (0, 1, 0, OUT_OF_ORDER, []),
        (0, 2, 1, OUT_OF_ORDER, []),
        (4, 1, 0, OUT_OF_ORDER, []),
    ],
)
def test_a_leader_does_not_refuse_a_batch_that_it_has(
    sequence: int, count: int, epoch: int, error: ErrorCode, expected: list[str]
) -> None:
    log = open_log()
    follow(log, idempotent(0, 2), idempotent(2, offset=2))
    replicas = SimpleNamespace(partitions=SimpleNamespace(find_led=lambda _: SimpleNamespace(log=log)))
    scene = FakeScene()
    broker = SimpleNamespace(parts=SimpleNamespace(replicas=replicas))
    scene.clusters["a"] = SimpleNamespace(broker=lambda _: broker, runs=lambda _: True)
    monitor = RefusalMonitor(scene, rules_of(scene))  # type: ignore[arg-type]
    rows = [PartitionProduceData(index=0, records=idempotent(sequence, count, producer_epoch=epoch))]
    request = ProduceRequest(acks=-1, timeout_ms=1, topic_data=[TopicProduceData(name=TP.topic, partition_data=rows)])
    row = PartitionProduceResponse(index=0, error_code=error, base_offset=-1)
    response = ProduceResponse(responses=[TopicProduceResponse(name=TP.topic, partition_responses=[row])])
    answer(monitor, ask(monitor, Link("p0@a"), request, version=9), response)
    assert broken_rules(scene) == expected
