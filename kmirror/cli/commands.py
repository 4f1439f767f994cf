"""Table of commands and their modules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

CONTEXT: Final[Mapping[str, Any]] = {"help_option_names": ["-h", "--help"]}
"""Settings of every click command; click keeps the first help option names that it gets."""


class CommandRow(NamedTuple):
    """A command: the module and attribute of its click object, and its line in `--help`."""

    name: str
    module: str
    attribute: str
    help: str


COMMANDS: tuple[CommandRow, ...] = (
    CommandRow("demo", "kmirror.cli.demo", "command", "Mirror, fail over, fail back; prove each step."),
    CommandRow("serve", "kmirror.cli.serve", "command", "Serve a cluster to Kafka clients, on TCP ports."),
    CommandRow("mirrors", "kmirror.cli.mirrors", "command", "kafka-mirrors: create, watch, fail over mirrors."),
    CommandRow("configs", "kmirror.cli.configs", "command", "kafka-configs: of mirrors, topics, brokers; quotas."),
    CommandRow("features", "kmirror.cli.features", "command", "kafka-features: show, raise and lower feature levels."),
    CommandRow(
        "failback-preview", "kmirror.cli.failback_preview", "command", "What a failback would remove, before it does."
    ),
    CommandRow("replay", "kmirror.cli.replay", "command", "Replay what nodes were given; is all they do the same?"),
    CommandRow("dump-log", "kmirror.cli.dump_log", "command", "kafka-dump-log: what log files and indexes hold."),
    CommandRow("cat", "kmirror.cli.cat", "command", "Print the records of partitions or topics, as a consumer would."),
    CommandRow("verify", "kmirror.cli.verify", "command", "Check every file of a log folder or a partition."),
    CommandRow("diff", "kmirror.cli.diff", "command", "Compare two partitions or log folders, by batch or record."),
    CommandRow("decode", "kmirror.cli.decode", "command", "Print a request, a response or any message as JSON."),
    CommandRow("apis", "kmirror.cli.apis", "command", "Print the versions of each API, and which are served here."),
    CommandRow("dissect", "kmirror.cli.dissect", "command", "Print each field of a file of a log directory."),
    CommandRow("sim", "kmirror.cli.sim", "command", "Draw whole histories from seeds, and judge them."),
    CommandRow("explore", "kmirror.cli.explore", "command", "Search a small scope for histories that break mirroring."),
    CommandRow("fuzz", "kmirror.cli.fuzz", "command", "Break frames: what is wrong in a decoder, broker or client?"),
    CommandRow("proxy", "kmirror.cli.proxy", "command", "Stand before any cluster; inject faults, record, mutate."),
    CommandRow("sweep", "kmirror.cli.sweep", "command", "Run thousands of simulations on Spark."),
    CommandRow("report", "kmirror.cli.report", "command", "Show what a sweep found: a page, or tables."),
    CommandRow("spark-verify", "kmirror.cli.spark_verify", "command", "Compare two clusters' log directories."),
)
