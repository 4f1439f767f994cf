"""The fetcher's half of an incremental fetch session (KIP-227), as Kafka's FetchSessionHandler.

The fetcher calls `set_fetch` for each partition whose fetch may have changed, and for no other. So the cost of a fetch
depends on the changes since the one before; only the first one of a session names everything.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, FetchTopic, ForgottenTopic
from kmirror.protocol.gen.fetch_response import FetchResponse

FULL = 0
FETCH_WITH_DIVERGENCE = 12
"""First version with LastFetchedEpoch in the request and DivergingEpoch in the response (KIP-595)."""
NO_HIGH_WATERMARK = 0x7FFFFFFFFFFFFFFF
"""A consumer sends no high watermark."""


class PartitionFetch(NamedTuple):
    """The fetch of one partition; the fields are those of a fetch request."""

    topic_id: Uuid
    """Zeros if the leader has no topic ids."""
    current_leader_epoch: int
    fetch_offset: int
    last_fetched_epoch: int
    partition_max_bytes: int
    log_start_offset: int = -1
    high_watermark: int = NO_HIGH_WATERMARK
    mirror_leader_epoch: int = -1

    @property
    def max_epoch(self) -> int:
        """The last leader epoch of batches that a response may contain."""
        return self.mirror_leader_epoch if self.mirror_leader_epoch >= 0 else self.current_leader_epoch

    def row(self, partition: int) -> FetchPartition:
        """Return the row of partition number `partition` in a request."""
        return FetchPartition(
            partition=partition,
            current_leader_epoch=self.current_leader_epoch,
            fetch_offset=self.fetch_offset,
            last_fetched_epoch=self.last_fetched_epoch,
            log_start_offset=self.log_start_offset,
            partition_max_bytes=self.partition_max_bytes,
            high_watermark=self.high_watermark,
            mirror_leader_epoch=self.mirror_leader_epoch,
        )


class FetchSession:
    """Puts only changed partitions into a request; after an error a new session begins."""

    def __init__(self) -> None:
        self.id = 0
        """The session's id at the leader, 0 if there is none."""
        self.epoch = FULL
        """The session epoch of the next request."""
        self._fetches: dict[TopicPartition, PartitionFetch] = {}
        self._last_sent: dict[TopicPartition, PartitionFetch | None] = {}
        """The last fetch that the leader knows of each partition that changed since; None if it does not know the
        partition."""
        self._names: dict[Uuid, str] = {}
        self._counts: dict[Uuid, int] = {}
        """Number of wanted partitions of a topic."""

    @property
    def is_new(self) -> bool:
        """Whether the next request begins a session, and names everything."""
        return self.epoch == FULL

    @property
    def is_idle(self) -> bool:
        """Whether no partition is wanted, and the leader has none to forget either."""
        return not self._fetches and (self.is_new or not any(self._last_sent.values()))

    @property
    def has_no_changes(self) -> bool:
        """Whether the leader knows all changes, so that the next request names no partition."""
        return self.epoch != FULL and not self._last_sent

    def partitions(self) -> list[TopicPartition]:
        """Return the partitions that this session fetches."""
        return list(self._fetches)

    def changed(self) -> list[TopicPartition]:
        """Return the partitions whose fetch may differ from the one that the leader knows."""
        return list(self._last_sent)

    @property
    def names_topics(self) -> bool:
        """Whether a wanted topic has no id, so that requests must use topic names."""
        return Uuid.ZERO in self._counts

    def fetch_of(self, tp: TopicPartition) -> PartitionFetch | None:
        """Return the fetch of `tp`, or None if it is left out."""
        return self._fetches.get(tp)

    def topic_name(self, topic_id: Uuid) -> str:
        """Return the name of a wanted topic; empty if there is none with this id, or no id."""
        return "" if topic_id == Uuid.ZERO else self._names.get(topic_id, "")

    def set_fetch(self, tp: TopicPartition, fetch: PartitionFetch | None) -> None:
        """Set the fetch of `tp`; None leaves it out."""
        previous = self._fetches.get(tp)
        if previous == fetch:
            return
        self._last_sent.setdefault(tp, previous)
        if previous is not None:
            self._release(previous.topic_id)
            if fetch is not None and fetch.topic_id != previous.topic_id:
                # With topic names, one request would both forget and name the partition, and it would stay forgotten.
                self.reset()
        if fetch is None:
            del self._fetches[tp]
        else:
            self._fetches[tp] = fetch
            self._names[fetch.topic_id] = tp.topic
            self._counts[fetch.topic_id] = self._counts.get(fetch.topic_id, 0) + 1

    def _release(self, topic_id: Uuid) -> None:
        left = self._counts[topic_id] - 1
        if left:
            self._counts[topic_id] = left
        else:
            del self._counts[topic_id], self._names[topic_id]

    def fill(
        self, request: FetchRequest, partitions: Iterable[TopicPartition], forgotten: Iterable[TopicPartition]
    ) -> None:
        """Put the changes for the leader into `request`.

        In a new session these are the fetches of all `partitions`, which must be complete. Otherwise they are the
        fetches that changed since the last request, and the `forgotten` partitions that are no longer wanted. Both
        arguments must include all of `changed`, and give the order in which partitions are named.
        """
        request.session_id, request.session_epoch = self.id, self.epoch
        if self.epoch != FULL:
            request.forgotten_topics_data = [
                ForgottenTopic(topic=tp.topic, topic_id=last.topic_id, partitions=[tp.partition])
                for tp in forgotten
                if (last := self._last_sent.get(tp)) is not None and tp not in self._fetches
            ]
        topics: dict[tuple[str, Uuid], FetchTopic] = {}
        for tp in partitions:
            fetch = self._fetches.get(tp)
            if fetch is None or (self.epoch != FULL and self._last_sent.get(tp, fetch) == fetch):
                continue
            key = tp.topic, fetch.topic_id
            topic = topics.get(key)
            if topic is None:
                topic = topics[key] = FetchTopic(topic=tp.topic, topic_id=fetch.topic_id)
            topic.partitions.append(fetch.row(tp.partition))
        request.topics = list(topics.values())
        self._last_sent.clear()

    def accept(self, reply: FetchResponse) -> None:
        """Accept a response without an error: go to the next epoch, or start over if the leader keeps no session."""
        if not reply.session_id:
            self.id = 0
            self.reset()
            return
        self.advance_epoch(reply.session_id)

    def advance_epoch(self, session_id: int) -> None:
        """Go to the next epoch, after a response in the session `session_id`."""
        self.id = session_id
        self.epoch = self.epoch % 0x7FFFFFFF + 1

    def reset(self) -> None:
        """Start over: the next request names all partitions, and closes the session that the leader may still have."""
        self.epoch = FULL
