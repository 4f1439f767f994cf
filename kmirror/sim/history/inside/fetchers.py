"""Rules of fetches, by what is sent: sessions (KIP-227), where reading goes on, and what an answer may hold.

They are those of mirrors and of consumers of `kmirror.client`; followers fetch by the same code as mirrors do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from kmirror.errors import CorruptBatch
from kmirror.kernel.ids import TopicPartition
from kmirror.protocol.gen.fetch_request import FetchRequest
from kmirror.protocol.gen.fetch_response import FetchResponse, PartitionData
from kmirror.records.batch import Batch, iter_batches
from kmirror.sim.history.inside.frames import NO_PARTITION, Asked, FrameLook
from kmirror.sim.history.inside.producers import library_clients
from kmirror.sim.history.inside.rules import Rules
from kmirror.sim.history.scene import Scene
from kmirror.sim.network import Link
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import IsolationLevel

EPOCHS = 0x7FFFFFFF
"""After the last session epoch comes 1."""
SESSIONS_FROM = 7
IDS_FROM = 13
"""The first version of Fetch that has ids in place of names."""
Row = tuple[str, int]
"""Topic as the request has it, and partition."""


@dataclass(slots=True)
class _Session:
    """A fetch session as its client has to see it."""

    epoch: int
    """Of the newest request."""
    offsets: dict[Row, int] = field(default_factory=dict)
    """What is asked of each partition."""
    left: str = ""
    """Why the next request has to begin anew; empty if it has not."""


class FetchLook(FrameLook):
    """Judges the fetches of mirrors and of consumers of `kmirror.client`, and their answers."""

    APIS = ("Fetch",)

    def __init__(self, scene: Scene, rules: Rules) -> None:
        self._scene = scene
        self._rules = rules
        self._world = scene.simulation.world
        self._readers = library_clients(scene, ("library_read",))
        self._sessions: dict[tuple[str, int], _Session] = {}
        """By server and session id."""
        self._opening: dict[Asked, _Session] = {}
        """Requests that begin a session, or do without one."""
        self._next: dict[str, tuple[str, dict[TopicPartition, int]]] = {}
        """By consumer the cluster that it reads from, and where its fetches have to go on."""

    def wants(self, link: Link) -> bool:
        if link.client in self._readers:
            return True
        client = self._world.processes[link.client]
        return client.is_server and client.site != self._world.processes[link.server].site

    # -- requests -----------------------------------------------------------------------------

    def asked(self, asked: Asked) -> None:
        """Look at how a request goes on in its session, and where it reads on."""
        request = asked.body
        assert isinstance(request, FetchRequest), "nothing else is looked at"
        rows = {
            (topic.topic or str(topic.topic_id), row.partition): row.fetch_offset
            for topic in request.topics
            for row in topic.partitions
        }
        gone = [
            (topic.topic or str(topic.topic_id), index)
            for topic in request.forgotten_topics_data
            for index in topic.partitions
        ]
        both = [row for row in gone if row in rows]
        if both:
            self._broken(asked, both[0], "session-both", "is asked for and forgotten in one request")
        if asked.version < SESSIONS_FROM or request.session_epoch <= 0:
            self._opening[asked] = _Session(0, rows)
        else:
            self._go_on(asked, request, rows, gone)
        if asked.link.client in self._readers:
            self._look_at_positions(asked, rows)

    def _go_on(self, asked: Asked, request: FetchRequest, rows: dict[Row, int], gone: list[Row]) -> None:
        key = asked.link.server, request.session_id
        session = self._sessions.get(key)
        where = f"epoch {request.session_epoch} of session {request.session_id}"
        if session is None:
            self._broken(asked, None, "session-unknown", f"{where}, which no answer has begun")
            session = self._sessions[key] = _Session(0)
        elif session.left:
            self._broken(asked, None, "session-left", f"{where} comes after {session.left}")
        elif request.session_epoch != session.epoch % EPOCHS + 1:
            self._broken(asked, None, "session-epoch", f"{where} comes after {session.epoch}")
        for row in gone:
            session.offsets.pop(row, None)
        session.offsets.update(rows)
        session.epoch = request.session_epoch
        session.left = f"epoch {request.session_epoch}, which was not answered"

    def _look_at_positions(self, asked: Asked, rows: dict[Row, int]) -> None:
        """Look whether a consumer reads on where its last answer ended."""
        name = asked.link.client.rpartition("@")[0]
        cluster, known = self._next.get(name, ("", {}))
        if cluster != asked.cluster:
            self._next[name] = asked.cluster, {}
            return
        for row, offset in rows.items():
            tp = self._named(asked, row)
            end = known.pop(tp, None)
            if end is not None and end != offset:
                self._broken(asked, row, "fetch-offset", f"is read from {offset} on, the last answer ended at {end}")

    # -- answers ------------------------------------------------------------------------------

    def answered(self, asked: Asked) -> None:
        """Look whether an answer holds nothing but what was asked for."""
        request, answer = asked.body, asked.answer
        assert isinstance(request, FetchRequest) and isinstance(answer, FetchResponse), "its answer"
        session = self._session(asked, request)
        if session is None:
            return
        stable = request.isolation_level == IsolationLevel.READ_COMMITTED
        for row, data in _rows(answer):
            offset = session.offsets.get(row)
            if offset is None:
                self._broken(asked, row, "answer-unasked", "is in an answer, and was not asked for")
                continue
            bound = data.last_stable_offset if stable else data.high_watermark
            for batch in _batches(data):
                if batch.last_offset < offset:
                    text = f"the answer has a batch up to {batch.last_offset}, the fetch offset is {offset}"
                    self._broken(asked, row, "answer-below", text)
                if batch.last_offset >= bound >= 0:
                    text = f"the answer has a batch up to {batch.last_offset}, readers are given up to {bound}"
                    self._broken(asked, row, "answer-above", text)

    def received(self, asked: Asked) -> None:
        """Remember how a session goes on, and where a consumer has to read on."""
        request, answer = asked.body, asked.answer
        assert isinstance(request, FetchRequest) and isinstance(answer, FetchResponse), "its answer"
        session = self._session(asked, request)
        if session is None:
            return
        if asked in self._opening:
            del self._opening[asked]
            if answer.session_id and not answer.error_code:
                self._sessions[asked.link.server, answer.session_id] = session
        elif answer.error_code or not answer.session_id:
            session.left = ErrorCode(answer.error_code).name if answer.error_code else "the session's end"
        else:
            session.left = ""
        if asked.link.client in self._readers:
            self._learn_positions(asked, answer)

    def _learn_positions(self, asked: Asked, answer: FetchResponse) -> None:
        name = asked.link.client.rpartition("@")[0]
        cluster, known = self._next.get(name, ("", {}))
        if cluster != asked.cluster:
            return
        for row, data in _rows(answer):
            tp = self._named(asked, row)
            known.pop(tp, None)
            if not data.error_code and data.diverging_epoch.epoch < 0 and tp is not NO_PARTITION:
                last = [batch.last_offset for batch in _batches(data)]
                if last:
                    known[tp] = last[-1] + 1

    def _session(self, asked: Asked, request: FetchRequest) -> _Session | None:
        opening = self._opening.get(asked)
        return self._sessions.get((asked.link.server, request.session_id)) if opening is None else opening

    def _named(self, asked: Asked, row: Row) -> TopicPartition:
        topic, index = row
        if asked.version < IDS_FROM:
            return TopicPartition(topic, index)
        known = self._scene.image(asked.cluster).topics.values()
        name = next((one.name for one in known if str(one.topic_id) == topic), None)
        return NO_PARTITION if name is None else TopicPartition(name, index)

    def _broken(self, asked: Asked, row: Row | None, rule: str, text: str) -> None:
        tp = NO_PARTITION if row is None else self._named(asked, row)
        self._rules.broken(asked.cluster, asked.broker_id, tp, rule, f"{asked.link.client}: {text}")


def _rows(answer: FetchResponse) -> Iterator[tuple[Row, PartitionData]]:
    for topic in answer.responses:
        name = topic.topic or str(topic.topic_id)
        for data in topic.partitions:
            yield (name, data.partition_index), data


def _batches(data: PartitionData) -> Iterator[Batch]:
    """Yield the whole batches in an answer."""
    try:
        yield from iter_batches(bytes(data.records or b""))
    except CorruptBatch:
        return  # The last one may have been cut off.
