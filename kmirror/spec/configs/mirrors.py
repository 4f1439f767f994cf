"""Config keys of Cluster Mirroring (KIP-1279), of brokers, topics and mirrors."""

from __future__ import annotations

from kmirror.spec.configs.key import LONG_MAX, ConfigKey, Kind, Scope
from kmirror.spec.configs.rules import acl_rules, patterns, security_protocol, servers, throttled_replicas

_B, _T, _M = Scope.BROKER, Scope.TOPIC, Scope.MIRROR

# fmt: off
KEYS: tuple[ConfigKey, ...] = (
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
        "How often a mirror refreshes its source's metadata.", 1, dynamic=True,
    ),
    ConfigKey(
        "mirror.replication.throttled.rate", _B, Kind.LONG, str(LONG_MAX),
        "Bytes per second at which throttled replicas are mirrored.", 0, dynamic=True, only_dynamic=True,
    ),
    ConfigKey(
        "replication.quota.window.num", _B, Kind.INT, "11",
        "Number of windows over which mirror.replication.throttled.rate is measured.", 1,
    ),
    ConfigKey(
        "replication.quota.window.size.seconds", _B, Kind.INT, "1", "Length of one of these windows, in seconds.", 1,
    ),
    ConfigKey("mirror.name", _T, Kind.STRING, "", "The mirror that manages this topic.", hidden=True),
    ConfigKey(
        "mirror.lineage", _T, Kind.STRING, "", "Which clusters wrote the logs that a deleted mirror has fed (D51).",
        hidden=True,
    ),
    ConfigKey(
        "mirror.support.unclean.leader.election", _T, Kind.BOOLEAN, "false",
        "Whether the truncation before mirroring waits for all replicas, not only the ISR.",
    ),
    ConfigKey(
        "mirror.replication.throttled.replicas", _T, Kind.LIST, "", "Replicas whose mirroring is throttled.",
        rule=throttled_replicas,
    ),
    ConfigKey(
        "bootstrap.servers", _M, Kind.LIST, None, "host:port pairs of the source cluster.", required=True,
        rule=servers,
    ),
    ConfigKey(
        "mirror.topic.properties.exclude", _M, Kind.LIST,
        "follower.replication.throttled.replicas,leader.replication.throttled.replicas,"
        "message.timestamp.difference.max.ms,log.message.timestamp.before.max.ms,"
        "log.message.timestamp.after.max.ms,message.timestamp.type,unclean.leader.election.enable,"
        "min.insync.replicas,mirror.name",
        "Topic configs that are not copied from the source.", rule=patterns,
    ),
    ConfigKey("mirror.groups.include", _M, Kind.LIST, ".*", "Groups whose offsets are copied.", rule=patterns),
    ConfigKey("mirror.acl.include", _M, Kind.LIST, "*", "ACLs that are copied.", rule=acl_rules),
    ConfigKey(
        "mirror.groups.clamp", _M, Kind.BOOLEAN, "false",
        "Keep copied offsets between the local log start and last stable offset.",
    ),
    ConfigKey(
        "security.protocol", _M, Kind.STRING, "PLAINTEXT", "Protocol towards the source cluster.",
        rule=security_protocol,
    ),
    ConfigKey("sasl.mechanism", _M, Kind.STRING, None, "SASL mechanism towards the source: PLAIN or SCRAM."),
    ConfigKey("request.timeout.ms", _M, Kind.INT, "30000", "How long to wait for a response of the source.", 1),
    ConfigKey(
        "source.cluster.id", _M, Kind.STRING, "", "The source cluster's id, remembered once learned (D15, D16).",
        hidden=True,
    ),
)
# fmt: on
