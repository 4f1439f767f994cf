"""Which producer ids are a cluster's own? Kafka's begin at 0; those of a cluster that can mirror, elsewhere (D55)."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256

RANGE_IDS = 10**9
"""A cluster that has used up its range goes on into the next."""
# The last id stays below 2**53, so that it is the same number in JSON.
_RANGES = 9_000_000


@lru_cache(maxsize=64)
def first_producer_id(cluster_id: str) -> int:
    """Return the first of the producer ids that a cluster gives out while mirror.version is 1 or above.

    It follows from the cluster's id, and is never 0: sources that cannot mirror begin there.
    """
    number = int.from_bytes(sha256(cluster_id.encode()).digest()[:8], "big")
    return (1 + number % _RANGES) * RANGE_IDS
