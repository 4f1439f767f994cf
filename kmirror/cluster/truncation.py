"""Where to cut a log that diverged from its leader's: functions of two epoch histories (KIP-101, KIP-595).

The leader answers a fetch that names an epoch it ends differently with (epoch, end_offset): the
largest epoch it knows that is not above the one asked for, and where it ends there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class EpochHistory(Protocol):
    """What the choice of a cut needs to know of the local log."""

    @property
    def log_end_offset(self) -> int: ...

    def end_offset_for_epoch(self, epoch: int) -> tuple[int, int]: ...


@dataclass(frozen=True, slots=True)
class Cut:
    offset: int
    final: bool
    """False if the leader must be asked again about an older epoch."""


def cut_for_divergence(local: EpochHistory, leader_epoch: int, leader_end_offset: int) -> Cut:
    """Return where to cut after the leader said that `leader_epoch` ends at `leader_end_offset`.

    Never above the local end. If the local log does not have the leader's epoch, the cut goes to
    the end of the largest local epoch below it, and the next fetch asks about that one (AbstractFetcherThread).
    """
    end = local.log_end_offset
    if leader_epoch < 0:
        return Cut(min(leader_end_offset, end), final=True)
    local_epoch, local_end = local.end_offset_for_epoch(leader_epoch)
    if local_epoch == -1:
        return Cut(min(leader_end_offset, end), final=True)
    if local_epoch != leader_epoch:
        return Cut(min(local_end, end), final=False)
    return Cut(min(local_end, leader_end_offset, end), final=True)
