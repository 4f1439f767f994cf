"""Every config key that kmirror knows: one row each, nothing said twice.

A row says where the key may stand, how it is read, what it may say, and its default as Kafka would print it. Typed
reading and checks derive from the rows. Bounds and words are those of Kafka 4.3.1's LogConfig and KafkaConfig. The keys
that change nothing here stand in `idle_configs`: they are known all the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from kmirror.spec import config_rules, idle_configs
from kmirror.spec.config_lists import BLANKS, entries_of
from kmirror.spec.config_rules import Rule, wrong
from kmirror.spec.idle_configs import Idle


class Scope(Enum):
    BROKER = "broker"
    TOPIC = "topic"
    MIRROR = "mirror"


class Kind(Enum):
    BOOLEAN = "boolean"
    SHORT = "short"
    INT = "int"
    LONG = "long"
    DOUBLE = "double"
    STRING = "string"
    LIST = "list"
    CLASS = "class"
    PASSWORD = "password"


@dataclass(frozen=True, slots=True)
class ConfigKey:
    """One config key; `default` is text as in a properties file, None where there is none."""

    name: str
    scope: Scope
    kind: Kind
    default: str | None
    doc: str
    minimum: float | None = None
    maximum: float | None = None
    hidden: bool = False
    """Managed by kmirror itself: not described, not alterable (D7)."""
    internal: bool = False
    """For Kafka's own tests: described only where it is set."""
    idle: str = ""
    """Why it changes nothing here; empty for a key that is read."""
    broker_key: str | None = None
    """For a topic key: the broker key that supplies the default."""
    instead: str | None = None
    """A key for tests alone, read in this one's place where it is set."""
    or_else: tuple[str, int] | None = None
    """For a broker key without a default: which key is read in its place, and how many of its units that one's is."""
    dynamic: bool = False
    """For a broker key: may it be altered while the broker runs (DynamicBrokerConfig)? Then it takes effect at once."""
    only_dynamic: bool = False
    """A properties file may not set it."""
    required: bool = False
    """It has no default, so it cannot be deleted."""
    rule: Rule | None = None
    choices: tuple[str, ...] = ()
    """The words that the value, or each entry of a list, may be; empty if any will do."""

    @property
    def holds_patterns(self) -> bool:
        """Return whether the entries of a list are regular expressions, in which a comma may stand."""
        return self.rule is config_rules.patterns

    @property
    def is_of_mirroring(self) -> bool:
        """Return whether KIP-1279 adds it, so that it is there only with feature mirror.version 1 (D1)."""
        return self.scope is Scope.MIRROR or self.name.startswith("mirror.")


_B, _T, _M = Scope.BROKER, Scope.TOPIC, Scope.MIRROR
MIB = 1 << 20
MINUTE_MS = 60_000
LONG_MAX = (1 << 63) - 1
_CODECS = ("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer")
_POLICIES = ("compact", "delete")
_TIMESTAMP_TYPES = ("CreateTime", "LogAppendTime")

# fmt: off
ROWS: tuple[ConfigKey, ...] = (
    ConfigKey("broker.heartbeat.interval.ms", _B, Kind.INT, "2000", "How often a broker reports to the controller.", 1),
    ConfigKey("broker.session.timeout.ms", _B, Kind.INT, "9000", "Silence after which a broker is fenced.", 1),
    ConfigKey("log.dir.failure.timeout.ms", _B, Kind.LONG, "30000", "How long a failed log dir may go untold.", 1),
    ConfigKey("replica.lag.time.max.ms", _B, Kind.LONG, "30000", "How long a follower may lag and stay in the ISR.", 1),
    ConfigKey("broker.rack", _B, Kind.STRING, None, "The rack of the broker, sent to clients (KIP-392)."),
    ConfigKey("replica.selector.class", _B, Kind.STRING, None, "Names read replicas.", choices=config_rules.SELECTORS),
    ConfigKey("replica.fetch.wait.max.ms", _B, Kind.INT, "500", "Longest wait of a follower's fetch.", 0),
    ConfigKey("replica.fetch.min.bytes", _B, Kind.INT, "1", "Bytes a follower's fetch waits for.", 0),
    ConfigKey("replica.fetch.max.bytes", _B, Kind.INT, "1048576", "Bytes a follower asks for per partition.", 0),
    ConfigKey("replica.fetch.response.max.bytes", _B, Kind.INT, "10485760", "Bytes a follower asks for in all.", 0),
    ConfigKey("replica.fetch.backoff.ms", _B, Kind.INT, "1000", "Pause of a follower after an error.", 0),
    ConfigKey(
        "replica.high.watermark.checkpoint.interval.ms", _B, Kind.LONG, "5000",
        "How often high watermarks and log starts are written down.", 1,
    ),
    ConfigKey(
        "metadata.log.max.record.bytes.between.snapshots", _B, Kind.LONG, "20971520", "Bytes until a snapshot.", 1,
    ),
    ConfigKey("metadata.log.max.snapshot.interval.ms", _B, Kind.LONG, "3600000", "Time until one; 0: never.", 0),
    ConfigKey(
        "metadata.log.segment.bytes", _B, Kind.INT, "1073741824", "Size at which a segment of the metadata log rolls.",
        8 * MIB, instead="internal.metadata.log.segment.bytes",
    ),
    ConfigKey(
        "internal.metadata.log.segment.bytes", _B, Kind.INT, None, "For tests: it without a bound.", internal=True,
    ),
    ConfigKey("metadata.log.segment.ms", _B, Kind.LONG, "604800000", "Age at which such a segment rolls."),
    ConfigKey("metadata.max.retention.bytes", _B, Kind.LONG, "104857600", "Bytes of metadata that are kept; -1: all."),
    ConfigKey("metadata.max.retention.ms", _B, Kind.LONG, "604800000", "Age of a metadata snapshot that goes."),
    ConfigKey("request.timeout.ms", _B, Kind.INT, "30000", "How long a broker waits for an answer.", 1),
    ConfigKey("socket.request.max.bytes", _B, Kind.INT, "104857600", "A longer request closes its connection.", 1),
    ConfigKey(
        "connections.max.idle.ms", _B, Kind.LONG, "600000", "A connection that is idle for so long is closed.", 1,
    ),
    ConfigKey("socket.connection.setup.timeout.ms", _B, Kind.LONG, "10000", "Longest wait for a peer to be connected."),
    ConfigKey("socket.connection.setup.timeout.max.ms", _B, Kind.LONG, "30000", "The same, doubled by each failure."),
    ConfigKey("max.connections", _B, Kind.INT, "2147483647", "Connections at once; others wait to be accepted.", 0),
    ConfigKey("max.connections.per.ip", _B, Kind.INT, "2147483647", "The same from one address; others are closed.", 0),
    ConfigKey(
        "max.connections.per.ip.overrides", _B, Kind.STRING, "", "address:count pairs that replace that bound.",
        rule=config_rules.address_counts,
    ),
    ConfigKey("min.insync.replicas", _B, Kind.INT, "1", "ISR size that acks=all needs.", 1, dynamic=True),
    ConfigKey("log.segment.bytes", _B, Kind.INT, "1073741824", "Size at which a segment rolls.", MIB, dynamic=True),
    ConfigKey(
        "log.index.interval.bytes", _B, Kind.INT, "4096", "Bytes between entries of the offset index.", 0, dynamic=True,
    ),
    ConfigKey(
        "log.index.size.max.bytes", _B, Kind.INT, "10485760", "Bytes of an index, above which its segment rolls.", 4,
        dynamic=True,
    ),
    ConfigKey("message.max.bytes", _B, Kind.INT, "1048588", "Largest batch accepted from a producer.", 0, dynamic=True),
    ConfigKey(
        "log.message.timestamp.type", _B, Kind.STRING, "CreateTime", "CreateTime or LogAppendTime.",
        choices=_TIMESTAMP_TYPES, dynamic=True,
    ),
    ConfigKey(
        "log.message.timestamp.before.max.ms", _B, Kind.LONG, str(LONG_MAX),
        "How far before the broker's clock a producer's timestamp may lie.", 0, dynamic=True,
    ),
    ConfigKey(
        "log.message.timestamp.after.max.ms", _B, Kind.LONG, "3600000",
        "How far after the broker's clock a producer's timestamp may lie.", 0, dynamic=True,
    ),
    ConfigKey(
        "compression.type", _B, Kind.STRING, "producer", "Codec of topics; producer keeps the client's.",
        choices=_CODECS, dynamic=True,
    ),
    ConfigKey(
        "log.cleanup.policy", _B, Kind.LIST, "delete", "delete, compact or both.", choices=_POLICIES, dynamic=True,
    ),
    ConfigKey(
        "log.retention.ms", _B, Kind.LONG, None, "Age at which segments are deleted; -1 is never.", dynamic=True,
        or_else=("log.retention.minutes", MINUTE_MS),
    ),
    ConfigKey(
        "log.retention.minutes", _B, Kind.INT, None, "The same in minutes, if log.retention.ms is not set.",
        or_else=("log.retention.hours", 60),
    ),
    ConfigKey("log.retention.hours", _B, Kind.INT, "168", "The same in hours, if log.retention.minutes is not set."),
    ConfigKey(
        "log.retention.bytes", _B, Kind.LONG, "-1", "Size above which segments are deleted; below 0 is none.",
        dynamic=True,
    ),
    ConfigKey(
        "log.retention.check.interval.ms", _B, Kind.LONG, "300000", "How often segments are looked for that may go.", 1,
    ),
    ConfigKey(
        "log.initial.task.delay.ms", _B, Kind.LONG, "30000", "How long after its start a broker begins to look.", 0,
        internal=True,
    ),
    ConfigKey(
        "log.segment.delete.delay.ms", _B, Kind.LONG, "60000", "How long the files of a deleted segment stay.", 0,
        dynamic=True,
    ),
    ConfigKey(
        "log.roll.ms", _B, Kind.LONG, None, "Age at which a segment rolls.", dynamic=True,
        or_else=("log.roll.hours", 60 * MINUTE_MS),
    ),
    ConfigKey("log.roll.hours", _B, Kind.INT, "168", "The same in hours, if log.roll.ms is not set.", 1),
    ConfigKey(
        "log.flush.interval.messages", _B, Kind.LONG, str(LONG_MAX), "Records after which a log is flushed.", 1,
        dynamic=True,
    ),
    ConfigKey(
        "log.flush.interval.ms", _B, Kind.LONG, None, "How long records may lie unflushed.", dynamic=True,
        or_else=("log.flush.scheduler.interval.ms", 1),
    ),
    ConfigKey(
        "log.flush.scheduler.interval.ms", _B, Kind.LONG, str(LONG_MAX), "How often is looked for logs to be flushed.",
    ),
    ConfigKey("log.cleaner.enable", _B, Kind.BOOLEAN, "true", "Are logs with cleanup.policy=compact compacted?"),
    ConfigKey(
        "log.cleaner.backoff.ms", _B, Kind.LONG, "15000", "Pause of the cleaner when there is nothing to clean.", 0,
        dynamic=True,
    ),
    ConfigKey(
        "log.cleaner.dedupe.buffer.size", _B, Kind.LONG, "134217728", "Bytes for the keys of a run, 24 for each key.",
        dynamic=True,
    ),
    ConfigKey(
        "log.cleaner.io.buffer.load.factor", _B, Kind.DOUBLE, "0.9", "How much of those bytes is used.", dynamic=True,
    ),
    ConfigKey(
        "log.cleaner.min.cleanable.ratio", _B, Kind.DOUBLE, "0.5", "Dirty share above which a log is cleaned.", 0, 1,
        dynamic=True,
    ),
    ConfigKey(
        "log.cleaner.delete.retention.ms", _B, Kind.LONG, "86400000", "How long tombstones stay readable.", 0,
        dynamic=True,
    ),
    ConfigKey(
        "log.cleaner.min.compaction.lag.ms", _B, Kind.LONG, "0", "Age below which records are not compacted.", 0,
        dynamic=True,
    ),
    ConfigKey(
        "log.cleaner.max.compaction.lag.ms", _B, Kind.LONG, str(LONG_MAX), "Age above which records are compacted.", 1,
        dynamic=True,
    ),
    ConfigKey(
        "producer.id.expiration.ms", _B, Kind.INT, "86400000", "Silence after which a producer is forgotten.", 1,
        dynamic=True,
    ),
    ConfigKey(
        "producer.id.expiration.check.interval.ms", _B, Kind.INT, "600000", "How often silent producers go.", 1,
        internal=True,
    ),
    ConfigKey("default.replication.factor", _B, Kind.INT, "1", "Replicas of a topic that names no number.", 1),
    ConfigKey("num.partitions", _B, Kind.INT, "1", "Partitions of a topic that names no number.", 1),
    ConfigKey("auto.create.topics.enable", _B, Kind.BOOLEAN, "true", "May asking for a topic create it?"),
    ConfigKey("delete.topic.enable", _B, Kind.BOOLEAN, "true", "May topics be deleted?"),
    ConfigKey(
        "max.request.partition.size.limit", _B, Kind.INT, "2000",
        "Partitions in one answer of DescribeTopicPartitions.", 1,
    ),
    ConfigKey("max.incremental.fetch.session.cache.slots", _B, Kind.INT, "1000", "Fetch sessions kept.", 0),
    ConfigKey(
        "unclean.leader.election.enable", _B, Kind.BOOLEAN, "false", "May a replica outside the ISR lead?",
        dynamic=True,
    ),
    ConfigKey("transaction.state.log.num.partitions", _B, Kind.INT, "50", "Partitions of __transaction_state.", 1),
    ConfigKey("transaction.state.log.replication.factor", _B, Kind.SHORT, "3", "Replicas of __transaction_state.", 1),
    ConfigKey("transaction.state.log.min.isr", _B, Kind.INT, "2", "min.insync.replicas of __transaction_state.", 1),
    ConfigKey(
        "add.partitions.to.txn.retry.backoff.ms", _B, Kind.INT, "20",
        "How soon a leader asks again to add a partition to a transaction whose predecessor is still ending.", 1,
    ),
    ConfigKey(
        "add.partitions.to.txn.retry.backoff.max.ms", _B, Kind.INT, "100",
        "How long it does so, before the producer is told to send its batch again; not above `request.timeout.ms`.", 0,
    ),
    ConfigKey("transaction.max.timeout.ms", _B, Kind.INT, "900000", "Longest transaction timeout accepted.", 1),
    ConfigKey(
        "transaction.abort.timed.out.transaction.cleanup.interval.ms", _B, Kind.INT, "10000",
        "How often timed-out transactions are looked for.", 1,
    ),
    ConfigKey(
        "transaction.partition.verification.enable", _B, Kind.BOOLEAN, "true",
        "Does a leader ask the coordinator whether a transaction is open before it begins there?", dynamic=True,
    ),
    ConfigKey(
        "offset.metadata.max.bytes", _B, Kind.INT, "4096", "Longest metadata of a committed offset, in UTF-16 units.",
    ),
    ConfigKey(
        "offsets.retention.minutes", _B, Kind.INT, "10080", "How long a committed offset is kept that nobody needs.", 1,
    ),
    ConfigKey(
        "offsets.retention.check.interval.ms", _B, Kind.LONG, "600000", "How often expired offsets are looked for.", 1,
    ),
    ConfigKey("offsets.topic.num.partitions", _B, Kind.INT, "50", "Partitions of __consumer_offsets.", 1),
    ConfigKey("offsets.topic.replication.factor", _B, Kind.SHORT, "3", "Replicas of __consumer_offsets.", 1),
    ConfigKey("offsets.topic.segment.bytes", _B, Kind.INT, "104857600", "segment.bytes of __consumer_offsets.", 1),
    ConfigKey(
        "group.min.session.timeout.ms", _B, Kind.INT, "6000", "Shortest session timeout that a member may ask for.",
    ),
    ConfigKey(
        "group.max.session.timeout.ms", _B, Kind.INT, "1800000", "Longest session timeout that a member may ask for.",
    ),
    ConfigKey(
        "group.initial.rebalance.delay.ms", _B, Kind.INT, "3000",
        "How long the first rebalance of a group waits for more members.",
    ),
    ConfigKey("group.max.size", _B, Kind.INT, "2147483647", "Members that a group may have.", 1),
    ConfigKey("mirror.topic.num.partitions", _B, Kind.INT, "50", "Partitions of __mirror_state.", 1),
    ConfigKey("mirror.topic.replication.factor", _B, Kind.INT, "3", "Replicas of __mirror_state.", 1),
    ConfigKey(
        "mirror.num.replica.fetchers", _B, Kind.INT, "1", "Mirror fetchers per source broker and mirror.", 1,
        dynamic=True,
    ),
    ConfigKey(
        "mirror.replica.fetch.max.bytes", _B, Kind.INT, "33554432",
        "Bytes to which a mirror's fetches grow from replica.fetch.max.bytes while it is behind.", 0, dynamic=True,
    ),
    ConfigKey(
        "mirror.metadata.refresh.interval.ms", _B, Kind.INT, "30000",
        "How often a mirror looks at its source's metadata.", 1, dynamic=True,
    ),
    ConfigKey(
        "mirror.replication.throttled.rate", _B, Kind.LONG, str(LONG_MAX),
        "Bytes a second that throttled replicas are mirrored with.", 0, dynamic=True, only_dynamic=True,
    ),
    ConfigKey("replication.quota.window.num", _B, Kind.INT, "11", "Windows over which that rate is kept.", 1),
    ConfigKey("replication.quota.window.size.seconds", _B, Kind.INT, "1", "Length of such a window.", 1),
    ConfigKey(
        "compression.type", _T, Kind.STRING, None, "Codec of the topic; producer keeps the client's.", choices=_CODECS,
        broker_key="compression.type",
    ),
    ConfigKey(
        "cleanup.policy", _T, Kind.LIST, None, "delete, compact or both.", choices=_POLICIES,
        broker_key="log.cleanup.policy",
    ),
    ConfigKey(
        "segment.bytes", _T, Kind.INT, None, "Size at which a segment rolls.", MIB, broker_key="log.segment.bytes",
        instead="internal.segment.bytes",
    ),
    ConfigKey(
        "internal.segment.bytes", _T, Kind.INT, None, "For tests: segment.bytes without its bound.", 1, internal=True,
    ),
    ConfigKey(
        "segment.index.bytes", _T, Kind.INT, None, "Bytes of an index, above which its segment rolls.", 4,
        broker_key="log.index.size.max.bytes",
    ),
    ConfigKey(
        "index.interval.bytes", _T, Kind.INT, None, "Bytes between entries of the offset index.", 0,
        broker_key="log.index.interval.bytes",
    ),
    ConfigKey(
        "max.message.bytes", _T, Kind.INT, None, "Largest batch accepted from a producer.", 0,
        broker_key="message.max.bytes",
    ),
    ConfigKey(
        "message.timestamp.type", _T, Kind.STRING, None, "CreateTime or LogAppendTime.", choices=_TIMESTAMP_TYPES,
        broker_key="log.message.timestamp.type",
    ),
    ConfigKey(
        "message.timestamp.before.max.ms", _T, Kind.LONG, None,
        "How far before the broker's clock a producer's timestamp may lie.", 0,
        broker_key="log.message.timestamp.before.max.ms",
    ),
    ConfigKey(
        "message.timestamp.after.max.ms", _T, Kind.LONG, None,
        "How far after the broker's clock a producer's timestamp may lie.", 0,
        broker_key="log.message.timestamp.after.max.ms",
    ),
    ConfigKey(
        "retention.ms", _T, Kind.LONG, None, "Age at which segments are deleted; -1 is never.", -1,
        broker_key="log.retention.ms",
    ),
    ConfigKey(
        "retention.bytes", _T, Kind.LONG, None, "Size above which segments are deleted; below 0 is none.",
        broker_key="log.retention.bytes",
    ),
    ConfigKey(
        "file.delete.delay.ms", _T, Kind.LONG, None, "How long the files of a deleted segment stay.", 0,
        broker_key="log.segment.delete.delay.ms",
    ),
    ConfigKey("segment.ms", _T, Kind.LONG, None, "Age at which a segment rolls.", 1, broker_key="log.roll.ms"),
    ConfigKey(
        "flush.messages", _T, Kind.LONG, None, "Records after which a log is flushed.", 1,
        broker_key="log.flush.interval.messages",
    ),
    ConfigKey(
        "flush.ms", _T, Kind.LONG, None, "How long records may lie unflushed.", 0, broker_key="log.flush.interval.ms",
    ),
    ConfigKey(
        "min.cleanable.dirty.ratio", _T, Kind.DOUBLE, None, "Dirty share above which a log is cleaned.", 0, 1,
        broker_key="log.cleaner.min.cleanable.ratio",
    ),
    ConfigKey(
        "delete.retention.ms", _T, Kind.LONG, None, "How long tombstones stay readable.", 0,
        broker_key="log.cleaner.delete.retention.ms",
    ),
    ConfigKey(
        "min.compaction.lag.ms", _T, Kind.LONG, None, "Age below which records are not compacted.", 0,
        broker_key="log.cleaner.min.compaction.lag.ms",
    ),
    ConfigKey(
        "max.compaction.lag.ms", _T, Kind.LONG, None, "Age above which records are compacted.", 1,
        broker_key="log.cleaner.max.compaction.lag.ms",
    ),
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
        "mirror.lineage", _T, Kind.STRING, "", "Which clusters wrote the logs that a deleted mirror has fed (D51).",
        hidden=True,
    ),
    ConfigKey(
        "mirror.support.unclean.leader.election", _T, Kind.BOOLEAN, "false",
        "The cut before mirroring waits for all replicas, not only the ISR.",
    ),
    ConfigKey(
        "mirror.replication.throttled.replicas", _T, Kind.LIST, "", "Replicas whose mirroring is throttled.",
        rule=config_rules.throttled_replicas,
    ),
    ConfigKey(
        "bootstrap.servers", _M, Kind.LIST, None, "host:port pairs of the source cluster.", required=True,
        rule=config_rules.servers,
    ),
    ConfigKey(
        "mirror.topic.properties.exclude", _M, Kind.LIST,
        "follower.replication.throttled.replicas,leader.replication.throttled.replicas,"
        "message.timestamp.difference.max.ms,log.message.timestamp.before.max.ms,"
        "log.message.timestamp.after.max.ms,message.timestamp.type,unclean.leader.election.enable,"
        "min.insync.replicas,mirror.name",
        "Topic configs that are not copied from the source.", rule=config_rules.patterns,
    ),
    ConfigKey(
        "mirror.groups.include", _M, Kind.LIST, ".*", "Groups whose offsets are copied.", rule=config_rules.patterns,
    ),
    ConfigKey("mirror.acl.include", _M, Kind.LIST, "*", "ACLs that are copied.", rule=config_rules.acl_rules),
    ConfigKey("mirror.groups.clamp", _M, Kind.BOOLEAN, "false", "Keep copied offsets inside the local log."),
    ConfigKey(
        "security.protocol", _M, Kind.STRING, "PLAINTEXT", "Protocol towards the source cluster.",
        rule=config_rules.security_protocol,
    ),
    ConfigKey("sasl.mechanism", _M, Kind.STRING, None, "How to log in at the source: PLAIN or SCRAM."),
    ConfigKey("request.timeout.ms", _M, Kind.INT, "30000", "How long the source may take to answer.", 1),
    ConfigKey(
        "source.cluster.id", _M, Kind.STRING, "", "The source cluster's id, remembered once learned (D15, D16).",
        hidden=True,
    ),
)
# fmt: on

BOUNDS = {Kind.SHORT: 1 << 15, Kind.INT: 1 << 31, Kind.LONG: 1 << 63}
VALUE_LENGTH_MAX = 32767
_NUMBER = re.compile(r"[+-]?\d{1,1000}")
_DOUBLE = re.compile(r"[+-]?(\d{1,1000}\.?\d{0,1000}|\.\d{1,1000})([eE][+-]?\d{1,4})?[dDfF]?")


def _idle(scope: Scope, groups: Mapping[str, tuple[Idle, ...]]) -> list[ConfigKey]:
    return [
        ConfigKey(
            row.name,
            scope,
            Kind(row.kind),
            row.default,
            "",
            row.minimum,
            row.maximum,
            idle=why,
            broker_key=row.broker_key,
            or_else=row.or_else,
            dynamic=row.dynamic,
            rule=row.rule,
            choices=row.choices,
        )
        for why, rows in groups.items()
        for row in rows
    ]


IDLE_ROWS: tuple[ConfigKey, ...] = (
    *_idle(Scope.BROKER, idle_configs.OF_BROKERS),
    *_idle(Scope.TOPIC, idle_configs.OF_TOPICS),
)
"""The keys of Kafka that change nothing here."""

_BY_SCOPE: dict[Scope, dict[str, ConfigKey]] = {
    scope: {row.name: row for row in (*IDLE_ROWS, *ROWS) if row.scope is scope} for scope in Scope
}


def known(scope: Scope) -> Mapping[str, ConfigKey]:
    """Return the rows of `scope` by name."""
    return _BY_SCOPE[scope]


def default_of(row: ConfigKey) -> str:
    """Return what is read where nothing is set anywhere; "" if there is no default."""
    brokers = _BY_SCOPE[Scope.BROKER]
    if row.default is None and row.broker_key is not None:
        row = brokers[row.broker_key]
    if row.or_else is not None:
        name, units = row.or_else
        return str(int(default_of(brokers[name])) * units)
    return row.default or ""


class Configs:
    """Typed reading of one resource's configs over the defaults of the rows.

    While it is in use `values` do not change: each number is read once.
    """

    __slots__ = ("_fallback", "_numbers", "_rows", "_values")

    def __init__(self, scope: Scope, values: Mapping[str, str], fallback: Configs | None = None) -> None:
        self._rows = _BY_SCOPE[scope]
        self._values = values
        self._fallback = fallback
        self._numbers: dict[str, int] = {}

    def text(self, name: str) -> str:
        """Return the value as text; a topic key without a value of its own falls back to the broker's."""
        row = self._rows[name]
        if row.instead is not None and row.instead in self._values:
            name = row.instead
        value = self._values.get(name)
        if value is None and row.broker_key is not None and self._fallback is not None:
            return self._fallback.text(row.broker_key)
        if value is None and row.or_else is not None:
            other, units = row.or_else
            return str(self.integer(other) * units)
        return default_of(row) if value is None else value.strip(BLANKS)

    def sets(self, name: str) -> bool:
        """Return whether a value is set for the key, be it the default's own."""
        return name in self._values

    def integer(self, name: str) -> int:
        number = self._numbers.get(name)
        if number is None:
            number = self._numbers[name] = int(self.text(name))
        return number

    def double(self, name: str) -> float:
        return float(self.text(name).rstrip("dDfF"))

    def names(self, name: str) -> list[str]:
        """Return the entries of a list."""
        return [entry for entry in entries_of(self.text(name), are_patterns=self._rows[name].holds_patterns) if entry]

    def flag(self, name: str) -> bool:
        return self.text(name).lower() == "true"


def broker_configs(static: Mapping[str, str], altered: Mapping[str, str]) -> Configs:
    """Return what holds at a node: what was altered while it runs goes before its properties file.

    As in Kafka, what was stored of keys that cannot change dynamically is passed over.
    """
    rows = _BY_SCOPE[Scope.BROKER]
    return Configs(Scope.BROKER, {**static, **{n: v for n, v in altered.items() if n in rows and rows[n].dynamic}})


def problem_with(scope: Scope, name: str, value: str) -> str | None:
    """Say what is wrong with setting `name` to `value`, in Kafka's words, or None.

    Unknown names are a problem for topics and brokers; a mirror takes security settings as they are.
    """
    row = _BY_SCOPE[scope].get(name)
    if len(value) > VALUE_LENGTH_MAX:
        return (
            "The configuration value cannot be added because it exceeds the maximum value size of "
            f"{VALUE_LENGTH_MAX} bytes."
        )
    if row is None:
        if scope is Scope.MIRROR and name.partition(".")[0] in ("sasl", "ssl", "security"):
            return None
        return f"Unknown {scope.value} config name: {name}"
    if row.hidden:
        return f"{name} is managed by the mirror APIs and cannot be set"
    if row.kind in BOUNDS or row.kind is Kind.DOUBLE:
        problem = _problem_with_number(row, value)
        return row.rule(name, [value.strip(BLANKS)]) if problem is None and row.rule is not None else problem
    if row.kind is Kind.BOOLEAN and value.strip(BLANKS).lower() not in ("true", "false"):
        return wrong(name, value, "Expected value to be either true or false")
    entries = entries_of(value, are_patterns=row.holds_patterns) if row.kind is Kind.LIST else [value.strip(BLANKS)]
    for entry in entries:
        if row.kind is Kind.LIST and not entry and row.rule is not config_rules.throttled_replicas:
            return f"Configuration '{name}' values must not be empty."
        if row.choices and entry not in row.choices:
            return wrong(name, entry, f"String must be one of: {', '.join(row.choices)}")
    return None if row.rule is None else row.rule(name, entries)


def _problem_with_number(row: ConfigKey, value: str) -> str | None:
    text = value.strip(BLANKS)
    number: float | None = None
    if row.kind is Kind.DOUBLE:
        number = float(text.rstrip("dDfF")) if _DOUBLE.fullmatch(text) else None
    elif _NUMBER.fullmatch(text) and -BOUNDS[row.kind] <= int(text) < BOUNDS[row.kind]:
        number = int(text)
    if number is None:
        return wrong(row.name, value, f"Not a number of type {row.kind.name}")
    if row.minimum is not None and number < row.minimum:
        return wrong(row.name, number, f"Value must be at least {row.minimum}")
    if row.maximum is not None and number > row.maximum:
        return wrong(row.name, number, f"Value must be no more than {row.maximum}")
    return None
