"""Incremental fetches equal full ones: every other part that changes a log notifies the fetcher."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pytest import MonkeyPatch

from kmirror.client.fetch_loop import Fetcher, FetchLoop
from kmirror.cluster.replication.follower import ReplicaFetchers
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.spec.configs import Configs
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import ResourceType
from kmirror.testing.histories import assert_history_clean
from tests.sim.cluster.fetch_watch import watch_fetches
from tests.sim.cluster.test_log_lifecycle import SEGMENT, cluster_of
from tests.sim.stage import TOPIC, TP, WrittenLogs, legacy, pair


def retention() -> None:
    """One follower deletes records that the others keep."""
    cluster = cluster_of()
    follower = next(b for b, replica in cluster.replicas(TP).items() if not replica.is_leader)
    only_here = {"log.retention.bytes": str(2 * SEGMENT)}
    assert cluster.alter(str(follower), only_here, kind=ResourceType.BROKER) is ErrorCode.NONE
    for number in range(9):
        cluster.write(f"r{number}")
    cluster.simulation.run_for(span_s=4)
    assert [r.log.log_start_offset for b, r in cluster.replicas(TP).items()] == [4 * (b == follower) for b in (1, 2, 3)]


def flush() -> None:
    """Appended records of a follower count once they are flushed."""
    cluster = cluster_of(topic={"flush.messages": "1"}, job_ms=80)
    for number in range(3):
        assert cluster.write(f"r{number}") == number


def flush_asked_for() -> None:
    """A topic's config makes flushes due that take longer than an idle fetch."""
    cluster = cluster_of(job_ms=1_600)
    cluster.write("r0")
    cluster.simulation.run_for(span_s=6)
    assert cluster.alter(TOPIC, {"flush.messages": "1"}) is ErrorCode.NONE
    cluster.simulation.run_for(span_s=3)
    assert {replica.log.recovery_point for replica in cluster.replicas(TP).values()} == {1}


def flush_asked_for_everywhere() -> None:
    """The same, by the configs of all brokers."""
    cluster = cluster_of(job_ms=1_600)
    cluster.write("r0")
    cluster.simulation.run_for(span_s=6)
    every = {"log.flush.interval.messages": "1"}
    assert cluster.alter("", every, kind=ResourceType.BROKER) is ErrorCode.NONE
    cluster.simulation.run_for(span_s=3)
    assert {replica.log.recovery_point for replica in cluster.replicas(TP).values()} == {1}


def log_start_of_the_source() -> None:
    """A mirror follows its source's log start when its own high watermark has reached it.

    Without messages the log has no epoch any more, as messages of format 1 have none in the epoch cache.
    """
    p = pair(logs=WrittenLogs({TOPIC: [legacy(number, 1, f"m{number}") for number in range(3)]}))
    p.begin()
    leader, mp = p.b.await_leader(), p.b.mirror_partition()
    assert mp is not None and mp.source_log_start == 0
    mp.source_log_start = 3
    p.b.component(leader.broker_id).on_progress(p.simulation.world.now, TP)
    assert leader.log.log_start_offset == 3
    p.simulation.run_for(span_s=2)


def keeps_configs(take: Callable[..., dict[TopicPartition, int]]) -> Callable[..., dict[TopicPartition, int]]:
    """Return `FetchLoop._update_session` for a loop that ignores changed configs of the node."""

    def blind(loop: object, now: Instant, fetcher: Fetcher[Any], configs: Configs) -> dict[TopicPartition, int]:
        fetcher.configs = configs
        return take(loop, now, fetcher, configs)

    return blind


def hears_nothing(_: object) -> Callable[..., None]:
    return lambda *_: None


SCENARIOS: dict[Callable[[], None], tuple[type, str, Callable[..., object]]] = {
    retention: (ReplicaFetchers, "on_log_changed", hears_nothing),
    flush: (FetchLoop, "mark_changed", hears_nothing),
    flush_asked_for: (ReplicaFetchers, "on_topic_config", hears_nothing),
    flush_asked_for_everywhere: (FetchLoop, "_update_session", keeps_configs),
    log_start_of_the_source: (FetchLoop, "mark_changed", hears_nothing),
}
"""Changes of a log, and the place where a fetcher is notified: a fault can be planted there."""


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_fetch_matches_the_state_of_the_log(scenario: Callable[[], None]) -> None:
    with watch_fetches() as watch:
        scenario()
    assert watch.fetches > 10


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_watch_detects_a_missing_notification(scenario: Callable[[], None], monkeypatch: MonkeyPatch) -> None:
    owner, name, fault = SCENARIOS[scenario]
    monkeypatch.setattr(owner, name, fault(getattr(owner, name)))
    with watch_fetches(), pytest.raises(AssertionError, match="no call reported that orders-0 changed"):
        scenario()


def test_unchanged_brokers_cause_no_new_assignment(monkeypatch: MonkeyPatch) -> None:
    cluster = cluster_of()
    assigned: list[TopicPartition] = []
    assign = ReplicaFetchers._assign

    def counted(fetchers: ReplicaFetchers, now: Instant, tp: TopicPartition) -> None:
        assigned.append(tp)
        assign(fetchers, now, tp)

    monkeypatch.setattr(ReplicaFetchers, "_assign", counted)
    fetchers = cluster.broker(2).parts.fetchers
    now = cluster.simulation.world.now
    fetchers.on_brokers(now, cluster.broker_ids)
    assert assigned == []
    fetchers._endpoints[1] = Endpoint("elsewhere", 1)
    fetchers.on_brokers(now, cluster.broker_ids)
    led = [tp for tp, partition in cluster.broker(2).parts.replicas.partitions.items() if partition.image.leader == 1]
    assert assigned == led != []


@pytest.mark.parametrize(("profile", "seed"), [("full", 70009), ("replicas", 3), ("topologies", 4), ("power", 3)])
def test_fetches_in_histories_equal_full_ones(profile: str, seed: int) -> None:
    with watch_fetches() as watch:
        assert_history_clean(seed=seed, profile=profile)
    assert watch.positions > watch.fetches > 100
