"""Replay of a finding."""

from __future__ import annotations

from contextlib import closing

from kmirror.fuzz.campaign import put
from kmirror.fuzz.findings import Fault, Finding
from kmirror.fuzz.stream import Frame
from kmirror.fuzz.targets.rows import TargetOptions, open_target
from kmirror.protocol.gen.registry import MODULES
from kmirror.protocol.registry import by_name


def replay(finding: Finding, options: TargetOptions | None = None) -> Fault | None:
    """Put the frame of a finding to its target again; return the fault, or None.

    `options` are those of the target, such as the address of a broker.
    """
    target, _ = open_target(finding.target, options or TargetOptions(seed=finding.seed))
    message = by_name(finding.message) if finding.message in MODULES else None
    is_canonical = not finding.story
    frame = Frame(finding.number, finding.message, finding.version, finding.frame, finding.story, is_canonical, message)
    with closing(target):
        return put(target, frame, finding.before)
