"""Bandwidth: quotas of the destination for its mirrors, and of a source for its clients (KIP-1279, KIP-219)."""

from __future__ import annotations

from itertools import pairwise

import pytest

from kmirror.cluster.server import Handler, Inbound
from kmirror.errors import UsageError
from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.protocol.gen.fetch_request import FetchRequest
from kmirror.protocol.gen.fetch_response import FetchResponse
from kmirror.sim.simulation import Simulation
from kmirror.spec.wire_values import ResourceType
from tests.sim.stage import Pair, StagedCluster, assert_equal, has_all, pair

HELD_MAX, FREE = TopicPartition("held", 0), TopicPartition("free", 0)
RATE, REPLICAS = "mirror.replication.throttled.rate", "mirror.replication.throttled.replicas"
VALUE = "v" * 10_000
COUNT = 100
KIB = 1 << 10


def loaded(*, fetchers: str = "1", rate: int, listed: str = "*") -> Pair:
    """Return a pair whose source has a megabyte in each topic, before anything is mirrored."""
    p = pair(
        5, brokers=1, b_configs={"replica.fetch.max.bytes": str(20 * KIB), "mirror.num.replica.fetchers": fetchers}
    )
    for tp in (HELD_MAX, FREE):
        p.a.create_topic(tp.topic)
    p.there.create()
    p.there.add_topics([HELD_MAX.topic, FREE.topic])
    p.run_until(lambda: all(p.b.state(tp) == "MIRRORING" for tp in (HELD_MAX, FREE)), "both are mirrored")
    p.b.alter("", {RATE: str(rate)}, kind=ResourceType.BROKER)
    p.b.alter(HELD_MAX.topic, {REPLICAS: listed})
    p.simulation.run_for(span_s=1)
    for _ in range(COUNT):
        for tp in (HELD_MAX, FREE):
            p.a.write(VALUE, tp=tp)
    return p


@pytest.mark.kip("1279", "Bandwidth Control")
@pytest.mark.parametrize("fetchers", ["1", "4"])
@pytest.mark.parametrize("rate", [50 * KIB, 150 * KIB])
def test_a_throttled_replica_keeps_the_rate_and_others_continue(rate: int, fetchers: str) -> None:
    p = loaded(rate=rate, fetchers=fetchers)
    began_s = p.simulation.now_ms / 1000
    before = p.b.log(HELD_MAX).log_end_offset * len(VALUE)
    p.run_until(lambda: has_all(p.there, FREE), "what is not throttled is there", within_s=3)
    assert not has_all(p.there, HELD_MAX)
    p.simulation.run_for(span_s=1)
    assert p.b.reason(HELD_MAX) == f"throttled: {RATE} is {rate} bytes a second"
    p.run_until(lambda: has_all(p.there, HELD_MAX), "the throttled one as well", within_s=60)
    span_s = p.simulation.now_ms / 1000 - began_s
    of_late = COUNT * len(VALUE) - before
    assert 0.7 * of_late < rate * span_s < 1.2 * of_late + 2 * rate
    assert_equal(p.there, [HELD_MAX.topic, FREE.topic])


@pytest.mark.parametrize("listed", ["0:2", "1:1", ""])
def test_a_list_without_this_replica_holds_nothing(listed: str) -> None:
    p = loaded(rate=1, listed=listed)
    p.run_until(lambda: has_all(p.there, HELD_MAX), "as if there were no rate", within_s=3)


@pytest.mark.parametrize("altered", ["rate", "list"])
def test_a_raised_rate_or_an_emptied_list_ends_the_throttle(altered: str) -> None:
    p = loaded(rate=1, listed="0:1")
    p.simulation.run_for(span_s=2)
    assert not has_all(p.there, HELD_MAX)
    if altered == "rate":
        p.b.alter("", {RATE: "100000000"}, kind=ResourceType.BROKER)
    else:
        p.b.alter(HELD_MAX.topic, {REPLICAS: ""})
    p.run_until(lambda: has_all(p.there, HELD_MAX), f"the {altered} was altered", within_s=3)


def test_the_rate_is_no_static_config() -> None:
    with pytest.raises(UsageError, match="can only be set dynamically: kafka-configs"):
        StagedCluster(Simulation(1), "a", configs={RATE: "1000"})


@pytest.mark.decision("D19")
@pytest.mark.kip("219", "throttled clients")
def test_a_throttling_source_is_not_fetched_from_until_its_time_is_over() -> None:
    """A broker returns nothing above consumer_byte_rate, and continues the session."""
    p = pair(6, brokers=1)
    p.a.create_topic(HELD_MAX.topic)
    p.a.write("first", tp=HELD_MAX)
    p.begin([HELD_MAX.topic])
    asked: list[tuple[Instant, bool]] = []

    def throttling(real: Handler) -> Handler:
        def handle(now: Instant, inbound: Inbound) -> None:
            request = inbound.body
            assert isinstance(request, FetchRequest)
            is_mirrors = inbound.head.client_id == "broker-1-fetcher-0-mirror-m"
            is_throttled = is_mirrors and request.session_epoch > 0 and len(asked) % 2 == 0
            asked.append((now, is_throttled))
            if is_throttled:
                inbound.reply(FetchResponse(session_id=request.session_id, throttle_time_ms=900))
            else:
                real(now, inbound)

        return handle

    server = p.a.broker(1).parts.server
    server.serve({FetchRequest: throttling(server.routes[FetchRequest])})
    for index in range(10):
        p.a.write(f"r{index}", tp=HELD_MAX)
        p.simulation.run_for(span_s=1)
    p.run_until(lambda: has_all(p.there, HELD_MAX), "all is mirrored")
    pauses = [next_at - at for (at, is_throttled), (next_at, _) in pairwise(asked) if is_throttled]
    assert len(pauses) > 5 and min(pauses) >= 900 * MILLISECOND
    assert_equal(p.there, [HELD_MAX.topic])
