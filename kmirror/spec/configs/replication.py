"""Config keys of replication inside a cluster."""

from __future__ import annotations

from kmirror.spec.configs.key import NO_SOCKETS, NOT_READ, ConfigKey, Kind, Scope
from kmirror.spec.configs.rules import SELECTORS

_B, _T = Scope.BROKER, Scope.TOPIC

# fmt: off
KEYS: tuple[ConfigKey, ...] = (
    ConfigKey("replica.lag.time.max.ms", _B, Kind.LONG, "30000", "How long a follower may lag and stay in the ISR.", 1),
    ConfigKey(
        "replica.selector.class", _B, Kind.STRING, None,
        "Class that selects the replica that a consumer reads from (KIP-392).", choices=SELECTORS,
    ),
    ConfigKey("replica.fetch.wait.max.ms", _B, Kind.INT, "500", "Longest wait of a follower's fetch.", 0),
    ConfigKey("replica.fetch.min.bytes", _B, Kind.INT, "1", "Bytes for which a follower's fetch waits.", 0),
    ConfigKey("replica.fetch.max.bytes", _B, Kind.INT, "1048576", "Bytes that a follower requests per partition.", 0),
    ConfigKey(
        "replica.fetch.response.max.bytes", _B, Kind.INT, "10485760", "Bytes that a follower requests in total.", 0,
    ),
    ConfigKey("replica.fetch.backoff.ms", _B, Kind.INT, "1000", "Pause of a follower after an error.", 0),
    ConfigKey(
        "replica.high.watermark.checkpoint.interval.ms", _B, Kind.LONG, "5000",
        "How often high watermarks and log start offsets are checkpointed.", 1,
    ),
    ConfigKey("min.insync.replicas", _B, Kind.INT, "1", "ISR size that acks=all needs.", 1, dynamic=True),
    ConfigKey(
        "min.insync.replicas", _T, Kind.INT, None, "ISR size that acks=all needs.", 1, broker_key="min.insync.replicas",
    ),
    ConfigKey(
        "default.replication.factor", _B, Kind.INT, "1",
        "Replicas of a topic that is created without a number of its own.", 1,
    ),
    ConfigKey("replica.socket.receive.buffer.bytes", _B, Kind.INT, "65536", no_effect=NO_SOCKETS),
    ConfigKey("replica.socket.timeout.ms", _B, Kind.INT, "30000", no_effect=NO_SOCKETS),
    ConfigKey("num.replica.fetchers", _B, Kind.INT, "1", minimum=1, dynamic=True, no_effect=NOT_READ),
)
# fmt: on
