"""Config keys of the creation and deletion of topics."""

from __future__ import annotations

from kmirror.spec.configs.key import ConfigKey, Kind, Scope

_B = Scope.BROKER
_JAVA_CLASSES = "Java classes cannot be plugged in"

# fmt: off
KEYS: tuple[ConfigKey, ...] = (
    ConfigKey(
        "num.partitions", _B, Kind.INT, "1", "Partitions of a topic that is created without a number of its own.", 1,
    ),
    ConfigKey(
        "auto.create.topics.enable", _B, Kind.BOOLEAN, "true",
        "Whether a request for a topic that does not exist creates it.",
    ),
    ConfigKey("delete.topic.enable", _B, Kind.BOOLEAN, "true", "Whether topics can be deleted."),
    ConfigKey("alter.config.policy.class.name", _B, Kind.CLASS, None, no_effect=_JAVA_CLASSES),
    ConfigKey("create.topic.policy.class.name", _B, Kind.CLASS, None, no_effect=_JAVA_CLASSES),
)
# fmt: on
