"""Quota of mirroring at the destination, as in Kafka's ReplicationQuotaManager.

A partition is throttled if the topic's `mirror.replication.throttled.replicas` lists it with this broker. Its bytes
count towards `mirror.replication.throttled.rate`; while that is exceeded, no throttled partition is fetched. Fetches
under way are not cancelled, so the rate holds on average over the windows. Other partitions are neither counted nor
held.
"""

from __future__ import annotations

from functools import lru_cache

from kmirror.cluster.node.context import BrokerContext
from kmirror.kernel.clock import MILLISECOND, Instant, to_ms
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.meters import WindowedRate
from kmirror.spec.configs import LONG_MAX
from kmirror.spec.configs.lists import split_entries

REPLICAS = "mirror.replication.throttled.replicas"
RATE = "mirror.replication.throttled.rate"
WINDOWS = "replication.quota.window.num"
WINDOW_SECONDS = "replication.quota.window.size.seconds"
ALL = "*"


class ReplicationQuota:
    """Counts the bytes of throttled partitions of one broker."""

    def __init__(self, broker: BrokerContext) -> None:
        self._broker = broker
        configs = broker.configs
        self._rate = WindowedRate(configs.integer(WINDOWS), configs.integer(WINDOW_SECONDS) * 1000)

    def is_throttled(self, tp: TopicPartition) -> bool:
        """Return whether the topic's configs list this broker's replica of `tp`."""
        listed = self._broker.image.configs.topic(tp.topic).get(REPLICAS, "")
        if not listed:
            return False
        return listed.strip() == ALL or (tp.partition, self._broker.node_id) in _replicas(listed)

    def record(self, now: Instant, size: int) -> bool:
        """Count bytes of a throttled partition; return whether they made the rate exceed its bound."""
        bound = self._broker.configs.integer(RATE)
        was_within = self._rate.measure(to_ms(now)) <= bound
        self._rate.record(to_ms(now), size)
        return was_within and self._rate.measure(to_ms(now)) > bound

    def held_until(self, now: Instant, tp: TopicPartition) -> Instant:
        """Return until when `tp` may not be fetched if no other bytes arrive; a time not after `now` if it may be."""
        bound = self._broker.configs.integer(RATE)
        if bound == LONG_MAX or not self.is_throttled(tp):
            return 0
        now_ms = to_ms(now)
        free_ms = self._rate.time_until_at_most(bound, now_ms)
        return 0 if free_ms == now_ms else free_ms * MILLISECOND

    def bytes_per_second(self, now: Instant) -> float:
        """Return the rate of bytes of throttled partitions."""
        return self._rate.measure(to_ms(now))


@lru_cache(maxsize=256)
def _replicas(listed: str) -> frozenset[tuple[int, int]]:
    """Return the (partition, broker) pairs of a list that was validated when it was set."""
    pairs = (entry.split(":") for entry in split_entries(listed) if entry)
    return frozenset((int(partition), int(broker)) for partition, broker in pairs)
