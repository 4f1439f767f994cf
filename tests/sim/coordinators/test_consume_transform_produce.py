"""Consume, transform, produce: outputs are exactly once, for any deaths of brokers and producers."""

from __future__ import annotations

import pytest

from kmirror.errors import KafkaError
from kmirror.kernel.rng import Rng
from kmirror.sim.producer import Producer
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import IsolationLevel
from tests.sim.coordinators.offset_requests import OTHER, OffsetRequests, Unanswered, running
from tests.sim.stage import TP, records

COUNT = 24
FAULTS = 8
EVERY_S = 4


def refuse(error: ErrorCode) -> None:
    if error:
        raise KafkaError(error, error.text)


def move_some(requests: OffsetRequests, rng: Rng) -> bool:
    """Run a new instance of the application for a few records; return whether all are handled."""
    cluster = requests.cluster
    producer = Producer(cluster, transactional_id="t")  # Ends the transaction of the instance before.
    for _ in range(4):
        found = requests.get(stable=True)
        refuse(found.error)
        begin = max(0, found.offset)
        if begin >= COUNT:
            return True
        end = min(COUNT, begin + 1 + rng.below(2))
        source = cluster.read(TP)[begin:end]
        producer.begin_transaction()
        producer.send(records(*((one.value or b"").decode() for one in source), tp=OTHER))
        refuse(requests.add_to(producer))
        refuse(requests.commit_in(producer, end))
        if rng.below(4) == 0:
            producer.abort_transaction()
        else:
            producer.commit_transaction()
        if rng.below(4) == 0:
            return False
    return False


@pytest.mark.parametrize("seed", range(6))
def test_every_record_is_output_once(seed: int) -> None:
    rng = Rng(seed)
    requests = running(**{"transaction.state.log.num.partitions": "3", "offsets.topic.num.partitions": "3"})
    cluster = requests.cluster
    values = [f"v{number}" for number in range(COUNT)]
    for value in values:
        cluster.write(value)
    cluster.simulation.line(cluster, cluster).set(latency_ms=30)  # So that there are transactions to interrupt.
    begin_s = cluster.simulation.elapsed_s
    struck = 0

    def strike() -> None:
        nonlocal struck
        if len(cluster.living()) == 3:
            victim = cluster.living()[rng.below(3)]
            cluster.kill(victim)
            cluster.simulation.at(cluster.simulation.elapsed_s + 1 + rng.below(3), lambda: cluster.restart(victim))
            struck += not is_done

    for number in range(FAULTS):
        cluster.simulation.at(begin_s + EVERY_S * (number + rng.below(100) / 100), strike)
    is_done = False
    for _ in range(300):
        try:
            is_done = move_some(requests, rng)
            if is_done:
                break
        except (KafkaError, Unanswered):  # The next instance continues.
            cluster.simulation.run_for(span_s=0.5)
    assert is_done and struck > 1
    cluster.simulation.run_for(span_s=EVERY_S * FAULTS)
    cluster.simulation.run_until(lambda: len(cluster.living()) == 3, what="all brokers")
    cluster.simulation.run_for(span_s=5)
    found = cluster.read(OTHER, isolation=IsolationLevel.READ_COMMITTED)
    assert [(record.value or b"").decode() for record in found] == values
