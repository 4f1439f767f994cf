"""Coverage-guided fuzzing: atheris (libFuzzer for Python) searches for new lines of code, and the grammar mutates.

libFuzzer ends the process that it runs in, so it gets a child process, which reports findings as lines of JSON. An
input is two bytes for the message, one for the version, and the body; for a reader of whole requests it is the request,
whose header names its message and version.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from random import Random as Seeded
from typing import Any, Protocol

from kmirror.errors import UsageError
from kmirror.fuzz.campaign import Campaign, Tally
from kmirror.fuzz.findings import Finding, from_json, to_json
from kmirror.fuzz.grammar import Random, Template, grammar
from kmirror.fuzz.mutations import Table, mutate
from kmirror.fuzz.responses import key_and_version
from kmirror.fuzz.stream import Frame, Source, Stream
from kmirror.fuzz.target import Target
from kmirror.fuzz.targets.request import RequestTarget
from kmirror.fuzz.targets.rows import TargetOptions, open_target
from kmirror.protocol.message import Message
from kmirror.protocol.registry import find_key

HEAD_BYTES = 3
_REPORT_EVERY = 1_000
_GRAMMAR_SHARE = 0.5
_INPUT_BYTES_MAX = 4_096
_STEPS = ("found by coverage",)
# File number of the child's stdout: atheris writes messages of its own to file 1, which becomes stderr.
_REPORT_FD = 3
# Readers are instrumented when they are imported, so this must come first.
_PROGRAM = """
import atheris
with atheris.instrument_imports(include=["kmirror.protocol", "kmirror.records"]):
    from kmirror.fuzz import coverage
coverage.main()
"""


def is_installed() -> bool:
    """Return whether atheris is installed."""
    return importlib.util.find_spec("atheris") is not None


def run(
    target: str, options: TargetOptions, *, frames: int | None, seconds: float | None, with_grammar: bool = True
) -> Iterator[Tally]:
    """Fuzz a reader of messages; yield the tally as it grows.

    Findings are shrunk as in any campaign. Raises `UsageError` without atheris, or with recorded requests.
    """
    if options.recorded:
        raise UsageError("--coverage cannot be combined with --recorded")
    if not is_installed():
        raise UsageError("--coverage needs atheris: pip install 'kmirror[fuzz]'")
    options_json = {
        "target": target,
        "seed": options.seed,
        "messages": list(options.messages),
        "function": options.function,
    }
    options_json["profile"] = options.profile
    bounds = [] if frames is None else [f"-runs={frames}"]
    bounds += [] if seconds is None else [f"-max_total_time={max(1, round(seconds))}"]
    command = [
        sys.executable,
        "-c",
        _PROGRAM,
        json.dumps(options_json),
        str(with_grammar),
        f"-seed={options.seed or 1}",
        *bounds,
    ]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    tally = Tally()
    try:
        assert child.stdout is not None
        for line in child.stdout:
            message = json.loads(line)
            if "kmirror_fuzz" in message:
                _add_finding(tally, from_json(message))
            else:
                tally.frames, tally.taken, tally.seconds = message["frames"], message["taken"], message["seconds"]
                tally.outcomes = {
                    (name, version, outcome) for name, version, outcome in message["outcomes"]
                } | tally.outcomes
            yield tally
    finally:
        child.kill()
        child.wait()
        if child.stdout is not None:
            child.stdout.close()


def _add_finding(tally: Tally, finding: Finding) -> None:
    cause = f"{finding.kind.value} {finding.cause}"
    tally.findings[cause] = finding
    tally.counts[cause] = 1


class Inputs(Protocol):
    """Conversion between libFuzzer's inputs and frames."""

    def frame(self, data: bytes) -> Frame | None:
        """Return the frame of an input; None for one that is too short."""
        ...

    def mutate_input(self, data: bytes, random: Random) -> bytes:
        """Return an input of the grammar to replace this one."""
        ...


class BodyInputs:
    """Inputs for a reader of bodies: frames of a stream's messages."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._number = 0

    def frame(self, data: bytes) -> Frame | None:
        """Return the frame of an input; None for one that is too short."""
        if len(data) < HEAD_BYTES:
            return None
        message, version = self._message_and_version(data)
        self._number += 1
        return Frame(self._number, message.NAME, version, data[HEAD_BYTES:], _STEPS, False, message)

    def mutate_input(self, data: bytes, random: Random) -> bytes:
        """Return a frame of the grammar, half of the time of the same message and version as the input."""
        head = bytes(int(random() * 256) for _ in range(HEAD_BYTES)) if len(data) < HEAD_BYTES else data[:HEAD_BYTES]
        if random() < _GRAMMAR_SHARE:
            head = bytes(int(random() * 256) for _ in range(HEAD_BYTES))
        message, version = self._message_and_version(head)
        template = grammar(message, version, self._stream.vocabulary, self._stream.records).draw(random)
        return head + _draw_frame(template, random, self._stream.mutations)

    def _message_and_version(self, data: bytes) -> tuple[type[Message], int]:
        messages = self._stream.messages
        message = messages[int.from_bytes(data[:2], "big") % len(messages)]
        return message, message.MIN_VERSION + data[2] % (message.MAX_VERSION - message.MIN_VERSION + 1)


class RequestInputs:
    """Inputs for a reader of whole requests: the requests, with their headers."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._number = 0

    def frame(self, data: bytes) -> Frame:
        """Return the frame of an input, named by its header."""
        self._number += 1
        key, version = key_and_version(data)
        api = find_key(key)
        if api is None or not api.min_version <= version <= api.max_version:
            return Frame(self._number, "Request", -1, data, _STEPS, False)
        return Frame(self._number, api.request.NAME, version, data, _STEPS, False, api.request)

    def mutate_input(self, data: bytes, random: Random) -> bytes:
        """Return a request of the grammar."""
        return _draw_frame(self._stream.template(random), random, self._stream.mutations)


def _draw_frame(template: Template, random: Random, mutations: Table) -> bytes:
    """Return a valid frame, broken half of the time."""
    if random() >= _GRAMMAR_SHARE:
        return bytes(template.data)
    return bytes(mutate(random, template.data, template.spots, mutations)[0])


def inputs_of(target: Target, source: Source) -> Inputs:
    """Return the inputs for a target; raises `UsageError` if it does not read messages in this process."""
    if isinstance(source, Stream) and not source.has_headers:
        return BodyInputs(source)
    if isinstance(source, Stream) and isinstance(target, RequestTarget):
        return RequestInputs(source)
    raise UsageError("--coverage works only with readers of messages: decoder, request, python:module:function")


def main() -> None:
    """Run libFuzzer until it ends this process; the options are in `sys.argv`."""
    import atheris

    os.dup2(1, _REPORT_FD)
    os.dup2(2, 1)
    options_json, with_grammar = json.loads(sys.argv[1]), sys.argv[2] == "True"
    options = TargetOptions(
        seed=options_json["seed"],
        messages=tuple(options_json["messages"]),
        profile=options_json["profile"],
        function=options_json["function"],
    )
    with atheris.instrument_imports(include=["kmirror.protocol", "kmirror.records"]):
        target, stream = open_target(options_json["target"], options)
    inputs = inputs_of(target, stream)
    campaign = Campaign(target, stream, on_finding=lambda finding: _report(to_json(finding)))
    tally, began = campaign.tally, time.monotonic()
    reported: set[tuple[str, int, str]] = set()

    def report_tally() -> None:
        nonlocal reported
        new, reported = tally.outcomes - reported, set(tally.outcomes)
        seconds = time.monotonic() - began
        _report({"frames": tally.frames, "taken": tally.taken, "seconds": seconds, "outcomes": sorted(new)})

    def try_input(data: bytes) -> None:
        frame = inputs.frame(data)
        if frame is not None:
            campaign.put(frame)
            if tally.frames % _REPORT_EVERY == 0:
                report_tally()

    command = [sys.argv[0], f"-max_len={_INPUT_BYTES_MAX}", *sys.argv[3:]]
    if with_grammar:

        def mutate_input(data: bytes, max_size: int, seed: int) -> bytes:
            random = Seeded(seed).random
            if data and random() > _GRAMMAR_SHARE:
                return bytes(atheris.Mutate(data, max_size))
            return inputs.mutate_input(data, random)[:max_size]

        atheris.Setup(command, try_input, custom_mutator=mutate_input, internal_libfuzzer=True)
    else:
        atheris.Setup(command, try_input, internal_libfuzzer=True)
    atheris.Fuzz()


def _report(row: dict[str, Any]) -> None:
    """Write a line to the parent process."""
    os.write(_REPORT_FD, (json.dumps(row) + "\n").encode())
