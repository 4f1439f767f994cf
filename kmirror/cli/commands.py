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
    CommandRow("demo", "kmirror.cli.demo", "command", "Mirror, fail over, fail back; verify each step."),
    CommandRow("serve", "kmirror.cli.serve", "command", "Serve a cluster to Kafka clients on TCP ports."),
    CommandRow("mirrors", "kmirror.cli.mirrors", "command", "kafka-mirrors: create, watch and fail over mirrors."),
    CommandRow(
        "configs", "kmirror.cli.configs", "command", "kafka-configs: configs of mirrors, topics, brokers; quotas."
    ),
    CommandRow("features", "kmirror.cli.features", "command", "kafka-features: show, raise and lower feature levels."),
    CommandRow(
        "failback-preview", "kmirror.cli.failback_preview", "command", "Show the records that a failback would remove."
    ),
    CommandRow("replay", "kmirror.cli.replay", "command", "Replay journals of nodes and compare their actions."),
    CommandRow(
        "dump-log", "kmirror.cli.dump_log", "command", "kafka-dump-log: print log files, indexes and snapshots."
    ),
    CommandRow("cat", "kmirror.cli.cat", "command", "Print the records of partitions or topics, as a consumer would."),
    CommandRow("verify", "kmirror.cli.verify", "command", "Check every file of a log folder or a partition."),
    CommandRow("diff", "kmirror.cli.diff", "command", "Compare two partitions or log folders, by batch or record."),
    CommandRow("decode", "kmirror.cli.decode", "command", "Print a request, a response or any message as JSON."),
    CommandRow("apis", "kmirror.cli.apis", "command", "Print the versions of each API, and those served by kmirror."),
    CommandRow("dissect", "kmirror.cli.dissect", "command", "Print each field of a file of a log directory."),
    CommandRow("sim", "kmirror.cli.sim", "command", "Simulate random histories from seeds and check them."),
    CommandRow("explore", "kmirror.cli.explore", "command", "Search a small scope for histories that break mirroring."),
    CommandRow("fuzz", "kmirror.cli.fuzz", "command", "Fuzz decoders, brokers and clients with broken frames."),
    CommandRow(
        "proxy", "kmirror.cli.proxy", "command", "Proxy in front of any cluster: inject faults, record, mutate."
    ),
    CommandRow("sweep", "kmirror.cli.sweep", "command", "Run thousands of simulations on Spark."),
    CommandRow("report", "kmirror.cli.report", "command", "Show the results of a sweep as a page or tables."),
    CommandRow("spark-verify", "kmirror.cli.spark_verify", "command", "Compare two clusters' log directories."),
)
