"""Range of producer ids of a cluster: Kafka's begins at 0, that of a cluster that can mirror elsewhere (D55)."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256

RANGE_IDS = 10**9
"""Number of ids in a range; a cluster that has used up its range continues in the next."""
# The last id stays below 2**53, so that it is the same number in JSON.
_RANGES = 9_000_000


@lru_cache(maxsize=64)
def first_producer_id(cluster_id: str) -> int:
    """Return the first producer id that a cluster assigns while mirror.version is 1 or above.

    It is derived from the cluster id and is never 0, where the ids of sources that cannot mirror begin.
    """
    number = int.from_bytes(sha256(cluster_id.encode()).digest()[:8], "big")
    return (1 + number % _RANGES) * RANGE_IDS
