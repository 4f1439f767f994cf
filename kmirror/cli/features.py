"""`kmirror features`: Kafka's kafka-features.sh with its commands, flags and texts, and `mirror.version` of KIP-1279.

Rule 1: stdout has the output of Kafka's tool, or with `-o json` one object per line.
Rule 2: the exit code is 0 if everything was done, and 1 for a command line or a level that is refused, and if no broker
responds.
Rule 3: the command is the first word that is not an option; options may precede or follow it. -o is not an option of
Kafka's tool; --bootstrap-controller, which is one, is not supported.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final

import click

from kmirror.admin.client import checked_servers
from kmirror.cli.cluster_client import TIMEOUT_OPTION, client_of, open_admin, option_properties, read_timeout
from kmirror.cli.dump_log import KAFKA_VERSION
from kmirror.cli.feature_actions import (
    Levels,
    dependencies,
    describe,
    levels_of_release,
    merge_levels,
    metadata_version_of,
    parse_level,
    update,
    version_mapping,
)
from kmirror.cli.kafka_options import KafkaCommand, OptionRow, ParsedOptions
from kmirror.cli.output import write_stderr
from kmirror.errors import KafkaError, UsageError
from kmirror.spec.features import METADATA_VERSION
from kmirror.spec.wire_values import UpgradeType

COMMON_OPTIONS: Final = ("bootstrap-server", "command-config", "timeout")
COMMANDS: Final[Mapping[str, tuple[str, ...]]] = {
    "describe": ("node-id", "output"),
    "upgrade": ("metadata", "release-version", "feature", "dry-run", "output"),
    "downgrade": ("metadata", "release-version", "feature", "unsafe", "dry-run", "output"),
    "disable": ("feature", "unsafe", "dry-run", "output"),
    "version-mapping": ("release-version",),
    "feature-dependencies": ("feature",),
}
"""Command to its options, in addition to COMMON_OPTIONS."""
OPTIONS = (
    OptionRow(("bootstrap-server",), "Brokers of the cluster.", "SERVER,SERVER..."),
    OptionRow(("command-config",), "Properties file for this command's client.", "FILE"),
    OptionRow(("dry-run",), "Have the cluster validate the change without making it."),
    OptionRow(("feature",), "A feature and its level; with disable, the feature only. Repeatable.", "NAME=LEVEL"),
    OptionRow(("metadata",), "Deprecated: a level of metadata.version by its name, such as 3.9-IV0.", "VERSION"),
    OptionRow(("node-id",), "With describe: the node to query; default: any broker.", "ID"),
    OptionRow(("release-version",), "The default levels of this release, such as 4.3 or 3.9-IV0.", "VERSION"),
    TIMEOUT_OPTION,
    OptionRow(("unsafe",), "Lower a level even if metadata is lost."),
    OptionRow(("output", "o"), "json: one object per line.", "text|json"),
)


@click.command("features", cls=KafkaCommand, rows=OPTIONS, version=KAFKA_VERSION, options_metavar="COMMAND [OPTIONS]")
def command(parsed: ParsedOptions) -> int:
    """Show and change the feature levels of a cluster, as kafka-features.sh does.

    \b
    describe              Show the supported and the finalized levels.
    upgrade               Raise levels: upgrade --feature mirror.version=1
    downgrade             Lower levels.
    disable               Lower levels to 0.
    version-mapping       Show the default levels of a release.
    feature-dependencies  Show the other levels that a level needs.
    """
    action = _action(parsed)
    as_json = parsed.one_of("output", "text", "json") == "json"
    if action == "version-mapping":
        lines = version_mapping(parsed.text("release-version", "") if parsed.has("release-version") else None)
    elif action == "feature-dependencies":
        if not parsed.has("feature"):
            raise UsageError("argument --feature is required")
        lines = dependencies(parse_level(text) for text in parsed.values("feature"))
    else:
        try:
            return asyncio.run(_run_at_cluster(parsed, action, as_json=as_json))
        except KafkaError as error:
            write_stderr(f"{error}\n")
            return 1
    print("".join(f"{line}\n" for line in lines), end="")
    return 0


def _action(parsed: ParsedOptions) -> str:
    known = ", ".join(COMMANDS)
    if not parsed.words:
        raise UsageError(f"too few arguments: give a command, one of {known}")
    action, *extra = parsed.words
    if action not in COMMANDS:
        raise UsageError(f"invalid choice: '{action}' (choose from {known})")
    if extra:
        raise UsageError(f"unrecognized arguments: '{' '.join(extra)}'")
    for row in OPTIONS:
        if parsed.has(row.names[0]) and row.names[0] not in (*COMMON_OPTIONS, *COMMANDS[action]):
            raise UsageError(f"--{row.names[0]} is not for {action}")
    return action


async def _run_at_cluster(parsed: ParsedOptions, action: str, *, as_json: bool) -> int:
    if not parsed.has("bootstrap-server"):
        raise UsageError("--bootstrap-server must be specified")
    servers = checked_servers(parsed.text("bootstrap-server", ""))
    client = client_of(option_properties(parsed, "command-config"), read_timeout(parsed))
    if action == "describe":
        node_id = parsed.number("node-id", 0) if parsed.has("node-id") else None
        if node_id is not None and node_id < 0:
            raise UsageError(f"Invalid node id {node_id}: must be non-negative.")
        async with open_admin(servers, client) as admin:
            return await describe(admin, node_id, as_json=as_json)
    upgrade_type = _upgrade_type(parsed, action)
    levels = _levels(parsed, action, upgrade_type, as_json=as_json)
    async with open_admin(servers, client) as admin:
        return await update(admin, action, levels, upgrade_type, is_dry=parsed.has("dry-run"), as_json=as_json)


def _upgrade_type(parsed: ParsedOptions, action: str) -> UpgradeType:
    if action == "upgrade":
        return UpgradeType.UPGRADE
    return UpgradeType.UNSAFE_DOWNGRADE if parsed.has("unsafe") else UpgradeType.SAFE_DOWNGRADE


def _levels(parsed: ParsedOptions, action: str, upgrade_type: UpgradeType, *, as_json: bool) -> Levels:
    features = parsed.values("feature")
    if action == "disable":
        levels = merge_levels(((name, 0) for name in features), upgrade_type)
    elif parsed.has("release-version"):
        if parsed.has("metadata", "feature"):
            raise UsageError("Can not specify `release-version` with other feature flags.")
        levels = levels_of_release(parsed.text("release-version", ""), upgrade_type)
    else:
        pairs = list(map(parse_level, features))
        if parsed.has("metadata"):
            warning = " `metadata` flag is deprecated and may be removed in a future release."
            write_stderr(f"{warning}\n") if as_json else print(warning)
            pairs = [(METADATA_VERSION, metadata_version_of(parsed.text("metadata", ""))), *pairs]
        levels = merge_levels(pairs, upgrade_type)
    if not levels:
        raise UsageError(f"You must specify at least one feature to {action}")
    return levels
