"""Sync of topic configs: which ones to set and which to remove. Pure (D17).

Only configs set for the topic itself count, not those that it has from its brokers. A user's change here is reverted,
as in the KIP, unless the config is excluded. A config that this cluster does not know, or cannot have, is left out and
reported; the others are still copied.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from kmirror.mirror.syncs.rules import Rules
from kmirror.protocol.gen.incremental_alter_configs_request import AlterableConfig, AlterConfigsResource
from kmirror.spec.configs import Configs, Scope, problem_with
from kmirror.spec.configs.conflicts import problem_between
from kmirror.spec.wire_values import ConfigOp, ResourceType

Values = Mapping[str, str]
"""Config name to the value set for a topic."""


@dataclass(frozen=True, slots=True)
class CopiedConfigs:
    """The configs that a topic must have here, and why others cannot be copied."""

    values: dict[str, str]
    rejected: dict[str, str]


@dataclass(frozen=True, slots=True)
class ConfigPlan:
    """The alterations to make, and the configs that cannot be copied."""

    alter: list[AlterConfigsResource] = field(default_factory=list)
    rejected: dict[str, dict[str, str]] = field(default_factory=dict)
    """Topic to its configs that cannot be copied, with the reason."""


def configs_to_copy(source_configs: Values, kept: Values, rules: Rules, broker: Configs) -> CopiedConfigs:
    """Return the source's values that the topic must have here, besides the excluded ones that are `kept`."""
    values: dict[str, str] = {}
    rejected: dict[str, str] = {}
    for name, value in sorted(source_configs.items()):
        if rules.config(name).is_mirrored:
            problem = problem_with(Scope.TOPIC, name, value)
            if problem is None:
                values[name] = value
            else:
                rejected[name] = problem
    if problem_between({**kept, **values}, broker) is None:
        return CopiedConfigs(values, rejected)
    valid: dict[str, str] = {}  # They contradict each other or our brokers: keep those that fit.
    for name, value in values.items():
        conflict = problem_between({**kept, **valid, name: value}, broker)
        if conflict is None:
            valid[name] = value
        else:
            rejected[name] = conflict
    return CopiedConfigs(valid, rejected)


def plan(
    topics: Iterable[str],
    source_configs: Mapping[str, Values],
    local_configs: Mapping[str, Values],
    rules: Rules,
    broker: Configs,
) -> ConfigPlan:
    """Return the alterations that make the configs of `topics` equal to the source's.

    Topics that are not in `source_configs` are skipped. `broker` has the defaults of this cluster.
    """
    result = ConfigPlan()
    for topic in topics:
        if topic not in source_configs:
            continue
        local = local_configs.get(topic, {})
        kept = {name: value for name, value in local.items() if not rules.config(name).is_mirrored}
        copied = configs_to_copy(source_configs[topic], kept, rules, broker)
        if copied.rejected:
            result.rejected[topic] = copied.rejected
        changes = [
            AlterableConfig(name=name, config_operation=ConfigOp.SET, value=value)
            for name, value in copied.values.items()
            if local.get(name) != value
        ]
        changes += [
            AlterableConfig(name=name, config_operation=ConfigOp.DELETE, value=None)
            for name in sorted(local)
            if name not in kept and name not in source_configs[topic]
        ]
        if changes:
            result.alter.append(
                AlterConfigsResource(resource_type=ResourceType.TOPIC, resource_name=topic, configs=changes)
            )
    return result
