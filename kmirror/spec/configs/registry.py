"""All config keys by scope and name, collected from the files of their owners."""

from __future__ import annotations

from collections.abc import Mapping

from kmirror.spec.configs import (
    brokers,
    cleaning,
    consumer_groups,
    controllers,
    groups,
    logs,
    metrics,
    mirrors,
    network,
    quotas,
    replication,
    security,
    share_groups,
    streams_groups,
    tiered_storage,
    topics,
    transactions,
)
from kmirror.spec.configs.key import ConfigKey, Scope

_OWNERS = (
    brokers,
    cleaning,
    consumer_groups,
    controllers,
    groups,
    logs,
    metrics,
    mirrors,
    network,
    quotas,
    replication,
    security,
    share_groups,
    streams_groups,
    tiered_storage,
    topics,
    transactions,
)
KEYS: tuple[ConfigKey, ...] = tuple(row for owner in _OWNERS for row in owner.KEYS)
_BY_SCOPE: dict[Scope, dict[str, ConfigKey]] = {
    scope: {row.name: row for row in KEYS if row.scope is scope} for scope in Scope
}


def config_keys(scope: Scope) -> Mapping[str, ConfigKey]:
    """Return the rows of `scope` by name."""
    return _BY_SCOPE[scope]


def default_of(row: ConfigKey) -> str:
    """Return the value that is read if nothing is set; "" if there is no default."""
    brokers = _BY_SCOPE[Scope.BROKER]
    if row.default is None and row.broker_key is not None:
        row = brokers[row.broker_key]
    if row.fallback is not None:
        name, units = row.fallback
        return str(int(default_of(brokers[name])) * units)
    return row.default or ""
