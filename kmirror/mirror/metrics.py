"""Metrics of mirroring: the rows of KIP-1279, read from the state of the parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from kmirror.cluster.metrics import Sample, gauge, meter
from kmirror.kernel.clock import Instant
from kmirror.kernel.events import OutboundLink
from kmirror.kernel.runner_metrics import LinkCounts
from kmirror.mirror.client_metrics import client_samples
from kmirror.mirror.context import MirrorContext
from kmirror.mirror.fetchers import TRANSIENT_ERRORS, MirrorFetcher, MirrorFetchers
from kmirror.mirror.lag import UNKNOWN, lag_of
from kmirror.mirror.partition import MirrorPartition
from kmirror.mirror.states import MirrorState
from kmirror.spec.metrics import REPLICA_CLIENT, row

_FETCHER = ("clientId", "brokerHost", "brokerPort", "mirror-name")
_MANAGER, _SYNCS, _STATS = "MirrorFetcherManager", "MirrorMetadataManager", "FetcherStats"
LAG = row("FetcherLagMetrics", "ConsumerLag", "clientId", "topic", "partition")
FETCHED = (MirrorState.PREPARING, MirrorState.MIRRORING)
"""The states in which an error or silence of the source is a failure."""


def samples(
    context: MirrorContext, fetchers: MirrorFetchers, now: Instant, links: Mapping[OutboundLink, LinkCounts]
) -> Iterator[Sample]:
    """Yield all mirror metrics of one broker; `links` has the counts of its runner for each link."""
    yield from _fetcher_samples(context, fetchers, now)
    for fetcher in fetchers.fetchers():
        yield from client_samples(context, fetchers, fetcher, now, links)
    yield from _state_samples(context)
    for kind, count in context.sync_errors.counts.items():
        yield gauge(row(_SYNCS, kind.value), count)
    yield gauge(row("MirrorReplication", "ByteRate"), fetchers.quota.bytes_per_second(now))


def _fetcher_samples(context: MirrorContext, fetchers: MirrorFetchers, now: Instant) -> Iterator[Sample]:
    lags = {
        mp.tp: lag_of(context, now, mp)
        for mp in context.partitions.values()
        if mp.state is MirrorState.MIRRORING and context.replicas.partitions.find_led(mp.tp) is not None
    }
    active = [fetcher for fetcher in fetchers.fetchers() if fetcher.partitions]
    fetch_rate_min = min((fetcher.requests.rates(now)[0] for fetcher in active), default=0.0)
    failed = sum(1 for mp in context.partitions.values() if _has_failed(context, mp))
    for name, value in (
        ("MaxLag", UNKNOWN if UNKNOWN in lags.values() else max(lags.values(), default=0)),
        ("MinFetchRate", fetch_rate_min),
        ("DeadThreadCount", sum(1 for fetcher in fetchers.fetchers() if fetcher.is_dead)),
        ("FailedPartitionsCount", failed),
    ):
        yield gauge(row(_MANAGER, name, "clientId"), value, REPLICA_CLIENT)
    for fetcher in fetchers.fetchers():
        endpoint = fetcher.endpoint
        tags = (thread_name(fetcher), endpoint.host, str(endpoint.port), str(fetcher.key[0]))
        yield meter(row(_STATS, "BytesPerSec", *_FETCHER), fetcher.record_bytes, now, *tags)
        yield meter(row(_STATS, "RequestsPerSec", *_FETCHER), fetcher.requests, now, *tags)
        yield gauge(row(_STATS, "ThrottleTimeMs", *_FETCHER), fetcher.throttled_ms, *tags)
    for tp, lag in lags.items():
        found = fetchers.find(tp)
        if found is not None:
            yield gauge(LAG, lag, thread_name(found), tp.topic, str(tp.partition))


def thread_name(fetcher: MirrorFetcher) -> str:
    """Return the name of a fetcher in metrics (D19); its client id at the source, which quotas match, differs."""
    mirror, broker_id, number = fetcher.key
    return f"MirrorFetcherThread-{broker_id}-{number}-{mirror}"


def _has_failed(context: MirrorContext, mp: MirrorPartition) -> bool:
    """Return whether a partition is FAILED, its source rejects requests, or its leader there does not respond."""
    if mp.state not in FETCHED:
        return mp.state is MirrorState.FAILED
    source = context.sources.get(mp.assignment.mirror)
    topic_error = None if source is None else source.topic_errors.get(mp.tp.topic)
    return mp.is_failing or (topic_error is not None and topic_error not in TRANSIENT_ERRORS)


def _state_samples(context: MirrorContext) -> Iterator[Sample]:
    partitions = [mp for mp in context.partitions.values() if mp.state is not None]
    counts = Counter(mp.state for mp in partitions)
    by_mirror = Counter((mp.assignment.mirror, mp.state) for mp in partitions)
    for state in MirrorState:
        if state is not MirrorState.UNKNOWN:
            yield gauge(row(_SYNCS, f"{state.name.capitalize()}PartitionState"), counts[state])
            for mirror in sorted(context.sources):
                count = by_mirror[mirror, state]
                yield gauge(row(_SYNCS, "MirrorPartitionCount", "mirror-name", "state"), count, mirror, state.name)
