"""Broken frames that every reader must refuse: some mutations leave nothing valid.

This is decided without a reader. Nothing else finds a fault that all our readers share through a common function.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from kmirror.fuzz.mutations import Step
from kmirror.fuzz.spots import SpotKind
from kmirror.fuzz.stream import Frame
from kmirror.protocol.careful import is_within

_NULLS = frozenset(
    {SpotKind.SHORT_LENGTH, SpotKind.LENGTH, SpotKind.COMPACT_LENGTH, SpotKind.COUNT, SpotKind.COMPACT_COUNT}
)
_LENGTHS = frozenset({SpotKind.SHORT_LENGTH, SpotKind.LENGTH, SpotKind.COMPACT_LENGTH})
_LONGEST_VARINT = 5
_LONGEST_FRAME = 32_000
"""Largest frame for which the number of bytes left still fits an int16."""
_CUTS = frozenset({"cut before", "cut inside"})
_CLAIMS = frozenset({"the greatest", "very long tag", "very many tags", "much more than is left"})


def must_be_refused(frame: Frame) -> bool:
    """Return whether the mutation of a valid message leaves nothing that a reader of its schema may accept.

    False means unknown: most broken messages mean something else, and some mean the same.
    """
    if len(frame.steps) != 1:
        return False
    (step,) = frame.steps
    return isinstance(step, Step) and _is_invalid(step, frame)


def claims_too_much(frame: Frame) -> bool:
    """Return whether some length or count in the frame claims much more than the frame holds."""
    return any(isinstance(step, Step) and step.mutation.name in _CLAIMS for step in frame.steps)


def _is_invalid(step: Step, frame: Frame) -> bool:
    kind, start, end, field = step.spot
    name = step.mutation.name
    if name in _CUTS:
        return start < end
    if name == "varint without end":
        return True
    if name == "varint made longer":
        return end - start + int(str(step.detail)) > _LONGEST_VARINT
    if name == "one more than is left":
        return kind in _LENGTHS and len(frame.data) < _LONGEST_FRAME
    if name == "null" and kind in _NULLS and field is not None:
        return not is_within(frame.version, field.nullable)
    return False


REASONS: Mapping[str, str] = MappingProxyType(
    {
        "cut before": "the message is cut",
        "cut inside": "the message is cut",
        "varint without end": "the bytes end within a varint",
        "varint made longer": "a varint has more than five bytes",
        "one more than is left": "a length is greater than the number of bytes left",
        "null": "null where none may be",
    }
)
"""Reason why such a frame is invalid, by mutation name."""
