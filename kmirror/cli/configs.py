"""`kmirror configs`: Kafka's kafka-configs.sh with its flags and texts, and the entity type `mirrors` of KIP-1279.

Rule 1: stdout has the output of Kafka's tool, entities by name, or with `-o json` one object per line.
Rule 2: the exit code is 0 if everything was done, and 1 for a command line or a request that is refused, and if no
broker responds. Secrets have no value, neither on stdout nor in an error.
Rule 3: the command line is parsed as `kafka_options` says. -o is not an option of Kafka's tool; --bootstrap-controller,
which is one, is not supported.
"""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Mapping
from typing import Final

import click

from kmirror.admin.client import checked_servers
from kmirror.cli.cluster_client import TIMEOUT_OPTION, client_of, option_properties, read_timeout
from kmirror.cli.config_actions import run_task
from kmirror.cli.config_task import (
    BROKER_LOGGERS,
    BROKERS,
    CLIENT_METRICS,
    CLIENTS,
    ENTITY_TYPES,
    GROUPS,
    IPS,
    TOPICS,
    USERS,
    WITH_DEFAULTS,
    ConfigTask,
)
from kmirror.cli.dump_log import KAFKA_VERSION
from kmirror.cli.kafka_options import KafkaCommand, OptionRow, ParsedOptions
from kmirror.cli.output import write_stderr
from kmirror.errors import KafkaError, UsageError
from kmirror.kernel.java import parse_int
from kmirror.spec.configs.lists import BLANKS
from kmirror.spec.topics import problem_with_name

ACTIONS: Final = ("describe", "alter")
ENTITY_OPTIONS: Final[Mapping[str, str]] = {
    "topic": TOPICS,
    "client": CLIENTS,
    "user": USERS,
    "broker": BROKERS,
    "broker-logger": BROKER_LOGGERS,
    "ip": IPS,
    "client-metrics": CLIENT_METRICS,
    "group": GROUPS,
}
"""Options that name an entity, with its type, in the order in which Kafka checks them."""
DEFAULT_OPTIONS: Final[Mapping[str, str]] = {
    "client-defaults": CLIENTS,
    "user-defaults": USERS,
    "broker-defaults": BROKERS,
    "ip-defaults": IPS,
}
OPTIONS = (
    OptionRow(
        ("add-config",),
        "Configs to set: k1=v1,k2=[v1,v2]; put values with commas in brackets, which are removed.",
        "KEY=VALUE,...",
    ),
    OptionRow(("add-config-file",), "A properties file with the configs to set; brackets in values are kept.", "FILE"),
    OptionRow(("all",), "With --describe: also show configs that have not been altered."),
    OptionRow(("alter",), "Change configs of one entity."),
    OptionRow(("bootstrap-server",), "Brokers of the cluster; required.", "SERVER,SERVER..."),
    OptionRow(("broker",), "Same as --entity-type brokers --entity-name.", "ID"),
    OptionRow(("broker-defaults",), "Default configs of all brokers."),
    OptionRow(("broker-logger",), "A broker's id, for its log levels.", "ID"),
    OptionRow(("client",), "A client id, for its quotas.", "NAME"),
    OptionRow(("client-defaults",), "Default quotas of clients."),
    OptionRow(("client-metrics",), "A subscription to metrics of clients.", "NAME"),
    OptionRow(("command-config",), "Properties file for this command's client.", "FILE"),
    OptionRow(("delete-config",), "Configs to reset to their defaults.", "KEY,KEY..."),
    OptionRow(("describe",), "Show the altered configs of one entity, or of all entities of a type."),
    OptionRow(("entity-default",), "Instead of --entity-name: the default of clients, users, brokers or ips."),
    OptionRow(("entity-name",), "Name of the entity.", "NAME"),
    OptionRow(("entity-type",), f"{', '.join(ENTITY_TYPES)}.", "TYPE"),
    OptionRow(("group",), "A consumer group.", "NAME"),
    OptionRow(("ip",), "A client's IP address, for its quotas.", "ADDRESS"),
    OptionRow(("ip-defaults",), "Default quotas of addresses."),
    OptionRow(("topic",), "Same as --entity-type topics --entity-name.", "NAME"),
    OptionRow(("user",), "A principal, for its quotas and SCRAM credentials.", "NAME"),
    OptionRow(("user-defaults",), "Default quotas of users."),
    TIMEOUT_OPTION,
    OptionRow(("output", "o"), "json: one object per line.", "text|json"),
)
# A comma or an equals sign separates unless a closing bracket follows before an opening one.
_OUTSIDE: Final = r"(?=[^\]]*(?:\[|$))"
_COMMA: Final = re.compile("," + _OUTSIDE)
_EQUALS: Final = re.compile(r"\s*=\s*" + _OUTSIDE, re.ASCII)
_KEY: Final = re.compile(r"[$a-zA-Z0-9._-]*")


@click.command("configs", cls=KafkaCommand, rows=OPTIONS, version=KAFKA_VERSION)
def command(parsed: ParsedOptions) -> int:
    """Show and change configs of mirrors, topics and brokers, and quotas, like kafka-configs.sh.

    A cluster rejects entity types that it does not support. Clusters of kmirror support configs of mirrors, topics and
    brokers.
    """
    task = read_task(parsed)
    try:
        return asyncio.run(run_task(task))
    except KafkaError as error:
        write_stderr(f"Error while executing config command : {error}\n")
        return 1


def read_task(parsed: ParsedOptions) -> ConfigTask:
    """Return the task; raise UsageError, with Kafka's text, for options that do not fit together."""
    actions = [action for action in ACTIONS if parsed.has(action)]
    if len(actions) != 1:
        raise UsageError("Command must include exactly one action: --describe, --alter")
    if actions == ["describe"]:
        for option in ("add-config", "add-config-file", "delete-config"):
            if parsed.has(option):
                raise UsageError(f'Option "[describe]" can\'t be used with option "[{option}]"')
    kinds = [
        *parsed.values("entity-type"),
        *(kind for name, kind in {**ENTITY_OPTIONS, **DEFAULT_OPTIONS}.items() if parsed.has(name)),
    ]
    names = [
        *parsed.values("entity-name", "entity-default"),
        *(parsed.text(name, "") for name in ENTITY_OPTIONS if parsed.has(name)),
        *("" for name in DEFAULT_OPTIONS if parsed.has(name)),
    ]
    if not parsed.has("bootstrap-server"):
        raise UsageError("--bootstrap-server must be specified")
    _check_kinds(parsed, kinds)
    _check_names(kinds, names)
    if actions == ["describe"]:
        _check_describe(parsed, kinds, names)
    else:
        _check_alter(parsed, kinds, names)
    return ConfigTask(
        action=actions[0],
        servers=checked_servers(parsed.text("bootstrap-server", "")),
        client=client_of(option_properties(parsed, "command-config"), read_timeout(parsed)),
        kinds=tuple(kinds),
        names=tuple(names),
        added=added_configs(parsed),
        deleted=deleted_configs(parsed),
        shows_all=parsed.has("all"),
        as_json=parsed.one_of("output", "text", "json") == "json",
    )


def _check_kinds(parsed: ParsedOptions, kinds: list[str]) -> None:
    duplicates = sorted({kind for kind in kinds if kinds.count(kind) > 1})
    if duplicates:
        raise UsageError(f"Duplicate entity type(s) specified: {','.join(duplicates)}")
    for kind in kinds:
        if kind not in ENTITY_TYPES:
            allowed = ", ".join(ENTITY_TYPES)
            raise UsageError(f"Invalid entity type {kind}, the entity type must be one of {allowed}")
    if not kinds:
        raise UsageError("At least one entity type must be specified")
    if len(kinds) > 1 and set(kinds) != {USERS, CLIENTS}:
        raise UsageError(f"Only '{USERS}' and '{CLIENTS}' entity types may be specified together")
    if parsed.has("entity-type", "entity-name", "entity-default") and parsed.has(*ENTITY_OPTIONS, *DEFAULT_OPTIONS):
        raise UsageError("--entity-{type,name,default} should not be used in conjunction with specific entity flags")


def _check_names(kinds: list[str], names: list[str]) -> None:
    if len(names) > len(kinds):
        raise UsageError("More entity names specified than entity types")
    for name in filter(None, names):
        if kinds[0] in (BROKERS, BROKER_LOGGERS) and parse_int(name) is None:
            raise UsageError(f"The entity name for {kinds[0]} must be a valid integer broker id, but it is: {name}")
        if kinds[0] == IPS and not _is_host(name):
            raise UsageError(f"The entity name for {IPS} must be a valid IP or resolvable host, but it is: {name}")


def _is_host(name: str) -> bool:
    try:
        socket.getaddrinfo(name, None)
    except (OSError, UnicodeError):
        return False
    return True


def _check_describe(parsed: ParsedOptions, kinds: list[str], names: list[str]) -> None:
    if parsed.has("entity-default") and not set(kinds) & set(WITH_DEFAULTS):
        raise UsageError(f"--entity-default must not be specified with --describe of {','.join(kinds)}")
    problem = problem_with_name(names[0]) if kinds == [TOPICS] and names else None
    if problem is not None:
        raise UsageError(f"Topic name is invalid: {problem}")
    if BROKER_LOGGERS in kinds and not any(names):
        raise UsageError(f"An entity name must be specified with --describe of {','.join(kinds)}")


def _check_alter(parsed: ParsedOptions, kinds: list[str], names: list[str]) -> None:
    if set(kinds) & set(WITH_DEFAULTS):
        if not names:
            raise UsageError(
                "An entity-name or default entity must be specified with --alter of users, clients, brokers or ips"
            )
    elif not any(names):
        raise UsageError(f"An entity name must be specified with --alter of {','.join(kinds)}")
    if parsed.has("add-config") and parsed.has("add-config-file"):
        raise UsageError("Only one of --add-config or --add-config-file must be specified")
    if not parsed.has("add-config", "add-config-file", "delete-config"):
        raise UsageError(
            "At least one of --add-config, --add-config-file, or --delete-config must be specified with --alter"
        )
    if len(kinds) != len(names):
        raise UsageError("An entity name must be specified for every entity type")


def added_configs(parsed: ParsedOptions) -> dict[str, str]:
    """Return the configs to set, by key; raise UsageError for an invalid entry, without its value in the message."""
    found = option_properties(parsed, "add-config-file")
    if parsed.has("add-config"):
        for entry in _entries(parsed.text("add-config", "")):
            parts = _EQUALS.split(entry)
            if len(parts) != 2:
                raise UsageError(
                    'Invalid entity config: all configs to be added must be in the format "key=val" or '
                    f'"key=[val1,val2]" to group values which contain commas; {_key_of(entry)!r} is not.'
                )
            found[parts[0].strip(BLANKS)] = re.sub(r"[\[\]]", "", parts[1]).strip(BLANKS)
    for key in found:
        if not _KEY.fullmatch(key):
            raise UsageError(f"Invalid character found for config key: {key}")
    return found


def _entries(text: str) -> list[str]:
    """Split at commas outside of brackets, like Java's `String.split`, which drops empty entries at the end."""
    found = _COMMA.split(text)
    while len(found) > 1 and not found[-1]:
        found.pop()
    return found


def _key_of(entry: str) -> str:
    return entry.partition("=")[0].strip(BLANKS)


def deleted_configs(parsed: ParsedOptions) -> tuple[str, ...]:
    """Return the keys to reset to their defaults; the option may be repeated."""
    return tuple(
        key.strip(BLANKS)
        for value in parsed.values("delete-config")
        for key in ([part for part in value.split(",") if part] or [value])
    )
