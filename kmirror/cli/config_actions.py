"""Actions of `kmirror configs`: requests to the cluster, and output.

Quotas and credentials, which are not configs in the protocol, are in `config_quotas`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from kmirror.admin.client import AsyncAdmin
from kmirror.admin.mirror import list_mirrors, send_mirror_request
from kmirror.cli.cluster_client import open_admin, raise_for_code
from kmirror.cli.config_quotas import alter_quotas, describe_quotas
from kmirror.cli.config_task import (
    BROKER_LOGGERS,
    BROKERS,
    CLIENT_METRICS,
    GROUPS,
    MIRRORS,
    TOPICS,
    ConfigTask,
)
from kmirror.cli.output import write_stderr
from kmirror.errors import KafkaError, UsageError
from kmirror.kernel.java import boolean
from kmirror.protocol.gen.describe_configs_request import DescribeConfigsRequest, DescribeConfigsResource
from kmirror.protocol.gen.describe_configs_response import DescribeConfigsResourceResult, DescribeConfigsResponse
from kmirror.protocol.gen.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kmirror.protocol.gen.incremental_alter_configs_response import IncrementalAlterConfigsResponse
from kmirror.protocol.gen.list_config_resources_request import ListConfigResourcesRequest
from kmirror.protocol.gen.list_config_resources_response import ListConfigResourcesResponse
from kmirror.protocol.gen.list_groups_request import ListGroupsRequest
from kmirror.protocol.gen.list_groups_response import ListGroupsResponse
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import ConfigOp, ConfigSource, ResourceType

SOURCES: Final[Mapping[int, str]] = {
    ConfigSource.TOPIC: "DYNAMIC_TOPIC_CONFIG",
    ConfigSource.BROKER: "DYNAMIC_BROKER_CONFIG",
    ConfigSource.CLUSTER: "DYNAMIC_DEFAULT_BROKER_CONFIG",
    ConfigSource.STATIC: "STATIC_BROKER_CONFIG",
    ConfigSource.DEFAULT: "DEFAULT_CONFIG",
    ConfigSource.BROKER_LOGGER: "DYNAMIC_BROKER_LOGGER_CONFIG",
    ConfigSource.CLIENT_METRICS: "DYNAMIC_CLIENT_METRICS_CONFIG",
    ConfigSource.GROUP: "DYNAMIC_GROUP_CONFIG",
}
"""Source number of a value to Kafka's name; all other numbers are UNKNOWN."""
ENTITIES_PER_REQUEST: Final = 200
"""Number of entities in one request, where any broker can answer it."""


@dataclass(frozen=True, slots=True)
class EntityKind:
    """A type of entities whose configs DescribeConfigs returns."""

    resource: ResourceType
    shown_source: ConfigSource | None = None
    """Source of the values that --describe shows without --all; None for all of them, but see `_is_altered`."""


KINDS: Final[Mapping[str, EntityKind]] = {
    TOPICS: EntityKind(ResourceType.TOPIC, ConfigSource.TOPIC),
    BROKERS: EntityKind(ResourceType.BROKER, ConfigSource.BROKER),
    CLIENT_METRICS: EntityKind(ResourceType.CLIENT_METRICS, ConfigSource.CLIENT_METRICS),
    GROUPS: EntityKind(ResourceType.GROUP, ConfigSource.GROUP),
    MIRRORS: EntityKind(ResourceType.MIRROR),
    BROKER_LOGGERS: EntityKind(ResourceType.BROKER_LOGGER),
}


async def run_task(task: ConfigTask) -> int:
    """Carry out the task, print the result, and return the exit code.

    Raise KafkaError if it is refused or no broker responds.
    """
    has_configs = task.kinds[0] in KINDS
    async with open_admin(task.servers, task.client) as admin:
        if task.action == "describe":
            return await (_describe if has_configs else describe_quotas)(admin, task)
        await (_alter if has_configs else alter_quotas)(admin, task)
    _print_altered(task)
    return 0


def _print_altered(task: ConfigTask) -> None:
    kind, name = task.kinds[0], task.names[0]
    if task.as_json:
        entities = [{"type": kind, "name": name or None} for kind, name in zip(task.kinds, task.names, strict=True)]
        print(json.dumps({"action": "alter", "entities": entities, "set": [*task.added], "deleted": [*task.deleted]}))
    elif name:
        print(f"Completed updating config for {_singular(kind)} {name}.")
    else:
        print(f"Completed updating default config for {kind} in the cluster.")


def _singular(kind: str) -> str:
    return kind[:-1]


# -- describe ---------------------------------------------------------------------------------


async def _describe(admin: AsyncAdmin, task: ConfigTask) -> int:
    kind = task.kinds[0]
    if not task.names:
        names = await _list_names(admin, kind)
    elif await _is_missing(admin, task):
        text = f"The {_singular(kind)} '{task.names[0]}' doesn't exist and doesn't have dynamic config."
        write_stderr(f"{text}\n") if task.as_json else print(text)
        return 0
    else:
        names = [task.names[0]]
    per_request = 1 if kind in (BROKERS, BROKER_LOGGERS) else ENTITIES_PER_REQUEST
    for start in range(0, len(names), per_request):
        for name, entries in (await _read_configs(admin, kind, names[start : start + per_request])).items():
            selected = [entry for entry in entries if task.shows_all or _is_altered(kind, name, entry)]
            print((_as_json if task.as_json else _as_text)(task, name, selected), end="")
    return 0


def _is_altered(kind: str, name: str, entry: DescribeConfigsResourceResult) -> bool:
    if kind == MIRRORS:  # KIP-1279 has no number for the source of a mirror's configs.
        return entry.config_source not in (ConfigSource.STATIC, ConfigSource.DEFAULT)
    shown_source = ConfigSource.CLUSTER if kind == BROKERS and not name else KINDS[kind].shown_source
    return shown_source is None or entry.config_source == shown_source


async def _is_missing(admin: AsyncAdmin, task: ConfigTask) -> bool:
    """Return whether the named entity does not exist; with --all the cluster itself reports that."""
    kind, name = task.kinds[0], task.names[0]
    if kind == TOPICS:
        return not task.shows_all and name not in await admin.topics([name])
    if kind != MIRRORS and task.shows_all:
        return False
    if kind == GROUPS and name not in await _list_groups(admin):
        configured = await _list_configured(admin, kind)
        return configured is not None and name not in configured
    return kind != GROUPS and name not in await _list_names(admin, kind)


async def _list_names(admin: AsyncAdmin, kind: str) -> list[str]:
    """Return the entities of a type, by name; brokers by number, followed by their default."""
    if kind == TOPICS:
        return list(await admin.topics())
    if kind == MIRRORS:
        return [listing.name for listing in await list_mirrors(admin)]
    if kind in (BROKERS, BROKER_LOGGERS):
        return [*map(str, sorted(await admin.brokers())), ""]
    groups = await _list_groups(admin) if kind == GROUPS else []
    return sorted({*groups, *(await _list_configured(admin, kind) or ())})


async def _list_groups(admin: AsyncAdmin) -> list[str]:
    found = []
    for reply in (await admin.ask_each(ListGroupsRequest())).values():
        assert isinstance(reply, ListGroupsResponse), "the answer to its request"
        raise_for_code(reply.error_code, None)
        found += [group.group_id for group in reply.groups]
    return found


async def _list_configured(admin: AsyncAdmin, kind: str) -> list[str] | None:
    """Return the names of a type that have configs; None for groups if the cluster does not return them."""
    try:
        # Before Kafka 4.1 no types could be given, and the response had those of client metrics.
        reply = await admin.ask(ListConfigResourcesRequest())
    except KafkaError as error:
        if kind == GROUPS and error.code is ErrorCode.UNSUPPORTED_VERSION:
            return None
        raise
    assert isinstance(reply, ListConfigResourcesResponse), "the answer to its request"
    if kind == GROUPS and reply.error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED:
        return None
    raise_for_code(reply.error_code, None)
    return [row.resource_name for row in reply.config_resources if row.resource_type == KINDS[kind].resource]


async def _read_configs(
    admin: AsyncAdmin, kind: str, names: Sequence[str]
) -> dict[str, list[DescribeConfigsResourceResult]]:
    """Return the configs of entities, by key; raise KafkaError if those of one are refused."""
    resource = KINDS[kind].resource
    resources = [DescribeConfigsResource(resource, name, None) for name in names]
    owner = await _owning_broker(admin, kind, names[0])
    reply = await admin.ask(DescribeConfigsRequest(resources, include_synonyms=True), broker_id=owner)
    assert isinstance(reply, DescribeConfigsResponse), "the answer to its request"
    found = {}
    for row in reply.results:
        raise_for_code(row.error_code, row.error_message)
        found[row.resource_name] = sorted(row.configs, key=lambda entry: entry.name)
    return {name: found[name] for name in names if name in found}


async def _owning_broker(admin: AsyncAdmin, kind: str, name: str) -> int | None:
    """Return the only broker that describes and alters these configs; None if any broker does."""
    if kind not in (BROKERS, BROKER_LOGGERS) or not name:
        return None
    brokers = await admin.brokers()
    if int(name) not in brokers:
        running = ", ".join(map(str, sorted(brokers)))
        text = (
            f"broker {name} is not running, and only it can describe or alter its configs; running brokers: {running}"
        )
        raise KafkaError(ErrorCode.BROKER_NOT_AVAILABLE, text)
    return int(name)


def _as_text(task: ConfigTask, name: str, entries: Sequence[DescribeConfigsResourceResult]) -> str:
    kind = task.kinds[0]
    scope = "All" if task.shows_all else "Dynamic"
    lines = [
        f"{scope} configs for {_singular(kind)} {name} are:"
        if name
        else f"Default configs for {kind} in the cluster are:"
    ]
    for entry in entries:
        synonyms = ", ".join(f"{source}:{key}={_value_text(value)}" for source, key, value in _synonyms(entry))
        lines.append(
            f"  {entry.name}={_value_text(entry.value)} sensitive={boolean(entry.is_sensitive)} synonyms={{{synonyms}}}"
        )
    return "".join(f"{line}\n" for line in lines)


def _as_json(task: ConfigTask, name: str, entries: Sequence[DescribeConfigsResourceResult]) -> str:
    return "".join(
        json.dumps(
            {
                "entity_type": task.kinds[0],
                "entity_name": name or None,
                "name": entry.name,
                "value": entry.value,
                "sensitive": entry.is_sensitive,
                "read_only": entry.read_only,
                "source": _source(entry.config_source),
                "synonyms": [
                    {"source": source, "name": key, "value": value} for source, key, value in _synonyms(entry)
                ],
            }
        )
        + "\n"
        for entry in entries
    )


def _synonyms(entry: DescribeConfigsResourceResult) -> Iterator[tuple[str, str, str | None]]:
    for synonym in entry.synonyms:
        yield _source(synonym.source), synonym.name, synonym.value


def _source(number: int) -> str:
    return SOURCES.get(number, "UNKNOWN")


def _value_text(value: str | None) -> str:
    return "null" if value is None else value


# -- alter ------------------------------------------------------------------------------------


async def _alter(admin: AsyncAdmin, task: ConfigTask) -> None:
    kind, name = task.kinds[0], task.names[0]
    if kind == BROKER_LOGGERS:
        loggers = {entry.name for entry in (await _read_configs(admin, kind, [name])).get(name, ())}
        unknown = [key for key in (*task.deleted, *task.added) if key not in loggers]
        if unknown:
            raise UsageError(f"Invalid broker logger(s): {','.join(unknown)}")
    configs = [
        *(AlterableConfig(key, ConfigOp.DELETE, None) for key in task.deleted),
        *(AlterableConfig(key, ConfigOp.SET, value) for key, value in task.added.items()),
    ]
    request = IncrementalAlterConfigsRequest([AlterConfigsResource(KINDS[kind].resource, name, configs)])
    owner = await _owning_broker(admin, kind, name)
    if kind == MIRRORS:
        await list_mirrors(admin)  # A cluster without mirroring has another error for an unknown resource.
        reply = await send_mirror_request(admin, request, changes=True)
    elif owner is None:
        reply = await admin.order(request)
    else:
        reply = await admin.ask(request, broker_id=owner)
    assert isinstance(reply, IncrementalAlterConfigsResponse), "the answer to its request"
    for row in reply.responses:
        raise_for_code(row.error_code, row.error_message)
