"""Task of a `kmirror configs` command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from kmirror.cli.cluster_client import Client

TOPICS: Final = "topics"
CLIENTS: Final = "clients"
USERS: Final = "users"
BROKERS: Final = "brokers"
IPS: Final = "ips"
CLIENT_METRICS: Final = "client-metrics"
GROUPS: Final = "groups"
MIRRORS: Final = "mirrors"
BROKER_LOGGERS: Final = "broker-loggers"
ENTITY_TYPES: Final = (TOPICS, CLIENTS, USERS, BROKERS, IPS, CLIENT_METRICS, GROUPS, MIRRORS, BROKER_LOGGERS)
WITH_DEFAULTS: Final = (USERS, CLIENTS, BROKERS, IPS)


@dataclass(frozen=True, slots=True)
class ConfigTask:
    """One entity, or all of a type, and the action on its configs."""

    action: str
    servers: str
    client: Client
    kinds: tuple[str, ...]
    """Entity types: one, or users and clients in either order."""
    names: tuple[str, ...]
    """A name for each type, "" for the default; fewer names mean all entities of the remaining types."""
    added: Mapping[str, str]
    deleted: tuple[str, ...]
    shows_all: bool = False
    as_json: bool = False
