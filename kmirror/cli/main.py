"""Which commands are there, and how does each of them end?

Rule 1: `COMMANDS` is the whole list; a module of it is imported when its command is called, so that `--help`
stays fast.
Rule 2: the exit code is 0, or what the command returns; 1 for an error that kmirror raises on purpose, with
its text on stderr and no traceback; 2 for a command line that cannot be parsed (1 for dump-log's,
as from Kafka's tool); 130 after Ctrl-C.
Rule 3: a traceback means a bug in kmirror.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import NoReturn

import click

from kmirror import __version__
from kmirror.errors import KmirrorError

EXIT_FAILED = 1
EXIT_INTERRUPTED = 130  # 128 + SIGINT, as shells report it.


@dataclass(frozen=True, slots=True)
class CommandRow:
    """One command: where its click object lives, and the line that `--help` shows for it."""

    name: str
    module: str
    attribute: str
    help: str


COMMANDS: tuple[CommandRow, ...] = (
    CommandRow("demo", "kmirror.cli.demo", "command", "Mirror, fail over, fail back; prove each step."),
    CommandRow("dump-log", "kmirror.cli.dump_log", "command", "kafka-dump-log: what log files and indexes hold."),
    CommandRow("cat", "kmirror.cli.cat", "command", "Print the records of a partition folder, as a consumer would."),
    CommandRow("verify", "kmirror.cli.verify", "command", "Check every file of a log folder or a partition."),
    CommandRow("diff", "kmirror.cli.diff", "command", "Compare two partitions or log folders by batch."),
    CommandRow("decode", "kmirror.cli.decode", "command", "Print a request, a response or any message as JSON."),
    CommandRow("apis", "kmirror.cli.apis", "command", "Print keys, versions and header versions of all APIs."),
    CommandRow("dissect", "kmirror.cli.dissect", "command", "Print each field of a file of a log directory."),
    CommandRow("sweep", "kmirror.cli.sweep", "command", "Run thousands of simulations on Spark."),
    CommandRow("report", "kmirror.cli.report", "command", "Show what a sweep found: a page, or tables."),
    CommandRow("spark-verify", "kmirror.cli.spark_verify", "command", "Compare two clusters' log directories."),
)


class LazyGroup(click.Group):
    """A group whose commands are rows; only the called one is imported."""

    def __init__(self, *, rows: Sequence[CommandRow], **settings: object) -> None:
        super().__init__(**settings)  # type: ignore[arg-type]  # click's own keywords, passed through
        self.rows = {row.name: row for row in rows}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.rows)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        row = self.rows.get(cmd_name)
        if row is None:
            return None
        command = getattr(import_module(row.module), row.attribute)
        assert isinstance(command, click.Command), f"{row.module}.{row.attribute} is not a click command"
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if self.rows:
            with formatter.section("Commands"):
                formatter.write_dl([(row.name, row.help) for row in self.rows.values()])


def build(rows: Sequence[CommandRow]) -> click.Group:
    """Return the top command over `rows`."""
    group = LazyGroup(
        name="kmirror",
        rows=rows,
        help="Kafka's Cluster Mirroring (KIP-1279): run it, break it, measure it.",
        context_settings={"help_option_names": ["-h", "--help"]},
        no_args_is_help=True,
    )
    version = click.version_option(__version__, prog_name="kmirror", message="%(prog)s %(version)s")
    return version(group)


def run(arguments: Sequence[str] | None = None, *, rows: Sequence[CommandRow] = COMMANDS) -> NoReturn:
    """Run the command line and end the process with its exit code."""
    if not __debug__:
        _fail("assertions are part of how kmirror works: run it without -O and without PYTHONOPTIMIZE")
    try:
        outcome = build(rows).main(arguments, prog_name="kmirror", standalone_mode=False)
    except (KeyboardInterrupt, click.Abort):
        sys.exit(EXIT_INTERRUPTED)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except KmirrorError as error:
        _fail(str(error))
    sys.exit(outcome if isinstance(outcome, int) else 0)


def _fail(message: str) -> NoReturn:
    click.echo(f"kmirror: {message}", err=True)
    sys.exit(EXIT_FAILED)
