"""Rules of Fetch requests and responses: sessions (KIP-227), fetch offsets, and the batches in a response.

They cover mirrors and consumers of `kmirror.client`; followers fetch with the same code as mirrors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from kmirror.errors import CorruptBatch
from kmirror.histories.inside.frames import FrameLook, PendingRequest, topic_name, topic_of
from kmirror.histories.inside.producers import library_clients
from kmirror.histories.inside.rules import NO_PARTITION, Rules
from kmirror.histories.scene import Scene
from kmirror.kernel.ids import TopicPartition
from kmirror.protocol.gen.fetch_request import FetchRequest
from kmirror.protocol.gen.fetch_response import FetchResponse, PartitionData
from kmirror.records.batch import Batch, iter_batches
from kmirror.sim.network import Link
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import IsolationLevel

EPOCHS = 0x7FFFFFFF
"""Last session epoch; the next one is 1."""
SESSIONS_FROM = 7
IDS_FROM = 13
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
    left: str = ""
    """Why the next request must start a new session; empty if it need not."""


class FetchLook(FrameLook):
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

    def wants(self, link: Link) -> bool:
        if link.client in self._readers:
            return True
        client = self._world.processes[link.client]
        return client.is_server and client.site != self._world.processes[link.server].site

    # -- requests -----------------------------------------------------------------------------

    def on_request(self, pending: PendingRequest) -> None:
        """Check the session epoch and the fetch offsets of a request."""
        request = pending.body
        assert isinstance(request, FetchRequest), "nothing else is looked at"
        rows = {
            (topic_name(topic.topic, topic.topic_id), row.partition): row.fetch_offset
            for topic in request.topics
            for row in topic.partitions
        }
        gone = [
            (topic_name(topic.topic, topic.topic_id), index)
            for topic in request.forgotten_topics_data
            for index in topic.partitions
        ]
        both = [row for row in gone if row in rows]
        if both:
            self._broken(pending, both[0], "session-both", "is requested and forgotten in one request")
        if pending.version < SESSIONS_FROM or request.session_epoch <= 0:
            self._opening[pending] = _Session(0, rows)
        else:
            self._go_on(pending, request, rows, gone)
        if pending.link.client in self._readers:
            self._look_at_positions(pending, rows)

    def _go_on(self, pending: PendingRequest, request: FetchRequest, rows: dict[Row, int], gone: list[Row]) -> None:
        key = pending.link.server, request.session_id
        session = self._sessions.get(key)
        where = f"epoch {request.session_epoch} of session {request.session_id}"
        if session is None:
            self._broken(pending, None, "session-unknown", f"{where}, which no response has created")
            session = self._sessions[key] = _Session(0)
        elif session.left:
            self._broken(pending, None, "session-left", f"{where} comes after {session.left}")
        elif request.session_epoch != session.epoch % EPOCHS + 1:
            self._broken(pending, None, "session-epoch", f"{where} comes after {session.epoch}")
        for row in gone:
            session.offsets.pop(row, None)
        session.offsets.update(rows)
        session.epoch = request.session_epoch
        session.left = f"epoch {request.session_epoch}, which got no response"

    def _look_at_positions(self, pending: PendingRequest, rows: dict[Row, int]) -> None:
        """Check that a consumer fetches from the end of its last response."""
        name = pending.link.client.rpartition("@")[0]
        cluster, known = self._next.get(name, ("", {}))
        if cluster != pending.cluster:
            self._next[name] = pending.cluster, {}
            return
        for row, offset in rows.items():
            end = known.pop(row, None)
            if end is not None and end != offset:
                self._broken(
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
                self._broken(pending, row, "answer-unasked", "is in a response, but was not requested")
                continue
            bound = data.last_stable_offset if stable else data.high_watermark
            for batch in _batches(data):
                if batch.last_offset < offset:
                    text = f"the response has a batch up to {batch.last_offset}, but the fetch offset is {offset}"
                    self._broken(pending, row, "answer-below", text)
                if batch.last_offset >= bound >= 0:
                    text = f"the response has a batch up to {batch.last_offset}, but readers may read up to {bound}"
                    self._broken(pending, row, "answer-above", text)

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
            session.left = ErrorCode(answer.error_code).name if answer.error_code else "the session's end"
        else:
            session.left = ""
        if pending.link.client in self._readers:
            self._learn_positions(pending, answer)

    def _learn_positions(self, pending: PendingRequest, answer: FetchResponse) -> None:
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

    def _named(self, pending: PendingRequest, row: Row) -> TopicPartition:
        topic, index = row
        if pending.version < IDS_FROM:
            return TopicPartition(topic, index)
        name = topic_of(self._scene.image(pending.cluster), topic)
        return NO_PARTITION if name is None else TopicPartition(name, index)

    def _broken(self, pending: PendingRequest, row: Row | None, rule: str, text: str) -> None:
        tp = NO_PARTITION if row is None else self._named(pending, row)
        self._rules.broken(pending.cluster, pending.node_id, tp, rule, f"{pending.link.client}: {text}")


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
