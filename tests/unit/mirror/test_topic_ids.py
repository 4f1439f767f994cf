"""Ids of topics whose source has none."""

from __future__ import annotations

import pytest

from kmirror.kernel.uuid import Uuid
from kmirror.mirror.topic_ids import generated_topic_id, is_same_topic

CLUSTER = "AAAAAAAAAAIAAAAAAAAAAg"
OTHER = Uuid.from_ints(1, 2)


@pytest.mark.decision("D53")
def test_an_id_follows_from_cluster_and_name_and_never_changes() -> None:
    assert str(generated_topic_id(CLUSTER, "orders")) == "APLrJ-XEgDGxUkBV-Us2Aw"
    ids = {generated_topic_id(cluster, topic) for cluster in (CLUSTER, "other") for topic in ("orders", "payments")}
    assert len(ids) == 4


def test_an_id_is_a_uuid_of_version_8_without_a_leading_dash() -> None:
    for number in range(300):
        made = generated_topic_id(CLUSTER, f"topic-{number}")
        assert (made[6] >> 4, made[8] >> 6) == (8, 2)
        assert not str(made).startswith("-")


@pytest.mark.decision("D53")
def test_which_ids_are_of_one_topic() -> None:
    made, here = generated_topic_id(CLUSTER, "orders"), "the cluster here"

    def is_same(theirs: Uuid, ours: Uuid, source: str = CLUSTER) -> bool:
        return is_same_topic(theirs, ours, source, here, "orders")

    assert is_same(OTHER, OTHER)
    assert is_same(Uuid.ZERO, made)
    assert is_same(OTHER, made), "the source was upgraded"
    assert not is_same(Uuid.ZERO, OTHER), "a topic of our own"
    assert not is_same(Uuid.ZERO, made, "another cluster")
    assert not is_same(OTHER, Uuid.from_ints(3, 4))
    assert is_same(generated_topic_id(here, "orders"), OTHER), "copied from here before topics had ids"
    assert not is_same(generated_topic_id(here, "payments"), OTHER)
