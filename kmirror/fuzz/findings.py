"""Findings, each reported in one line that can be run again, and the files that keep them."""

from __future__ import annotations

import hashlib
import json
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any

from kmirror.errors import UsageError

FORMAT = 1


class FaultKind(Enum):
    """Kind of a fault; the value is its name in files and tables."""

    RAISED = "raised"  # An exception that is no typed error of the target.
    REFUSED = "refused"  # A valid frame was refused.
    TAKEN = "taken"  # A frame that no reader may accept was accepted.
    CHANGED = "changed"  # An accepted frame is written back differently.
    MEMORY = "memory"  # More than four times the size of the input.
    SLOW = "slow"  # A step that took longer than the bound.
    SILENT = "silent"  # Neither a response nor a closed link.
    STATE = "state"  # A refused request had an effect, or an accepted one had none.
    DEAD = "dead"  # The target does not answer its probe any more, or has ended.
    DIFFERS = "differs"  # Two readers or brokers that should agree do not.


class Fault(Exception):
    """A forbidden reaction of a target: its kind, a description, and the cause by which findings are grouped.

    Not a `KmirrorError`: a target raises those where it is right. `others` are further faults of the same frame.
    """

    def __init__(
        self, kind: FaultKind, description: str, cause: str, expected: str = "", story: Sequence[str] = ()
    ) -> None:
        self.kind = kind
        self.description = description
        self.cause = cause
        self.expected = expected
        self.story = tuple(story)
        """Contents of the frame, a line each, where they say more than the mutations."""
        self.others: tuple[Fault, ...] = ()
        super().__init__(f"{kind.value}: {description}")


def fault_of_exception(error: BaseException) -> Fault:
    """Return the fault of an exception that is no typed error; its cause is the function that raised it."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    location = f"{last.filename.rpartition('/')[2]}:{last.name}"
    return Fault(
        FaultKind.RAISED,
        f"{type(error).__name__}: {error} in {location}",
        f"{type(error).__name__} in {location}",
        "a typed error",
    )


@dataclass(frozen=True)
class Finding:
    """A frame, the reaction of the target, and all that is needed to reproduce it."""

    target: str
    kind: FaultKind
    cause: str
    description: str
    expected: str
    message: str
    """Name of the message, as in FetchRequest, or of another kind of frame."""
    version: int
    seed: int
    number: int
    """Number of the frame in the stream of the seed."""
    story: tuple[str, ...]
    """Mutations of the valid frame, a line each."""
    frame: bytes
    before: tuple[bytes, ...] = ()
    """Frames that must be put to the target first, in this order."""

    @property
    def line(self) -> str:
        """Return the finding in one line."""
        return f"{self.kind.value}: {self.message} v{self.version}: {self.description}"

    @property
    def file_name(self) -> str:
        """Return the name of its file: the same for the same cause in the same message and version."""
        digest = hashlib.sha256(f"{self.target}/{self.cause}".encode()).hexdigest()[:8]
        message = self.message.replace("/", "-")  # The name may be a path in a partition's folder.
        return f"{self.kind.value}-{message}-v{self.version}-{digest}.json"

    def shrunk(self, frame: bytes, before: Sequence[bytes], fault: Fault) -> Finding:
        """Return it with a smaller frame and fewer frames before it, and with the description of `fault`."""
        return replace(
            self, frame=frame, before=tuple(before), description=fault.description, story=fault.story or self.story
        )


def to_json(finding: Finding) -> dict[str, Any]:
    """Return the finding as JSON values; frames are hex."""
    return {
        "kmirror_fuzz": FORMAT,
        "target": finding.target,
        "kind": finding.kind.value,
        "cause": finding.cause,
        "told": finding.description,
        "expected": finding.expected,
        "message": finding.message,
        "version": finding.version,
        "seed": finding.seed,
        "number": finding.number,
        "story": list(finding.story),
        "frame": finding.frame.hex(),
        "before": [frame.hex() for frame in finding.before],
    }


def from_json(raw: Any) -> Finding:
    """Return the finding in a file; raises `UsageError` if it is none."""
    try:
        if raw["kmirror_fuzz"] != FORMAT:
            raise UsageError(f"unsupported finding format {raw['kmirror_fuzz']}, expected {FORMAT}")
        return Finding(
            str(raw["target"]), FaultKind(raw["kind"]), str(raw["cause"]), str(raw["told"]), str(raw["expected"]),
            str(raw["message"]), int(raw["version"]), int(raw["seed"]), int(raw["number"]),
            tuple(map(str, raw["story"])), bytes.fromhex(raw["frame"]),
            tuple(map(bytes.fromhex, raw["before"])),
        )  # fmt: skip
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"not a finding of kmirror fuzz: {error!r}") from None


def keep(finding: Finding, folder: Path) -> Path:
    """Write the finding into the folder, unless a file for the same cause exists; return its path.

    The file is written under a temporary name first, so it is never incomplete.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / finding.file_name
    if not path.exists():
        temporary = path.with_suffix(".tmp")
        temporary.write_text(json.dumps(to_json(finding), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        temporary.replace(path)
    return path


def load(path: Path) -> Finding:
    """Return the finding in a file; raises `UsageError` if there is none."""
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"{path}: not JSON: {error}") from None
    try:
        return from_json(raw)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None
