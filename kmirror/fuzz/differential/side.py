"""One of two brokers that should agree, with its link, and the names of the current round.

Requests contain placeholders for the names and the topic id. Each broker gets them with those of its current round, and
in its responses they are replaced by the placeholders again. So both get the same requests, and neither remembers an
earlier round.
"""

from __future__ import annotations

import re
import time
from enum import Enum
from typing import Any, NamedTuple

from kmirror.errors import UsageError
from kmirror.fuzz.connection import PATIENCE_S, Closed, Connection, ResponseTimeout
from kmirror.fuzz.disconnect_rules import Versions, api_versions_request, versions_in
from kmirror.fuzz.findings import Fault, FaultKind
from kmirror.fuzz.requests import PARTITIONS, TOPIC
from kmirror.fuzz.sessions.preparing import await_coordinator, prepare_topic
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
"""Suffix of round-specific names in requests; it is replaced by a number with as many digits."""
TOPIC_ID = Uuid(b"the topic's uuid")
"""Placeholder in requests for the topic id of the round."""
ROUNDS = 100_000
_ANY_MARK = re.compile(rb"\.r\d{5}")
_METADATA_VERSION = 12
_DELETE_TOPICS_VERSION = 5
_LIST_GROUPS_VERSION = 3
_DELETE_GROUPS_VERSION = 1
_REST_S = 0.005
_CLIENT = "fuzz"


class How(Enum):
    """End of a request."""

    ANSWERED = "answers"
    CLOSED = "closes the link"
    SILENT = "does not answer"
    NOTHING = "has nothing to answer"  # As for a Produce with acks=0: the request after it got a response.


class Seen(NamedTuple):
    """Reaction of a broker to a request; `answer` is empty without a response."""

    how: How
    answer: bytes = b""


class Side:
    """A broker and its link. Raises `Fault` if the broker cannot be prepared any more."""

    def __init__(self, name: str, host: str, port: int) -> None:
        self.name = name
        self._line = Connection(host, port)
        self._fence = self._is_closed = False
        self._mark = MARK.encode()
        self._topic_id = TOPIC_ID

    def close(self) -> None:
        """Close the connection."""
        self._line.close()

    # -- a round --------------------------------------------------------------------------------

    def begin(self, number: int) -> None:
        """Delete the remains of earlier rounds where possible, create this round's topic, and find the coordinators."""
        self._line.close()
        self.forget()
        self._mark = f".r{number % ROUNDS:05}".encode()
        mark = self._mark.decode()
        await_coordinator(self, CoordinatorType.GROUP, f"group{mark}")
        await_coordinator(self, CoordinatorType.TRANSACTION, f"transaction{mark}")
        prepare_topic(self, PARTITIONS, TOPIC + mark)
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

    def ask(self, body: Message, version: int, broker: str = "") -> Message:
        """Return the response to a request that is not part of the comparison; raises `Fault` if there is none."""
        frame = encode_request(body, version, correlation_id=0, client_id=_CLIENT)
        return decode_response(self._asked(frame), key_of(type(body)), version).body

    def rest(self) -> None:
        """Sleep for a moment."""
        time.sleep(_REST_S)

    def versions(self) -> Versions:
        """Return the API versions of the broker."""
        return versions_in(self._asked(api_versions_request()))

    def _asked(self, frame: bytes) -> bytes:
        try:
            return self._line.ask(frame, PATIENCE_S)
        except (OSError, Closed, ResponseTimeout) as error:
            where = "{}:{}".format(*self._line.address)
            raise Fault(
                FaultKind.DEAD, f"{self.name}, {where}: {error!r}", f"{self.name} is dead", "an answer"
            ) from None

    # -- a request ------------------------------------------------------------------------------

    def send(self, data: bytes, *, has_answer: bool) -> None:
        """Send a request in the names of the round; one without a response is followed by one with a response."""
        self._fence = not has_answer
        self._is_closed = False
        try:
            self._line.send(data.replace(MARK.encode(), self._mark).replace(TOPIC_ID, self._topic_id))
            if self._fence:
                self._line.send(_fence(data))
        except Closed:
            self._is_closed = True
        except (OSError, ResponseTimeout) as error:
            raise Fault(
                FaultKind.DEAD, f"{self.name}: {error!r}", f"{self.name} is dead", "a broker that listens"
            ) from None

    def has_come(self, within_s: float) -> bool:
        """Return whether the response, or the end of the link, arrives in time."""
        return self._is_closed or self._line.has_data(within_s)

    def seen(self, data: bytes) -> Seen:
        """Return the reaction, in the names of the request; closes the connection if there was none."""
        if self._is_closed:
            return Seen(How.CLOSED)
        if not self._line.has_data(0):
            self._line.close()
            return Seen(How.SILENT)
        try:
            answer = self._line.receive(PATIENCE_S)
        except Closed:
            return Seen(How.CLOSED)
        except ResponseTimeout:
            return Seen(How.SILENT)
        if self._fence:
            if answer[:4] != data[4:8]:
                return Seen(How.NOTHING)
            self._line.close()
        return Seen(How.ANSWERED, answer.replace(self._mark, MARK.encode()).replace(self._topic_id, TOPIC_ID))


def _fence(data: bytes) -> bytes:
    """Return a request with a different correlation id."""
    question = api_versions_request()
    number = bytes([data[4] ^ 1]) + data[5:8]
    return question[:4] + number + question[8:]


def other_rounds(answer: bytes) -> list[str]:
    """Return the marks of earlier rounds in a response."""
    return sorted({found.decode() for found in _ANY_MARK.findall(answer)} - {MARK})


def check_alone(side: Side, node_id: int) -> None:
    """Raise `UsageError` unless a broker is alone in its cluster, has this id, and no topics of other programs."""
    found: Any = side.ask(MetadataRequest(topics=[]), _METADATA_VERSION)
    ids = [row.node_id for row in found.brokers]
    if ids != [node_id]:
        raise UsageError(
            f"the cluster has brokers {ids}, and the comparison needs a single one with id {node_id}: "
            f"start a new broker with node.id={node_id}"
        )
    strange = [name for name in side.topics() if not name.startswith(TOPIC)]
    if strange:
        raise UsageError(
            f"the broker has topic {strange[0]}, and the comparison deletes all topics and groups: start a new broker"
        )
