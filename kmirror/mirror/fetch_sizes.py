"""Size of mirror fetches: grows while responses are full, as links with a long round trip need (D70).

With one fetch in flight, a link is idle for a round trip after each response. Larger responses make that cost smaller.
"""

from __future__ import annotations

from collections.abc import Callable

from kmirror.client.fetch_loop import Fetcher
from kmirror.kernel.clock import MILLISECOND, SECOND, Duration
from kmirror.mirror.partition import MirrorPartition
from kmirror.spec.configs import Configs

GROWTH_LATENCY_MIN: Duration = 10 * MILLISECOND
"""A full response that took less time is large enough for its link."""
RTT_FACTOR = 8
"""So is one that took longer than the fastest one by this factor: a round trip is at most an eighth of its time."""
GROWTH_LATENCY_MAX: Duration = SECOND
"""After a response that took longer, the size no longer grows: the fetcher's other partitions wait meanwhile."""
SHRINK_LATENCY: Duration = 2 * SECOND
"""After a response that took longer, the size is halved."""


class FetchSizes:
    """The fetch sizes of one broker's mirrors, from `replica.fetch.max.bytes` to `mirror.replica.fetch.max.bytes`."""

    def __init__(self, configs: Callable[[], Configs]) -> None:
        self._configs = configs

    @property
    def _size_min(self) -> int:
        return self._configs().integer("replica.fetch.max.bytes")

    @property
    def _size_max(self) -> int:
        return max(self._size_min, self._configs().integer("mirror.replica.fetch.max.bytes"))

    def partition_max_bytes_of(self, mp: MirrorPartition) -> int:
        """Return PartitionMaxBytes for a partition, in bytes."""
        return max(self._size_min, min(mp.fetch_bytes, self._size_max))

    def max_bytes_of(self, fetcher: Fetcher[MirrorPartition]) -> int:
        """Return MaxBytes for a fetch: no less than PartitionMaxBytes of any of its partitions."""
        return max(
            self._configs().integer("replica.fetch.response.max.bytes"), min(fetcher.fetch_bytes, self._size_max)
        )

    def on_full(self, fetcher: Fetcher[MirrorPartition], mp: MirrorPartition) -> None:
        """Resize the next fetch: the newest response was full for `mp`, and the source has more records."""
        if fetcher.sized_at != fetcher.answered_at:  # Else another partition of the same response did it.
            fetcher.sized_at = fetcher.answered_at
            latency, size = fetcher.answered_at - fetcher.asked_at, max(fetcher.fetch_bytes, self._size_min, 1)
            fetcher.fastest = min(fetcher.fastest or latency, latency)
            if latency > SHRINK_LATENCY:
                size //= 2
            elif GROWTH_LATENCY_MIN <= latency <= min(
                GROWTH_LATENCY_MAX, RTT_FACTOR * fetcher.fastest
            ) and not self._is_throttled(fetcher):
                size *= 2
            fetcher.fetch_bytes = min(size, self._size_max)
        mp.fetch_bytes = fetcher.fetch_bytes

    def _is_throttled(self, fetcher: Fetcher[MirrorPartition]) -> bool:
        """Return whether the newest response had a ThrottleTimeMs."""
        return fetcher.throttled_until > fetcher.answered_at

    def on_lost(self, fetcher: Fetcher[MirrorPartition]) -> None:
        """Reset the sizes to the least: the response may have been too large to arrive in time."""
        if fetcher.fetch_bytes:
            fetcher.fetch_bytes = fetcher.fastest = 0
            for mp in fetcher.partitions.values():
                mp.fetch_bytes = 0
                fetcher.mark(mp)
