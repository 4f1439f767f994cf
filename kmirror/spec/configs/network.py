"""Config keys of connections, requests and fetch sessions."""

from __future__ import annotations

from kmirror.spec.configs.key import NO_SOCKETS, NO_THREADS, ConfigKey, Kind, Scope
from kmirror.spec.configs.rules import address_counts

_B = Scope.BROKER
_PURGATORY = "an answered request leaves nothing to be purged"

# fmt: off
KEYS: tuple[ConfigKey, ...] = (
    ConfigKey("request.timeout.ms", _B, Kind.INT, "30000", "How long a broker waits for a response.", 1),
    ConfigKey(
        "socket.request.max.bytes", _B, Kind.INT, "104857600",
        "Largest request in bytes; a larger one closes its connection.", 1,
    ),
    ConfigKey(
        "connections.max.idle.ms", _B, Kind.LONG, "600000", "Idle time after which a connection is closed.", 1,
    ),
    ConfigKey(
        "socket.connection.setup.timeout.ms", _B, Kind.LONG, "10000", "Time to wait for a connection to be set up.",
    ),
    ConfigKey(
        "socket.connection.setup.timeout.max.ms", _B, Kind.LONG, "30000",
        "Limit of socket.connection.setup.timeout.ms, which doubles with each failure.",
    ),
    ConfigKey(
        "max.connections", _B, Kind.INT, "2147483647", "Connections at once; further ones wait to be accepted.", 0,
    ),
    ConfigKey(
        "max.connections.per.ip", _B, Kind.INT, "2147483647",
        "Connections at once from one address; further ones are closed.", 0,
    ),
    ConfigKey(
        "max.connections.per.ip.overrides", _B, Kind.STRING, "",
        "address:count pairs that replace max.connections.per.ip.", rule=address_counts,
    ),
    ConfigKey(
        "max.request.partition.size.limit", _B, Kind.INT, "2000",
        "Partitions in one response of DescribeTopicPartitions.", 1,
    ),
    ConfigKey("fetch.max.bytes", _B, Kind.INT, "57671680", "Bytes in a fetch response; one batch may exceed it.", 1024),
    ConfigKey("max.incremental.fetch.session.cache.slots", _B, Kind.INT, "1000", "Fetch sessions kept.", 0),
    ConfigKey(
        "max.connection.creation.rate", _B, Kind.INT, "2147483647", minimum=0, dynamic=True, no_effect=NO_SOCKETS,
    ),
    ConfigKey("queued.max.request.bytes", _B, Kind.LONG, "-1", no_effect=NO_SOCKETS),
    ConfigKey("queued.max.requests", _B, Kind.INT, "500", minimum=1, no_effect=NO_SOCKETS),
    ConfigKey("socket.listen.backlog.size", _B, Kind.INT, "50", minimum=1, no_effect=NO_SOCKETS),
    ConfigKey("socket.receive.buffer.bytes", _B, Kind.INT, "102400", no_effect=NO_SOCKETS),
    ConfigKey("socket.send.buffer.bytes", _B, Kind.INT, "102400", no_effect=NO_SOCKETS),
    ConfigKey("background.threads", _B, Kind.INT, "10", minimum=1, dynamic=True, no_effect=NO_THREADS),
    ConfigKey("num.io.threads", _B, Kind.INT, "8", minimum=1, dynamic=True, no_effect=NO_THREADS),
    ConfigKey("num.network.threads", _B, Kind.INT, "3", minimum=1, dynamic=True, no_effect=NO_THREADS),
    ConfigKey("delete.records.purgatory.purge.interval.requests", _B, Kind.INT, "1", no_effect=_PURGATORY),
    ConfigKey("fetch.purgatory.purge.interval.requests", _B, Kind.INT, "1000", no_effect=_PURGATORY),
    ConfigKey("producer.purgatory.purge.interval.requests", _B, Kind.INT, "1000", no_effect=_PURGATORY),
)
# fmt: on
