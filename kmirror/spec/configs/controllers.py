"""Config keys of the controller, its metadata log and elections."""

from __future__ import annotations

from kmirror.spec.configs.key import MIB, NOT_READ, SET_AT_START, ConfigKey, Kind, Scope

_B, _T = Scope.BROKER, Scope.TOPIC
_QUORUM = "one controller decides, without a quorum"

# fmt: off
KEYS: tuple[ConfigKey, ...] = (
    ConfigKey(
        "metadata.log.max.record.bytes.between.snapshots", _B, Kind.LONG, "20971520",
        "Bytes of metadata records after which a snapshot is written.", 1,
    ),
    ConfigKey(
        "metadata.log.max.snapshot.interval.ms", _B, Kind.LONG, "3600000",
        "Longest time between snapshots of the metadata log; 0: no limit.", 0,
    ),
    ConfigKey(
        "controller.quorum.request.timeout.ms", _B, Kind.INT, "2000",
        "How long a broker waits for the metadata log of the controller.", 0,
    ),
    ConfigKey(
        "metadata.log.segment.bytes", _B, Kind.INT, "1073741824", "Size at which a segment of the metadata log rolls.",
        8 * MIB, test_key="internal.metadata.log.segment.bytes",
    ),
    ConfigKey(
        "internal.metadata.log.segment.bytes", _B, Kind.INT, None,
        "For tests: metadata.log.segment.bytes without its bound.", internal=True,
    ),
    ConfigKey(
        "metadata.log.segment.ms", _B, Kind.LONG, "604800000", "Age at which a segment of the metadata log rolls.",
    ),
    ConfigKey(
        "metadata.max.retention.bytes", _B, Kind.LONG, "104857600",
        "Bytes of metadata logs and snapshots that are kept; -1: all.",
    ),
    ConfigKey("metadata.max.retention.ms", _B, Kind.LONG, "604800000", "Age at which a metadata snapshot is deleted."),
    ConfigKey(
        "unclean.leader.election.enable", _B, Kind.BOOLEAN, "false",
        "Whether a replica outside the ISR may become leader.", dynamic=True,
    ),
    ConfigKey(
        "unclean.leader.election.enable", _T, Kind.BOOLEAN, None,
        "Whether a replica outside the ISR may become leader.", broker_key="unclean.leader.election.enable",
    ),
    ConfigKey("controller.quorum.voters", _B, Kind.LIST, "", no_effect=SET_AT_START),
    ConfigKey("controller.quorum.append.linger.ms", _B, Kind.INT, "25", minimum=0, no_effect=_QUORUM),
    ConfigKey("controller.quorum.auto.join.enable", _B, Kind.BOOLEAN, "false", no_effect=_QUORUM),
    ConfigKey("controller.quorum.bootstrap.servers", _B, Kind.LIST, "", no_effect=_QUORUM),
    ConfigKey("controller.quorum.election.backoff.max.ms", _B, Kind.INT, "1000", minimum=0, no_effect=_QUORUM),
    ConfigKey("controller.quorum.election.timeout.ms", _B, Kind.INT, "1000", minimum=0, no_effect=_QUORUM),
    ConfigKey("controller.quorum.fetch.max.bytes", _B, Kind.INT, "1048576", minimum=1, no_effect=_QUORUM),
    ConfigKey("controller.quorum.fetch.snapshot.max.bytes", _B, Kind.INT, "1048576", minimum=1, no_effect=_QUORUM),
    ConfigKey("controller.quorum.fetch.timeout.ms", _B, Kind.INT, "2000", minimum=0, no_effect=_QUORUM),
    ConfigKey("controller.quorum.retry.backoff.ms", _B, Kind.INT, "20", minimum=0, no_effect=_QUORUM),
    ConfigKey("controller.socket.timeout.ms", _B, Kind.INT, "30000", no_effect=_QUORUM),
    ConfigKey("early.start.listeners", _B, Kind.LIST, None, no_effect=_QUORUM),
    ConfigKey("initial.broker.registration.timeout.ms", _B, Kind.INT, "60000", no_effect=_QUORUM),
    ConfigKey("metadata.log.dir", _B, Kind.STRING, None, no_effect=_QUORUM),
    ConfigKey("metadata.max.idle.interval.ms", _B, Kind.INT, "500", minimum=0, no_effect=_QUORUM),
    ConfigKey("auto.leader.rebalance.enable", _B, Kind.BOOLEAN, "true", no_effect=NOT_READ),
    ConfigKey("leader.imbalance.check.interval.seconds", _B, Kind.LONG, "300", minimum=1, no_effect=NOT_READ),
)
# fmt: on
