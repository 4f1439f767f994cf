"""Incremental fetch sessions (KIP-227): the broker remembers the partitions of a fetcher between its fetches.

A session is named by an id and counts its requests by an epoch. Epoch 0 opens a session and names
all partitions; later requests name only what changed; epoch -1 closes it. An answer within a
session leaves out partitions without news.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kmirror.kernel.rng import Rng
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest
from kmirror.protocol.gen.fetch_response import PartitionData
from kmirror.spec.error_codes import ErrorCode

INITIAL_EPOCH = 0
FINAL_EPOCH = -1
NO_SESSION = 0

Key = tuple[str, Uuid, int]
"""Topic name (empty from Fetch v13 on), topic id (zero before), partition index."""


UNKNOWN_HIGH_WATERMARK = 0x7FFFFFFFFFFFFFFF


def knows_too_low(request: FetchPartition, data: PartitionData) -> bool:
    """Return whether the high watermark that the fetcher names is lower than it could be now (KIP-1166)."""
    return request.high_watermark != UNKNOWN_HIGH_WATERMARK and request.high_watermark < min(
        data.high_watermark, request.fetch_offset
    )


@dataclass(slots=True)
class CachedPartition:
    """One partition of a session: the newest request for it, and the offsets in its last answer."""

    request: FetchPartition
    high_watermark: int = -1
    last_stable_offset: int = -1
    log_start_offset: int = -1

    def has_news(self, data: PartitionData) -> bool:
        """Return whether `data` has anything that the last answer did not have, or that did not reach the fetcher."""
        return bool(
            data.records
            or data.error_code
            or data.diverging_epoch.epoch != -1
            or data.high_watermark != self.high_watermark
            or data.last_stable_offset != self.last_stable_offset
            or data.log_start_offset != self.log_start_offset
            or knows_too_low(self.request, data)
        )

    def remember(self, data: PartitionData) -> None:
        """Remember the offsets of an answer; after an error none, so that the next answer has the partition again."""
        failed = data.error_code != 0
        self.high_watermark = -1 if failed else data.high_watermark
        self.last_stable_offset = -1 if failed else data.last_stable_offset
        self.log_start_offset = -1 if failed else data.log_start_offset


@dataclass(slots=True)
class Session:
    """One session: the epoch expected next, and its partitions in the order in which they are served."""

    session_id: int
    epoch: int
    topic_ids: bool
    partitions: dict[Key, CachedPartition] = field(default_factory=dict)


class FetchSessions:
    """The sessions of one broker; when all slots are taken, the least recently used one is evicted."""

    def __init__(self, rng: Rng, slots: int) -> None:
        self._rng = rng
        self._slots = slots
        self._sessions: dict[int, Session] = {}

    def resolve(
        self, request: FetchRequest, *, topic_ids: bool
    ) -> tuple[ErrorCode, Session | None, dict[Key, FetchPartition]]:
        """Return the error, the session if there is one, and every partition to fetch.

        `topic_ids` says that the request names topics by id; in a session that must not change. Errors are
        FETCH_SESSION_ID_NOT_FOUND, INVALID_FETCH_SESSION_EPOCH and FETCH_SESSION_TOPIC_ID_ERROR.
        """
        asked = {
            (topic.topic, topic.topic_id, partition.partition): partition
            for topic in request.topics
            for partition in topic.partitions
        }
        if request.session_epoch in (INITIAL_EPOCH, FINAL_EPOCH):
            self._sessions.pop(request.session_id, None)
            if request.session_epoch == FINAL_EPOCH or not asked or self._slots == 0:
                return ErrorCode.NONE, None, asked
            session = self._open(topic_ids)
            session.partitions = {key: CachedPartition(partition) for key, partition in asked.items()}
            return ErrorCode.NONE, session, asked
        found = self._sessions.pop(request.session_id, None)
        if found is None:
            return ErrorCode.FETCH_SESSION_ID_NOT_FOUND, None, {}
        self._sessions[found.session_id] = found  # The dict is in the order of the last use.
        if request.session_epoch != found.epoch:
            return ErrorCode.INVALID_FETCH_SESSION_EPOCH, None, {}
        if topic_ids != found.topic_ids:
            return ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR, None, {}
        found.epoch = found.epoch % 0x7FFFFFFF + 1
        for forgotten in request.forgotten_topics_data:
            for index in forgotten.partitions:
                found.partitions.pop((forgotten.topic, forgotten.topic_id, index), None)
        for key, partition in asked.items():
            cached = found.partitions.get(key)
            if cached is None:
                found.partitions[key] = CachedPartition(partition)
            else:
                cached.request = partition
        if not found.partitions:
            del self._sessions[found.session_id]
            return ErrorCode.NONE, None, {}
        return ErrorCode.NONE, found, {key: cached.request for key, cached in found.partitions.items()}

    def _open(self, topic_ids: bool) -> Session:
        while len(self._sessions) >= self._slots:
            del self._sessions[next(iter(self._sessions))]
        session_id = self._rng.between(1, 0x7FFFFFFF)
        while session_id in self._sessions:
            session_id = self._rng.between(1, 0x7FFFFFFF)
        session = self._sessions[session_id] = Session(session_id, epoch=1, topic_ids=topic_ids)
        return session
