"""Time up to which partitions that a response does not name had no news."""

from __future__ import annotations

import pytest

from kmirror.kernel.clock import MILLISECOND
from kmirror.kernel.ids import TopicPartition
from tests.unit.client.script import TWO
from tests.unit.client.test_fetch_loop import BACKOFF, State, answer, many, row, throttled


def test_responses_without_a_partition_mean_no_news_for_it() -> None:
    log, _ = many(2)  # The fetch in flight was sent at 0.
    log.names.clear()
    for now in (10, 20):
        log.script.answer(answer(), now)
    log.script.answer(answer(row(1)), 30)
    log.script.answer(answer(row(0)), 40)
    assert log.names == [(TopicPartition("t", 1), 10), (TopicPartition("t", 0), 20)]


def test_a_throttled_or_lost_response_does_not_mean_that() -> None:
    log, _ = many(1)
    log.names.clear()
    log.script.answer(answer(), 10)
    log.script.answer(throttled(1), 20)
    log.loop.on_timer(20 + MILLISECOND, (1,))
    log.script.break_link(30 + MILLISECOND)
    log.loop.on_timer(30 + MILLISECOND + BACKOFF, (1,))
    log.script.answer(answer(row(0)), 2 * BACKOFF)
    assert log.names == [(TopicPartition("t", 0), 0)], "when the fetch was sent that was answered at 10"


@pytest.mark.parametrize("why", ["held", "withheld", "moved"])
def test_nor_for_a_partition_that_fetches_leave_out(why: str) -> None:
    log, (state,) = many(1)
    log.names.clear()
    log.script.answer(answer(), 10)
    match why:
        case "held":
            log.holds[state.tp] = 5 * BACKOFF
        case "withheld":
            state.may_be_fetched = False
        case _:
            log.assign(State(TopicPartition("u", 0)), endpoint=TWO, now=20)
    log.loop.mark_changed(state.tp)
    log.script.answer(answer(), 20)
    assert log.names == [(state.tp, 0 if why == "moved" else 10)]
