"""Consumer with incremental fetch sessions (KIP-227), independent of the one in `kmirror.client`.

The first fetch from a leader names every partition and opens a session. Later ones name changed and forgotten
partitions; responses omit partitions without changes. After an error of the session a new one begins.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kmirror.histories.consuming import Consumer
from kmirror.histories.metadata_cache import Leader
from kmirror.histories.producing import Application
from kmirror.histories.scripts import Request, Script
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, ForgottenTopic
from kmirror.protocol.gen.fetch_response import FetchResponse
from kmirror.spec.version_limits import NAMED_TOPICS_LAST

FIRST = 0
"""Session epoch of the fetch that opens a session."""


@dataclass(slots=True)
class Session:
    """State of the fetch session with one broker."""

    id: int = 0
    epoch: int = FIRST
    last_sent: dict[TopicPartition, tuple[int, int]] = field(default_factory=dict)
    """Leader epoch and offset by partition, as sent last."""


class SessionConsumer(Consumer):
    """Reads like Consumer, in a session with each broker."""

    def __init__(self, application: Application, *, committed_only: bool) -> None:
        super().__init__(application, committed_only=committed_only)
        self._sessions: dict[tuple[str, Endpoint], Session] = {}

    def _fetch(self, cluster: str, endpoint: Endpoint, ready: list[tuple[TopicPartition, Leader]]) -> Script[None]:
        session = self._sessions.setdefault((cluster, endpoint), Session())
        rows = {tp: self._row(tp, leader) for tp, leader in ready}
        request = self._session_request(session, rows)
        reply = yield Request(cluster, endpoint, request, NAMED_TOPICS_LAST[request.NAME])
        if not isinstance(reply, FetchResponse) or reply.error_code:
            session.epoch = FIRST  # The id stays, so that the leader closes the session if it still has it.
            if isinstance(reply, FetchResponse):
                session.id = 0
            self._on_error(cluster, ready)
            return
        session.id = reply.session_id
        session.epoch = session.epoch + 1 if reply.session_id else FIRST
        yield from self._process_response(cluster, dict(ready), reply)

    def _session_request(self, session: Session, rows: dict[TopicPartition, FetchPartition]) -> FetchRequest:
        positions = {tp: (row.current_leader_epoch, row.fetch_offset) for tp, row in rows.items()}
        last_sent = {} if session.epoch == FIRST else session.last_sent
        request = self._request({tp: row for tp, row in rows.items() if last_sent.get(tp) != positions[tp]})
        request.session_id, request.session_epoch = session.id, session.epoch
        request.forgotten_topics_data = [
            ForgottenTopic(topic=tp.topic, partitions=[tp.partition]) for tp in last_sent if tp not in rows
        ]
        session.last_sent = positions
        return request
