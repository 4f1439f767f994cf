"""Proofs of one broker of a source: which of them counts for a fetch, and when the next one is due (D77)."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from kmirror.kernel.clock import MILLISECOND, SECOND
from kmirror.kernel.ids import Endpoint
from kmirror.mirror.proved_brokers import KEPT, ProvedBroker

pytestmark = pytest.mark.decision("D77")
INTERVAL = 30 * SECOND


def broker() -> ProvedBroker:
    source = SimpleNamespace(ended=0)
    source.closed_links = lambda _: source.ended
    return ProvedBroker("m", source, Endpoint("a-1", 9092))  # type: ignore[arg-type]


def test_a_proof_counts_for_fetches_that_are_sent_after_it() -> None:
    found = broker()
    assert found.as_of(SECOND) is None
    found.on_proof(2 * SECOND, asked_at=SECOND, interval=INTERVAL)
    assert found.as_of(2 * SECOND - 1) is None
    assert found.as_of(2 * SECOND) == SECOND
    found.on_proof(32 * SECOND, asked_at=31 * SECOND, interval=INTERVAL)
    assert found.as_of(32 * SECOND - 1) == SECOND, "the fetch was sent before the newest proof"
    assert found.as_of(33 * SECOND) == 31 * SECOND


def test_a_proof_ends_with_a_link_to_the_broker() -> None:
    found = broker()
    found.on_proof(2 * SECOND, asked_at=SECOND, interval=INTERVAL)
    found.source.ended = 1  # type: ignore[attr-defined]
    assert found.as_of(3 * SECOND) is None
    found.on_proof(5 * SECOND, asked_at=4 * SECOND, interval=INTERVAL)
    assert found.as_of(5 * SECOND) == 4 * SECOND


@pytest.mark.parametrize(("interval_ms", "due_ms"), [(30_000, 31_000), (1_000, 2_000), (100, 2_000)])
def test_proofs_are_an_interval_apart_and_a_second_at_least(interval_ms: int, due_ms: int) -> None:
    found = broker()
    found.is_requested = True
    found.on_proof(2 * SECOND, asked_at=SECOND, interval=interval_ms * MILLISECOND)
    assert (found.next_at, found.is_requested) == (due_ms * MILLISECOND, False)


def test_the_newest_answered_fetch_may_be_older_than_several_proofs() -> None:
    found = broker()
    for second in range(1, KEPT + 2):
        found.on_proof(second * SECOND, asked_at=second * SECOND, interval=SECOND)
    assert found.as_of(2 * SECOND) == 2 * SECOND
    assert found.as_of(SECOND) is None, "proofs are not kept for ever"


def test_the_pauses_after_failures_grow_up_to_a_second_until_a_proof() -> None:
    found, pauses = broker(), []
    for _ in range(3):
        found.is_requested = True
        found.on_failure(SECOND, "no answer")
        assert not found.is_requested
        pauses.append(found.next_at - SECOND)
    assert pauses == [500 * MILLISECOND, SECOND, SECOND]
    assert found.last_error == "no answer"
    found.on_proof(2 * SECOND, asked_at=SECOND, interval=INTERVAL)
    assert (found.failures, found.last_error) == (0, "")
