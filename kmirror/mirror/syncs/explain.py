"""Why is a topic, a config or a group mirrored, or why not? Pure, by the same rules that the syncs go by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kmirror.mirror.syncs.configs import copied
from kmirror.mirror.syncs.rules import ListedGroup, Rules, Verdict
from kmirror.mirror.syncs.topics import TopicFacts
from kmirror.spec.configs import Configs


@dataclass(frozen=True, slots=True)
class Explanation:
    """A verdict about everything that the source has."""

    topics: dict[str, Verdict]
    configs: dict[str, dict[str, Verdict]]
    """Topic to the verdict about each config that is set for it at the source."""
    groups: dict[str, Verdict]


def explain(
    rules: Rules,
    topics: Iterable[TopicFacts],
    source_cluster_id: str,
    configs: Mapping[str, Mapping[str, str]],
    groups: Iterable[ListedGroup],
    broker: Configs,
) -> Explanation:
    """Return what becomes of the source's topics, of what is set for them, and of its groups, all in order of names.

    `topics` are the topics of the mirror, `configs` what the source has set for each, `broker` the defaults of the
    destination. A config that the rules let through may still be refused here; the verdict says so.
    """
    by_topic = {topic.name: _topic(topic, source_cluster_id) for topic in sorted(topics, key=lambda topic: topic.name)}
    by_config = {topic: _configs(rules, configs[topic], broker) for topic in sorted(configs)}
    by_group = {group.group_id: rules.group(group) for group in sorted(groups, key=lambda group: group.group_id)}
    return Explanation(by_topic, by_config, by_group)


def _topic(topic: TopicFacts, source_cluster_id: str) -> Verdict:
    why_not = topic.why_not_synced(source_cluster_id)
    return Verdict(not why_not, why_not or "it was added to the mirror")


def _configs(rules: Rules, values: Mapping[str, str], broker: Configs) -> dict[str, Verdict]:
    refused = copied(values, {}, rules, broker).refused
    return {
        name: Verdict(False, f"this cluster refuses it: {refused[name]}") if name in refused else rules.config(name)
        for name in sorted(values)
    }
