"""Rules of Fetch requests and responses: sessions (KIP-227), fetch offsets, and the batches in a response.

They cover mirrors and consumers of `kmirror.client`; followers fetch with the same code as mirrors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from kmirror.errors import CorruptBatch
from kmirror.histories.monitors.frames import FrameMonitor, PendingRequest, topic_by_id, topic_name
from kmirror.histories.monitors.producers import library_clients
from kmirror.histories.monitors.rules import NO_PARTITION, Rules
from kmirror.histories.scene import Scene
from kmirror.kernel.ids import TopicPartition
from kmirror.protocol.gen.fetch_request import FetchRequest
from kmirror.protocol.gen.fetch_response import FetchResponse, PartitionData
from kmirror.records.batch import Batch, iter_batches
from kmirror.sim.network import Link
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import IsolationLevel

LAST_EPOCH = 0x7FFFFFFF
"""Last session epoch; the next one is 1."""
SESSIONS_MIN_VERSION = 7
TOPIC_IDS_MIN_VERSION = 13
"""First version of Fetch that identifies topics by id."""
Row = tuple[str, int]
"""Topic as in the request, and partition."""


@dataclass(slots=True)
class _Session:
    """A fetch session as its client must see it."""

    epoch: int
    """Session epoch of the newest request."""
    offsets: dict[Row, int] = field(default_factory=dict)
    """Requested offset of each partition."""
    end_reason: str = ""
    """Why the next request must start a new session; empty if it need not."""


class FetchMonitor(FrameMonitor):
    """Judges the fetches of mirrors and of consumers of `kmirror.client`, and their responses."""

    APIS = ("Fetch",)

    def __init__(self, scene: Scene, rules: Rules) -> None:
        self._scene = scene
        self._rules = rules
        self._world = scene.simulation.world
        self._readers = library_clients(scene, ("library_read",))
        self._sessions: dict[tuple[str, int], _Session] = {}
        """Sessions by server and session id."""
        self._opening: dict[PendingRequest, _Session] = {}
        """Requests that open a session, or use none."""
        self._next: dict[str, tuple[str, dict[Row, int]]] = {}
        """Consumer to the cluster that it reads from, and the expected offsets of its next fetches.

        A topic that is created again has a new id, and so new rows.
        """

    def judges(self, link: Link) -> bool:
        if link.client in self._readers:
            return True
        client = self._world.processes[link.client]
        return client.is_server and client.site != self._world.processes[link.server].site

    # -- requests -----------------------------------------------------------------------------

    def on_request(self, pending: PendingRequest) -> None:
        """Check the session epoch and the fetch offsets of a request."""
        request = pending.body
        assert isinstance(request, FetchRequest), "only Fetch is checked"
        rows = {
            (topic_name(topic.topic, topic.topic_id), row.partition): row.fetch_offset
            for topic in request.topics
            for row in topic.partitions
        }
        forgotten = [
            (topic_name(topic.topic, topic.topic_id), index)
            for topic in request.forgotten_topics_data
            for index in topic.partitions
        ]
        both = [row for row in forgotten if row in rows]
        if both:
            self._report(pending, both[0], "session-both", "is requested and forgotten in one request")
        if pending.version < SESSIONS_MIN_VERSION or request.session_epoch <= 0:
            self._opening[pending] = _Session(0, rows)
        else:
            self._continue_session(pending, request, rows, forgotten)
        if pending.link.client in self._readers:
            self._check_positions(pending, rows)

    def _continue_session(
        self, pending: PendingRequest, request: FetchRequest, rows: dict[Row, int], forgotten: list[Row]
    ) -> None:
        key = pending.link.server, request.session_id
        session = self._sessions.get(key)
        request_text = f"epoch {request.session_epoch} of session {request.session_id}"
        if session is None:
            self._report(pending, None, "session-unknown", f"{request_text}, which no response has created")
            session = self._sessions[key] = _Session(0)
        elif session.end_reason:
            self._report(pending, None, "session-left", f"{request_text} comes after {session.end_reason}")
        elif request.session_epoch != session.epoch % LAST_EPOCH + 1:
            self._report(pending, None, "session-epoch", f"{request_text} comes after {session.epoch}")
        for row in forgotten:
            session.offsets.pop(row, None)
        session.offsets.update(rows)
        session.epoch = request.session_epoch
        session.end_reason = f"epoch {request.session_epoch}, which got no response"

    def _check_positions(self, pending: PendingRequest, rows: dict[Row, int]) -> None:
        """Check that a consumer fetches from the end of its last response."""
        name = pending.link.client.rpartition("@")[0]
        cluster, known = self._next.get(name, ("", {}))
        if cluster != pending.cluster:
            self._next[name] = pending.cluster, {}
            return
        for row, offset in rows.items():
            end = known.pop(row, None)
            if end is not None and end != offset:
                self._report(
                    pending, row, "fetch-offset", f"is read from {offset} on, but the last response ended at {end}"
                )

    # -- responses ----------------------------------------------------------------------------

    def on_response_sent(self, pending: PendingRequest) -> None:
        """Check that a response has only requested data."""
        request, answer = pending.body, pending.answer
        assert isinstance(request, FetchRequest) and isinstance(answer, FetchResponse), "its answer"
        session = self._session(pending, request)
        if session is None:
            return
        stable = request.isolation_level == IsolationLevel.READ_COMMITTED
        for row, data in _rows(answer):
            offset = session.offsets.get(row)
            if offset is None:
                self._report(pending, row, "answer-unasked", "is in a response, but was not requested")
                continue
            bound = data.last_stable_offset if stable else data.high_watermark
            for batch in _batches(data):
                if batch.last_offset < offset:
                    text = f"the response has a batch up to {batch.last_offset}, but the fetch offset is {offset}"
                    self._report(pending, row, "answer-below", text)
                if batch.last_offset >= bound >= 0:
                    text = f"the response has a batch up to {batch.last_offset}, but readers may read up to {bound}"
                    self._report(pending, row, "answer-above", text)

    def on_response_received(self, pending: PendingRequest) -> None:
        """Store the state of the session, and the next fetch offsets of a consumer."""
        request, answer = pending.body, pending.answer
        assert isinstance(request, FetchRequest) and isinstance(answer, FetchResponse), "its answer"
        session = self._session(pending, request)
        if session is None:
            return
        if pending in self._opening:
            del self._opening[pending]
            if answer.session_id and not answer.error_code:
                self._sessions[pending.link.server, answer.session_id] = session
        elif answer.error_code or not answer.session_id:
            session.end_reason = ErrorCode(answer.error_code).name if answer.error_code else "the session's end"
        else:
            session.end_reason = ""
        if pending.link.client in self._readers:
            self._store_positions(pending, answer)

    def _store_positions(self, pending: PendingRequest, answer: FetchResponse) -> None:
        name = pending.link.client.rpartition("@")[0]
        cluster, known = self._next.get(name, ("", {}))
        if cluster != pending.cluster:
            return
        for row, data in _rows(answer):
            known.pop(row, None)
            if not data.error_code and data.diverging_epoch.epoch < 0:
                last = [batch.last_offset for batch in _batches(data)]
                if last:
                    known[row] = last[-1] + 1

    def _session(self, pending: PendingRequest, request: FetchRequest) -> _Session | None:
        opening = self._opening.get(pending)
        return self._sessions.get((pending.link.server, request.session_id)) if opening is None else opening

    def _partition(self, pending: PendingRequest, row: Row) -> TopicPartition:
        topic, index = row
        if pending.version < TOPIC_IDS_MIN_VERSION:
            return TopicPartition(topic, index)
        name = topic_by_id(self._scene.image(pending.cluster), topic)
        return NO_PARTITION if name is None else TopicPartition(name, index)

    def _report(self, pending: PendingRequest, row: Row | None, rule: str, text: str) -> None:
        tp = NO_PARTITION if row is None else self._partition(pending, row)
        self._rules.report(pending.cluster, pending.node_id, tp, rule, f"{pending.link.client}: {text}")


def _rows(answer: FetchResponse) -> Iterator[tuple[Row, PartitionData]]:
    for topic in answer.responses:
        name = topic_name(topic.topic, topic.topic_id)
        for data in topic.partitions:
            yield (name, data.partition_index), data


def _batches(data: PartitionData) -> Iterator[Batch]:
    """Yield the complete batches in a response."""
    try:
        yield from iter_batches(bytes(data.records or b""))
    except CorruptBatch:
        return  # The last one may be truncated.
