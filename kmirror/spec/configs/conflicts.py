"""Contradictions between configs of a topic that are valid by themselves."""

from __future__ import annotations

from collections.abc import Mapping

from kmirror.spec.configs.key import Scope
from kmirror.spec.configs.reading import Configs


def problem_between(topic: Mapping[str, str], broker: Configs) -> str | None:
    """Return which configs of a topic contradict each other, or need a missing feature, in Kafka's words; or None."""
    configs = Configs(Scope.TOPIC, topic, broker)
    lag_min, lag_max = configs.integer("min.compaction.lag.ms"), configs.integer("max.compaction.lag.ms")
    if lag_min > lag_max:
        return f"conflict topic config setting min.compaction.lag.ms ({lag_min}) > max.compaction.lag.ms ({lag_max})"
    if configs.flag("remote.storage.enable"):
        return (
            "Tiered Storage functionality is disabled in the broker. "
            "Topic cannot be configured with remote log storage."
        )
    return None
