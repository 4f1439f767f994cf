"""Every config key that kmirror knows: one row each, nothing said twice.

A row says where the key may stand, how it is read, and its default as Kafka would print it. Typed
reading, DescribeConfigs, checks and documentation derive from the rows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum


class Scope(Enum):
    BROKER = "broker"
    TOPIC = "topic"
    MIRROR = "mirror"


class Kind(Enum):
    BOOLEAN = "boolean"
    INT = "int"
    LONG = "long"
    STRING = "string"
    LIST = "list"


@dataclass(frozen=True, slots=True)
class ConfigKey:
    """One config key; `default` is text as in a properties file, None where there is none."""

    name: str
    scope: Scope
    kind: Kind
    default: str | None
    doc: str
    minimum: int | None = None
    hidden: bool = False
    """Managed by kmirror itself: not described, not alterable (D7)."""
    broker_key: str | None = None
    """For a topic key: the broker key that supplies the default."""
    choices: tuple[str, ...] = ()
    """The words that the value, or each entry of a list, may be; empty if any will do."""


_B, _T, _M = Scope.BROKER, Scope.TOPIC, Scope.MIRROR

ROWS: tuple[ConfigKey, ...] = (
    ConfigKey("broker.heartbeat.interval.ms", _B, Kind.INT, "2000", "How often a broker reports to the controller.", 1),
    ConfigKey("broker.session.timeout.ms", _B, Kind.INT, "9000", "Silence after which a broker is fenced.", 1),
    ConfigKey("replica.lag.time.max.ms", _B, Kind.LONG, "30000", "How long a follower may lag and stay in the ISR.", 1),
    ConfigKey("replica.fetch.wait.max.ms", _B, Kind.INT, "500", "Longest wait of a follower's fetch.", 0),
    ConfigKey("replica.fetch.min.bytes", _B, Kind.INT, "1", "Bytes a follower's fetch waits for.", 0),
    ConfigKey("replica.fetch.max.bytes", _B, Kind.INT, "1048576", "Bytes a follower asks for per partition.", 0),
    ConfigKey("replica.fetch.response.max.bytes", _B, Kind.INT, "10485760", "Bytes a follower asks for in all.", 0),
    ConfigKey("replica.fetch.backoff.ms", _B, Kind.INT, "1000", "Pause of a follower after an error.", 0),
    ConfigKey(
        "replica.high.watermark.checkpoint.interval.ms", _B, Kind.LONG, "5000",
        "How often high watermarks and log starts are written down.", 1,
    ),
    ConfigKey("request.timeout.ms", _B, Kind.INT, "30000", "How long a broker waits for an answer.", 1),
    ConfigKey("min.insync.replicas", _B, Kind.INT, "1", "ISR size that acks=all needs.", 1),
    ConfigKey("default.replication.factor", _B, Kind.INT, "1", "Replicas of a topic that names no number.", 1),
    ConfigKey("num.partitions", _B, Kind.INT, "1", "Partitions of a topic that names no number.", 1),
    ConfigKey("max.incremental.fetch.session.cache.slots", _B, Kind.INT, "1000", "Fetch sessions kept.", 0),
    ConfigKey("unclean.leader.election.enable", _B, Kind.BOOLEAN, "false", "May a replica outside the ISR lead?"),
    ConfigKey("transaction.state.log.num.partitions", _B, Kind.INT, "50", "Partitions of __transaction_state.", 1),
    ConfigKey("transaction.state.log.replication.factor", _B, Kind.INT, "3", "Replicas of __transaction_state.", 1),
    ConfigKey("transaction.state.log.min.isr", _B, Kind.INT, "2", "min.insync.replicas of __transaction_state.", 1),
    ConfigKey("transaction.max.timeout.ms", _B, Kind.INT, "900000", "Longest transaction timeout accepted.", 1),
    ConfigKey(
        "transaction.abort.timed.out.transaction.cleanup.interval.ms", _B, Kind.INT, "10000",
        "How often timed-out transactions are looked for.", 1,
    ),
    ConfigKey("mirror.topic.num.partitions", _B, Kind.INT, "50", "Partitions of __mirror_state.", 1),
    ConfigKey("mirror.topic.replication.factor", _B, Kind.INT, "3", "Replicas of __mirror_state.", 1),
    ConfigKey("mirror.num.replica.fetchers", _B, Kind.INT, "1", "Mirror fetchers per source broker and mirror.", 1),
    ConfigKey(
        "mirror.metadata.refresh.interval.ms", _B, Kind.INT, "30000",
        "How often a mirror looks at its source's metadata.", 1,
    ),
    ConfigKey(
        "compression.type", _T, Kind.STRING, "producer", "Codec of the topic; producer keeps the client's.",
        choices=("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"),
    ),
    ConfigKey(
        "cleanup.policy", _T, Kind.LIST, "delete", "delete, compact or both.", choices=("compact", "delete"),
    ),
    ConfigKey("segment.bytes", _T, Kind.INT, "1073741824", "Size at which a segment rolls.", 1),
    ConfigKey("index.interval.bytes", _T, Kind.INT, "4096", "Bytes between entries of the offset index.", 0),
    ConfigKey("max.message.bytes", _T, Kind.INT, "1048588", "Largest batch accepted from a producer.", 0),
    ConfigKey(
        "message.timestamp.type", _T, Kind.STRING, "CreateTime", "CreateTime or LogAppendTime.",
        choices=("CreateTime", "LogAppendTime"),
    ),
    ConfigKey("retention.ms", _T, Kind.LONG, "604800000", "Age at which segments are deleted."),
    ConfigKey("retention.bytes", _T, Kind.LONG, "-1", "Size above which segments are deleted."),
    ConfigKey(
        "min.insync.replicas", _T, Kind.INT, None, "ISR size that acks=all needs.", 1,
        broker_key="min.insync.replicas",
    ),
    ConfigKey(
        "unclean.leader.election.enable", _T, Kind.BOOLEAN, None, "May a replica outside the ISR lead?",
        broker_key="unclean.leader.election.enable",
    ),
    ConfigKey("mirror.name", _T, Kind.STRING, "", "The mirror that manages this topic.", hidden=True),
    ConfigKey(
        "mirror.support.unclean.leader.election", _T, Kind.BOOLEAN, "false",
        "The cut before mirroring waits for all replicas, not only the ISR.",
    ),
    ConfigKey("mirror.replication.throttled.replicas", _T, Kind.LIST, "", "Replicas whose mirroring is throttled."),
    ConfigKey("bootstrap.servers", _M, Kind.LIST, None, "host:port pairs of the source cluster."),
    ConfigKey(
        "mirror.topic.properties.exclude", _M, Kind.LIST,
        "follower.replication.throttled.replicas,leader.replication.throttled.replicas,"
        "message.timestamp.difference.max.ms,log.message.timestamp.before.max.ms,"
        "log.message.timestamp.after.max.ms,message.timestamp.type,unclean.leader.election.enable,"
        "min.insync.replicas,mirror.name",
        "Topic configs that are not copied from the source.",
    ),
    ConfigKey("mirror.groups.include", _M, Kind.LIST, ".*", "Groups whose offsets are copied."),
    ConfigKey("mirror.acl.include", _M, Kind.LIST, "*", "ACLs that are copied."),
    ConfigKey("mirror.groups.clamp", _M, Kind.BOOLEAN, "false", "Keep copied offsets inside the local log."),
    ConfigKey("security.protocol", _M, Kind.STRING, "PLAINTEXT", "Protocol towards the source cluster."),
    ConfigKey("request.timeout.ms", _M, Kind.INT, "30000", "How long the source may take to answer.", 1),
    ConfigKey(
        "source.cluster.id", _M, Kind.STRING, "", "The source cluster's id, remembered once learned (D15, D16).",
        hidden=True,
    ),
)

BOUNDS = {Kind.INT: 1 << 31, Kind.LONG: 1 << 63}
_NUMBER = re.compile(r"[+-]?[0-9]{1,20}")

_BY_SCOPE: dict[Scope, dict[str, ConfigKey]] = {
    scope: {row.name: row for row in ROWS if row.scope is scope} for scope in Scope
}


def known(scope: Scope) -> Mapping[str, ConfigKey]:
    """Return the rows of `scope` by name."""
    return _BY_SCOPE[scope]


class Configs:
    """Typed reading of one resource's configs over the defaults of the rows."""

    __slots__ = ("_fallback", "_rows", "_values")

    def __init__(self, scope: Scope, values: Mapping[str, str], fallback: Configs | None = None) -> None:
        self._rows = _BY_SCOPE[scope]
        self._values = values
        self._fallback = fallback

    def text(self, name: str) -> str:
        """Return the value as text; a topic key without a value of its own falls back to the broker's."""
        value = self._values.get(name)
        if value is not None:
            return value
        row = self._rows[name]
        if row.broker_key is not None and self._fallback is not None:
            return self._fallback.text(row.broker_key)
        if row.broker_key is not None:
            return _BY_SCOPE[Scope.BROKER][row.broker_key].default or ""
        return row.default or ""

    def integer(self, name: str) -> int:
        return int(self.text(name))

    def names(self, name: str) -> list[str]:
        """Return the entries of a list."""
        return [entry.strip() for entry in self.text(name).split(",") if entry.strip()]

    def flag(self, name: str) -> bool:
        return self.text(name).strip().lower() == "true"


def problem_with(scope: Scope, name: str, value: str) -> str | None:
    """Say what is wrong with setting `name` to `value`, or None.

    Unknown names are a problem for topics and brokers; a mirror takes security settings as they are.
    """
    row = _BY_SCOPE[scope].get(name)
    if row is None:
        if scope is Scope.MIRROR and name.partition(".")[0] in ("sasl", "ssl", "security"):
            return None
        return f"Unknown {scope.value} config name: {name}"
    if row.hidden:
        return f"{name} is managed by the mirror APIs and cannot be set"
    if row.kind in (Kind.INT, Kind.LONG):
        number = int(value) if _NUMBER.fullmatch(value.strip()) else None
        if number is None or not -BOUNDS[row.kind] <= number < BOUNDS[row.kind]:
            return f"Invalid value {value} for configuration {name}: Not a number of type {row.kind.name}"
        if row.minimum is not None and number < row.minimum:
            return f"Invalid value {value} for configuration {name}: Value must be at least {row.minimum}"
    if row.choices:
        for entry in value.split(",") if row.kind is Kind.LIST else [value]:
            if entry.strip() not in row.choices:
                words = ", ".join(row.choices)
                return f"Invalid value {value} for configuration {name}: String must be one of: {words}"
    if row.kind is Kind.BOOLEAN and value.strip().lower() not in ("true", "false"):
        return f"Invalid value {value} for configuration {name}: Expected value to be either true or false"
    return None
