"""Errors of commands whose exit code 1 is a result: one line on stderr, and exit code 2."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from kmirror.cli.output import write_stderr
from kmirror.errors import KmirrorError, UsageError

EXIT_USAGE = 2


class CommandError(click.ClickException):
    """An error with one line of text, and the exit code for usage."""

    exit_code = EXIT_USAGE

    def show(self, file: Any = None) -> None:
        write_stderr(f"kmirror: {self.message}\n")


@contextmanager
def as_usage_error(kind: type[KmirrorError] = UsageError) -> Iterator[None]:
    """Turn an error of `kind` into one line and the exit code for usage."""
    try:
        yield
    except kind as error:
        raise CommandError(str(error)) from None
