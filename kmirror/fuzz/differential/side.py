"""One of two brokers that should agree: what is asked of it, under the names of a round, and what it does.

Requests have the names and the topic id of no round. Each broker is asked in the names of its present one, and its
answers are given back in those of the requests: so both are asked the same, and neither remembers a round before.
"""

from __future__ import annotations

import re
import time
from enum import Enum
from typing import Any, NamedTuple

from kmirror.errors import UsageError
from kmirror.fuzz.closing import Versions, versions_in, versions_question
from kmirror.fuzz.findings import Fault, Kind
from kmirror.fuzz.line import PATIENCE_S, Closed, Line, Silence
from kmirror.fuzz.requests import PARTITIONS, TOPIC
from kmirror.fuzz.sessions.preparing import ready_coordinator, ready_topic
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.delete_groups_request import DeleteGroupsRequest
from kmirror.protocol.gen.delete_topics_request import DeleteTopicsRequest
from kmirror.protocol.gen.list_groups_request import ListGroupsRequest
from kmirror.protocol.gen.metadata_request import MetadataRequest, MetadataRequestTopic
from kmirror.protocol.headers import decode_response, encode_request
from kmirror.protocol.message import Message
from kmirror.protocol.registry import key_of
from kmirror.spec.wire_values import CoordinatorType

MARK = ".r00000"
"""How names end that are of a round, in requests; a broker is given another number of as many digits."""
TOPIC_ID = Uuid(b"the topic's uuid")
"""What stands in requests for the id of the topic of a round."""
ROUNDS = 100_000
_ANY_MARK = re.compile(rb"\.r\d{5}")
_METADATA_VERSION = 12
_DELETE_TOPICS_VERSION = 5
_LIST_GROUPS_VERSION = 3
_DELETE_GROUPS_VERSION = 1
_REST_S = 0.005
_CLIENT = "fuzz"


class How(Enum):
    """How a request ended."""

    ANSWERED = "answers"
    CLOSED = "closes the link"
    SILENT = "does not answer"
    NOTHING = "has nothing to answer"  # As for a Produce with acks=0: the request behind it was answered.


class Seen(NamedTuple):
    """What a broker did with a request; the answer is empty if there is none."""

    how: How
    answer: bytes = b""


class Side:
    """A broker and its link. A broker that cannot be prepared any more raises `Fault`."""

    def __init__(self, name: str, host: str, port: int) -> None:
        self.name = name
        self._line = Line(host, port)
        self._fence = self._is_closed = False
        self._mark = MARK.encode()
        self._topic_id = TOPIC_ID

    def close(self) -> None:
        """Hang up."""
        self._line.close()

    # -- a round --------------------------------------------------------------------------------

    def begin(self, number: int) -> None:
        """Delete what former rounds left, as far as it can be, make the topic of this one, and find coordinators."""
        self._line.close()
        self.forget()
        self._mark = f".r{number % ROUNDS:05}".encode()
        mark = self._mark.decode()
        ready_coordinator(self, CoordinatorType.GROUP, f"group{mark}")
        ready_coordinator(self, CoordinatorType.TRANSACTION, f"transaction{mark}")
        ready_topic(self, PARTITIONS, TOPIC + mark)
        names = MetadataRequest(topics=[MetadataRequestTopic(name=TOPIC + mark)], allow_auto_topic_creation=False)
        found: Any = self.ask(names, _METADATA_VERSION)
        self._topic_id = found.topics[0].topic_id

    def forget(self) -> None:
        """Delete all topics that are not internal, and all groups without members."""
        topics = self.topics()
        if topics:
            self.ask(DeleteTopicsRequest(topic_names=topics, timeout_ms=10_000), _DELETE_TOPICS_VERSION)
        found: Any = self.ask(ListGroupsRequest(), _LIST_GROUPS_VERSION)
        groups = [row.group_id for row in found.groups]
        if groups:
            self.ask(DeleteGroupsRequest(groups_names=groups), _DELETE_GROUPS_VERSION)

    def topics(self) -> list[str]:
        """Return the names of all topics that are not internal."""
        found: Any = self.ask(MetadataRequest(topics=None), _METADATA_VERSION)
        return [row.name for row in found.topics if not row.is_internal]

    def ask(self, body: Message, version: int, at: str = "") -> Message:
        """Return the answer to a request of our own; raises `Fault` if there is none."""
        frame = encode_request(body, version, correlation_id=0, client_id=_CLIENT)
        return decode_response(self._asked(frame), key_of(type(body)), version).body

    def rest(self) -> None:
        """Let a moment pass."""
        time.sleep(_REST_S)

    def versions(self) -> Versions:
        """Return what it tells of its APIs."""
        return versions_in(self._asked(versions_question()))

    def _asked(self, frame: bytes) -> bytes:
        try:
            return self._line.ask(frame, PATIENCE_S)
        except (OSError, Closed, Silence) as error:
            where = "{}:{}".format(*self._line.address)
            raise Fault(Kind.DEAD, f"{self.name}, {where}: {error!r}", f"{self.name} is dead", "an answer") from None

    # -- a request ------------------------------------------------------------------------------

    def send(self, data: bytes, *, has_answer: bool) -> None:
        """Send a request in the names of the round; behind one that has no answer another is sent that has one."""
        self._fence = not has_answer
        self._is_closed = False
        try:
            self._line.send(data.replace(MARK.encode(), self._mark).replace(TOPIC_ID, self._topic_id))
            if self._fence:
                self._line.send(_fence(data))
        except Closed:
            self._is_closed = True
        except (OSError, Silence) as error:
            raise Fault(Kind.DEAD, f"{self.name}: {error!r}", f"{self.name} is dead", "a broker that listens") from None

    def has_come(self, within_s: float) -> bool:
        """Return whether the answer, or the end of the link, comes in time."""
        return self._is_closed or self._line.has_data(within_s)

    def seen(self, data: bytes) -> Seen:
        """Return what came, in the names of the request; hangs up if nothing did."""
        if self._is_closed:
            return Seen(How.CLOSED)
        if not self._line.has_data(0):
            self._line.close()
            return Seen(How.SILENT)
        try:
            answer = self._line.receive(PATIENCE_S)
        except Closed:
            return Seen(How.CLOSED)
        except Silence:
            return Seen(How.SILENT)
        if self._fence:
            if answer[:4] != data[4:8]:
                return Seen(How.NOTHING)
            self._line.close()
        return Seen(How.ANSWERED, answer.replace(self._mark, MARK.encode()).replace(self._topic_id, TOPIC_ID))


def _fence(data: bytes) -> bytes:
    """Return a request with another correlation id than this one's."""
    question = versions_question()
    number = bytes([data[4] ^ 1]) + data[5:8]
    return question[:4] + number + question[8:]


def other_rounds(answer: bytes) -> list[str]:
    """Return the marks of rounds before that stand in an answer."""
    return sorted({found.decode() for found in _ANY_MARK.findall(answer)} - {MARK})


def check_alone(side: Side, node_id: int) -> None:
    """Raise `UsageError` if a broker is not the only one of its cluster, has another id, or topics of anybody else."""
    found: Any = side.ask(MetadataRequest(topics=[]), _METADATA_VERSION)
    ids = [row.node_id for row in found.brokers]
    if ids != [node_id]:
        raise UsageError(
            f"the cluster has the brokers {ids}: what is compared is one broker with the id {node_id}, as ours is; "
            f"start a fresh one with node.id={node_id}"
        )
    strange = [name for name in side.topics() if not name.startswith(TOPIC)]
    if strange:
        raise UsageError(
            f"the broker has the topic {strange[0]}, and all topics and groups are deleted there: start a fresh one"
        )
