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
from kmirror.fuzz.connection import TIMEOUT_S, Connection, ConnectionClosed, ResponseTimeout
from kmirror.fuzz.disconnect_rules import Versions, api_versions_request, read_versions
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
_BRIEF_S = 0.005
_CLIENT = "fuzz"


class ReactionKind(Enum):
    """Kind of a broker's reaction to a request."""

    ANSWERED = "answers"
    CLOSED = "closes the link"
    SILENT = "does not answer"
    NOTHING = "has nothing to answer"  # As for a Produce with acks=0: the request after it got a response.


class Reaction(NamedTuple):
    """Reaction of a broker to a request; `response` is empty if there was none."""

    kind: ReactionKind
    response: bytes = b""


class ComparedBroker:
    """A broker and its link. Raises `Fault` if the broker cannot be prepared any more."""

    def __init__(self, name: str, host: str, port: int) -> None:
        self.name = name
        self._connection = Connection(host, port)
        self._has_fence = self._is_closed = False
        self._mark = MARK.encode()
        self._topic_id = TOPIC_ID

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    # -- a round --------------------------------------------------------------------------------

    def begin(self, number: int) -> None:
        """Delete the remains of earlier rounds where possible, create this round's topic, and find the coordinators."""
        self._connection.close()
        self.forget()
        self._mark = f".r{number % ROUNDS:05}".encode()
        mark = self._mark.decode()
        await_coordinator(self, CoordinatorType.GROUP, f"group{mark}")
        await_coordinator(self, CoordinatorType.TRANSACTION, f"transaction{mark}")
        prepare_topic(self, PARTITIONS, TOPIC + mark)
        names = MetadataRequest(topics=[MetadataRequestTopic(name=TOPIC + mark)], allow_auto_topic_creation=False)
        response: Any = self.ask(names, _METADATA_VERSION)
        self._topic_id = response.topics[0].topic_id

    def forget(self) -> None:
        """Delete all topics that are not internal, and all groups without members."""
        topics = self.topics()
        if topics:
            self.ask(DeleteTopicsRequest(topic_names=topics, timeout_ms=10_000), _DELETE_TOPICS_VERSION)
        response: Any = self.ask(ListGroupsRequest(), _LIST_GROUPS_VERSION)
        groups = [row.group_id for row in response.groups]
        if groups:
            self.ask(DeleteGroupsRequest(groups_names=groups), _DELETE_GROUPS_VERSION)

    def topics(self) -> list[str]:
        """Return the names of all topics that are not internal."""
        response: Any = self.ask(MetadataRequest(topics=None), _METADATA_VERSION)
        return [row.name for row in response.topics if not row.is_internal]

    def ask(self, body: Message, version: int, broker: str = "") -> Message:
        """Return the response to a request that is not part of the comparison; raises `Fault` if there is none."""
        frame = encode_request(body, version, correlation_id=0, client_id=_CLIENT)
        return decode_response(self._exchange(frame), key_of(type(body)), version).body

    def wait_briefly(self) -> None:
        """Sleep for a moment."""
        time.sleep(_BRIEF_S)

    def versions(self) -> Versions:
        """Return the API versions of the broker."""
        return read_versions(self._exchange(api_versions_request()))

    def _exchange(self, frame: bytes) -> bytes:
        try:
            return self._connection.ask(frame, TIMEOUT_S)
        except (OSError, ConnectionClosed, ResponseTimeout) as error:
            address = "{}:{}".format(*self._connection.address)
            raise Fault(
                FaultKind.DEAD, f"{self.name}, {address}: {error!r}", f"{self.name} is dead", "an answer"
            ) from None

    # -- a request ------------------------------------------------------------------------------

    def send(self, data: bytes, *, has_response: bool) -> None:
        """Send a request in the names of the round; one without a response is followed by one with a response."""
        self._has_fence = not has_response
        self._is_closed = False
        try:
            self._connection.send(data.replace(MARK.encode(), self._mark).replace(TOPIC_ID, self._topic_id))
            if self._has_fence:
                self._connection.send(_fence_request(data))
        except ConnectionClosed:
            self._is_closed = True
        except (OSError, ResponseTimeout) as error:
            raise Fault(
                FaultKind.DEAD, f"{self.name}: {error!r}", f"{self.name} is dead", "a broker that listens"
            ) from None

    def has_reaction(self, within_s: float) -> bool:
        """Return whether the response, or the end of the link, arrives in time."""
        return self._is_closed or self._connection.has_data(within_s)

    def read_reaction(self, data: bytes) -> Reaction:
        """Return the reaction, in the names of the request; closes the connection if there was none."""
        if self._is_closed:
            return Reaction(ReactionKind.CLOSED)
        if not self._connection.has_data(0):
            self._connection.close()
            return Reaction(ReactionKind.SILENT)
        try:
            response = self._connection.receive(TIMEOUT_S)
        except ConnectionClosed:
            return Reaction(ReactionKind.CLOSED)
        except ResponseTimeout:
            return Reaction(ReactionKind.SILENT)
        if self._has_fence:
            if response[:4] != data[4:8]:
                return Reaction(ReactionKind.NOTHING)
            self._connection.close()
        return Reaction(
            ReactionKind.ANSWERED, response.replace(self._mark, MARK.encode()).replace(self._topic_id, TOPIC_ID)
        )


def _fence_request(data: bytes) -> bytes:
    """Return a request with a different correlation id."""
    request = api_versions_request()
    number = bytes([data[4] ^ 1]) + data[5:8]
    return request[:4] + number + request[8:]


def other_rounds(response: bytes) -> list[str]:
    """Return the marks of earlier rounds in a response."""
    return sorted({mark.decode() for mark in _ANY_MARK.findall(response)} - {MARK})


def check_alone(broker: ComparedBroker, node_id: int) -> None:
    """Raise `UsageError` unless a broker is alone in its cluster, has this id, and no topics of other programs."""
    response: Any = broker.ask(MetadataRequest(topics=[]), _METADATA_VERSION)
    ids = [row.node_id for row in response.brokers]
    if ids != [node_id]:
        raise UsageError(
            f"the cluster has brokers {ids}, and the comparison needs a single one with id {node_id}: "
            f"start a new broker with node.id={node_id}"
        )
    other_topics = [name for name in broker.topics() if not name.startswith(TOPIC)]
    if other_topics:
        raise UsageError(
            f"the broker has topic {other_topics[0]}, and the comparison deletes all topics and groups: "
            "start a new broker"
        )
