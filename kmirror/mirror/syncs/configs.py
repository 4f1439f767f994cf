"""Which configs of a topic are set and which removed, so that they are the source's? Pure (D17).

Only what is set for the topic itself counts, not what it has from its brokers. What users alter here is altered back,
as by the KIP, unless it is excluded. A config that this cluster does not know, or cannot have, is left out and named;
the others are copied all the same.
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
"""Config name to what is set for a topic."""


@dataclass(frozen=True, slots=True)
class Copied:
    """What of a topic's configs is to be here, and why the rest cannot be."""

    values: dict[str, str]
    refused: dict[str, str]


@dataclass(frozen=True, slots=True)
class ConfigPlan:
    """What is to be altered, and what cannot be copied."""

    alter: list[AlterConfigsResource] = field(default_factory=list)
    refused: dict[str, dict[str, str]] = field(default_factory=dict)
    """Topic to its configs that cannot be copied, with the reason."""


def copied(theirs: Values, kept: Values, rules: Rules, broker: Configs) -> Copied:
    """Return which of the source's values are to be here, beside those that are `kept` because they are excluded."""
    values: dict[str, str] = {}
    refused: dict[str, str] = {}
    for name, value in sorted(theirs.items()):
        if rules.config(name).is_mirrored:
            problem = problem_with(Scope.TOPIC, name, value)
            if problem is None:
                values[name] = value
            else:
                refused[name] = problem
    if problem_between({**kept, **values}, broker) is None:
        return Copied(values, refused)
    fitting: dict[str, str] = {}  # Together they contradict each other or our brokers: keep what goes with the rest.
    for name, value in values.items():
        conflict = problem_between({**kept, **fitting, name: value}, broker)
        if conflict is None:
            fitting[name] = value
        else:
            refused[name] = conflict
    return Copied(fitting, refused)


def plan(
    topics: Iterable[str], theirs: Mapping[str, Values], ours: Mapping[str, Values], rules: Rules, broker: Configs
) -> ConfigPlan:
    """Return what makes the configs of `topics` those of the source; a topic that is not in `theirs` is passed over.

    `broker` has the defaults of this cluster.
    """
    made = ConfigPlan()
    for topic in topics:
        if topic not in theirs:
            continue
        here = ours.get(topic, {})
        kept = {name: value for name, value in here.items() if not rules.config(name).is_mirrored}
        wanted = copied(theirs[topic], kept, rules, broker)
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
            if name not in kept and name not in theirs[topic]
        ]
        if changes:
            made.alter.append(
                AlterConfigsResource(resource_type=ResourceType.TOPIC, resource_name=topic, configs=changes)
            )
    return made
