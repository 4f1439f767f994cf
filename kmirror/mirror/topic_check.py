"""Is it our topic that a broker of the source spoke of by its name (D65)?

Before Kafka 3.1 a fetch names its topic, as DescribeMirrors, ListOffsets and OffsetsForLeaderEpoch do in every release.
A topic that was deleted and created again answers as the former one would. The broker that has answered knows whose log
that was: if it has, when it is asked with Metadata afterwards, the id that we know, then the topic was the same in
between, for no id comes back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from kmirror.client.fetch_loop import OFFSETS, Fetcher, FetchLoop
from kmirror.kernel.clock import Instant
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.context import MirrorContext
from kmirror.mirror.inquiry import Inquiry
from kmirror.mirror.partition import MirrorPartition
from kmirror.mirror.source_answers import ids_in, metadata_request
from kmirror.mirror.states import MirrorState
from kmirror.protocol.gen.fetch_request import FetchRequest
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode

FETCH_BY_ID = 13
"""First version of Fetch that names topics by their ids (KIP-516)."""
NOT_CONFIRMED = "the source's leader does not confirm that its topic is still the one of this id"

Then = Callable[[Instant], None]


class _Asked(NamedTuple):
    """An answer about one partition that waits until its topic is confirmed; all but `then` must still be true."""

    mp: MirrorPartition
    rank: int
    topic_id: Uuid
    source_epoch: int
    log_end: int
    then: Then


class TopicCheck:
    """Has the brokers that are fetched from confirm the topics of their answers, those of one event in one request."""

    def __init__(self, context: MirrorContext, loop: FetchLoop[MirrorPartition]) -> None:
        self._context = context
        self._loop = loop
        self._due: list[tuple[Fetcher[MirrorPartition], list[_Asked]]] = []
        """To be asked when the present event ends."""

    def names_topics(self, fetcher: Fetcher[MirrorPartition]) -> bool:
        """Return whether fetches name topics by their names, or may have done so."""
        source = self._context.sources.get(str(fetcher.key[0]))
        version = None if source is None else source.version(fetcher.endpoint, FetchRequest)
        return version is None or version < FETCH_BY_ID

    def confirm(self, fetcher: Fetcher[MirrorPartition], mp: MirrorPartition, log_end: int, then: Then) -> None:
        """Do `then` once the broker that is fetched from has confirmed the topic.

        No fetch is sent before. Without an answer, or if the topic is another one, `then` is not done, and the source's
        metadata is refreshed, which has the partition fail (D16).
        """
        row = _Asked(mp, mp.rank, mp.source_topic_id, mp.source_epoch, log_end, then)
        for known, rows in self._due:
            if known is fetcher:
                rows.append(row)
                return
        self._due.append((fetcher, [row]))
        fetcher.held += 1  # Where the next fetch begins depends on what becomes of the answer.
        self._context.broker.at_end(self._send_due)

    def _send_due(self, now: Instant) -> None:
        due, self._due = self._due, []
        for fetcher, rows in due:
            self._send(now, fetcher, rows)

    def _send(self, now: Instant, fetcher: Fetcher[MirrorPartition], asked: list[_Asked]) -> None:
        def on_reply(later: Instant, reply: Message | None) -> None:
            fetcher.held -= 1
            ids = ids_in(reply)
            for each in asked:
                found = self._loop.find(each.mp.tp)
                if found is not None and found[0] is fetcher and found[1] is each.mp:
                    self._on_told(later, fetcher, each, ids)
            self._loop.on_timer(later, fetcher.key)

        source = self._context.sources.get(str(fetcher.key[0]))
        if source is None:  # The mirror is gone, and its partitions are forgotten.
            on_reply(now, None)
            return
        request = metadata_request(each.mp.tp.topic for each in asked)
        source.send(now, fetcher.endpoint, OFFSETS, request, on_reply)

    def _on_told(
        self, now: Instant, fetcher: Fetcher[MirrorPartition], asked: _Asked, ids: Mapping[str, Uuid] | None
    ) -> None:
        mp, partition = asked.mp, self._context.replicas.partitions.led(asked.mp.tp)
        if partition is None or not self._context.is_current(mp, MirrorState.MIRRORING):
            return
        fetched = mp.rank, mp.source_topic_id, mp.source_epoch, partition.log.log_end_offset
        if fetched != asked[1:-1]:
            return  # The next fetch repeats the question.
        topic_id = None if ids is None else ids.get(mp.tp.topic)
        if topic_id is None:
            mp.reason = NOT_CONFIRMED
            self._context.refresh_soon(now, mp.assignment.mirror, mp.tp.topic)
            self._loop.pause(now, fetcher, mp)
        elif topic_id not in (Uuid.ZERO, asked.topic_id):  # A release without topic ids returns zeros (D53).
            self._loop.refused(now, fetcher, mp, ErrorCode.INCONSISTENT_TOPIC_ID)
        else:
            asked.then(now)


def is_confirmed(inquiry: Inquiry, ids: Mapping[str, Uuid] | None) -> bool:
    """Return whether a broker that was asked for `ids` has the topic that the source had when the inquiry began."""
    return ids is not None and ids.get(inquiry.mp.tp.topic) in (Uuid.ZERO, inquiry.topic_id)
