"""What do the small integers in requests stand for?"""

from __future__ import annotations

from enum import IntEnum


class IsolationLevel(IntEnum):
    """What a reader is given of transactions: `isolation.level` of a consumer."""

    READ_UNCOMMITTED = 0
    READ_COMMITTED = 1


class OffsetSpec(IntEnum):
    """What ListOffsets is asked for where a timestamp could stand."""

    LATEST = -1
    EARLIEST = -2
