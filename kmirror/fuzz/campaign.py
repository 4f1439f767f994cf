"""How is a target fuzzed? Frame after frame, findings by cause, until frames or time are used up."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random

from kmirror.fuzz.findings import Fault, Finding, Kind, raised
from kmirror.fuzz.shrink import STATEFUL_TRIES_MAX, TRIES_MAX, fewer, shrink
from kmirror.fuzz.stream import BLOCK_FRAMES, Frame, Source
from kmirror.fuzz.target import TAKEN, Target

KEPT_MAX = 4_096
"""So many frames that did something new are kept to be broken further."""
# Findings of these kinds are about valid frames, and a smaller frame need not be one.
_WHOLE = (Kind.REFUSED, Kind.CHANGED)


@dataclass
class Tally:
    """What a campaign came to, as it goes on."""

    frames: int = 0
    taken: int = 0
    seconds: float = 0.0
    findings: dict[str, Finding] = field(default_factory=dict)
    """The first finding of each cause."""
    counts: dict[str, int] = field(default_factory=dict)
    """How often each cause was found."""
    messages: dict[str, set[str]] = field(default_factory=dict)
    """The names of the messages in which each cause was found."""
    versions: dict[str, set[int]] = field(default_factory=dict)
    """The versions of those messages."""
    outcomes: set[tuple[str, int, str]] = field(default_factory=set)
    """Message, version and outcome: what the feedback is about."""

    @property
    def per_second(self) -> float:
        """Return the frames for each second of the clock."""
        return self.frames / self.seconds if self.seconds else 0.0


@dataclass
class Campaign:
    """Frames put to a target.

    With `feedback`, frames that did something new (message, version, outcome) are broken further: after each block of
    the stream comes one that is made of them. `on_finding` is told the first finding of each cause, already shrunk.
    """

    target: Target
    source: Source
    feedback: bool = False
    shrinks: bool = True
    on_finding: Callable[[Finding], None] | None = None
    tally: Tally = field(default_factory=Tally)
    _kept: list[Frame] = field(default_factory=list)
    _until: float = math.inf
    """When the time of the present run is over, by the monotonic clock."""

    def run(self, *, frames: int | None = None, seconds: float | None = None, first_block: int = 0) -> Iterator[Tally]:
        """Go on until so many frames were tried, or so many seconds are over; yield the tally after each block.

        What is found is shrunk within these seconds too. Without either it does not end by itself.
        """
        began = time.monotonic()
        self._until = math.inf if seconds is None else began + seconds
        block = first_block
        tally = self.tally
        while True:
            for frame in self.source.block(block):
                if tally.frames == frames or time.monotonic() >= self._until:
                    break
                self.put(frame)
            else:
                if self.feedback and self._kept:
                    self._further(block, frames)
            block += 1
            tally.seconds = time.monotonic() - began
            yield tally
            if tally.frames == frames or time.monotonic() >= self._until:
                return

    def _further(self, block: int, frames: int | None) -> None:
        random = Random(f"{self.source.seed}/{block}/further").random
        for _ in range(BLOCK_FRAMES):
            if self.tally.frames == frames or time.monotonic() >= self._until:
                return
            self.put(self.source.further(self._kept[int(random() * len(self._kept))], random))

    def put(self, frame: Frame) -> None:
        """Put one frame to the target, and count what became of it."""
        tally = self.tally
        tally.frames += 1
        try:
            outcome = self.target.judge(frame)
        except Exception as error:
            fault = error if isinstance(error, Fault) else raised(error)
            for each in (fault, *fault.others):
                self._found(frame, each)
            outcome = fault.cause
        if outcome.startswith(TAKEN):
            tally.taken += 1
        key = (frame.name, frame.version, outcome)
        if key not in tally.outcomes:
            tally.outcomes.add(key)
            if self.feedback and len(self._kept) < KEPT_MAX:
                self._kept.append(frame)

    def _found(self, frame: Frame, fault: Fault) -> None:
        tally = self.tally
        cause = f"{fault.kind.value} {fault.cause}"
        tally.counts[cause] = tally.counts.get(cause, 0) + 1
        tally.messages.setdefault(cause, set()).add(frame.name)
        tally.versions.setdefault(cause, set()).add(frame.version)
        if cause in tally.findings:
            return
        finding = Finding(
            self.target.name, fault.kind, fault.cause, fault.told, fault.expected, frame.name, frame.version,
            self.source.seed, frame.number, fault.story or tuple(frame.story), frame.data, tuple(self.target.before),
        )  # fmt: skip
        if self.shrinks:
            finding = self._shrunk(finding, frame, fault)
        tally.findings[cause] = finding
        if self.on_finding is not None:
            self.on_finding(finding)

    def _shrunk(self, finding: Finding, frame: Frame, fault: Fault) -> Finding:
        """Return the finding with as little as is found to be needed of its frame and of those before it."""

        smallest = fault

        def shows(data: bytes, before: Sequence[bytes]) -> bool:
            nonlocal smallest
            found = put(self.target, frame._replace(data=data), before, until=self._until)
            for each in () if found is None else (found, *found.others):
                if (each.kind, each.cause) == (fault.kind, fault.cause):
                    smallest = each
                    return True
            return False

        before = fewer(finding.before, lambda some: shows(frame.data, some), until=self._until)
        data = frame.data
        if fault.kind not in _WHOLE:
            tries = STATEFUL_TRIES_MAX if finding.before else TRIES_MAX
            data = shrink(data, lambda candidate: shows(candidate, before), tries, until=self._until)
        if finding.before:
            self.target.fresh()
        return finding.shrunk(data, before, smallest)


def put(target: Target, frame: Frame, before: Sequence[bytes], *, until: float = math.inf) -> Fault | None:
    """Put a frame to a target that is fresh but for the frames before; return what is wrong, None for nothing.

    None as well if the frames before take longer than `until`.
    """
    target.fresh()
    for data in before:
        if time.monotonic() >= until:
            return None
        with suppress(Exception):
            target.judge(frame._replace(data=data, steps=("one before",), is_canonical=False))
    try:
        target.judge(frame)
    except Exception as error:
        return error if isinstance(error, Fault) else raised(error)
    return None
