"""A batch fails for good while later ones are in flight: none is lost, duplicated, or acknowledged and not written."""

from __future__ import annotations

import pytest

from kmirror.client.producer import EPOCH_MAX, Delivery, ProducerConfigs
from kmirror.errors import UsageError
from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.protocol.gen.init_producer_id_request import InitProducerIdRequest
from kmirror.protocol.gen.init_producer_id_response import InitProducerIdResponse
from kmirror.records.record import RecordData
from kmirror.spec.error_codes import ErrorCode
from tests.unit.client.leader_model import Site
from tests.unit.client.script import OTHER, TP, TWO
from tests.unit.client.test_producer import NOT_LEADER, OUT_OF_ORDER, Stage

NONE = ErrorCode.NONE
FOR_GOOD = (ErrorCode.READ_ONLY_TOPIC, ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.TOPIC_AUTHORIZATION_FAILED)


@pytest.mark.parametrize("forgets", [False, True], ids=["known", "forgotten"])
@pytest.mark.parametrize("answered", [0, 1, 2, 3])
@pytest.mark.parametrize("served", [0, 1, 2, 3])
@pytest.mark.parametrize("error", FOR_GOOD)
def test_of_three_batches_the_first_is_refused(error: ErrorCode, served: int, answered: int, *, forgets: bool) -> None:
    """The leader processes `served` of them, and the link breaks after `answered` of the responses have arrived.

    A leader that knows the producer finds the later two out of order, one that has forgotten it accepts them.
    """
    site = Site()
    before = site.send()
    site.serve(1)
    site.answer(1)
    first, second, third = site.send(), site.send(), site.send()
    assert not forgets or site.forget(TP)
    for number in range(served):
        site.serve(1, error if number == 0 else NONE)
    for _ in range(min(answered, served)):
        site.answer(1)
    site.break_link(1)
    fourth = site.send()
    site.settle()
    site.check()
    assert [site.told[name] for name in (before, fourth)] == [NONE, NONE]
    if served and answered:
        assert [site.told[name] for name in (first, second, third)] == [error, NONE, NONE]
        assert [row.name for row in site.leaders[TP].log] == [before, second, third, fourth]
    else:
        # It was repeated, or could only have been written after the others, which the leader had accepted.
        assert site.told[first] in (NONE, OUT_OF_ORDER)


def test_a_batch_after_a_rejection_does_not_reuse_a_sequence_in_flight() -> None:
    """A leader that does not know the producer accepts "b" as number 1; "c" must not be number 1 as well."""
    site = Site()
    first, second = site.send(), site.send()
    site.serve(1, ErrorCode.READ_ONLY_TOPIC)
    site.answer(1)
    site.serve(1)
    third = site.send()
    site.settle()
    assert site.told == {first: ErrorCode.READ_ONLY_TOPIC, second: NONE, third: NONE}
    assert [(row.name, row.identity, row.first) for row in site.leaders[TP].log] == [
        (second, (7, 0), 1),
        (third, (7, 1), 0),
    ]


@pytest.mark.parametrize("written", [0, 1, 2, 3])
def test_batches_after_an_expired_one_keep_their_sequences_until_they_are_answered(written: int) -> None:
    site = Site(ProducerConfigs(delivery_timeout_ms=1_000))
    first = site.send()
    site.now += 600 * MILLISECOND
    second, third = site.send(), site.send()
    for _ in range(written):
        site.serve(1)
    site.break_link(1)
    while first not in site.told:
        if not site.break_link(1):
            site.wait()
    site.settle()
    site.check()
    assert site.told == {first: ErrorCode.REQUEST_TIMED_OUT, second: NONE, third: NONE}


def test_an_earlier_batch_fails_if_a_later_one_was_written() -> None:
    stage = Stage()
    stage.send("a")
    stage.send("b")
    stage.answer(OUT_OF_ORDER)
    stage.script.break_link(stage.now)
    while not stage.batches():
        stage.wait()
    assert stage.batches() == [(TP, "b", 0, 1)], "nobody knows whether it was written"
    stage.answer(offset=4)
    assert stage.delivered == [("b", NONE, 4), ("a", OUT_OF_ORDER, -1)]
    stage.send("c")
    while not stage.batches():
        stage.wait()
    assert stage.batches() == [(TP, "c", 1, 0)]


def test_the_next_leader_gets_nothing_before_the_former_has_answered() -> None:
    """It may not know the producer, and would accept a later batch first."""
    stage = Stage()
    stage.send("a")
    stage.send("x", OTHER)
    stage.leaders[TP] = (2, 5)
    stage.script.pending_requests().reverse()
    stage.answer(NOT_LEADER)
    stage.wait()
    stage.answer_others()
    stage.send("b")
    assert stage.batches() == [(TP, "a", 0, 0), (OTHER, "x", 0, 0)]
    stage.answer(offset=3)
    assert stage.batches()[1:] == [(TP, "b", 0, 1)] and stage.script.pending_requests()[-1].peer == TWO


def test_after_the_last_epoch_there_is_a_new_producer_id() -> None:
    site = Site(epoch=EPOCH_MAX)
    first, second, third, other = site.send(), site.send(), site.send(), site.send(OTHER)
    site.serve(1, ErrorCode.MESSAGE_TOO_LARGE)
    site.answer(1)
    site.serve(1)
    site.break_link(1)
    site.settle()
    site.check()
    assert site.told == {first: ErrorCode.MESSAGE_TOO_LARGE, second: NONE, third: NONE, other: NONE}
    fourth = site.send()
    site.settle()
    assert [(row.name, row.identity) for row in site.leaders[TP].log] == [
        (second, (7, EPOCH_MAX)),
        (third, (7, EPOCH_MAX)),
        (fourth, (8, 0)),
    ]


def at_the_last_epoch() -> Stage:
    """Return a producer whose batch "a" was refused in its last epoch, and that requests a new id; "b" waits."""
    stage = Stage(ProducerConfigs(max_block_ms=1_000))
    stage.producer.transactions.epoch = EPOCH_MAX
    stage.send("a")
    stage.answer(ErrorCode.MESSAGE_TOO_LARGE)
    stage.producer.send(
        stage.now, TP, [RecordData(value=b"b")], lambda _, told: stage.delivered.append(("b", told.error, -1))
    )
    assert [type(one.body) for one in stage.script.pending_requests()] == [InitProducerIdRequest]
    return stage


def test_a_new_producer_id_is_requested_until_there_is_a_response() -> None:
    stage = at_the_last_epoch()
    for _ in range(20):
        asked = stage.script.pending_requests()
        if asked:
            stage.script.break_link(stage.now)
        else:
            stage.wait()
    assert stage.now > 1_000 * MILLISECOND and stage.delivered == [("a", ErrorCode.MESSAGE_TOO_LARGE, -1)]
    while not stage.batches():
        stage.wait()
    assert stage.batches() == [(TP, "b", 0, 0)]


def test_a_producer_that_is_refused_a_new_id_fails() -> None:
    stage = at_the_last_epoch()
    stage.script.answer(InitProducerIdResponse(error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED))
    assert stage.delivered[1:] == [("b", ErrorCode.CLUSTER_AUTHORIZATION_FAILED, -1)]
    with pytest.raises(UsageError, match=r"CLUSTER_AUTHORIZATION_FAILED.*create a new producer"):
        stage.send("c")


def test_a_callback_may_resend_the_failed_batch() -> None:
    stage = Stage(ProducerConfigs(delivery_timeout_ms=1_000))
    stage.leaders = {TP: (9, 4)}
    failed: list[ErrorCode] = []

    def again(now: Instant, delivery: Delivery) -> None:
        failed.append(delivery.error)
        if len(failed) < 3:
            stage.producer.send(now, TP, [RecordData(value=b"x")], again)

    for _ in range(2):
        stage.producer.send(0, TP, [RecordData(value=b"x")], again)
    while len(failed) < 4:
        stage.answer_others()
        stage.wait()
    assert failed == [ErrorCode.REQUEST_TIMED_OUT] * 4
