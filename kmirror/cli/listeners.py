"""Listeners in a `server.properties`: entries of `listeners` and `advertised.listeners`, as in Kafka."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from kmirror.errors import UsageError
from kmirror.kernel.ids import Endpoint
from kmirror.spec.configs.lists import split_entries

PORT_MAX = 65_535
_LISTENER = re.compile(r"(?P<name>[A-Za-z0-9_]+)://\[?(?P<host>[^\]/]*?)\]?:(?P<port>[0-9]{1,5})")


class NamedListener(NamedTuple):
    """An entry of `listeners` or `advertised.listeners`."""

    name: str
    endpoint: Endpoint


def listeners_of(path: Path, key: str, pairs: Mapping[str, str]) -> list[NamedListener]:
    """Return the entries of a key; raise UsageError for an invalid one."""
    found = []
    for entry in list_entries(pairs, key):
        parts = _LISTENER.fullmatch(entry)
        if parts is None or int(parts["port"]) > PORT_MAX:
            raise UsageError(f"{path}: {key}: {entry!r} is not a listener, such as PLAINTEXT://localhost:9092")
        found.append(NamedListener(parts["name"], Endpoint(parts["host"], int(parts["port"]))))
    return found


def controller_listener_names(pairs: Mapping[str, str]) -> list[str]:
    """Return the names of the controller's listeners."""
    return list_entries(pairs, "controller.listener.names")


def list_entries(pairs: Mapping[str, str], key: str) -> list[str]:
    """Return the non-empty entries of a list."""
    return [entry for entry in split_entries(pairs.get(key, "")) if entry]
