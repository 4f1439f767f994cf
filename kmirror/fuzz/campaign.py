"""A fuzzing campaign: puts frames to a target until frames or time are used up, and groups findings by cause."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random

from kmirror.fuzz.findings import Fault, FaultKind, Finding, fault_of_exception
from kmirror.fuzz.shrink import STATEFUL_TRIES_MAX, TRIES_MAX, remove_unneeded, shrink
from kmirror.fuzz.stream import BLOCK_FRAMES, Frame, Source
from kmirror.fuzz.target import TAKEN, Target

CORPUS_MAX = 4_096
"""Maximum size of the seed corpus: frames with a new outcome that feedback breaks further."""
# Findings of these kinds need a valid frame, and a smaller frame may not be valid.
_NEEDS_VALID_FRAME = (FaultKind.REFUSED, FaultKind.CHANGED)


@dataclass
class Tally:
    """Counts and findings of a campaign so far."""

    frames: int = 0
    taken: int = 0
    seconds: float = 0.0
    findings: dict[str, Finding] = field(default_factory=dict)
    """The first finding of each cause."""
    counts: dict[str, int] = field(default_factory=dict)
    """Number of times that each cause was found."""
    messages: dict[str, set[str]] = field(default_factory=dict)
    """The names of the messages in which each cause was found."""
    versions: dict[str, set[int]] = field(default_factory=dict)
    """The versions of those messages."""
    outcomes: set[tuple[str, int, str]] = field(default_factory=set)
    """(message name, version, outcome): the feedback keeps frames that add one."""

    @property
    def per_second(self) -> float:
        """Return the frames per second of wall-clock time."""
        return self.frames / self.seconds if self.seconds else 0.0


@dataclass
class Campaign:
    """Puts frames to a target.

    With `feedback`, frames with a new outcome (message, version, outcome) are broken further: each block of the stream
    is followed by a block made of them. `on_finding` is called with the first finding of each cause, already shrunk.
    """

    target: Target
    source: Source
    feedback: bool = False
    shrinks: bool = True
    on_finding: Callable[[Finding], None] | None = None
    tally: Tally = field(default_factory=Tally)
    _corpus: list[Frame] = field(default_factory=list)
    _until: float = math.inf
    """Deadline of the current run, by the monotonic clock."""

    def run(self, *, frames: int | None = None, seconds: float | None = None, first_block: int = 0) -> Iterator[Tally]:
        """Run until `frames` frames were tried, or for `seconds` seconds; yield the tally after each block.

        Shrinking a finding counts as part of these seconds. Without either limit it never ends.
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
                if self.feedback and self._corpus:
                    self._mutate_corpus(block, frames)
            block += 1
            tally.seconds = time.monotonic() - began
            yield tally
            if tally.frames == frames or time.monotonic() >= self._until:
                return

    def _mutate_corpus(self, block: int, frames: int | None) -> None:
        random = Random(f"{self.source.seed}/{block}/further").random
        for _ in range(BLOCK_FRAMES):
            if self.tally.frames == frames or time.monotonic() >= self._until:
                return
            self.put(self.source.mutate_again(self._corpus[int(random() * len(self._corpus))], random))

    def put(self, frame: Frame) -> None:
        """Put one frame to the target, and count the outcome."""
        tally = self.tally
        tally.frames += 1
        try:
            outcome = self.target.judge(frame)
        except Exception as error:
            fault = error if isinstance(error, Fault) else fault_of_exception(error)
            for each in (fault, *fault.others):
                self._add_fault(frame, each)
            outcome = fault.cause
        if outcome.startswith(TAKEN):
            tally.taken += 1
        key = (frame.name, frame.version, outcome)
        if key not in tally.outcomes:
            tally.outcomes.add(key)
            if self.feedback and len(self._corpus) < CORPUS_MAX:
                self._corpus.append(frame)

    def _add_fault(self, frame: Frame, fault: Fault) -> None:
        tally = self.tally
        cause = f"{fault.kind.value} {fault.cause}"
        tally.counts[cause] = tally.counts.get(cause, 0) + 1
        tally.messages.setdefault(cause, set()).add(frame.name)
        tally.versions.setdefault(cause, set()).add(frame.version)
        if cause in tally.findings:
            return
        finding = Finding(
            self.target.name, fault.kind, fault.cause, fault.description, fault.expected, frame.name, frame.version,
            self.source.seed, frame.number, fault.story or tuple(frame.story), frame.data, tuple(self.target.before),
        )  # fmt: skip
        if self.shrinks:
            finding = self._shrink(finding, frame, fault)
        tally.findings[cause] = finding
        if self.on_finding is not None:
            self.on_finding(finding)

    def _shrink(self, finding: Finding, frame: Frame, fault: Fault) -> Finding:
        """Return the finding with its frame, and the frames before it, reduced as far as possible."""

        smallest = fault

        def reproduces(data: bytes, before: Sequence[bytes]) -> bool:
            nonlocal smallest
            found = put(self.target, frame._replace(data=data), before, until=self._until)
            for each in () if found is None else (found, *found.others):
                if (each.kind, each.cause) == (fault.kind, fault.cause):
                    smallest = each
                    return True
            return False

        before = remove_unneeded(finding.before, lambda subset: reproduces(frame.data, subset), until=self._until)
        data = frame.data
        if fault.kind not in _NEEDS_VALID_FRAME:
            tries = STATEFUL_TRIES_MAX if finding.before else TRIES_MAX
            data = shrink(data, lambda candidate: reproduces(candidate, before), tries, until=self._until)
        if finding.before:
            self.target.reset()
        return finding.shrunk(data, before, smallest)


def put(target: Target, frame: Frame, before: Sequence[bytes], *, until: float = math.inf) -> Fault | None:
    """Put a frame to a target after `reset` and the frames in `before`; return its fault, or None.

    Also None if the frames in `before` take longer than `until`.
    """
    target.reset()
    for data in before:
        if time.monotonic() >= until:
            return None
        with suppress(Exception):
            target.judge(frame._replace(data=data, steps=("one before",), is_canonical=False))
    try:
        target.judge(frame)
    except Exception as error:
        return error if isinstance(error, Fault) else fault_of_exception(error)
    return None
