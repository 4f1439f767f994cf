"""Quorum: the interface through which a controller appends to the metadata log.

A proposed record is in the log and in the image of the leading controller before it is committed; a quorum of several
nodes may still lose it. Responses that depend on it are therefore held until its offset is committed, and until then it
can be removed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from kmirror.cluster.metadata.log import MetadataLog
from kmirror.cluster.metadata.replay import ReplayedBatch
from kmirror.kernel.clock import Instant
from kmirror.kernel.events import DiskDone, TimerKey
from kmirror.protocol.message import Message


class LeaderAndEpoch(NamedTuple):
    """The controller that leads the quorum, and its leader epoch in the metadata log."""

    leader_id: int
    epoch: int


class Listener(Protocol):
    """The controller that uses a quorum."""

    def on_leading(self, now: Instant, batches: Iterable[ReplayedBatch], bootstrap: Sequence[Message]) -> None:
        """Replay the batches of the log, and lead; an empty log begins with the records in `bootstrap`, if any."""

    def on_committed(self, now: Instant) -> None:
        """Release the responses that waited for the records that are now committed."""

    def give_up(self, reason: str) -> None:
        """Stop: the quorum cannot continue."""

    def on_closed(self) -> None:
        """Stop: the quorum was stopped, and its log is closed."""


class Quorum(Protocol):
    """The controllers of a cluster, from the view of one of them (Kafka's RaftClient)."""

    @property
    def leader(self) -> LeaderAndEpoch:
        """The current leader."""

    @property
    def log(self) -> MetadataLog | None:
        """The log of this node with its snapshots, which brokers follow; None until it is open."""

    @property
    def end_offset(self) -> int:
        """The offset of the next record; 0 until the log is open."""

    @property
    def committed_end(self) -> int:
        """The offset below which every record is committed: it cannot be lost, and brokers may fetch it."""

    def propose(self, now: Instant, records: Sequence[Message], *, atomic: bool) -> int:
        """Append records, which will be committed later; return the offset of the last one.

        With `atomic` a crash leaves all of them or none; raises TooManyRecords before anything is appended if they do
        not fit into one batch. Raises OSError if the disk fails.
        """

    def remove_uncommitted(self, end_offset: int) -> Iterable[ReplayedBatch]:
        """Remove the uncommitted records from `end_offset` on; return the remaining batches."""

    def start(self, now: Instant) -> None:
        """Open the log, and lead as soon as possible."""

    def follow_up(self) -> None:
        """Order the disk work of an event, after the event is handled."""

    def on_disk_done(self, now: Instant, done: DiskDone) -> None:
        """Handle the end of a disk job."""

    def on_timer(self, now: Instant, key: TimerKey) -> None:
        """Handle a timer."""

    def stop(self) -> None:
        """Start nothing new: commit the proposed records, and close the log."""
