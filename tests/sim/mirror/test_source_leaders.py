"""Leaders at the source, and brokers that respond: hints of KIP-951, hanging brokers, rights that are granted later."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kmirror.hooks.hooks import Hooks
from kmirror.kernel.ids import TopicPartition
from kmirror.mirror.states import MirrorState
from kmirror.protocol.gen.describe_mirrors_request import DescribeMirrorsRequest
from kmirror.protocol.gen.fetch_request import FetchRequest
from kmirror.protocol.gen.metadata_request import MetadataRequest
from kmirror.sim.simulation import Simulation
from kmirror.spec.error_codes import ErrorCode
from tests.sim.stage import SMALL, TOPIC, TP, Pair, StagedCluster, assert_equal, check_epochs

SLOW = {"request.timeout.ms": "30000", "mirror.metadata.refresh.interval.ms": "60000"}
"""A refresh without a response of the broker takes half a minute."""


def hooked_pair(*, partitions: int = 3) -> tuple[Pair, Hooks]:
    """Return two running clusters; broker n of the source leads partition n - 1."""
    simulation = Simulation(0)
    hooks = Hooks()
    a = StagedCluster(simulation, "a", configs=SMALL, interpose=hooks)
    b = StagedCluster(simulation, "b", configs={**SMALL, **SLOW})
    made = Pair(simulation, a, b)
    simulation.world.after_event.append(lambda now: check_epochs(a, b))
    a.start()
    b.start()
    a.place_topic(replicas=[[n % 3 + 1, (n + 1) % 3 + 1, (n + 2) % 3 + 1] for n in range(partitions)])
    for n in range(partitions):
        a.write(f"first of {n}", tp=TopicPartition(TOPIC, n))
    made.begin()
    return made, hooks


def has_all_records(p: Pair, tp: TopicPartition, *, of: StagedCluster) -> bool:
    """Return whether b has all committed records of a partition in `of`."""
    theirs, ours = of.leader(tp), p.b.leader(tp)
    return theirs is not None and ours is not None and ours.log.high_watermark == theirs.log.log_end_offset


def test_a_new_leader_is_followed_as_the_former_one_names_it() -> None:
    p, hooks = hooked_pair(partitions=1)
    first = p.a.await_leader().broker_id
    asked = hooks.on(MetadataRequest, where=lambda seen: "mirror" in (seen.client_id or "")).hold()
    p.a.bump(3)
    p.run_until(lambda: p.a.await_leader().leader_epoch >= 3, "another epoch")
    p.a.write("in the new epoch")
    p.run_until(lambda: has_all_records(p, TP, of=p.a), "what was written there", within_s=5)
    assert p.a.await_leader().broker_id == first
    asked.release()


def test_a_broker_that_hangs_costs_its_own_partitions_only() -> None:
    p, hooks = hooked_pair()
    hangs = hooks.on(node=1, where=lambda seen: "mirror" in (seen.client_id or "")).drop()
    p.run_until(lambda: "does not respond" in p.b.reason(), "the reason of its own")
    p.simulation.run_for(span_s=40)
    others = [TopicPartition(TOPIC, 1), TopicPartition(TOPIC, 2)]
    for n in range(5):
        for tp in others:
            p.a.write(f"while it hangs {n}", tp=tp)
        p.run_until(
            lambda: all(has_all_records(p, tp, of=p.a) for tp in others), "the partitions of the others", within_s=2
        )
    # A leader of the others moves: the hanging broker gets no metadata request.
    p.a.kill(2)
    moved = others[0]
    p.run_until(lambda: (led := p.a.leader(moved)) is not None and led.broker_id == 3, "broker 3 to lead")
    p.a.write("at the new leader", tp=moved)
    p.run_until(lambda: has_all_records(p, moved, of=p.a), "what was written there", within_s=8)
    for tp in others:
        assert p.b.reason(tp) == ""
    hangs.remove()
    p.a.restart(2)
    p.a.write("at last")
    assert_equal(p.there)


@pytest.mark.parametrize(
    ("request_class", "error"),
    [
        (MetadataRequest, ErrorCode.TOPIC_AUTHORIZATION_FAILED),
        (FetchRequest, ErrorCode.TOPIC_AUTHORIZATION_FAILED),
        (DescribeMirrorsRequest, ErrorCode.CLUSTER_AUTHORIZATION_FAILED),
    ],
)
def test_mirroring_waits_for_a_missing_right_with_a_reason(request_class: type, error: ErrorCode) -> None:
    simulation = Simulation(0)
    hooks = Hooks()
    a = StagedCluster(simulation, "a", configs=SMALL, interpose=hooks)
    b = StagedCluster(simulation, "b", configs=SMALL)
    p = Pair(simulation, a, b)
    a.start()
    b.start()
    a.place_topic()
    a.write("one")
    refused = hooks.on(request_class, where=lambda seen: "mirror" in (seen.client_id or "")).answer(error)
    p.there.create()
    p.there.add_topics([TOPIC])
    if request_class is MetadataRequest:
        simulation.run_for(span_s=20)
        assert TOPIC not in b.image.topics
    else:
        p.run_until(lambda: error.name in b.reason(), "the reason")
        simulation.run_for(span_s=20)
        assert b.state() != "FAILED" and error.name in b.reason()
    refused.remove()
    a.write("two")
    assert_equal(p.there)
    assert b.reason() == ""


def test_a_right_revoked_while_mirroring_is_reported_too() -> None:
    p, hooks = hooked_pair(partitions=1)

    def missing(request_class: type) -> Callable[[], None]:
        return (
            hooks.on(request_class, where=lambda seen: "mirror" in (seen.client_id or ""))
            .answer(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
            .remove
        )

    back = [missing(FetchRequest), missing(MetadataRequest)]
    p.a.write("not allowed")
    p.run_until(lambda: "TOPIC_AUTHORIZATION_FAILED" in p.b.reason(), "the reason")
    p.simulation.run_for(span_s=10)
    assert p.b.state() == MirrorState.MIRRORING.name and "TOPIC_AUTHORIZATION_FAILED" in p.b.reason()
    for give in back:
        give()
    p.run_until(lambda: has_all_records(p, TP, of=p.a), "all of it", within_s=90)
