"""DeleteTopics, versions 1-6: delete topics by name or, from version 6 on, by id.

Brokers drop the partitions when they replay the record. Results have the order of the request; Kafka shuffles them. Not
implemented: quotas.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from kmirror.cluster.authorizer import CLUSTER, Rights
from kmirror.cluster.controller.context import ControllerContext
from kmirror.cluster.controller.decisions import ApiError, Decision
from kmirror.kernel.clock import Instant
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from kmirror.protocol.gen.delete_topics_response import DeletableTopicResult, DeleteTopicsResponse
from kmirror.protocol.gen.remove_topic_record import RemoveTopicRecord
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.error_messages import default_message
from kmirror.spec.wire_values import AclOperation

STATES_FROM = 6
"""First version with `topics` in place of `topic_names`."""
DISABLED_FROM = 3
"""First version with TOPIC_DELETION_DISABLED, for a cluster where topics cannot be deleted."""

MayChange = Callable[[ControllerContext, str], None]
"""Raises ApiError for a topic that must not be deleted."""


def decide(
    context: ControllerContext, now: Instant, request: DeleteTopicsRequest, version: int, rights: Rights
) -> Decision:
    """Return the records that remove topics, and a result for each requested topic."""
    return decide_with(lambda _context, _topic: None, context, request, version, rights)


def decide_with(
    may_change: MayChange, context: ControllerContext, request: DeleteTopicsRequest, version: int, rights: Rights
) -> Decision:
    """Return the decision; `may_change` is called for every topic that would be deleted."""
    states = request.topics if version >= STATES_FROM else [DeleteTopicState(name=name) for name in request.topic_names]
    if not context.configs.flag("delete.topic.enable"):
        is_known = version >= DISABLED_FROM
        error = ErrorCode.TOPIC_DELETION_DISABLED if is_known else ErrorCode.INVALID_REQUEST
        rows = [DeletableTopicResult(name=s.name, topic_id=s.topic_id, error_code=error) for s in states]
        return Decision((), DeleteTopicsResponse(responses=rows))
    requested = _RequestedTopics.from_states(context, states, rights)
    records: list[Message] = []
    results: list[DeletableTopicResult] = []
    for state in requested.states:
        result = DeletableTopicResult(name=state.name, topic_id=state.topic_id, error_message=None)
        results.append(result)
        try:
            requested.find(context, result)
            assert result.name is not None, "found"
            may_change(context, result.name)
        except ApiError as rejection:
            result.error_code, result.error_message = rejection.error, rejection.message
        else:
            records.append(RemoveTopicRecord(topic_id=result.topic_id))
    return Decision(records, DeleteTopicsResponse(responses=results))


@dataclass(frozen=True, slots=True)
class _RequestedTopics:
    """The requested topics, and the client's rights to them."""

    states: Sequence[DeleteTopicState]
    """The entries that get a result."""
    names: Mapping[str, int]
    """Number of entries for a topic name."""
    ids: Mapping[Uuid, int]
    """Number of entries for a topic id."""
    hidden: Mapping[str, ErrorCode]
    """Topics that the client may not describe."""
    undeletable: Mapping[str, ErrorCode]
    """Topics that the client may not delete."""

    @classmethod
    def from_states(
        cls, context: ControllerContext, states: Sequence[DeleteTopicState], rights: Rights
    ) -> _RequestedTopics:
        image = context.image
        names = Counter(s.name for s in states if s.name is not None and s.topic_id == Uuid.ZERO)
        ids = Counter(s.topic_id for s in states if s.name is None and s.topic_id != Uuid.ZERO)
        unique_names = [name for name, count in names.items() if count == 1]
        names_of_ids = [
            image.topics.names[topic_id]
            for topic_id, count in ids.items()
            if count == 1 and topic_id in image.topics.names
        ]
        may_delete_any = rights.allow(AclOperation.DELETE, CLUSTER)
        hidden = {} if may_delete_any else rights.denied_topics(AclOperation.DESCRIBE, [*unique_names, *names_of_ids])
        undeletable = (
            {} if may_delete_any else rights.denied_topics(AclOperation.DELETE, [*unique_names, *names_of_ids])
        )
        entries: dict[tuple[str | None, Uuid, int], DeleteTopicState] = {}
        for number, state in enumerate(states):
            has_one_key = (state.name is None) != (state.topic_id == Uuid.ZERO)
            if state.name is None and ids[state.topic_id] == 1:
                name = image.topics.names.get(state.topic_id)
                if name is not None and names[name] == 1 and name not in hidden and name not in undeletable:
                    continue  # The result for its name reports the duplicate.
            entries.setdefault((state.name, state.topic_id, 0 if has_one_key else number), state)
        return cls(list(entries.values()), names, ids, hidden, undeletable)

    def find(self, context: ControllerContext, result: DeletableTopicResult) -> None:
        """Fill in name and id of the topic to delete; raises ApiError."""
        image = context.image
        if result.name is None and result.topic_id == Uuid.ZERO:
            raise ApiError(ErrorCode.INVALID_REQUEST, "Neither topic name nor id were specified.")
        if result.name is None:
            if self.ids[result.topic_id] > 1:
                raise ApiError(ErrorCode.INVALID_REQUEST, "Duplicate topic id.")
            name = image.topics.names.get(result.topic_id)
            if name is None:
                raise _rejection(ErrorCode.UNKNOWN_TOPIC_ID)
            if name not in self.hidden:  # The id is not secret, but the name is.
                result.name = name
            if name in self.undeletable or name in self.hidden:
                raise _rejection(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
            return
        if result.topic_id != Uuid.ZERO:
            raise ApiError(ErrorCode.INVALID_REQUEST, "You may not specify both topic name and topic id.")
        if self.names[result.name] > 1:
            raise ApiError(ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
        if result.name in self.hidden:
            raise _rejection(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
        topic = image.topics.get(result.name)
        if topic is None:
            raise _rejection(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        if result.name in self.undeletable:
            raise _rejection(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
        result.topic_id = topic.topic_id
        if topic.topic_id in self.ids:
            text = "The provided topic name maps to an ID that was already supplied."
            raise ApiError(ErrorCode.INVALID_REQUEST, text)


def _rejection(error: ErrorCode) -> ApiError:
    return ApiError(error, default_message(error))
