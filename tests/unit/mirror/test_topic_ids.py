"""Ids of topics whose source has none."""

from __future__ import annotations

import pytest

from kmirror.kernel.uuid import Uuid
from kmirror.mirror.topic_ids import is_same_topic, made_topic_id

CLUSTER = "AAAAAAAAAAIAAAAAAAAAAg"
OTHER = Uuid.from_ints(1, 2)


@pytest.mark.decision("D53")
def test_an_id_follows_from_cluster_and_name_and_never_changes() -> None:
    assert str(made_topic_id(CLUSTER, "orders")) == "APLrJ-XEgDGxUkBV-Us2Aw"
    ids = {made_topic_id(cluster, topic) for cluster in (CLUSTER, "other") for topic in ("orders", "payments")}
    assert len(ids) == 4


def test_it_is_a_uuid_of_version_8_that_no_command_takes_for_an_option() -> None:
    for number in range(300):
        made = made_topic_id(CLUSTER, f"topic-{number}")
        assert (made[6] >> 4, made[8] >> 6) == (8, 2)
        assert not str(made).startswith("-")


@pytest.mark.decision("D53")
def test_which_ids_are_of_one_topic() -> None:
    made = made_topic_id(CLUSTER, "orders")
    assert is_same_topic(OTHER, OTHER, CLUSTER, "orders")
    assert is_same_topic(Uuid.ZERO, made, CLUSTER, "orders")
    assert is_same_topic(OTHER, made, CLUSTER, "orders"), "the source was upgraded"
    assert not is_same_topic(Uuid.ZERO, OTHER, CLUSTER, "orders"), "a topic of our own"
    assert not is_same_topic(Uuid.ZERO, made, "another cluster", "orders")
    assert not is_same_topic(OTHER, Uuid.from_ints(3, 4), CLUSTER, "orders")
