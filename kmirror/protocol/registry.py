"""Lookup of messages and APIs by name or key."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from functools import cache

from kmirror.errors import UsageError, did_you_mean
from kmirror.protocol.gen.registry import ADDITIONS, APIS, KAFKA_RELEASE, MODULES, RETIRED
from kmirror.protocol.message import Message


@dataclass(frozen=True, slots=True)
class Api:
    """One API: its request, response and versions."""

    key: int
    name: str
    min_version: int
    max_version: int
    flexible_from: int | None
    listeners: tuple[str, ...]
    latest_version_unstable: bool
    kafka_max_version: int | None
    """Last version in Kafka release `gen.registry.KAFKA_RELEASE`; None for an API that KIP-1279 adds."""

    @property
    def kafka_versions(self) -> range:
        """Versions in Kafka release `gen.registry.KAFKA_RELEASE`; empty for an API of KIP-1279."""
        released = self.kafka_max_version
        return range(self.min_version, self.min_version if released is None else released + 1)

    @property
    def kip_versions(self) -> range:
        """Versions that KIP-1279 adds."""
        return range(self.kafka_versions.stop, self.max_version + 1)

    @property
    def request(self) -> type[Message]:
        """Class of the request."""
        return by_name(f"{self.name}Request")

    @property
    def response(self) -> type[Message]:
        """Class of the response."""
        return by_name(f"{self.name}Response")

    def is_flexible(self, version: int) -> bool:
        """Return whether this version has tagged fields and compact lengths."""
        return self.flexible_from is not None and version >= self.flexible_from

    def request_header_version(self, version: int) -> int:
        """Return the header version of a request of `version`: 1, or 2 with tags."""
        return 2 if self.is_flexible(version) else 1

    def response_header_version(self, version: int) -> int:
        """Return the header version of a response of `version`: 0, or 1 with tags."""
        # A client that sends ApiVersions in an unsupported version must still be able to read the response.
        if self.name == "ApiVersions":
            return 0
        return 1 if self.is_flexible(version) else 0

    def advertised_max(self, *, unstable: bool) -> int:
        """Return the last version to advertise; -1 if the only one is unstable and `unstable` is False."""
        if self.latest_version_unstable and not unstable:
            return self.max_version - 1 if self.max_version > self.min_version else -1
        return self.max_version


@cache
def by_name(name: str) -> type[Message]:
    """Return the class of the message, as in `by_name("FetchRequest")`; raises `UsageError` if there is none."""
    module = MODULES.get(name)
    if module is None:
        hint = did_you_mean(name, MODULES)
        raise UsageError(f"no message is named {name!r}" + (f"; {hint}" if hint else ""))
    found: type[Message] = getattr(importlib.import_module(f"kmirror.protocol.gen.{module}"), name)
    return found


def released_versions(message: type[Message], release: str = KAFKA_RELEASE) -> range:
    """Return the versions that a Kafka release supports without `unstable.api.versions.enable`; may be empty.

    Raises `UsageError` if `release` is not the release of these schemas.
    """
    if release != KAFKA_RELEASE:
        raise UsageError(f"the messages of Apache Kafka {release!r} are not known here, only those of {KAFKA_RELEASE}")
    last = ADDITIONS.get(message.NAME, message.MAX_VERSION)
    if last is not None and message.TYPE in ("request", "response") and by_key(key_of(message)).latest_version_unstable:
        last -= 1
    return range(message.MIN_VERSION, message.MIN_VERSION if last is None else last + 1)


def key_of(message: type[Message]) -> int:
    """Return the API key of a request or response class; other classes have none."""
    assert message.API_KEY is not None and message.TYPE in ("request", "response"), f"{message.NAME} is of no API"
    return message.API_KEY


@cache
def find_key(key: int) -> Api | None:
    """Return the API with this key, or None."""
    row = APIS.get(key)
    return None if row is None else Api(key, *row)


@cache
def find_request(key: int) -> type[Message] | None:
    """Return the request class of this API key, or None."""
    api = find_key(key)
    return None if api is None else api.request


@cache
def find_response(key: int) -> type[Message] | None:
    """Return the response class of this API key, or None."""
    api = find_key(key)
    return None if api is None else api.response


def by_key(key: int) -> Api:
    """Return the API with this key; raises `UsageError` if there is none."""
    found = find_key(key)
    if found is None:
        if key in RETIRED:
            raise UsageError(f"API key {key} was {RETIRED[key]}; all its versions were removed")
        raise UsageError(f"no API has the key {key}")
    return found


def by_api_name(name: str) -> Api:
    """Return the API with this name, as in `by_api_name("Fetch")`; case, dashes and underscores are ignored."""
    normalized = name.replace("-", "").replace("_", "").lower()
    for key, row in APIS.items():
        if row[0].lower() == normalized:
            return by_key(key)
    hint = did_you_mean(normalized, (row[0] for row in APIS.values()))
    raise UsageError(f"no API is named {name!r}" + (f"; {hint}" if hint else ""))


def all_apis() -> list[Api]:
    """Return every API that has a version, by key."""
    return [by_key(key) for key in sorted(APIS)]


def names() -> list[str]:
    """Return the names of all messages."""
    return list(MODULES)
