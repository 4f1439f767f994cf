"""Metrics of a broker: replicas, log directories, replica fetchers, requests."""

from __future__ import annotations

from collections.abc import Iterator

from kmirror.client.fetch_loop import Fetcher
from kmirror.cluster.broker.parts import BrokerParts
from kmirror.cluster.metrics import Sample, gauge, meter
from kmirror.cluster.replication.follower import FollowedPartition
from kmirror.kernel.clock import Instant
from kmirror.kernel.runner_metrics import RunnerMetrics
from kmirror.spec.metrics import row

_FOLLOWER = ("clientId", "brokerHost", "brokerPort")
FOLLOWER_BYTES = row("FetcherStats", "BytesPerSec", *_FOLLOWER)
FOLLOWER_REQUESTS = row("FetcherStats", "RequestsPerSec", *_FOLLOWER)


def broker_metrics(parts: BrokerParts, now: Instant, runner_metrics: RunnerMetrics) -> Iterator[Sample]:
    """Yield the metrics of a broker without its components."""
    partitions = parts.replicas.partitions.values()
    led_partitions = [partition for partition in partitions if partition.is_leader]
    under_replicated = sum(
        1 for partition in led_partitions if len(partition.image.isr) < len(partition.image.replicas)
    )
    yield gauge(row("ReplicaManager", "LeaderCount"), len(led_partitions))
    yield gauge(row("ReplicaManager", "PartitionCount"), len(partitions))
    yield gauge(row("ReplicaManager", "UnderReplicatedPartitions"), under_replicated)
    yield gauge(row("ReplicaManager", "OfflineReplicaCount"), len(parts.replicas.partitions.offline))
    dirs = parts.context.log_dirs
    yield gauge(row("LogManager", "OfflineLogDirectoryCount"), len(dirs.names) - len(dirs.online))
    for fetcher in parts.fetchers.fetchers():
        yield from fetcher_metrics(fetcher, now)
    yield from parts.server.meters.samples(now, runner_metrics.times)


def fetcher_metrics(fetcher: Fetcher[FollowedPartition], now: Instant) -> Iterator[Sample]:
    """Yield the metrics of the fetches from one leader."""
    endpoint = fetcher.endpoint
    tags = (f"ReplicaFetcherThread-0-{fetcher.key[0]}", endpoint.host, str(endpoint.port))
    yield meter(FOLLOWER_BYTES, fetcher.record_bytes, now, *tags)
    yield meter(FOLLOWER_REQUESTS, fetcher.requests, now, *tags)
