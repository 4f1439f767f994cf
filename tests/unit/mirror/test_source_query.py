"""Use of a DescribeMirrors response for one partition, and responses that are ignored."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from kmirror.client.remote_cluster import RemoteLeader
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.source_query import SourceQuery
from kmirror.mirror.source_responses import DescribeResult
from kmirror.mirror.upstream import Upstream
from kmirror.protocol.gen.describe_mirrors_response import (
    DescribeMirrorsResponse,
    LineageStretch,
    PartitionLineage,
    TopicLineage,
    UpstreamCluster,
)
from kmirror.spec.error_codes import ErrorCode

TP = TopicPartition("orders", 1)
OURS, OTHER = Uuid.from_ints(1, 2), Uuid.from_ints(3, 4)
EPOCH = 5
"""Leader epoch of the source's leader, from the metadata."""
BEFORE = Upstream(clusters=("before",))


def query(topic_id: Uuid = OURS, *, has_describe: bool = True) -> SourceQuery:
    mp = SimpleNamespace(tp=TP, upstream=BEFORE, source_lineage=None, source_lineage_epoch=-1)
    source = SimpleNamespace(
        cluster_id="source",
        knows_versions=lambda endpoint: True,
        supports=lambda endpoint, request: has_describe,
        record_leader=lambda tp, broker_id, epoch: None,
    )
    unused: Any = None
    found: Any = (unused, mp, None, source, RemoteLeader(7, EPOCH), Endpoint("h", 1), 1_000_000, topic_id)
    return SourceQuery(*found)


def described(
    *, partition: int = TP.partition, error: int = 0, epoch: int = EPOCH, topic_id: Uuid = Uuid.ZERO, cluster: int = 0
) -> DescribeResult:
    """Return a response with `above` upstream of the source."""
    row = PartitionLineage(
        partition_index=partition,
        error_code=error,
        leader_epoch=epoch,
        stretches=[LineageStretch(first_epoch=0, cluster=0)],
        upstream=[UpstreamCluster(cluster=cluster, age_ms=0)],
    )
    topic = TopicLineage(topic_name=TP.topic, topic_id=topic_id, partitions=[row])
    return DescribeResult(DescribeMirrorsResponse(lineages=[topic], cluster_ids=["above"]), "m")


@pytest.mark.parametrize(
    ("response", "clusters"),
    [
        (described(), ("above",)),
        (described(epoch=EPOCH + 1), ("above",)),
        (described(epoch=EPOCH - 1), BEFORE.clusters),
        (described(error=ErrorCode.NOT_LEADER_OR_FOLLOWER), BEFORE.clusters),
        (described(partition=2), BEFORE.clusters),
        (described(cluster=1), BEFORE.clusters),
        (None, BEFORE.clusters),
    ],
    ids=["leader", "newer leader", "past leader", "no leader", "another partition", "cluster without id", "none"],
)
@pytest.mark.decision("D58")
def test_the_upstream_is_learned_only_from_a_current_leader(
    response: DescribeResult | None, clusters: tuple[str, ...]
) -> None:
    sent = query()
    sent.record_upstream(response)
    assert sent.mp.upstream is not None and sent.mp.upstream.clusters == clusters


@pytest.mark.decision("D58")
def test_a_source_without_describe_mirrors_mirrors_from_no_cluster() -> None:
    sent = query(has_describe=False)
    sent.record_upstream(None)
    assert sent.mp.upstream == Upstream(asked_at=sent.started_at, ended_at=sent.started_at)


@pytest.mark.decision("D76")
def test_an_assumed_lineage_is_marked_until_the_source_returns_one() -> None:
    sent = query(has_describe=False)
    sent.record_lineage(None)
    assert sent.mp.lineage_is_assumed
    sent.record_upstream(described())
    assert sent.mp.lineage_is_assumed, "its lineage is still assumed"
    sent.record_lineage(described())
    assert not sent.mp.lineage_is_assumed
    sent.record_upstream(None)
    assert sent.mp.lineage_is_assumed
    sent.record_lineage(DescribeResult(DescribeMirrorsResponse(), "m"))
    assert not sent.mp.lineage_is_assumed, "it knows no lineages, and cannot report more"


@pytest.mark.parametrize(
    ("known", "response", "expected"),
    [
        (OURS, described(topic_id=OURS), True),
        (OURS, described(topic_id=OTHER), False),
        (OURS, described(), False),
        (OURS, None, False),
        (Uuid.ZERO, described(), True),
        (Uuid.ZERO, None, True),
    ],
    ids=["same", "another", "older release", "no DescribeMirrors", "no ids", "no ids, no DescribeMirrors"],
)
@pytest.mark.decision("D65")
def test_a_lineage_is_about_our_topic_if_it_has_its_id(
    known: Uuid, response: DescribeResult | None, expected: bool
) -> None:
    sent = query(known)
    sent.record_lineage(response)
    assert sent.is_about_our_topic is expected
