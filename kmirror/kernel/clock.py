"""Time in the core: integer microseconds since the Unix epoch, always passed as an argument.

`Instant` is a point in time, `Duration` a span; both count microseconds. Kafka's timestamps are milliseconds: `to_ms`
converts when a record or message is written.
"""

from __future__ import annotations

Instant = int
Duration = int

MILLISECOND: Duration = 1_000
SECOND: Duration = 1_000_000


def to_ms(instant: Instant) -> int:
    """Return `instant` as a Kafka timestamp: whole milliseconds since the Unix epoch."""
    return instant // MILLISECOND


def from_ms(milliseconds: int) -> Duration:
    """Return `milliseconds` as a `Duration`."""
    return milliseconds * MILLISECOND
