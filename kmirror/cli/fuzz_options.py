"""Options of `kmirror fuzz` for the target and its input."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from kmirror.errors import UsageError
from kmirror.fuzz.profiles import DEFAULT
from kmirror.fuzz.targets.rows import TargetOptions

C = TypeVar("C", bound=Callable[..., Any])
_OPTIONS = (
    click.option("--message", "messages", multiple=True, metavar="NAME", help="Only this message, as in FetchRequest."),
    click.option("--machine", "machines", multiple=True, metavar="NAME", help="Only sessions of this state machine."),
    click.option(
        "--profile", metavar="NAME", default=DEFAULT, show_default=True, help="Weights of the frames; see --list."
    ),
    click.option(
        "--recorded", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE",
        help="Mutate requests recorded with kmirror proxy --record.",
    ),
    click.option(
        "--bootstrap-server", metavar="HOST:PORT", help="The broker to fuzz, or the one behind the target client."
    ),
    click.option(
        "--i-own-this-host",
        "owns_host",
        is_flag=True,
        help="Confirm that you may break a broker that is not on loopback.",
    ),
    click.option("--command", metavar="WORDS", help="Program and arguments for the target command."),
    click.option("--readers", metavar="NAMES", help="Readers that the target differential compares: ours,kafka,kio..."),
    click.option(
        "--kafka-jars", envvar="KMIRROR_KAFKA_JARS", metavar="DIR", help="Folder of Kafka's jars, for its reader."
    ),
)  # fmt: skip
TARGET_OPTIONS = ("messages", "machines", "profile", "recorded", "bootstrap_server", "owns_host", "command", "readers",
         "kafka_jars")  # fmt: skip
"""Argument names of these options."""


def target_options(command: C) -> C:
    """Add the options of `target_settings` to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def target_settings(
    seed: int, *, command: str | None, readers: str | None, recorded: Path | None, **others: Any
) -> TargetOptions:
    """Return the settings given by the options; raise UsageError for a record without requests."""
    return TargetOptions(
        seed=seed, command=tuple(shlex.split(command or "")), readers=tuple(filter(None, (readers or "").split(","))),
        recorded=_requests_in(recorded), **others,
    )  # fmt: skip


def _requests_in(path: Path | None) -> tuple[bytes, ...]:
    if path is None:
        return ()
    from kmirror.proxy.recording import read_recording  # It imports the broker.

    frames = tuple(line.frame for line in read_recording(path) if line.frame)
    if not frames:
        raise UsageError(f"{path}: contains no request")
    return frames
