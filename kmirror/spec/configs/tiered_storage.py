"""Config keys of tiered storage (KIP-405)."""

from __future__ import annotations

from kmirror.spec.configs.key import ConfigKey, Kind, Scope

_B, _T = Scope.BROKER, Scope.TOPIC
_TIERED_STORAGE = "kmirror has no tiered storage"

# fmt: off
KEYS: tuple[ConfigKey, ...] = (
    ConfigKey(
        "follower.fetch.last.tiered.offset.enable", _B, Kind.BOOLEAN, "false", dynamic=True, no_effect=_TIERED_STORAGE,
    ),
    ConfigKey("log.local.retention.bytes", _B, Kind.LONG, "-2", minimum=-2, dynamic=True, no_effect=_TIERED_STORAGE),
    ConfigKey(
        "local.retention.bytes", _T, Kind.LONG, None, minimum=-2, broker_key="log.local.retention.bytes",
        no_effect=_TIERED_STORAGE,
    ),
    ConfigKey("log.local.retention.ms", _B, Kind.LONG, "-2", minimum=-2, dynamic=True, no_effect=_TIERED_STORAGE),
    ConfigKey(
        "local.retention.ms", _T, Kind.LONG, None, minimum=-2, broker_key="log.local.retention.ms",
        no_effect=_TIERED_STORAGE,
    ),
    ConfigKey("remote.fetch.max.wait.ms", _B, Kind.INT, "500", minimum=1, dynamic=True, no_effect=_TIERED_STORAGE),
    ConfigKey(
        "remote.list.offsets.request.timeout.ms", _B, Kind.LONG, "30000", minimum=1, dynamic=True,
        no_effect=_TIERED_STORAGE,
    ),
    ConfigKey(
        "remote.log.index.file.cache.total.size.bytes", _B, Kind.LONG, "1073741824", minimum=1, dynamic=True,
        no_effect=_TIERED_STORAGE,
    ),
    ConfigKey(
        "remote.log.manager.copier.thread.pool.size", _B, Kind.INT, "10", minimum=1, dynamic=True,
        no_effect=_TIERED_STORAGE,
    ),
    ConfigKey(
        "remote.log.manager.copy.max.bytes.per.second", _B, Kind.LONG, "9223372036854775807", minimum=1, dynamic=True,
        no_effect=_TIERED_STORAGE,
    ),
    ConfigKey("remote.log.manager.copy.quota.window.num", _B, Kind.INT, "11", minimum=1, no_effect=_TIERED_STORAGE),
    ConfigKey(
        "remote.log.manager.copy.quota.window.size.seconds", _B, Kind.INT, "1", minimum=1, no_effect=_TIERED_STORAGE,
    ),
    ConfigKey(
        "remote.log.manager.expiration.thread.pool.size", _B, Kind.INT, "10", minimum=1, dynamic=True,
        no_effect=_TIERED_STORAGE,
    ),
    ConfigKey(
        "remote.log.manager.fetch.max.bytes.per.second", _B, Kind.LONG, "9223372036854775807", minimum=1, dynamic=True,
        no_effect=_TIERED_STORAGE,
    ),
    ConfigKey("remote.log.manager.fetch.quota.window.num", _B, Kind.INT, "11", minimum=1, no_effect=_TIERED_STORAGE),
    ConfigKey(
        "remote.log.manager.fetch.quota.window.size.seconds", _B, Kind.INT, "1", minimum=1, no_effect=_TIERED_STORAGE,
    ),
    ConfigKey(
        "remote.log.manager.follower.thread.pool.size", _B, Kind.INT, "2", minimum=1, dynamic=True,
        no_effect=_TIERED_STORAGE,
    ),
    ConfigKey("remote.log.manager.task.interval.ms", _B, Kind.LONG, "30000", minimum=1, no_effect=_TIERED_STORAGE),
    ConfigKey("remote.log.manager.thread.pool.size", _B, Kind.INT, "2", minimum=1, no_effect=_TIERED_STORAGE),
    ConfigKey(
        "remote.log.metadata.custom.metadata.max.bytes", _B, Kind.INT, "128", minimum=0, no_effect=_TIERED_STORAGE,
    ),
    ConfigKey(
        "remote.log.metadata.manager.class.name", _B, Kind.STRING,
        "org.apache.kafka.server.log.remote.metadata.storage.TopicBasedRemoteLogMetadataManager",
        no_effect=_TIERED_STORAGE,
    ),
    ConfigKey("remote.log.metadata.manager.class.path", _B, Kind.STRING, None, no_effect=_TIERED_STORAGE),
    ConfigKey("remote.log.metadata.manager.impl.prefix", _B, Kind.STRING, "rlmm.config.", no_effect=_TIERED_STORAGE),
    ConfigKey("remote.log.metadata.manager.listener.name", _B, Kind.STRING, None, no_effect=_TIERED_STORAGE),
    ConfigKey("remote.log.reader.max.pending.tasks", _B, Kind.INT, "100", minimum=1, no_effect=_TIERED_STORAGE),
    ConfigKey("remote.log.reader.threads", _B, Kind.INT, "10", minimum=1, dynamic=True, no_effect=_TIERED_STORAGE),
    ConfigKey("remote.log.storage.manager.class.name", _B, Kind.STRING, None, no_effect=_TIERED_STORAGE),
    ConfigKey("remote.log.storage.manager.class.path", _B, Kind.STRING, None, no_effect=_TIERED_STORAGE),
    ConfigKey("remote.log.storage.manager.impl.prefix", _B, Kind.STRING, "rsm.config.", no_effect=_TIERED_STORAGE),
    ConfigKey("remote.log.storage.system.enable", _B, Kind.BOOLEAN, "false", no_effect=_TIERED_STORAGE),
    ConfigKey("remote.log.copy.disable", _T, Kind.BOOLEAN, "false", no_effect=_TIERED_STORAGE),
    ConfigKey("remote.log.delete.on.disable", _T, Kind.BOOLEAN, "false", no_effect=_TIERED_STORAGE),
    ConfigKey("remote.storage.enable", _T, Kind.BOOLEAN, "false", no_effect=_TIERED_STORAGE),
)
# fmt: on
