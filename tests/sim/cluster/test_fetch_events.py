"""Followers and mirrors ignore a response if their log end has changed since the request."""

from __future__ import annotations

from typing import Any

import pytest

from kmirror.client.fetch_events import Diverged, LogEndsEarlier, LogStartsLater, Records, UnknownEpoch
from kmirror.client.fetch_session import PartitionFetch
from kmirror.kernel.clock import to_ms
from kmirror.protocol.gen.fetch_response import EpochEndOffset, PartitionData
from kmirror.sim.cluster import Cluster
from tests.sim.stage import TP, WrittenLogs, pair, plain

LOG = {TP.topic: [plain(0, 0, "r0", "r1", "r2"), plain(3, 1, "r3")]}
CUT = PartitionData(diverging_epoch=EpochEndOffset(epoch=0, end_offset=1))


def events(state: Any, asked: PartitionFetch) -> list[Any]:
    """Return each event that changes a log."""
    return [
        Records(state, asked, PartitionData(high_watermark=9, records=plain(asked.fetch_offset, 1, "r4"))),
        Diverged(state, asked, CUT),
        LogEndsEarlier(state, asked, 1),
        LogStartsLater(state, asked, 9),
        UnknownEpoch(state, asked),
    ]


def log_of(cluster: Cluster, broker: int) -> Any:
    return cluster.broker(broker).parts.replicas.partitions[TP].log


@pytest.mark.parametrize("which", range(5), ids=["records", "diverged", "shorter", "later start", "unknown epoch"])
@pytest.mark.parametrize("is_mirror", [False, True], ids=["follower", "mirror"])
def test_responses_for_another_log_end_change_nothing(which: int, is_mirror: bool) -> None:
    p = pair(logs=WrittenLogs(LOG))
    p.begin()
    leader = p.b.await_leader().broker_id
    broker = leader if is_mirror else leader % 3 + 1
    fetchers: Any = p.b.component(leader)._driver.fetchers if is_mirror else p.b.broker(broker).parts.fetchers
    fetcher, state = fetchers._loop.find(TP)
    log = log_of(p.b, broker)
    before = log.log_start_offset, log.log_end_offset, log.latest_epoch, list(log.epochs.entries)
    now = p.simulation.world.now

    def handle(asked: PartitionFetch) -> tuple[Any, ...]:
        fetchers.handle(now, fetcher, events(state, asked)[which])
        return log.log_start_offset, log.log_end_offset, log.latest_epoch, list(log.epochs.entries)

    asked = fetcher.session.fetch_of(TP)
    assert handle(asked._replace(fetch_offset=before[1] - 1)) == before
    assert handle(asked._replace(fetch_offset=before[1] + 1)) == before
    assert state.paused_until == 0
    if handle(asked) == before and not state.paused_until:
        p.run_until(lambda: bool(p.cuts), "the cut, once the topic is confirmed")


@pytest.mark.decision("D64")
def test_a_removed_mirror_was_in_step_until_its_last_empty_response() -> None:
    p = pair(logs=WrittenLogs(LOG))
    p.begin()
    p.simulation.run_for(span_s=3)
    mp = p.b.mirror_partition()
    assert mp is not None and mp.fetcher is not None and mp.is_caught_up
    confirmed_ms = to_ms(mp.fetcher.confirmed_at)
    fetchers = p.b.component(p.b.await_leader().broker_id)._driver.fetchers
    fetchers.remove(mp)
    assert (mp.caught_up_ms, mp.is_caught_up, mp.fetcher) == (confirmed_ms, False, None)
