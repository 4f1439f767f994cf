"""What can be plugged into a broker or controller: routes, timers and hooks, all optional.

The cluster does not know who plugs in. A component sees metadata changes after they are applied,
may refuse produce requests, may say that a partition's log carries somebody else's leader epochs,
and is told when replication of a partition moved.
"""

from __future__ import annotations

from kmirror.cluster.images import Delta
from kmirror.cluster.replication.partition import Partition
from kmirror.cluster.server import Routes
from kmirror.kernel.clock import Instant
from kmirror.kernel.events import TimerKey
from kmirror.kernel.ids import TopicPartition
from kmirror.spec.error_codes import ErrorCode


class BrokerComponent:
    """A part of a broker that the cluster package does not know by name; override what is needed."""

    name = ""
    """First element of the keys of this component's timers."""

    def routes(self) -> Routes:
        return {}

    def before_metadata(self, now: Instant, delta: Delta) -> None:
        """The image moved on by `delta`; leaderships are not yet in effect."""

    def on_metadata(self, now: Instant, delta: Delta) -> None:
        """The broker's image moved on by `delta`; leaderships are already in effect."""

    def on_leadership(self, now: Instant, tp: TopicPartition, *, leads: bool) -> None:
        """This broker began to lead `tp` in a new leader epoch, or ceased to lead it."""

    def on_timer(self, now: Instant, key: TimerKey) -> None: ...

    def on_progress(self, now: Instant, tp: TopicPartition) -> None:
        """A led partition moved: a follower fetched, the ISR or the high watermark changed."""

    def produce_error(self, tp: TopicPartition) -> ErrorCode | None:
        """Return why a client may not write to `tp` now, or None."""
        return None

    def marker_error(self, tp: TopicPartition) -> ErrorCode | None:
        """Return why a transaction coordinator may not end a transaction in `tp` now, or None."""
        return self.produce_error(tp)

    def foreign_epochs(self, partition: Partition) -> bool:
        """Does the log of `partition` carry leader epochs that this cluster did not assign (D13, D14)?"""
        return False

    def withholds(self, partition: Partition) -> bool:
        """Is it not known yet whether this leader may serve what its log holds (D30)?"""
        return False

    def on_cut_confirmed(self, now: Instant, tp: TopicPartition) -> None:
        """A follower of a led partition that was told to cut its log has done so."""

    def coordinator_for(self, key_type: int, key: str) -> TopicPartition | None:
        """Return the partition whose leader coordinates `key`, if `key_type` is this component's."""
        return None
