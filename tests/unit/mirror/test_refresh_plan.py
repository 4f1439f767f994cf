"""Times and subjects of the next requests to a source."""

from __future__ import annotations

from kmirror.mirror.refresh_plan import RefreshPlan


def test_the_first_refresh_is_of_all_topics() -> None:
    assert RefreshPlan().is_full(0)


def test_between_regular_refreshes_only_wanted_topics_are_requested() -> None:
    plan = RefreshPlan(next_full_at=100, not_before=10)
    plan.request(["a"])
    assert not plan.is_full(50)
    assert plan.next_at() == 10
    assert plan.is_full(100)


def test_without_wanted_topics_the_next_refresh_is_the_regular_one() -> None:
    assert RefreshPlan(next_full_at=100, not_before=10).next_at() == 100
    assert RefreshPlan(next_full_at=5, not_before=10).next_at() == 10


def test_naming_no_topic_means_all() -> None:
    plan = RefreshPlan(next_full_at=100)
    plan.request([])
    assert plan.is_full(0)
    assert plan.next_at() == 0
