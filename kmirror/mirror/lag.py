"""How many records does a partition lack, and when is that known (D22, D62)?"""

from __future__ import annotations

from typing import Final

from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.mirror.context import MirrorContext
from kmirror.mirror.partition import MirrorPartition

UNKNOWN: Final = -1
OVERDUE_MS: Final = 2_000
"""A source that is reached answers a fetch within `replica.fetch.wait.max.ms` and this."""


def answers_within(context: MirrorContext) -> int:
    """Return the microseconds after which an answer of the source is overdue."""
    return (context.broker.configs.integer("replica.fetch.wait.max.ms") + OVERDUE_MS) * MILLISECOND


def lag_of(context: MirrorContext, now: Instant, mp: MirrorPartition) -> int:
    """Return how many records the source has above our high watermark; UNKNOWN if that of the source is not, or old.

    What is above our high watermark is lost if this leader fails now.
    """
    partition = context.replicas.partitions.led(mp.tp)
    if partition is None or mp.source_offset < 0 or not mp.is_lag_known(now, answers_within(context)):
        return UNKNOWN
    return max(0, mp.source_offset - partition.log.high_watermark)
