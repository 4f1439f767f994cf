"""Rules of responses: they have the items of the request, with the errors that follow from the node's metadata."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.cluster.controller.controller import Controller
from kmirror.cluster.images import MetadataImage
from kmirror.cluster.metadata.quorum import Quorum
from kmirror.histories.monitors.frames import FrameMonitor, PendingRequest
from kmirror.histories.monitors.rules import NO_PARTITION, Rules
from kmirror.histories.scene import Scene
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.naming import MIRROR_NAME, parse
from kmirror.mirror.state_records import NO_STATE, PartitionState, StateKey
from kmirror.mirror.states import MirrorState, Wish
from kmirror.protocol.gen.add_topics_to_mirror_request import AddTopicsToMirrorRequest
from kmirror.protocol.gen.envelope_response import EnvelopeResponse
from kmirror.protocol.gen.remove_topics_from_mirror_request import RemoveTopicsFromMirrorRequest
from kmirror.protocol.headers import decode_request_body, decode_response, try_peek_request
from kmirror.protocol.message import Message
from kmirror.spec.api_keys import API_KEYS
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.topics import SYSTEM_TOPICS, problem_with_name
from kmirror.spec.wire_values import USE_DEFAULT, ResourceType

ADD, REMOVE = API_KEYS["AddTopicsToMirror"], API_KEYS["RemoveTopicsFromMirror"]
PAUSE, RESUME = API_KEYS["PauseMirrorTopics"], API_KEYS["ResumeMirrorTopics"]
CREATE_TOPICS, DESCRIBE_CONFIGS, ENVELOPE = (API_KEYS[n] for n in ("CreateTopics", "DescribeConfigs", "Envelope"))
ORDERS = (ADD, REMOVE, PAUSE, RESUME)
PARTITION_APIS = (
    "AlterPartition",
    "DeleteRecords",
    "ListOffsets",
    "OffsetCommit",
    "OffsetForLeaderEpoch",
    "ReadMirrorStates",
    "TxnOffsetCommit",
    "WriteMirrorStates",
)
"""APIs whose requests and responses name partitions in the same form."""
ERRORS_BY_WISH: dict[int, dict[Wish, ErrorCode]] = {
    REMOVE: dict.fromkeys(Wish, ErrorCode.NONE),
    PAUSE: {
        Wish.MIRROR: ErrorCode.NONE,
        Wish.PAUSE: ErrorCode.MIRROR_TOPIC_ALREADY_PAUSED,
        Wish.REMOVE: ErrorCode.MIRROR_TOPIC_BEING_REMOVED,
    },
    RESUME: {
        Wish.MIRROR: ErrorCode.MIRROR_TOPIC_NOT_PAUSED,
        Wish.PAUSE: ErrorCode.NONE,
        Wish.REMOVE: ErrorCode.MIRROR_TOPIC_BEING_REMOVED,
    },
}
"""Error for a topic of the mirror, by API key and the wish for the topic before the request."""
ADDABLE = (MirrorState.UNKNOWN, MirrorState.STOPPED)

Codes = list[tuple[str, ErrorCode]]
"""(topic, error) in the order of the request."""


@dataclass(frozen=True, slots=True)
class Expected:
    """A request, and the known parts of the correct response."""

    key: int
    version: int
    body: Any
    codes: Codes | None = None
    """Correct error of each topic, if known."""
    error: ErrorCode = ErrorCode.NONE
    """Correct error of the whole response, if `codes` are known."""
    active: tuple[str, ...] = ()
    """Partitions in an AddTopicsToMirror that have not stopped."""


class ResponseMonitor(FrameMonitor):
    """Judges the responses of brokers and controllers when they are sent."""

    APIS = (
        "AddTopicsToMirror",
        "AlterConfigs",
        "CreatePartitions",
        "CreateTopics",
        "DescribeConfigs",
        "Envelope",
        "IncrementalAlterConfigs",
        "PauseMirrorTopics",
        "RemoveTopicsFromMirror",
        "ResumeMirrorTopics",
        *PARTITION_APIS,
    )

    def __init__(
        self,
        scene: Scene,
        rules: Rules,
        nodes: Mapping[str, tuple[str, int]],
        on_stop_ordered: Callable[[str, int, str, list[str]], None],
    ) -> None:
        self._scene = scene
        self._rules = rules
        self._nodes = nodes
        self._stop_ordered = on_stop_ordered
        self._open: dict[PendingRequest, Expected] = {}

    def check_waiting(self, cluster: str) -> None:
        """Report requests that a controller still holds although their records are committed, or they need none."""
        waiting = [pending for pending in self._open if pending.cluster == cluster]
        for pending in waiting:
            if not pending.link.open:
                del self._open[pending]
        controller = self._scene.clusters[cluster].controller if waiting else None
        if isinstance(controller, Controller) and controller.is_open and _is_committed(controller.quorum):
            for pending in waiting:
                if pending.node_id == CONTROLLER_ID and pending.link.open:
                    self._report(
                        pending, "unanswered", f"{pending.body.NAME} gets no response, although everything is committed"
                    )

    def _report(self, pending: PendingRequest, rule: str, text: str) -> None:
        self._rules.report(pending.cluster, pending.node_id, NO_PARTITION, rule, text)

    # -- requests -----------------------------------------------------------------------------

    def on_request(self, pending: PendingRequest) -> None:
        """Store a request, with the correct response if the current images determine it."""
        expected = Expected(pending.key, pending.version, pending.body)
        if pending.node_id == CONTROLLER_ID:
            client = self._nodes.get(pending.link.client)
            if isinstance(pending.body, RemoveTopicsFromMirrorRequest) and client is not None:
                topics = [topic.topic_name for topic in pending.body.topics]
                self._stop_ordered(pending.cluster, client[1], pending.body.mirror_name, topics)
            if client is not None:
                self._forget_stopped(*client)
            expected = self._expect_by_image(pending.cluster, expected)
        elif isinstance(pending.body, AddTopicsToMirrorRequest):
            image = self._scene.clusters[pending.cluster].broker(pending.node_id).context.image
            expected = replace(
                expected, active=tuple(self._active_partitions(pending.cluster, image, pending.body.topics))
            )
        self._open[pending] = expected

    def _forget_stopped(self, cluster: str, node_id: int) -> None:
        """Check again which partitions are active when a broker forwards a request to add topics.

        A partition that has stopped by then may correctly be active again when the broker responds.
        """
        for pending, expected in self._open.items():
            if expected.active and (pending.cluster, pending.node_id) == (cluster, node_id):
                self._open[pending] = self._still_active(pending, expected)

    def _still_active(self, pending: PendingRequest, expected: Expected) -> Expected:
        image = self._scene.clusters[pending.cluster].broker(pending.node_id).context.image
        active = [*self._active_partitions(pending.cluster, image, expected.body.topics)]
        return replace(expected, active=tuple(text for text in expected.active if text in active))

    def _expect_by_image(self, cluster: str, expected: Expected) -> Expected:
        """Return a controller's correct response by its current image; for an Envelope, that to the request in it."""
        controller = self._scene.clusters[cluster].controller
        assert isinstance(controller, Controller)
        if expected.key == ENVELOPE:
            header = try_peek_request(bytes(expected.body.request_data))
            if header is None or header.api_key not in ROWS:
                return expected
            body = decode_request_body(bytes(expected.body.request_data), header)
            return replace(
                expected, body=self._expect_by_image(cluster, Expected(header.api_key, header.api_version, body))
            )
        if not controller.is_open or expected.key not in ORDERS:
            return expected
        image, mirror = controller.image, expected.body.mirror_name
        if (ResourceType.MIRROR, mirror) not in image.configs:
            return replace(expected, error=ErrorCode.UNKNOWN_MIRROR, codes=[])
        codes = [
            (topic.topic_name, _expected_error(expected.key, image, mirror, topic)) for topic in expected.body.topics
        ]
        return replace(expected, codes=codes)

    def _active_partitions(self, cluster: str, image: MetadataImage, topics: Iterable[Any]) -> Iterator[str]:
        """Yield the partitions that are removed in `image` and persisted in a state before STOPPED (D6)."""
        for name in [topic.topic_name for topic in topics]:
            topic, assignment = image.topics.get(name), parse(image.configs.topic(name).get(MIRROR_NAME, ""))
            if topic is None or assignment is None or assignment.wish is not Wish.REMOVE:
                continue
            for index in topic.partitions:
                state = self._persisted(cluster, StateKey(assignment.mirror, topic.topic_id, index))
                if state.state not in ADDABLE:
                    yield f"{name}-{index} is {state.state.name} since leader epoch {state.leader_epoch}"

    def _persisted(self, cluster: str, key: StateKey) -> PartitionState:
        """Return the state of a partition that its current coordinator has persisted; NOTHING if there is none."""
        found, image = self._scene.clusters[cluster], self._scene.image(cluster)
        for broker_id in found.living():
            context = self._scene.mirror_context(cluster, broker_id)
            shard = None if context is None else context.coordinator.shard_of(key)
            if context is None or shard is None:
                continue
            known = image.topics.partition(shard)
            if known is not None and known.leader == broker_id and context.coordinator.leads(shard):
                states = context.coordinator.runtime.state(shard.partition)
                return NO_STATE if states is None else states.all_committed().get(key, NO_STATE)
        return NO_STATE

    # -- responses ----------------------------------------------------------------------------

    def on_response_sent(self, pending: PendingRequest) -> None:
        """Check a response."""
        expected = self._open.pop(pending, None)
        assert pending.answer is not None, "it is being sent"
        if expected is not None:
            self._check(pending, expected, pending.answer)

    def _check(self, pending: PendingRequest, expected: Expected, body: Message) -> None:
        if expected.key == ENVELOPE:
            inner = expected.body
            if isinstance(inner, Expected) and isinstance(body, EnvelopeResponse) and body.response_data:
                self._check(pending, inner, decode_response(body.response_data, inner.key, inner.version).body)
            return
        if expected.active:  # The broker may have seen that a partition has stopped since the request.
            expected = self._still_active(pending, expected)
        for rule, text in violations(expected, body):
            self._report(pending, rule, f"{body.NAME}: {text}")


def _is_committed(quorum: Quorum) -> bool:
    """Return whether all that was proposed is committed."""
    return quorum.committed_end >= quorum.end_offset


def _expected_error(key: int, image: MetadataImage, mirror: str, topic: Any) -> ErrorCode:
    """Return a controller's error for a topic in a request to add, remove, pause or resume topics."""
    name, known = topic.topic_name, image.topics.get(topic.topic_name)
    assignment = parse(image.configs.topic(name).get(MIRROR_NAME, ""))
    is_other = known is not None and topic.topic_id not in (Uuid.ZERO, known.topic_id)
    if key == ADD:
        if problem_with_name(name) is not None or name in SYSTEM_TOPICS:
            return ErrorCode.INVALID_TOPIC_EXCEPTION
        if is_other:
            return ErrorCode.INCONSISTENT_TOPIC_ID
        is_free = assignment is None or assignment.wish is Wish.REMOVE
        return ErrorCode.NONE if is_free else ErrorCode.TOPIC_ALREADY_IN_MIRROR
    if assignment is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if known is None else ErrorCode.UNKNOWN_MIRROR
    if assignment.mirror != mirror:
        return ErrorCode.TOPIC_NOT_IN_MIRROR
    return ErrorCode.INCONSISTENT_TOPIC_ID if is_other else ERRORS_BY_WISH[key][assignment.wish]


def violations(expected: Expected, body: Any) -> Iterator[tuple[str, str]]:
    """Yield the rules that a response breaks."""
    error = ErrorCode(getattr(body, "error_code", 0))
    if expected.active and expected.codes is None and error not in (ErrorCode.INVALID_REQUEST, *REFUSED):
        yield "answer-active", f"{error.name}, although {', '.join(expected.active)}"
    if error in REFUSED or (error and expected.codes is None):
        return
    rows = ROWS.get(expected.key)
    if rows is not None and not error:
        names, found = rows[0](expected.body), rows[1](body)
        if set(names) != set(found):
            text = f"it has {', '.join(found) or 'nothing'}, but the request has {', '.join(names)}"
            yield "answer-rows", text
    if expected.codes is not None:
        codes = [] if error else [(row.name, ErrorCode(row.error_code)) for row in body.topics]
        if (error, codes) != (expected.error, expected.codes):
            expected_codes = [f"{name} {code.name}" for name, code in expected.codes] or [expected.error.name]
            sent = [f"{name} {code.name}" for name, code in codes] or [error.name]
            yield "answer-code", f"the response is {', '.join(sent)}, expected {', '.join(expected_codes)}"
        added = [name for name, code in codes if not code]
        active = [text for text in expected.active if text.partition(" is ")[0].rpartition("-")[0] in added]
        if active:
            yield "answer-active", f"{', '.join(added)} is added, although {', '.join(active)}"
    if expected.key == CREATE_TOPICS:
        yield from _creation_violations(expected.body, body)
    if expected.key == DESCRIBE_CONFIGS:
        yield from _description_violations(expected.body, body)


def _creation_violations(request: Any, response: Any) -> Iterator[tuple[str, str]]:
    counts = {topic.name: topic.num_partitions for topic in request.topics if not topic.assignments}
    for row in response.topics:
        count = counts.get(row.name, 1)
        is_possible = count > 0 or count == USE_DEFAULT
        if row.error_code == ErrorCode.INVALID_PARTITIONS and is_possible and row.name in counts:
            yield "answer-partitions", f"topic {row.name} with {count} partitions is rejected for their number"
        if not row.error_code and not is_possible:
            yield "answer-partitions", f"topic {row.name} is created with {count} partitions"


def _description_violations(request: Any, response: Any) -> Iterator[tuple[str, str]]:
    requested_keys = {(row.resource_type, row.resource_name): row.configuration_keys for row in request.resources}
    for result in response.results:
        keys = requested_keys.get((result.resource_type, result.resource_name))
        for config in result.configs:
            if config.synonyms and not request.include_synonyms:
                yield "answer-configs", f"config {config.name} has synonyms that were not requested"
                return
            if not config.synonyms and request.include_synonyms and config.value is not None:
                yield "answer-configs", f"config {config.name} lacks the requested synonyms"
                return
            if keys and config.name not in keys:
                yield "answer-configs", f"config {config.name} is described, requested were {', '.join(keys)}"
                return


def _names(rows: Iterable[Any]) -> list[str]:
    return [str(row.name) for row in rows]


def _partition_names(body: Any) -> list[str]:
    """Return the partitions in a request or response, topic by topic."""
    return [
        f"{_topic(topic)}-{row.partition if hasattr(row, 'partition') else row.partition_index}"
        for topic in body.topics
        for row in topic.partitions
    ]


def _topic(topic: Any) -> str:
    for name in ("name", "topic"):
        if getattr(topic, name, ""):
            return str(getattr(topic, name))
    return str(topic.topic_id)


def _resources(rows: Iterable[Any]) -> list[str]:
    return [f"{row.resource_type} {row.resource_name}" for row in rows]


Names = Callable[[Any], Sequence[str]]
ROWS: dict[int, tuple[Names, Names]] = {
    **{key: (lambda body: [t.topic_name for t in body.topics], lambda body: _names(body.topics)) for key in ORDERS},
    **{API_KEYS[name]: (_partition_names, _partition_names) for name in PARTITION_APIS},
    CREATE_TOPICS: (lambda body: _names(body.topics), lambda body: _names(body.topics)),
    API_KEYS["CreatePartitions"]: (lambda body: _names(body.topics), lambda body: _names(body.results)),
    DESCRIBE_CONFIGS: (lambda body: _resources(body.resources), lambda body: _resources(body.results)),
    API_KEYS["AlterConfigs"]: (lambda body: _resources(body.resources), lambda body: _resources(body.responses)),
    API_KEYS["IncrementalAlterConfigs"]: (
        lambda body: _resources(body.resources),
        lambda body: _resources(body.responses),
    ),
}
"""API key to functions that return the items of a request, and those of its response unless that has an error."""
REFUSED = (ErrorCode.UNSUPPORTED_VERSION, ErrorCode.UNKNOWN_SERVER_ERROR, ErrorCode.COORDINATOR_NOT_AVAILABLE)
"""Errors of disabled features, of failed nodes (the history reports those), and of loading coordinators."""
