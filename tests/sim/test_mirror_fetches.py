"""A mirror's fetches as the source sees them: their client ids (D19)."""

from __future__ import annotations

import re

import pytest

from kmirror.cluster.server import Handler, Inbound
from kmirror.kernel.clock import Instant
from kmirror.protocol.gen.fetch_request import FetchRequest
from kmirror.sim.mirror import Mirror
from tests.sim.stage import Pair, StagedCluster, WrittenLogs, assert_equal, pair, plain

TOPICS = ("t0", "t1", "t2", "t3")


def consumers_of(cluster: StagedCluster) -> dict[str, None]:
    """Return the client ids of all consumers' fetches that reach the cluster from now on, as they come."""
    seen: dict[str, None] = {}

    def watched(real: Handler) -> Handler:
        def handle(now: Instant, inbound: Inbound) -> None:
            assert isinstance(inbound.body, FetchRequest)
            if inbound.body.replica_state.replica_id == -1:
                seen[inbound.head.client_id or ""] = None
            real(now, inbound)

        return handle

    for broker_id in cluster.broker_ids:
        server = cluster.broker(broker_id).parts.server
        server.serve({FetchRequest: watched(server.routes[FetchRequest])})
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
