"""Lag of mirrored partitions, and when it is known (D22, D62, D77)."""

from __future__ import annotations

from typing import Final

from kmirror.client.remote_cluster import RemoteCluster
from kmirror.client.witnesses import proof_timeout_ms
from kmirror.kernel.clock import MILLISECOND, Duration, Instant
from kmirror.mirror.context import MirrorContext
from kmirror.mirror.partition import MirrorPartition
from kmirror.mirror.proved_brokers import ProvedBroker

UNKNOWN: Final = -1
OVERDUE_MS: Final = 2_000
"""A reachable source responds to a fetch within `replica.fetch.wait.max.ms` plus this time."""


def response_time_max(context: MirrorContext) -> int:
    """Return the microseconds after which a response of the source is overdue."""
    return (context.broker.configs.integer("replica.fetch.wait.max.ms") + OVERDUE_MS) * MILLISECOND


def proof_interval(context: MirrorContext) -> Duration:
    """Return the time between two proofs of one broker of a source (D77)."""
    return context.broker.configs.integer("mirror.metadata.refresh.interval.ms") * MILLISECOND


def proof_age_max(context: MirrorContext, source: RemoteCluster) -> Duration:
    """Return the longest time for which a lag may miss records that the source has acknowledged (D77).

    A proof takes two responses, and counts for fetches that are sent after it.
    """
    return proof_interval(context) + 2 * proof_timeout_ms(source) * MILLISECOND + response_time_max(context)


def lag_of(context: MirrorContext, now: Instant, mp: MirrorPartition) -> int:
    """Return the number of offsets from our high watermark to the source's; UNKNOWN if the source's is unknown or old.

    It also counts as old if the source's broker has not proved lately that it is up to date. The records above our high
    watermark are lost if this leader fails now.
    """
    partition = context.replicas.partitions.find_led(mp.tp)
    if partition is None or mp.source_offset < 0 or not mp.is_lag_known(now, response_time_max(context)):
        return UNKNOWN
    if not _is_proved(context, now, mp):
        return UNKNOWN
    return max(0, mp.source_offset - partition.log.high_watermark)


def unproved_reason(context: MirrorContext, now: Instant, mp: MirrorPartition) -> str:
    """Return why the source's broker has not proved that it is up to date (D77); empty if it has, or got no request."""
    fetcher, broker = mp.fetcher, _proved_broker(context, mp)
    if fetcher is None or broker is None or not broker.last_error or _is_proved(context, now, mp):
        return ""
    broker_text = f"the source's broker {fetcher.key[1]} at {fetcher.endpoint}"
    return f"the lag is unknown: {broker_text} has not proved that it still leads: {broker.last_error}"


def _is_proved(context: MirrorContext, now: Instant, mp: MirrorPartition) -> bool:
    """Return whether the proofs of the source's broker count for the newest fetch."""
    fetcher, broker = mp.fetcher, _proved_broker(context, mp)
    if fetcher is None or broker is None or broker.source is not context.sources.get(mp.assignment.mirror):
        return False
    as_of = broker.as_of(fetcher.confirmed_at)
    return as_of is not None and now - as_of <= proof_age_max(context, broker.source)


def _proved_broker(context: MirrorContext, mp: MirrorPartition) -> ProvedBroker | None:
    return None if mp.fetcher is None else context.proved.get((mp.assignment.mirror, mp.fetcher.endpoint))
