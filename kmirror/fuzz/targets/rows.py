"""Table of targets by name, and the options for them."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from kmirror.errors import UsageError, did_you_mean
from kmirror.fuzz.profiles import DEFAULT, with_profile
from kmirror.fuzz.recorded import RecordedStream
from kmirror.fuzz.stream import Source, Stream
from kmirror.fuzz.target import Target


@dataclass(frozen=True)
class TargetOptions:
    """Options of a campaign; each target uses those that it needs."""

    seed: int = 1
    messages: tuple[str, ...] = ()
    """Names of messages, as in FetchRequest; empty means all that the target takes."""
    profile: str = DEFAULT
    """Name of a row of `profiles.PROFILES`."""
    bootstrap_server: str | None = None
    """HOST:PORT of a broker."""
    owns_host: bool = False
    """Whether a broker beyond loopback may be fuzzed."""
    command: tuple[str, ...] = ()
    """A decoder program and its arguments."""
    function: str | None = None
    """A decoder, as module:function."""
    recorded: tuple[bytes, ...] = ()
    """Requests with their headers, used as the valid frames; empty means those of the grammar."""
    machines: tuple[str, ...] = ()
    """Names of rule machines; empty means all."""
    readers: tuple[str, ...] = ()
    """Names of readers to compare; empty means all that are available."""
    kafka_jars: str | None = None
    """Folder with Kafka's jars, for its own decoder."""


class TargetRow(NamedTuple):
    """A target, and the function that opens it: `opens(options)` in `module` returns the target and its frames."""

    name: str
    module: str
    about: str
    opens: str = "open_target"
    is_shared: bool = True
    """Whether several processes may use it at once."""


TARGETS: tuple[TargetRow, ...] = (
    TargetRow("decoder", "kmirror.fuzz.targets.decoder", "our decoders of all messages: strict, lenient, lazy"),
    TargetRow("request", "kmirror.fuzz.targets.request", "our reader of whole requests: header and body"),
    TargetRow("batch", "kmirror.fuzz.targets.batch", "our reader of record batches: formats 0 to 2, all codecs"),
    TargetRow("log", "kmirror.fuzz.targets.log", "our recovery of a partition's log: one of its files broken"),
    TargetRow("log-dir", "kmirror.fuzz.targets.log_dir", "our verify, loading and repair: one file of a folder broken"),
    TargetRow(
        "internal-topics",
        "kmirror.fuzz.targets.internal_topics",
        "logs that our nodes load: groups, transactions, metadata",
    ),
    TargetRow("node", "kmirror.fuzz.targets.node", "a broker of ours in the simulator: all its APIs"),
    TargetRow("tcp", "kmirror.fuzz.targets.tcp", "a kmirror serve that is started here"),
    TargetRow("bootstrap-server", "kmirror.fuzz.targets.tcp", "any broker on loopback", "open_broker"),
    TargetRow("client", "kmirror.fuzz.clients.campaign", "any client library: its requests get broken answers"),
    TargetRow("sessions", "kmirror.fuzz.targets.sessions", "sessions with a broker: of ours in the simulator, or any"),
    TargetRow(
        "differential", "kmirror.fuzz.targets.differential", "our decoders beside Kafka's own and other people's"
    ),
    TargetRow(
        "brokers",
        "kmirror.fuzz.targets.brokers",
        "a broker of ours beside any on loopback: their answers compared",
        is_shared=False,
    ),
    TargetRow("command", "kmirror.fuzz.targets.command", "any decoder as a program: frame on stdin, verdict on stdout"),
    TargetRow("python:", "kmirror.fuzz.targets.function", "any decoder in Python, as in python:module:function"),
)


_PYTHON = "python:"


def open_target(name: str, options: TargetOptions) -> tuple[Target, Source]:
    """Return the target of this name, and its frames; raises `UsageError` for an unknown name.

    With `options.recorded` the frames are made of the recorded requests, for any target that takes messages.
    """
    rows = {row.name: row for row in TARGETS}
    if name.startswith(_PYTHON):
        name, options = _PYTHON, replace(options, function=name.removeprefix(_PYTHON))
    row = rows.get(name)
    if row is None:
        hint = did_you_mean(name, rows)
        raise UsageError(f"unknown target {name!r}" + (f"; {hint}" if hint else f": {', '.join(rows)}"))
    opens: Callable[[TargetOptions], Any] = getattr(importlib.import_module(row.module), row.opens)
    target, source = opens(options)
    try:
        source = with_profile(source, options.profile)
        if options.recorded:
            if not isinstance(source, Stream):
                raise UsageError(f"the target {row.name} takes no messages, so it cannot use recorded ones")
            source = RecordedStream(source, options.recorded)
    except UsageError:
        target.close()
        raise
    return target, source
