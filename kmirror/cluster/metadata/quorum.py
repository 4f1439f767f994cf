"""What does a controller need of the quorum that keeps the metadata log? To propose records that are committed later.

A proposed record is in the log and the image of the controller that leads before it is committed; a quorum of several
nodes may still lose it. So answers that depend on it leave once its offset is committed, and until then it can be
taken back.
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
    """The controller that leads the quorum, and the leader epoch of the metadata log in which it does."""

    leader_id: int
    epoch: int


class Listener(Protocol):
    """The controller that stands on a quorum."""

    def on_leading(self, now: Instant, batches: Iterable[ReplayedBatch], bootstrap: Sequence[Message]) -> None:
        """Replay the batches of the log, and lead; an empty log begins with the records in `bootstrap`, if any."""

    def on_committed(self, now: Instant) -> None:
        """Release the answers that waited for the records that are committed now."""

    def give_up(self, why: str) -> None:
        """End: the quorum cannot go on."""

    def on_closed(self) -> None:
        """End: the quorum was stopped, and its log is closed."""


class Quorum(Protocol):
    """The controllers of a cluster, as one of them sees them (Kafka's RaftClient)."""

    @property
    def leader(self) -> LeaderAndEpoch:
        """Return who leads."""

    @property
    def log(self) -> MetadataLog | None:
        """Return the log of this node, with its snapshots, for the brokers that follow it; None until it was opened."""

    @property
    def end_offset(self) -> int:
        """Return the offset that the next record will get; 0 until the log was opened."""

    @property
    def committed_end(self) -> int:
        """Return the offset below which every record is committed: none can be lost, and brokers may have them."""

    def propose(self, now: Instant, records: Sequence[Message], *, atomic: bool) -> int:
        """Append records, which will be committed later, and return the offset of the last one.

        With `atomic` a crash leaves all of them or none: TooManyRecords, before anything is appended, if no batch can
        hold them. Raises OSError where the disk refuses.
        """

    def take_back(self, end_offset: int) -> Iterable[ReplayedBatch]:
        """Cut off the records from `end_offset` on, none of them committed; return the batches that are left."""

    def start(self, now: Instant) -> None:
        """Open the log, and lead as soon as that is possible."""

    def follow_up(self) -> None:
        """Order the disk work for an event, once nothing else follows from it."""

    def on_disk_done(self, now: Instant, done: DiskDone) -> None:
        """Take over that a job for the disk has ended."""

    def on_timer(self, now: Instant, key: TimerKey) -> None:
        """Do the work that is due."""

    def stop(self) -> None:
        """Begin nothing new: commit the proposed records, and close the log."""
