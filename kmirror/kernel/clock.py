"""Time in the core: integers only, microseconds since the Unix epoch, always handed in.

`Instant` is a point, `Duration` a span; both count microseconds. Kafka's own stamps are milliseconds:
`to_ms` converts at the edge of a record or a message.
"""

from __future__ import annotations

Instant = int
Duration = int

MILLISECOND: Duration = 1_000
SECOND: Duration = 1_000_000


def to_ms(instant: Instant) -> int:
    """Return `instant` as Kafka writes timestamps: whole milliseconds since the Unix epoch."""
    return instant // MILLISECOND


def from_ms(milliseconds: int) -> Duration:
    """Return a span of `milliseconds` as a `Duration`."""
    return milliseconds * MILLISECOND
