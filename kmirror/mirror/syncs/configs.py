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
    refused: dict[str, str]


@dataclass(frozen=True, slots=True)
class ConfigPlan:
    """The alterations to make, and the configs that cannot be copied."""

    alter: list[AlterConfigsResource] = field(default_factory=list)
    refused: dict[str, dict[str, str]] = field(default_factory=dict)
    """Topic to its configs that cannot be copied, with the reason."""


def configs_to_copy(source_configs: Values, kept: Values, rules: Rules, broker: Configs) -> CopiedConfigs:
    """Return the source's values that the topic must have here, besides the excluded ones that are `kept`."""
    values: dict[str, str] = {}
    refused: dict[str, str] = {}
    for name, value in sorted(source_configs.items()):
        if rules.config(name).is_mirrored:
            problem = problem_with(Scope.TOPIC, name, value)
            if problem is None:
                values[name] = value
            else:
                refused[name] = problem
    if problem_between({**kept, **values}, broker) is None:
        return CopiedConfigs(values, refused)
    fitting: dict[str, str] = {}  # They contradict each other or our brokers: keep those that fit.
    for name, value in values.items():
        conflict = problem_between({**kept, **fitting, name: value}, broker)
        if conflict is None:
            fitting[name] = value
        else:
            refused[name] = conflict
    return CopiedConfigs(fitting, refused)


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
    made = ConfigPlan()
    for topic in topics:
        if topic not in source_configs:
            continue
        here = local_configs.get(topic, {})
        kept = {name: value for name, value in here.items() if not rules.config(name).is_mirrored}
        wanted = configs_to_copy(source_configs[topic], kept, rules, broker)
        if wanted.refused:
            made.refused[topic] = wanted.refused
        changes = [
            AlterableConfig(name=name, config_operation=ConfigOp.SET, value=value)
            for name, value in wanted.values.items()
            if here.get(name) != value
        ]
        changes += [
            AlterableConfig(name=name, config_operation=ConfigOp.DELETE, value=None)
            for name in sorted(here)
            if name not in kept and name not in source_configs[topic]
        ]
        if changes:
            made.alter.append(
                AlterConfigsResource(resource_type=ResourceType.TOPIC, resource_name=topic, configs=changes)
            )
    return made
