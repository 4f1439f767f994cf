"""Everything is true for no partitions: a mirror with none, or with other ones than expected, proves nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kmirror.errors import UsageError
from kmirror.mirror.states import MirrorState
from kmirror.sim.checkers import mirror_agrees
from kmirror.sim.mirror import Mirror
from tests.sim.stage import TOPIC, TP, Pair, WrittenLogs, pair, plain

PROOFS: dict[str, Callable[[Mirror], Any]] = {
    "catch_up": lambda mirror: mirror.catch_up(),
    "difference": lambda mirror: mirror.difference(),
    "assert_equal": lambda mirror: mirror.assert_equal(),
}


def started(*topics: str) -> Pair:
    p = pair(logs=WrittenLogs({TOPIC: [plain(0, 0, "r0")]}), brokers=1)
    p.there.create()
    if topics:
        p.there.add_topics(topics)
    return p


@pytest.mark.parametrize("proof", [*PROOFS.values(), lambda mirror: mirror.fail_over()], ids=[*PROOFS, "fail_over"])
def test_a_mirror_without_topics_proves_nothing(proof: Callable[[Mirror], Any]) -> None:
    p = started()
    with pytest.raises(UsageError, match=r"mirror m of cluster b has no topics: call add_topics\(\) first"):
        proof(p.there)


@pytest.mark.parametrize("proof", PROOFS.values(), ids=PROOFS)
def test_a_mistyped_topic_is_named(proof: Callable[[Mirror], Any]) -> None:
    """As in KIP-1279 it is added, as it may be created later; until then none of it can be equal."""
    p = started(TOPIC, "ordres")
    p.there.wait_for_state(MirrorState.MIRRORING, [TP], caught_up=True)
    with pytest.raises(UsageError, match="cluster a has no topic 'ordres'; it has orders"):
        proof(p.there)
    p.there.remove_topics(["ordres"])
    p.there.catch_up()
    assert p.there.difference() is None


def test_one_name_is_no_list_of_letters() -> None:
    p = started()
    for call in (p.there.add_topics, p.there.remove_topics, p.a.partitions):
        with pytest.raises(UsageError, match=r"topics takes a list of names, such as \['orders'\], not 'orders'"):
            call(TOPIC)
    assert p.there.topics() == []


def test_partitions_of_an_unknown_topic_are_not_none() -> None:
    p = started()
    assert p.a.partitions([TOPIC]) == [TP]
    with pytest.raises(UsageError, match="cluster a has no topic 'nope'"):
        p.a.partitions([TOPIC, "nope"])


def test_to_wait_for_no_partition_is_a_mistake() -> None:
    p = started(TOPIC)
    with pytest.raises(UsageError, match="at least one partition"):
        p.there.wait_for_state(MirrorState.STOPPED, [])
    with pytest.raises(UsageError, match="no partition of a and b"):
        mirror_agrees(p.a, p.b, [])


def test_partitions_to_compare_may_come_one_by_one() -> None:
    """They are read twice: an exhausted iterator has no replica that could differ."""
    p = pair(logs=WrittenLogs({TOPIC: [plain(0, 0, "r0")]}), brokers=3)
    p.begin()
    p.a.settle()
    p.b.settle()
    leader = p.b.await_leader()
    follower = next(replica for broker_id, replica in p.b.replicas(TP).items() if broker_id != leader.broker_id)
    follower.log.truncate_to(0)
    follower.log.append_as_follower(plain(0, 0, "x0"), max_epoch=0, now_ms=p.simulation.now_ms)
    follower.log.update_high_watermark(1)
    difference, _ = mirror_agrees(p.a, p.b, iter([TP]))
    assert difference is not None
