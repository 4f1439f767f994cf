"""Config keys of quotas and throttles."""

from __future__ import annotations

from kmirror.spec.configs.key import ConfigKey, Kind, Scope
from kmirror.spec.configs.rules import throttled_replicas

_B, _T = Scope.BROKER, Scope.TOPIC
_QUOTAS = "kmirror has no quotas and no throttles inside a cluster"

# fmt: off
KEYS: tuple[ConfigKey, ...] = (
    ConfigKey("alter.log.dirs.replication.quota.window.num", _B, Kind.INT, "11", minimum=1, no_effect=_QUOTAS),
    ConfigKey("alter.log.dirs.replication.quota.window.size.seconds", _B, Kind.INT, "1", minimum=1, no_effect=_QUOTAS),
    ConfigKey("client.quota.callback.class", _B, Kind.CLASS, None, no_effect=_QUOTAS),
    ConfigKey("controller.quota.window.num", _B, Kind.INT, "11", minimum=1, no_effect=_QUOTAS),
    ConfigKey("controller.quota.window.size.seconds", _B, Kind.INT, "1", minimum=1, no_effect=_QUOTAS),
    ConfigKey("quota.window.num", _B, Kind.INT, "11", minimum=1, no_effect=_QUOTAS),
    ConfigKey("quota.window.size.seconds", _B, Kind.INT, "1", minimum=1, no_effect=_QUOTAS),
    ConfigKey(
        "follower.replication.throttled.replicas", _T, Kind.LIST, "", rule=throttled_replicas, no_effect=_QUOTAS,
    ),
    ConfigKey("leader.replication.throttled.replicas", _T, Kind.LIST, "", rule=throttled_replicas, no_effect=_QUOTAS),
)
# fmt: on
