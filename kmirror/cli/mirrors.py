"""`kmirror mirrors`: kafka-mirrors.sh of KIP-1279 with its flags and texts, for any cluster that serves the APIs.

Rule 1: stdout has the KIP's tables and confirmations, or with `-o json` one object per line; reasons of waits, failures
and refusals are on stderr.
Rule 2: the exit code is 0 if everything was done, and 1 for a refused command line, for an order that is refused, even
for one topic only, and if no broker responds.
Rule 3: the command line is parsed as `kafka_options` says. --delete, which is in an example of the KIP, --all-topics,
--dry-run, --explain-filters, --watch and -o are not in its list of options.
"""

from __future__ import annotations

import asyncio

import click

from kmirror.admin.client import checked_servers
from kmirror.cli.cluster_client import TIMEOUT_OPTION, client_of, option_properties, read_timeout
from kmirror.cli.dump_log import KAFKA_VERSION
from kmirror.cli.kafka_options import KafkaCommand, OptionRow, ParsedOptions
from kmirror.cli.mirror_actions import ACTIONS, EVERY_TOPIC, NEEDS_CONFIG, NEEDS_TOPIC, Task, run_task
from kmirror.cli.output import write_stderr
from kmirror.errors import KafkaError, UsageError
from kmirror.mirror.states import MirrorState

WATCH_INTERVAL_S = 2.0
WAITED_STATES = (MirrorState.MIRRORING.name, MirrorState.PAUSED.name, MirrorState.STOPPED.name)
SHORT_MAX = 2**15 - 1

OPTIONS = (
    OptionRow(("add",), "Mirror topics: --mirror, --topic; --mirror-config if the source needs security."),
    OptionRow(("all-topics",), "Instead of --topic: all topics except the source's internal ones."),
    OptionRow(("alter",), "Set configs of a mirror: --mirror, --mirror-config."),
    OptionRow(("bootstrap-server",), "Brokers of the destination cluster; required.", "SERVER,SERVER..."),
    OptionRow(("command-config",), "Properties file for this command's client.", "FILE"),
    OptionRow(("create",), "Create a mirror: --mirror, --mirror-config."),
    OptionRow(("delete",), "Delete a mirror that has no topics or only STOPPED ones: --mirror."),
    OptionRow(("describe",), "Show states, offsets and lag of partitions; limited by --mirror and --topic."),
    OptionRow(
        ("explain-filters",), "Show why each topic, config and group of the source is mirrored or not: --mirror."
    ),
    OptionRow(("list",), "Show all mirrors."),
    OptionRow(("mirror",), "The mirror's name.", "NAME"),
    OptionRow(("mirror-config",), "Properties file of the mirror: bootstrap.servers, security.*, ...", "FILE"),
    OptionRow(("pause",), "Stop fetching topics; they stay read-only: --mirror, --topic."),
    OptionRow(("remove",), "Fail over: topics become writable and are no longer mirrored: --mirror, --topic."),
    OptionRow(("replication-factor",), "With --add: replication factor of new topics.", "N"),
    OptionRow(("resume",), "Continue paused topics: --mirror, --topic."),
    OptionRow(("topic",), "A topic, or a regular expression for whole names, such as 'test-.*'.", "TOPIC"),
    TIMEOUT_OPTION,
    OptionRow(("wait",), "Wait until all partitions are MIRRORING, PAUSED or STOPPED; ends at FAILED.", "STATE"),
    OptionRow(("dry-run",), "Show the changes without making them."),
    OptionRow(("watch",), f"With --describe: repeat every {WATCH_INTERVAL_S:g} s, or SECONDS.", "SECONDS", True),
    OptionRow(("output", "o"), "json: one object per line.", "text|json"),
)


@click.command("mirrors", cls=KafkaCommand, rows=OPTIONS, version=KAFKA_VERSION)
def command(parsed: ParsedOptions) -> int:
    """Create, watch and end mirrors of a cluster, like kafka-mirrors.sh of KIP-1279."""
    task = read_task(parsed)
    try:
        return asyncio.run(run_task(task))
    except KafkaError as error:
        write_stderr(f"Error while executing mirror command : {error}\n")
        return 1


def read_task(parsed: ParsedOptions) -> Task:
    """Return the task; raise UsageError for options that do not fit together."""
    if parsed.words:
        # A shell expands --topic ord* to several words where files match; only the first would be failed over.
        raise UsageError(f"{parsed.words[0]!r} does not belong to an option; quote patterns, such as --topic 'test-.*'")
    if not parsed.has("bootstrap-server"):
        raise UsageError("--bootstrap-server must be specified")
    actions = [action for action in ACTIONS if parsed.has(action)]
    if len(actions) != 1:
        raise UsageError(f"Command must include exactly one action: {', '.join(f'--{action}' for action in ACTIONS)}")
    action = actions[0]
    _check_options(parsed, action)
    mirror = parsed.text("mirror", "")
    topic = EVERY_TOPIC if parsed.has("all-topics") else parsed.text("topic", "")
    configs = option_properties(parsed, "mirror-config")
    timeout_ms = read_timeout(parsed)
    return Task(
        action=action,
        servers=checked_servers(parsed.text("bootstrap-server", "")),
        client=client_of(option_properties(parsed, "command-config"), timeout_ms),
        source_client=client_of(configs),
        mirror=mirror,
        topic=topic,
        configs=configs,
        replication_factor=_replication_factor(parsed),
        watch_interval_s=_seconds(parsed) if parsed.has("watch") else None,
        is_dry=parsed.has("dry-run"),
        as_json=parsed.one_of("output", "text", "json") == "json",
        wait_for=MirrorState[parsed.one_of("wait", *WAITED_STATES)] if parsed.has("wait") else None,
        timeout_ms=timeout_ms,
    )


def _check_options(parsed: ParsedOptions, action: str) -> None:
    if action not in ("list", "describe") and not parsed.text("mirror", ""):
        raise UsageError("--mirror must be specified")
    if action in NEEDS_CONFIG and not parsed.text("mirror-config", ""):
        activity = "creating" if action == "create" else "altering"
        raise UsageError(f"--mirror-config must be specified when {activity} a mirror")
    if parsed.has("all-topics") and parsed.has("topic"):
        raise UsageError("--all-topics and --topic cannot be used together")
    if action in NEEDS_TOPIC and not parsed.text("topic", "") and not parsed.has("all-topics"):
        raise UsageError(f"--topic must be specified when {NEEDS_TOPIC[action]}")
    for option, actions in (
        ("mirror-config", (*NEEDS_CONFIG, "add", "explain-filters")),
        ("topic", (*NEEDS_TOPIC, "describe", "explain-filters")),
        ("all-topics", tuple(NEEDS_TOPIC)),
        ("replication-factor", ("add",)),
        ("watch", ("describe",)),
        ("wait", (*NEEDS_TOPIC, "describe")),
    ):
        if parsed.has(option) and action not in actions:
            raise UsageError(f"--{option} is for {' and '.join(f'--{each}' for each in actions)}, not for --{action}")

    if parsed.has("wait") and (parsed.has("dry-run") or parsed.has("watch")):
        raise UsageError("--wait cannot be used with --dry-run or --watch")


def _replication_factor(parsed: ParsedOptions) -> int | None:
    if not parsed.has("replication-factor"):
        return None
    number = parsed.number("replication-factor", 0)
    if not 0 < number <= SHORT_MAX:
        raise UsageError(f"--replication-factor must be a number from 1 to {SHORT_MAX}, not {number}")
    return number


def _seconds(parsed: ParsedOptions) -> float:
    text = parsed.text("watch", str(WATCH_INTERVAL_S))
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0.1 <= seconds <= 86_400:
        raise UsageError(f"--watch takes a number of seconds, at least 0.1, not {text!r}")
    return seconds
