"""Explanation of why a topic, a config or a group is mirrored or not. Pure, with the rules that the syncs use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kmirror.mirror.syncs.configs import configs_to_copy
from kmirror.mirror.syncs.rules import ListedGroup, Rules, Verdict
from kmirror.mirror.syncs.topics import TopicFacts
from kmirror.spec.configs import Configs


@dataclass(frozen=True, slots=True)
class Explanation:
    """A verdict on every topic, config and group of the source."""

    topics: dict[str, Verdict]
    configs: dict[str, dict[str, Verdict]]
    """Topic to the verdict on each config that is set for it at the source."""
    groups: dict[str, Verdict]


def explain(
    rules: Rules,
    topics: Iterable[TopicFacts],
    source_cluster_id: str,
    configs: Mapping[str, Mapping[str, str]],
    groups: Iterable[ListedGroup],
    broker: Configs,
) -> Explanation:
    """Return the verdicts on the source's topics, their configs, and its groups, each in order of names.

    `topics` are the topics of the mirror, `configs` those that the source has set for each, `broker` the defaults of
    the destination. A config that the rules let through may still be rejected here; the verdict says so.
    """
    by_topic = {topic.name: _topic(topic, source_cluster_id) for topic in sorted(topics, key=lambda topic: topic.name)}
    by_config = {topic: _configs(rules, configs[topic], broker) for topic in sorted(configs)}
    by_group = {group.group_id: rules.group(group) for group in sorted(groups, key=lambda group: group.group_id)}
    return Explanation(by_topic, by_config, by_group)


def _topic(topic: TopicFacts, source_cluster_id: str) -> Verdict:
    reason = topic.unsynced_reason(source_cluster_id)
    return Verdict(not reason, reason or "it was added to the mirror")


def _configs(rules: Rules, values: Mapping[str, str], broker: Configs) -> dict[str, Verdict]:
    rejected = configs_to_copy(values, {}, rules, broker).rejected
    return {
        name: Verdict(False, f"this cluster rejects it: {rejected[name]}") if name in rejected else rules.config(name)
        for name in sorted(values)
    }
