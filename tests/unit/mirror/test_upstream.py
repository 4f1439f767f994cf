"""Clusters upstream of a log, passed on from cluster to cluster, and the detection of rings."""

from __future__ import annotations

import pytest

from kmirror.mirror.upstream import Upstream, reported_age_ms, ring, ring_reason

NOTHING = Upstream()
OPEN = Upstream(("a",), (5,), is_complete=False)


@pytest.mark.decision("D58")
def test_each_cluster_puts_its_source_in_front() -> None:
    of_c = Upstream(ended_at=3).with_source(7, "a", "b", prepares=False).with_source(9, "b", "c", prepares=False)
    assert (of_c.clusters, of_c.reported_at, of_c.is_complete, of_c.waits) == (("b", "a"), (9, 7), True, False)
    assert (of_c.true_at, NOTHING.with_source(7, "a", "b", prepares=False).reported_at) == (3, (7,))
    assert OPEN.with_source(9, "b", "c", prepares=False).is_complete is False


@pytest.mark.decision("D58")
@pytest.mark.parametrize(("first", "second"), [(True, False), (False, True)])
def test_nothing_is_passed_on_while_one_of_them_prepares(first: bool, second: bool) -> None:
    assert NOTHING.with_source(0, "a", "b", prepares=first).with_source(0, "b", "c", prepares=second).waits


@pytest.mark.decision("D58")
def test_a_cluster_that_finds_itself_reports_the_path_to_itself_only() -> None:
    """Otherwise each cluster's knowledge of a ring would be as old as the ring."""
    told = Upstream(("b", "c", "x"), (6, 5, 1), is_complete=False).with_source(9, "a", "c", prepares=False)
    assert (told.clusters, told.is_complete) == (("a", "b", "c"), True)
    assert told.true_at == 5


@pytest.mark.decision("D58")
def test_a_ring_begins_and_ends_at_the_cluster_that_closes_it() -> None:
    assert ring("a", "c", Upstream(("b", "a", "c"))) == ("a", "c", "b", "a")
    assert ring("a", "c", Upstream(("b",))) == ()
    assert ring("a", "a", None) == ("a", "a"), "a mirror of itself"
    assert ring("a", "b", None) == ()
    assert "in a ring, a from b from a:" in ring_reason(("a", "b", "a"))


@pytest.mark.decision("D58")
def test_the_age_of_knowledge_allows_for_a_slow_clock() -> None:
    assert reported_age_ms(900_000, 100_000) == 900
    assert reported_age_ms(100_001, 100_000) == 1, "rounded up"
    assert reported_age_ms(100_000, 100_000) == 0
