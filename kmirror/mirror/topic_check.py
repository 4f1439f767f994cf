"""Check that a response with topic names is about the mirrored topic (D65).

Before Kafka 3.1 a fetch names its topic; DescribeMirrors, ListOffsets and OffsetsForLeaderEpoch do so in every release.
A topic that was deleted and created again responds like the former one. The broker that responded knows whose log that
was: if a later Metadata response from it has the known id, then the topic was the same in between, because an id never
comes back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from kmirror.client.fetch_loop import OFFSETS, Fetcher, FetchLoop
from kmirror.kernel.clock import Instant
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.context import MirrorContext
from kmirror.mirror.partition import MirrorPartition
from kmirror.mirror.source_query import SourceQuery
from kmirror.mirror.source_responses import metadata_request, topic_ids_in
from kmirror.mirror.states import MirrorState
from kmirror.protocol.gen.fetch_request import FetchRequest
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode

FETCH_BY_ID = 13
"""First version of Fetch that names topics by their ids (KIP-516)."""
NOT_CONFIRMED = "the source's leader does not confirm that its topic is still the one of this id"

OnConfirmed = Callable[[Instant], None]


class _PendingCheck(NamedTuple):
    """A response for one partition whose topic must be confirmed.

    All fields but `on_confirmed` must still hold after the check.
    """

    mp: MirrorPartition
    rank: int
    topic_id: Uuid
    source_epoch: int
    log_end: int
    on_confirmed: OnConfirmed


class TopicCheck:
    """Has the brokers that are fetched from confirm the topics of their responses, one request for each event."""

    def __init__(self, context: MirrorContext, loop: FetchLoop[MirrorPartition]) -> None:
        self._context = context
        self._loop = loop
        self._due: list[tuple[Fetcher[MirrorPartition], list[_PendingCheck]]] = []
        """To be sent when the present event ends."""

    def fetches_by_name(self, fetcher: Fetcher[MirrorPartition]) -> bool:
        """Return whether fetches identify topics by their names, or may have done so."""
        source = self._context.sources.get(str(fetcher.key[0]))
        version = None if source is None else source.version(fetcher.endpoint, FetchRequest)
        return version is None or version < FETCH_BY_ID

    def confirm(
        self, fetcher: Fetcher[MirrorPartition], mp: MirrorPartition, log_end: int, on_confirmed: OnConfirmed
    ) -> None:
        """Call `on_confirmed` once the broker that is fetched from has confirmed the topic.

        No fetch is sent before. Without a response, or if the topic is another one, `on_confirmed` is not called. The
        source's metadata is refreshed then, which makes the partition fail (D16).
        """
        row = _PendingCheck(mp, mp.rank, mp.source_topic_id, mp.source_epoch, log_end, on_confirmed)
        for other, rows in self._due:
            if other is fetcher:
                rows.append(row)
                return
        self._due.append((fetcher, [row]))
        fetcher.held += 1  # The next fetch offset depends on the outcome.
        self._context.broker.defer(self._send_due)

    def _send_due(self, now: Instant) -> None:
        due, self._due = self._due, []
        for fetcher, rows in due:
            self._send(now, fetcher, rows)

    def _send(self, now: Instant, fetcher: Fetcher[MirrorPartition], checks: list[_PendingCheck]) -> None:
        def on_reply(later: Instant, reply: Message | None) -> None:
            fetcher.held -= 1
            ids = topic_ids_in(reply)
            for each in checks:
                found = self._loop.find(each.mp.tp)
                if found is not None and found[0] is fetcher and found[1] is each.mp:
                    self._on_topic_ids(later, fetcher, each, ids)
            self._loop.on_timer(later, fetcher.key)

        source = self._context.sources.get(str(fetcher.key[0]))
        if source is None:  # The mirror was deleted, and its partitions are forgotten.
            on_reply(now, None)
            return
        request = metadata_request(each.mp.tp.topic for each in checks)
        source.send(now, fetcher.endpoint, OFFSETS, request, on_reply)

    def _on_topic_ids(
        self, now: Instant, fetcher: Fetcher[MirrorPartition], check: _PendingCheck, ids: Mapping[str, Uuid] | None
    ) -> None:
        mp, partition = check.mp, self._context.replicas.partitions.find_led(check.mp.tp)
        if partition is None or not self._context.is_current(mp, MirrorState.MIRRORING):
            return
        current = mp.rank, mp.source_topic_id, mp.source_epoch, partition.log.log_end_offset
        if current != check[1:-1]:
            return  # The next fetch repeats the check.
        topic_id = None if ids is None else ids.get(mp.tp.topic)
        if topic_id is None:
            mp.reason = NOT_CONFIRMED
            self._context.refresh_soon(now, mp.assignment.mirror, mp.tp.topic)
            self._loop.pause(now, fetcher, mp)
        elif topic_id not in (Uuid.ZERO, check.topic_id):  # A release without topic ids returns zeros (D53).
            self._loop.report_error(now, fetcher, mp, ErrorCode.INCONSISTENT_TOPIC_ID)
        else:
            check.on_confirmed(now)


def is_confirmed(query: SourceQuery, ids: Mapping[str, Uuid] | None) -> bool:
    """Return whether a Metadata response has the same topic id as the source had when the query began."""
    return ids is not None and ids.get(query.mp.tp.topic) in (Uuid.ZERO, query.topic_id)
