"""Parts of a decoded message, and the end of the command."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import click

from kmirror.protocol.message import Message


class Part(NamedTuple):
    """A header or a body: its name, and the class and version to decode it."""

    name: str
    cls: type[Message]
    version: int

    @property
    def may_end_inside(self) -> bool:
        """Return whether its records may end inside a batch: a response's may, a request's must not."""
        return self.cls.TYPE != "request"


def report_errors(faults: Sequence[str], bytes_left: int, position: int) -> int:
    """Report errors of a readable message on stderr, and return the exit code."""
    for fault in faults:
        click.echo(fault, err=True)
    if bytes_left:
        click.echo(
            f"{bytes_left} byte{'' if bytes_left == 1 else 's'} after the message, from byte {position} on", err=True
        )
    return int(bool(faults or bytes_left))
