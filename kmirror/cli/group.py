"""Top command, built with click."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

import click

from kmirror import __version__
from kmirror.cli.commands import CONTEXT, CommandRow
from kmirror.cli.output import guarded_stdout
from kmirror.errors import did_you_mean


class _Interrupted(BaseException):
    """Carries a KeyboardInterrupt through click, which would print an empty line and drop the interrupt's message."""


class LazyGroup(click.Group):
    """A group whose commands are rows; only the called one is imported."""

    def __init__(self, *, rows: Sequence[CommandRow], **settings: object) -> None:
        super().__init__(**settings)  # type: ignore[arg-type]  # click's own keywords, passed through
        self.rows = {row.name: row for row in rows}

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as interrupt:
            raise _Interrupted(*interrupt.args) from None

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.rows)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        row = self.rows.get(cmd_name)
        if row is None:
            return None
        command = getattr(import_module(row.module), row.attribute)
        assert isinstance(command, click.Command), f"{row.module}.{row.attribute} is not a click command"
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command; an unknown name is an error with similar names."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            hint = did_you_mean(args[0], self.rows)
            if not hint:
                raise
            raise click.UsageError(f"{error.message.removesuffix('.')}: {hint}", ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if self.rows:
            with formatter.section("Commands"):
                formatter.write_dl([(row.name, row.help) for row in self.rows.values()])


def build(rows: Sequence[CommandRow]) -> click.Group:
    """Return the top command for `rows`."""
    group = LazyGroup(
        name="kmirror",
        rows=rows,
        help="Kafka's Cluster Mirroring (KIP-1279): run it, break it, measure it.",
        context_settings=CONTEXT,
        no_args_is_help=True,
    )
    version = click.version_option(__version__, prog_name="kmirror", message="%(prog)s %(version)s")
    return version(group)


def run_with_click(words: Sequence[str], rows: Sequence[CommandRow]) -> int:
    """Run the command line and return its exit code; exceptions of the command propagate."""
    try:
        with guarded_stdout():
            outcome = build(rows).main(list(words), prog_name="kmirror", standalone_mode=False)
    except _Interrupted as interrupted:
        raise KeyboardInterrupt(*interrupted.args) from None
    except click.Abort:
        raise KeyboardInterrupt from None
    except click.ClickException as error:
        error.show()
        return error.exit_code
    return outcome if isinstance(outcome, int) else 0
