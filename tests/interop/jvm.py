"""Options of the JVMs that tests start."""

from __future__ import annotations

SHORT_LIVED = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
"""For programs that run for seconds: the second compiler would cost more than it saves."""
