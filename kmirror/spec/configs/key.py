"""Row of a config key: its scope, its type, its default as Kafka prints it, and its bounds.

Types, defaults and bounds are those of Kafka 4.3.1's KafkaConfig and LogConfig.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from kmirror.spec.configs.rules import Rule, patterns

MIB = 1 << 20
MINUTE_MS = 60_000
LONG_MAX = (1 << 63) - 1

SET_AT_START = "given when the node is started; brokers only describe it"
NO_SOCKETS = "sockets are opened without it"
NO_THREADS = "an event loop replaces the threads"
NOT_READ = "kmirror does not read it"
"""Reasons in `ConfigKey.no_effect` that several owners use."""


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
    """One config key; `default` is text as in a properties file, None if there is no default."""

    name: str
    scope: Scope
    kind: Kind
    default: str | None
    doc: str = ""
    minimum: float | None = None
    maximum: float | None = None
    hidden: bool = False
    """Managed by kmirror itself: neither described nor alterable (D7)."""
    internal: bool = False
    """For Kafka's own tests: described only if it is set."""
    no_effect: str = ""
    """Why it has no effect here; empty for a key that is read."""
    broker_key: str | None = None
    """For a topic key: the broker key that supplies the default."""
    test_key: str | None = None
    """A key for tests only, read instead of this one if it is set."""
    fallback: tuple[str, int] | None = None
    """For a broker key without a default: the key that is read instead, and the factor from its unit to this key's."""
    dynamic: bool = False
    """For a broker key: whether it may be altered while the broker runs (DynamicBrokerConfig), with immediate effect.
    """
    only_dynamic: bool = False
    """A properties file may not set it."""
    required: bool = False
    """It has no default, so it cannot be deleted."""
    rule: Rule | None = None
    choices: tuple[str, ...] = ()
    """The allowed values, or entries of a list; empty if there is no restriction."""

    @property
    def holds_patterns(self) -> bool:
        """Whether the entries of a list are regular expressions, which may contain commas."""
        return self.rule is patterns

    @property
    def is_mirroring_key(self) -> bool:
        """Whether KIP-1279 adds it, so that it exists only with feature mirror.version 1 (D1)."""
        return self.scope is Scope.MIRROR or self.name.startswith("mirror.")
