"""The rules of idempotent producers, each with a kept and a broken case."""

from __future__ import annotations

import pytest

from kmirror.histories.group_account import LostTransactions
from kmirror.histories.monitors.frames import PendingRequest
from kmirror.histories.monitors.producers import ProducerMonitor
from kmirror.protocol.gen.init_producer_id_request import InitProducerIdRequest
from kmirror.protocol.gen.init_producer_id_response import InitProducerIdResponse
from kmirror.protocol.gen.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kmirror.protocol.gen.produce_response import PartitionProduceResponse, ProduceResponse, TopicProduceResponse
from kmirror.records.build import build_batch
from kmirror.records.record import RecordData
from kmirror.spec.error_codes import ErrorCode
from tests.unit.histories.monitors import FakeScene, Link, answer, ask, broken_rules, rules_of


class Stage:
    """One producer that sends to two brokers."""

    def __init__(self) -> None:
        self.scene = FakeScene({"p0": "library", "p1": "idempotent"})
        self.monitor = ProducerMonitor(self.scene, rules_of(self.scene))  # type: ignore[arg-type]
        self.links = [Link("p0@a", "a-1"), Link("p0@a", "a-2")]

    def send(self, values: str, sequence: int, *, epoch: int = 0, to: int = 0) -> PendingRequest:
        """Deliver a batch, with one record for each letter."""
        records = [RecordData(key=None, value=value.encode()) for value in values]
        batch = build_batch(records, producer_id=7, producer_epoch=epoch, base_sequence=sequence)
        rows = [TopicProduceData(name="t0", partition_data=[PartitionProduceData(index=0, records=batch)])]
        return ask(self.monitor, self.links[to], ProduceRequest(acks=-1, timeout_ms=1, topic_data=rows), version=9)

    def answer(self, pending: PendingRequest, error: ErrorCode = ErrorCode.NONE) -> None:
        """Answer the batch of a request."""
        row = PartitionProduceResponse(index=0, error_code=error, base_offset=0)
        answer(
            self.monitor,
            pending,
            ProduceResponse(responses=[TopicProduceResponse(name="t0", partition_responses=[row])]),
        )

    def get_epoch(self, epoch: int, *, at: int) -> None:
        """Let the coordinator return an epoch."""
        self.scene.now = at
        pending = ask(self.monitor, self.links[0], InitProducerIdRequest("t", 1), version=5)
        answer(self.monitor, pending, InitProducerIdResponse(producer_id=7, producer_epoch=epoch))

    @property
    def broken(self) -> list[str]:
        """The broken rules."""
        return broken_rules(self.scene)


@pytest.fixture
def stage() -> Stage:
    return Stage()


def test_only_library_clients_are_checked(stage: Stage) -> None:
    assert stage.monitor.judges(Link("p0@a"))  # type: ignore[arg-type]
    assert not stage.monitor.judges(Link("p1@a"))  # type: ignore[arg-type]


def test_retries_and_the_batches_behind_them_break_no_rule(stage: Stage) -> None:
    first, second = stage.send("ab", 0), stage.send("c", 2)
    stage.answer(first, ErrorCode.NOT_LEADER_OR_FOLLOWER)
    stage.answer(second, ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER)
    stage.answer(stage.send("ab", 0, to=1))
    stage.answer(stage.send("c", 2, to=1))
    stage.answer(stage.send("c", 0, epoch=1, to=1))
    assert stage.broken == []


def test_a_batch_keeps_its_number(stage: Stage) -> None:
    stage.answer(stage.send("ab", 0), ErrorCode.NOT_ENOUGH_REPLICAS)
    stage.send("ab", 2)
    assert stage.broken == ["producer-renumbered"]


def test_a_number_is_that_of_one_batch(stage: Stage) -> None:
    stage.answer(stage.send("ab", 0), ErrorCode.NOT_ENOUGH_REPLICAS)
    stage.send("xy", 0)
    assert stage.broken == ["producer-reused"]


def test_numbers_do_not_overlap(stage: Stage) -> None:
    stage.answer(stage.send("ab", 0))
    stage.send("c", 1)
    assert stage.broken == ["producer-overlap"]


def test_acknowledged_batches_are_not_sent_again(stage: Stage) -> None:
    stage.answer(stage.send("ab", 0))
    stage.send("ab", 0)
    assert stage.broken == ["producer-acked"]


def test_an_epoch_is_never_reused(stage: Stage) -> None:
    stage.answer(stage.send("ab", 0, epoch=1))
    stage.send("c", 0, epoch=0)
    assert stage.broken == ["producer-epoch"]


@pytest.mark.parametrize("epoch", [1, 2])
@pytest.mark.parametrize(
    ("lost", "is_excused"),
    [
        (LostTransactions("a", {7: 11}, 15), True),
        (LostTransactions("a", {7: 5}, 9), False),  # It still had the epoch that it returned after that.
        (LostTransactions("a", {8: 11}, 15), False),
        (LostTransactions("b", {7: 11}, 15), False),
    ],
)
def test_a_coordinator_that_lost_an_epoch_assigns_it_again(
    lost: LostTransactions, epoch: int, is_excused: bool
) -> None:
    stage = Stage()
    stage.get_epoch(epoch, at=10)
    stage.answer(stage.send("ab", 0, epoch=epoch))
    stage.scene.account.groups.transactions_lost.append(lost)
    stage.get_epoch(1, at=20)
    stage.answer(stage.send("xy", 0, epoch=1))
    expected = ["producer-reused", "producer-acked"] if epoch == 1 else ["producer-epoch"]
    assert stage.broken == ([] if is_excused else expected)
    stage.send("z", 1, epoch=1)
    assert ("producer-overlap" in stage.broken) is (is_excused or epoch == 1)


def test_at_most_five_batches_are_in_flight(stage: Stage) -> None:
    under_way = [stage.send(value, number) for number, value in enumerate("abcde")]
    stage.answer(under_way[0])
    stage.send("f", 5)
    assert stage.broken == []
    stage.send("g", 6)
    assert stage.broken == ["producer-in-flight"]


def test_the_next_leader_is_not_written_to_before_the_former_has_answered(stage: Stage) -> None:
    stage.send("a", 0)
    stage.send("b", 1, to=1)
    assert stage.broken == ["producer-leaders"]


def test_a_closed_link_needs_no_response(stage: Stage) -> None:
    stage.send("a", 0)
    stage.links[0].open = False
    stage.send("a", 0, to=1)
    assert stage.broken == []
