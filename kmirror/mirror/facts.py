"""Facts that leaders of mirrored partitions attach to lines of the trace."""

from __future__ import annotations

from dataclasses import dataclass

from kmirror.kernel.ids import TopicPartition
from kmirror.mirror.states import MirrorState


@dataclass(frozen=True, slots=True)
class LogCut:
    """A leader cut a mirrored log: [offset, end) was removed."""

    tp: TopicPartition
    offset: int
    end: int
    why: str
    segments: int = 1
    """Number of segments that held the removed range."""


@dataclass(frozen=True, slots=True)
class StateEntered:
    """A leader entered a state, by writing it or by reading it after its election."""

    tp: TopicPartition
    mirror: str
    state: MirrorState
    last_mirrored_epoch: int


@dataclass(frozen=True, slots=True)
class ProducersReset:
    """A leader wrote a MIRROR_PID_RESET at the end of a stop: all producer state before it is dropped."""

    tp: TopicPartition
    offset: int
    leader_epoch: int


@dataclass(frozen=True, slots=True)
class ReasonChanged:
    """The reason for which a leader waits in its present state changed; empty if it no longer waits (D38)."""

    tp: TopicPartition
    mirror: str
    state: MirrorState
    reason: str


@dataclass(frozen=True, slots=True)
class SourceTrouble:
    """A broker cannot reach the source of a mirror, or can again if the reason is empty."""

    mirror: str
    reason: str


@dataclass(frozen=True, slots=True)
class UncleanSource:
    """The source allows unclean elections of topics that do not support them here; noted in each cycle (D67)."""

    mirror: str
    topics: tuple[str, ...]
