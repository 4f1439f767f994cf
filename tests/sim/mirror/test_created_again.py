"""A source's topic is deleted and created again while a response about it, by name, is in flight (D65)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from kmirror.hooks.hooks import Hooks
from kmirror.kernel.clock import Instant
from kmirror.mirror.topic_check import NOT_CONFIRMED, TopicCheck
from kmirror.protocol.gen.delete_records_request import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from kmirror.protocol.gen.describe_mirrors_request import DescribeMirrorsRequest
from kmirror.protocol.gen.fetch_request import FetchRequest
from kmirror.protocol.gen.list_offsets_request import ListOffsetsRequest
from kmirror.protocol.gen.metadata_request import MetadataRequest
from kmirror.protocol.message import Message
from kmirror.sim.simulation import Simulation
from kmirror.spec.error_codes import ErrorCode
from tests.sim.stage import ONE_BROKER, TOPIC, Pair, StagedCluster, assert_equal, values, wait_until_stopped

OURS = [(0, "one"), (1, "two"), (2, "three")]
SYNC = "broker-1-mirror-m"
"""Client id of all requests to the source except fetches."""


class Hooked(Pair):
    """A source whose requests are hooked, each cluster with one broker."""

    hooks: Hooks

    def create_again(self, *written: str, epoch: int = 0, start: int = 0) -> None:
        """Delete the source's topic, and create another one of its name: its records, leader epoch and log start."""
        assert self.a.delete(TOPIC) == [ErrorCode.NONE]
        self.run_until(lambda: TOPIC not in self.a.image.topics, "the topic to be gone")
        self.a.place_topic(replicas=((1,),))
        for value in written:
            self.a.write(value)
        if epoch:
            self.a.bump(epoch)
        if start:
            rows = [DeleteRecordsPartition(partition_index=0, offset=start)]
            topics = [DeleteRecordsTopic(name=TOPIC, partitions=rows)]
            self.a.client.call(self.a.endpoint(1), DeleteRecordsRequest(topics=topics, timeout_ms=1000), 2)

    def during(self, request: type[Message], *written: str, start: int = 0, nth: int = 1) -> None:
        """Create the topic again before the next request of this kind is handled, or the one after it."""
        held = self.hooks.on(request, nth=nth).hold()
        self.run_until(lambda: bool(held.requests), f"{request.__name__} to be sent")
        self.create_again(*written, start=start)
        held.release()

    def assert_failed(self, kept: list[tuple[int, str]]) -> None:
        self.run_until(lambda: self.b.state() == "FAILED", "the partition to fail")
        assert values(self.b.log()) == kept


def pair_with_hooks(release: str = "") -> Hooked:
    simulation = Simulation(0)
    hooks = Hooks()
    if release:
        hooks.play(release)
    a = StagedCluster(simulation, "a", brokers=1, replication_factor=1, configs=ONE_BROKER, interpose=hooks)
    b = StagedCluster(simulation, "b", brokers=1, replication_factor=1, configs=ONE_BROKER)
    made = Hooked(simulation, a, b)
    made.hooks = hooks
    a.start()
    b.start()
    a.place_topic(replicas=((1,),))
    for _, value in OURS:
        a.write(value)
    return made


@pytest.mark.parametrize(
    "written", [["x"], ["x", "y", "z"], ["x", "y", "z", "u", "v"]], ids=["shorter", "equal", "longer"]
)
@pytest.mark.parametrize("release", ["2.8", "3.3"])
@pytest.mark.decision("D65")
def test_another_topic_causes_no_truncation_and_no_append(release: str, written: list[str]) -> None:
    p = pair_with_hooks(release)
    p.begin()
    p.during(FetchRequest, *written)
    p.assert_failed(OURS)
    assert p.b.log().log_end_offset == 3


@pytest.mark.decision("D65")
def test_the_log_start_of_another_topic_deletes_nothing() -> None:
    p = pair_with_hooks("2.8")
    p.begin()
    p.during(FetchRequest, "x", "y", "z", start=2)
    p.assert_failed(OURS)
    assert p.b.log().log_start_offset == 0


@pytest.mark.decision("D65")
def test_a_log_end_of_another_topic_truncates_nothing() -> None:
    p = pair_with_hooks()
    p.begin()
    refusal = p.hooks.on(FetchRequest).answer(ErrorCode.OFFSET_OUT_OF_RANGE)
    p.during(ListOffsetsRequest, "x")
    refusal.remove()
    p.assert_failed(OURS)


@pytest.mark.decision("D65")
def test_a_log_of_another_topic_that_begins_later_replaces_nothing() -> None:
    p = pair_with_hooks()
    p.begin()
    refusal = p.hooks.on(FetchRequest).answer(ErrorCode.OFFSET_OUT_OF_RANGE)
    p.during(ListOffsetsRequest, *"uvwxyz", start=5, nth=2)
    refusal.remove()
    p.assert_failed(OURS)


@pytest.mark.decision("D65")
def test_missing_state_of_another_topic_is_no_reason_to_truncate() -> None:
    p = pair_with_hooks()
    p.begin()
    p.fail_over()
    p.b.write("ours")
    kept = values(p.b.log())
    held = p.hooks.on(DescribeMirrorsRequest).hold()
    p.there.add_topics([TOPIC])
    p.run_until(lambda: bool(held.requests), "the source to be asked")
    p.create_again("x")
    held.release()
    p.assert_failed(kept)


@pytest.mark.decision("D65")
def test_a_description_with_the_id_needs_no_other_proof() -> None:
    p = pair_with_hooks()
    p.begin()
    p.fail_over()
    p.a.write("four")
    p.b.write("ours")
    held = p.hooks.on(DescribeMirrorsRequest).hold()
    p.there.add_topics([TOPIC])
    p.run_until(lambda: bool(held.requests), "the source to be asked")
    p.hooks.on(MetadataRequest, client_id=SYNC).answer(ErrorCode.LEADER_NOT_AVAILABLE)
    held.release()
    p.run_until(lambda: values(p.b.log()) == [*OURS, (3, "four")], "our own record to be cut, and theirs to be copied")


@pytest.mark.decision("D65")
def test_a_lineage_of_another_topic_truncates_nothing() -> None:
    p = pair_with_hooks()
    p.begin()
    p.fail_over()
    p.b.write("four")
    p.fail_back()
    p.fail_over(p.back)
    p.there.add_topics([TOPIC])
    assert_equal(p.there)
    kept = values(p.b.log())
    epoch = p.a.await_leader().leader_epoch + 1
    held = p.hooks.on(DescribeMirrorsRequest).hold()
    p.a.bump(epoch)
    p.run_until(lambda: bool(held.requests), "the source to be asked")
    p.create_again("x", epoch=epoch)
    held.release()
    p.assert_failed(kept)


@pytest.mark.decision("D65")
def test_a_source_that_returns_no_topic_ids_waits_and_can_fail_over() -> None:
    p = pair_with_hooks("2.8")
    p.begin()
    p.hooks.on(MetadataRequest, client_id=SYNC).answer(ErrorCode.LEADER_NOT_AVAILABLE)
    p.a.write("four")
    p.run_until(lambda: p.b.reason() == NOT_CONFIRMED, "the reason to be told")
    p.simulation.run_for(span_s=2)
    assert values(p.b.log()) == OURS, "nothing is appended before the topic is confirmed"
    p.there.remove_topics([TOPIC])
    wait_until_stopped(p.there, [TOPIC])
    assert values(p.b.log()) == OURS


@pytest.mark.decision("D65")
def test_no_records_are_fetched_twice_while_their_topic_is_unconfirmed() -> None:
    p = pair_with_hooks("2.8")
    p.begin()
    held = p.hooks.on(MetadataRequest, client_id=SYNC).hold()
    p.a.write("four")
    p.run_until(lambda: bool(held.requests), "the topic's id to be asked for")
    fetches: list[object] = []
    p.hooks.on(FetchRequest).watch(fetches.append)
    p.simulation.run_for(span_s=4)
    assert not fetches
    (row,) = p.there.describe()
    assert row.lag == -1 and "has not responded for 4 s" in row.reason, "an unknown lag has its reason"
    held.release()
    p.run_until(lambda: len(values(p.b.log())) == 4, "the record to be appended")


@pytest.mark.parametrize(
    ("log_end", "raises_rank", "is_taken"), [(3, False, True), (2, False, False), (3, True, False)]
)
@pytest.mark.decision("D65")
def test_a_response_is_dropped_if_the_log_or_the_fetcher_has_changed(
    log_end: int, raises_rank: bool, is_taken: bool
) -> None:
    p = pair_with_hooks("2.8")
    p.begin()
    mp = p.b.mirror_partition()
    assert mp is not None and mp.fetcher is not None
    fetcher, context = mp.fetcher, p.b.component(1).context
    loop: Any = SimpleNamespace(find=lambda tp: (fetcher, mp), on_timer=lambda now, key: None)
    taken: list[Instant] = []
    TopicCheck(context, loop).confirm(fetcher, mp, log_end, taken.append)
    context.broker.run_deferred(p.simulation.world.now)
    p.simulation.world.perform("b-1", context.broker.outbox.drain())
    mp.rank += raises_rank
    p.simulation.run_for(span_s=2)
    assert bool(taken) is is_taken
