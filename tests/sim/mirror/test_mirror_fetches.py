"""A mirror's fetches as the source sees them: their client ids (D19) and their sizes (D70)."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from kmirror.cluster.server import Handler, Inbound
from kmirror.kernel.clock import Instant
from kmirror.protocol.gen.fetch_request import FetchRequest
from kmirror.sim.mirror import Mirror
from tests.sim.stage import TOPIC, TP, Pair, StagedCluster, WrittenLogs, assert_equal, pair, plain

TOPICS = ("t0", "t1", "t2", "t3")
KIB = 1 << 10
LEAST = 20 * KIB
GROWING = {"replica.fetch.max.bytes": str(LEAST), "replica.fetch.response.max.bytes": str(2 * LEAST)}
COUNT = 200


def watch_consumers(cluster: StagedCluster, watch: Callable[[Inbound, FetchRequest], None]) -> None:
    """Call `watch` with each consumer's fetch that reaches the cluster from now on."""

    def watched(real: Handler) -> Handler:
        def handle(now: Instant, inbound: Inbound) -> None:
            assert isinstance(inbound.body, FetchRequest)
            if inbound.body.replica_state.replica_id == -1:
                watch(inbound, inbound.body)
            real(now, inbound)

        return handle

    for broker_id in cluster.broker_ids:
        server = cluster.broker(broker_id).parts.server
        server.serve({FetchRequest: watched(server.routes[FetchRequest])})


def consumers_of(cluster: StagedCluster) -> dict[str, None]:
    """Return the client ids of all consumers' fetches that reach the cluster from now on, in order."""
    seen: dict[str, None] = {}
    watch_consumers(cluster, lambda inbound, _: seen.update({inbound.head.client_id or "": None}))
    return seen


def leaders_of(p: Pair, topics: tuple[str, ...]) -> set[int]:
    found = [p.b.leader(tp) for tp in p.b.partitions(topics)]
    return {partition.broker_id for partition in found if partition is not None}


@pytest.mark.decision("D19")
@pytest.mark.kip("1279", "Bandwidth Control")
def test_a_quota_can_name_broker_fetcher_and_mirror_by_the_client_id() -> None:
    logs = WrittenLogs({topic: [plain(0, 0, "r0")] for topic in TOPICS})
    p = pair(logs=logs, b_configs={"mirror.num.replica.fetchers": "2"})
    seen = consumers_of(p.a)
    other = Mirror("n.o", source=p.a, destination=p.b)
    p.begin(TOPICS[:3])
    other.create()
    other.add_topics(TOPICS[3:])
    assert_equal(p.there, TOPICS[:3])
    assert_equal(other, TOPICS[3:])
    found = [re.fullmatch(r"broker-([0-9]+)-fetcher-([0-9]+)-mirror-(.+)", name) for name in seen]
    rows = [(int(match[1]), int(match[2]), match[3]) for match in found if match is not None]
    assert len(rows) == len(seen), seen
    assert {broker for broker, _, mirror in rows if mirror == "m"} == leaders_of(p, TOPICS[:3])
    assert {broker for broker, _, mirror in rows if mirror == "n.o"} == leaders_of(p, TOPICS[3:])
    assert {number for _, number, _ in rows} == {0, 1}, "as many as mirror.num.replica.fetchers"


# -- sizes (D70) --------------------------------------------------------------------------------


def sizes_of(cluster: StagedCluster) -> list[tuple[int, int]]:
    """Return the maximum bytes, of the partition and of the response, of each later fetch of mirrors with the topic."""
    seen: list[tuple[int, int]] = []

    def watch(_: Inbound, request: FetchRequest) -> None:
        rows = [row for topic in request.topics for row in topic.partitions]
        seen.extend((row.partition_max_bytes, request.max_bytes) for row in rows)

    watch_consumers(cluster, watch)
    return seen


def behind(*, brokers: int = 1) -> Pair:
    """Return a pair that has started to mirror a topic of two megabytes, and has copied a part of it."""
    b_configs = {**GROWING, "request.timeout.ms": "2000"}
    logs = WrittenLogs({TOPIC: [plain(n, 0, f"{n} " + "v" * 10_000) for n in range(COUNT)]})
    p = pair(3, brokers=brokers, logs=logs, b_configs=b_configs)
    p.there.create()
    return p


def run_until_copied(p: Pair, count: int) -> None:
    p.there.add_topics([TOPIC])
    p.run_until(lambda: (led := p.b.leader(TP)) is not None and led.log.log_end_offset >= count, f"{count} records")
    assert p.b.log().log_end_offset < COUNT, "it is amid the log"


@pytest.mark.decision("D70")
def test_fetches_over_a_long_line_grow_while_responses_are_full() -> None:
    p = behind()
    seen = sizes_of(p.a)
    run_until_copied(p, 1)
    assert_equal(p.there)
    each, in_all = zip(*seen, strict=True)
    assert each[:4] == (LEAST, 2 * LEAST, 4 * LEAST, 8 * LEAST)
    assert in_all == tuple(max(2 * LEAST, size) for size in each)


@pytest.mark.decision("D70")
def test_a_mirror_that_keeps_up_fetches_as_if_nothing_grew() -> None:
    digests = []
    for most in ("0", str(32 << 20)):
        p = pair(4, b_configs={**GROWING, "mirror.replica.fetch.max.bytes": most})
        p.a.create_topic(TOPIC)
        p.begin()
        for number in range(20):
            p.a.write(f"{number} " + "v" * 10_000)
            p.simulation.run_for(span_s=0.2)
        assert_equal(p.there)
        digests.append(p.simulation.digest)
    assert digests[0] == digests[1]


@pytest.mark.decision("D70")
def test_after_a_lost_response_fetches_start_small_again() -> None:
    p = behind()
    seen = sizes_of(p.a)
    run_until_copied(p, 50)
    assert seen[-1][0] > LEAST
    p.simulation.line(p.a, p.b).take_down()
    p.simulation.run_for(span_s=5)
    seen.clear()
    p.simulation.line(p.a, p.b).bring_up()
    assert_equal(p.there)
    assert seen[:2] == [(LEAST, 2 * LEAST), (2 * LEAST, 2 * LEAST)]


@pytest.mark.decision("D70")
def test_over_a_slow_line_fetches_are_halved_until_responses_take_two_seconds() -> None:
    p = behind()
    seen = sizes_of(p.a)
    run_until_copied(p, 25)
    seen.clear()
    p.simulation.line(p.a, p.b).set(bandwidth_kbps=400)
    assert_equal(p.there)
    asked = [each for each, _ in seen]
    assert asked[:3] == [16 * LEAST, 8 * LEAST, 4 * LEAST]
    assert set(asked[3:]) == {4 * LEAST}


@pytest.mark.decision("D70")
def test_a_new_source_leader_gets_the_smallest_fetch_again() -> None:
    p = behind(brokers=3)
    seen = sizes_of(p.a)
    run_until_copied(p, 50)
    assert seen[-1][0] > LEAST
    seen.clear()
    p.a.restart(p.a.elect())
    assert_equal(p.there)
    asked = [each for each, _ in seen]
    assert asked[asked.index(LEAST) :][:2] == [LEAST, 2 * LEAST]


@pytest.mark.decision("D70")
def test_a_large_response_after_the_stop_is_dropped() -> None:
    p = behind(brokers=3)
    run_until_copied(p, 50)
    p.fail_over()
    p.simulation.run_for(span_s=2)
    copied = [record.value for record in p.b.read(TP)]
    assert 50 <= len(copied) < COUNT
    assert copied == [record.value for record in p.a.read(TP)][: len(copied)]
    p.b.write("new")
    p.fail_back()
    assert_equal(p.back)
    assert len(p.a.read(TP)) == len(copied) + 1
