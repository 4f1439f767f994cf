"""What is wrong, in one line that can be run again: findings, and the files that keep them."""

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


class Kind(Enum):
    """What may be wrong; the value is its name in files and tables."""

    RAISED = "raised"  # Something that is no typed error of the target.
    REFUSED = "refused"  # A valid frame was.
    TAKEN = "taken"  # A frame that no reader may take was.
    CHANGED = "changed"  # What was taken is written back as something else.
    MEMORY = "memory"  # More than four times the input.
    SLOW = "slow"  # A step that took longer than the bound.
    SILENT = "silent"  # Neither an answer nor a closed link.
    STATE = "state"  # A refused request left something behind, or one that was done has no effect.
    DEAD = "dead"  # The target no longer answers its probe, or ended.
    DIFFERS = "differs"  # Two that should agree do not.


class Fault(Exception):
    """A target did what it may not do: which kind, in words, and the cause under which findings are counted as one.

    It is no `KmirrorError`: those are what a target raises where it is right. `others` are what else is wrong with the
    same frame.
    """

    def __init__(self, kind: Kind, told: str, cause: str, expected: str = "", story: Sequence[str] = ()) -> None:
        self.kind = kind
        self.told = told
        self.cause = cause
        self.expected = expected
        self.story = tuple(story)
        """What the target was given in the frame, if that says more than what was done to the frame."""
        self.others: tuple[Fault, ...] = ()
        super().__init__(f"{kind.value}: {told}")


def raised(error: BaseException) -> Fault:
    """Return the fault of something that was raised and is no typed error; the cause is the line that raised it."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{last.filename.rpartition('/')[2]}:{last.name}"
    return Fault(
        Kind.RAISED,
        f"{type(error).__name__}: {error} in {where}",
        f"{type(error).__name__} in {where}",
        "a typed error",
    )


@dataclass(frozen=True)
class Finding:
    """A frame, what the target did with it, and how to see it again."""

    target: str
    kind: Kind
    cause: str
    told: str
    expected: str
    message: str
    """The name of the message, as in FetchRequest, or of what else the frame is."""
    version: int
    seed: int
    number: int
    """Of the frame in the stream of the seed."""
    story: tuple[str, ...]
    """What was done to a valid frame, a line each."""
    frame: bytes
    before: tuple[bytes, ...] = ()
    """Frames that have to be given to the target first, in this order."""

    @property
    def line(self) -> str:
        """Return the finding in one line."""
        return f"{self.kind.value}: {self.message} v{self.version}: {self.told}"

    @property
    def file_name(self) -> str:
        """Return the name of its file: the same for the same cause in the same message."""
        mark = hashlib.sha256(f"{self.target}/{self.cause}".encode()).hexdigest()[:8]
        message = self.message.replace("/", "-")  # What is not a message may be a file of a partition's folder.
        return f"{self.kind.value}-{message}-v{self.version}-{mark}.json"

    def shrunk(self, frame: bytes, before: Sequence[bytes], fault: Fault) -> Finding:
        """Return it with a smaller frame, and fewer before it, that show the same, as `fault` tells it."""
        return replace(self, frame=frame, before=tuple(before), told=fault.told, story=fault.story or self.story)


def to_json(finding: Finding) -> dict[str, Any]:
    """Return the finding as it stands in a file; the frame is hex."""
    return {
        "kmirror_fuzz": FORMAT,
        "target": finding.target,
        "kind": finding.kind.value,
        "cause": finding.cause,
        "told": finding.told,
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
    """Return the finding of a file; raises `UsageError` if it is none."""
    try:
        if raw["kmirror_fuzz"] != FORMAT:
            raise UsageError(f"a finding of format {raw['kmirror_fuzz']}: only {FORMAT} is known here")
        return Finding(
            str(raw["target"]), Kind(raw["kind"]), str(raw["cause"]), str(raw["told"]), str(raw["expected"]),
            str(raw["message"]), int(raw["version"]), int(raw["seed"]), int(raw["number"]),
            tuple(map(str, raw["story"])), bytes.fromhex(raw["frame"]),
            tuple(map(bytes.fromhex, raw["before"])),
        )  # fmt: skip
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"no finding of kmirror fuzz: {error!r}") from None


def keep(finding: Finding, folder: Path) -> Path:
    """Write the finding into the folder, unless there is one of the same cause; return its path.

    A file is whole or not there: it is written under another name first.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / finding.file_name
    if not path.exists():
        made = path.with_suffix(".tmp")
        made.write_text(json.dumps(to_json(finding), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        made.replace(path)
    return path


def load(path: Path) -> Finding:
    """Return the finding that a file holds; raises `UsageError` if it holds none."""
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"{path}: no JSON: {error}") from None
    try:
        return from_json(raw)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None
