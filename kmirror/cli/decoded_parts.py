"""What is read of a message's bytes, and how does the command end that read them?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import click

from kmirror.protocol.message import Message


class Part(NamedTuple):
    """A header or a body: what to call it, and how to read it."""

    name: str
    cls: type[Message]
    version: int

    @property
    def may_end_inside(self) -> bool:
        """Return whether records in it may end inside of a batch: a broker's may, a producer's must not."""
        return self.cls.TYPE != "request"


def conclude(faults: Sequence[str], left: int, position: int) -> int:
    """Tell on stderr what is wrong with a message that could be read, and return the exit code."""
    for fault in faults:
        click.echo(fault, err=True)
    if left:
        click.echo(f"{left} byte{'' if left == 1 else 's'} after the message, from byte {position} on", err=True)
    return int(bool(faults or left))
