"""Rules of answers: what is asked about is named, with what the node that answers knows of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kmirror.assembly.inside import CONTROLLER_ID
from kmirror.cluster.controller.controller import Controller
from kmirror.cluster.images import MetadataImage
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.naming import MIRROR_NAME, parse
from kmirror.mirror.state_records import NOTHING, PartitionState, StateKey
from kmirror.mirror.states import MirrorState, Wish
from kmirror.protocol.gen.envelope_response import EnvelopeResponse
from kmirror.protocol.headers import decode_body, decode_response, find_head
from kmirror.protocol.message import Message
from kmirror.sim.history.inside.rules import Rules
from kmirror.sim.history.scene import Scene
from kmirror.sim.network import Link, Passing
from kmirror.spec.api_keys import API_KEYS
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.topics import SYSTEM_TOPICS, problem_with_name
from kmirror.spec.wire_values import USE_DEFAULT, ResourceType

ADD, REMOVE = API_KEYS["AddTopicsToMirror"], API_KEYS["RemoveTopicsFromMirror"]
PAUSE, RESUME = API_KEYS["PauseMirrorTopics"], API_KEYS["ResumeMirrorTopics"]
CREATE_MIRROR, CREATE_TOPICS, ENVELOPE = (API_KEYS[name] for name in ("CreateMirror", "CreateTopics", "Envelope"))
PRODUCE = API_KEYS["Produce"]
ORDERS = (ADD, REMOVE, PAUSE, RESUME)
BY_WISH: dict[int, dict[Wish, ErrorCode]] = {
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
"""What an order about a topic of the mirror is answered with, by what was wanted of the topic before."""
ADDABLE = (MirrorState.UNKNOWN, MirrorState.STOPPED)

Codes = list[tuple[str, ErrorCode]]
"""Topics in the order in which they were asked about, each with the error that it gets."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that is not answered yet."""

    key: int
    version: int
    body: Any
    cluster: str
    node: int
    link: Link
    codes: Codes | None = None
    """What its rows are to be answered with, if that is known."""
    whole: ErrorCode = ErrorCode.NONE
    """The error of the whole answer, if `codes` are known."""
    active: tuple[str, ...] = ()
    """Partitions that an AddTopicsToMirror is about and that did not come to STOPPED."""


class AnswerLook:
    """Judges answers of brokers and controllers as they are sent."""

    def __init__(self, scene: Scene, rules: Rules, stop_ordered: Callable[[str, int, str, list[str]], None]) -> None:
        self._scene = scene
        self._rules = rules
        self._stop_ordered = stop_ordered
        self._nodes: dict[str, tuple[str, int]] = {}
        self._open: dict[tuple[int, bytes], Asked] = {}
        self._order: dict[int, deque[tuple[bytes, int]]] = {}
        """By link the correlation ids and API keys of the requests that were not answered yet."""

    def attach(self, nodes: dict[str, tuple[str, int]]) -> None:
        """Look at the frames of some processes from now on."""
        self._nodes = nodes
        self._scene.simulation.world.on_frame.append(self._on_frame)

    def look_at_waiting(self, cluster: str) -> None:
        """Look whether a controller lets a request wait whose records are committed, or that needed none."""
        waiting = [(key, asked) for key, asked in self._open.items() if asked.cluster == cluster]
        for key, asked in waiting:
            if not asked.link.open:
                del self._open[key]
        controller = self._scene.clusters[cluster].controller if waiting else None
        log = controller.context.opened_log if isinstance(controller, Controller) else None
        if log is not None and log.is_committed:
            for _, asked in waiting:
                if asked.node == CONTROLLER_ID and asked.link.open:
                    text = f"{asked.body.NAME if asked.key != ENVELOPE else 'Envelope'} is not answered"
                    self._broken(asked, "unanswered", f"{text}, though all is committed")

    def _broken(self, asked: Asked, rule: str, text: str) -> None:
        self._rules.broken(asked.cluster, asked.node, TopicPartition("", -1), rule, text)

    def _on_frame(self, passing: Passing, link: Link, frame: bytes) -> None:
        if passing is Passing.REQUEST:
            key = int.from_bytes(frame[:2], "big")
            self._order.setdefault(link.number, deque()).append((frame[4:8], key))
            if key in WATCHED:
                self._on_request(link, frame)
        elif passing in (Passing.SENT, Passing.LOST):
            self._look_at_order(link, frame[:4])
            asked = self._open.pop((link.number, frame[:4]), None) if self._open else None
            if asked is not None:
                self._look_at(asked, decode_response(frame, asked.key, asked.version).body)

    def _look_at_order(self, link: Link, number: bytes) -> None:
        """Look whether the requests of a link are answered in their order; a Produce need not be answered at all."""
        waiting = self._order.get(link.number)
        if waiting is None or not any(number == other for other, _ in waiting):
            return  # It was asked before anybody looked.
        while waiting[0][0] != number and waiting[0][1] == PRODUCE:
            waiting.popleft()
        first, key = waiting[0]
        if first != number and link.server in self._nodes:
            text = f"an answer comes before that to a request of API {key} which came earlier"
            self._rules.broken(*self._nodes[link.server], TopicPartition("", -1), "answer-order", text)
        while waiting.popleft()[0] != number:
            pass

    def _on_request(self, link: Link, frame: bytes) -> None:
        node, head = self._nodes.get(link.server), find_head(frame)
        if node is None or head is None:
            return
        cluster, node_id = node
        asked = Asked(head.api_key, head.api_version, decode_body(frame, head), cluster, node_id, link)
        if node_id == CONTROLLER_ID:
            client = self._nodes.get(link.client)
            if head.api_key == REMOVE and client is not None:
                topics = [topic.topic_name for topic in asked.body.topics]
                self._stop_ordered(cluster, client[1], asked.body.mirror_name, topics)
            asked = self._decided(asked)
        elif head.api_key == ADD:
            image = self._scene.clusters[cluster].broker(node_id).context.image
            asked = replace(asked, active=tuple(self._active(cluster, image, asked.body.topics)))
        self._open[link.number, frame[4:8]] = asked

    # -- controllers --------------------------------------------------------------------------

    def _decided(self, asked: Asked) -> Asked:
        """Return a request to a controller with what it is to be answered with, decided on its present image."""
        controller = self._scene.clusters[asked.cluster].controller
        assert isinstance(controller, Controller)
        if asked.key == ENVELOPE:
            head = find_head(bytes(asked.body.request_data))
            if head is None or head.api_key not in WATCHED:
                return asked
            body: Any = decode_body(bytes(asked.body.request_data), head)
            inside = self._decided(Asked(head.api_key, head.api_version, body, asked.cluster, asked.node, asked.link))
            return Asked(asked.key, asked.version, inside, asked.cluster, asked.node, asked.link)
        if not controller.is_open or asked.key not in ORDERS:
            return asked
        image, body = controller.image, asked.body
        whole, codes = ErrorCode.NONE, [(topic.topic_name, _code(asked.key, image, body.mirror_name, topic))
                                        for topic in body.topics]  # fmt: skip
        if (ResourceType.MIRROR, body.mirror_name) not in image.configs:
            whole, codes = ErrorCode.UNKNOWN_MIRROR, []
        return Asked(asked.key, asked.version, body, asked.cluster, asked.node, asked.link, codes, whole)

    def _active(self, cluster: str, image: MetadataImage, topics: Iterable[Any]) -> Iterator[str]:
        """Yield the partitions that `image` has as removed, and that are persisted in a state before STOPPED (D6)."""
        for name in [topic.topic_name for topic in topics]:
            topic, assignment = image.topics.get(name), parse(image.topic_config(name).get(MIRROR_NAME, ""))
            if topic is None or assignment is None or assignment.wish is not Wish.REMOVE:
                continue
            for index in topic.partitions:
                state = self._persisted(cluster, StateKey(assignment.mirror, topic.topic_id, index))
                if state.state not in ADDABLE:
                    yield f"{name}-{index} is {state.state.name} since leader epoch {state.leader_epoch}"

    def _persisted(self, cluster: str, key: StateKey) -> PartitionState:
        """Return what the present coordinator of a partition has persisted of it; NOTHING if there is none."""
        found, image = self._scene.clusters[cluster], self._scene.image(cluster)
        for broker_id in found.living():
            context = self._scene.mirror_context(cluster, broker_id)
            shard = None if context is None else context.coordinator.shard_of(key)
            if context is None or shard is None:
                continue
            known = image.partition(shard)
            if known is not None and known.leader == broker_id and context.coordinator.leads(shard):
                states = context.coordinator.runtime.state(shard.partition)
                return NOTHING if states is None else states.all_committed().get(key, NOTHING)
        return NOTHING

    # -- answers ------------------------------------------------------------------------------

    def _look_at(self, asked: Asked, body: Message) -> None:
        if asked.key == ENVELOPE:
            inside = asked.body
            if isinstance(inside, Asked) and isinstance(body, EnvelopeResponse) and body.response_data:
                self._look_at(inside, decode_response(body.response_data, inside.key, inside.version).body)
            return
        if asked.active and asked.node != CONTROLLER_ID:  # What has stopped meanwhile may have been found so.
            image = self._scene.clusters[asked.cluster].broker(asked.node).context.image
            still = [*self._active(asked.cluster, image, asked.body.topics)]
            asked = replace(asked, active=tuple(text for text in asked.active if text in still))
        for rule, text in wrong_with(asked, body):
            self._broken(asked, rule, f"{body.NAME}: {text}")


def _code(key: int, image: MetadataImage, mirror: str, topic: Any) -> ErrorCode:
    """Return what a controller answers of a topic that is to be added, removed, paused or resumed."""
    name, known = topic.topic_name, image.topics.get(topic.topic_name)
    assignment = parse(image.topic_config(name).get(MIRROR_NAME, ""))
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
    return ErrorCode.INCONSISTENT_TOPIC_ID if is_other else BY_WISH[key][assignment.wish]


def wrong_with(asked: Asked, body: Any) -> Iterator[tuple[str, str]]:
    """Yield the rules that an answer breaks."""
    error = ErrorCode(getattr(body, "error_code", 0))
    if asked.active and asked.codes is None and error not in (ErrorCode.INVALID_REQUEST, *REFUSED):
        yield "answer-active", f"{error.name}, though {', '.join(asked.active)}"
    if error in REFUSED or (error and asked.codes is None):
        return
    rows = ROWS.get(asked.key)
    if rows is not None and not error:
        names, found = rows[0](asked.body), rows[1](body)
        if set(names) != set(found):
            text = f"it is about {', '.join(found) or 'nothing'}, and was asked about {', '.join(names)}"
            yield "answer-rows", text
    if asked.codes is not None:
        codes = [] if error else [(row.name, ErrorCode(row.error_code)) for row in body.topics]
        if (error, codes) != (asked.whole, asked.codes):
            wanted = [f"{name} {code.name}" for name, code in asked.codes] or [asked.whole.name]
            told = [f"{name} {code.name}" for name, code in codes] or [error.name]
            yield "answer-code", f"the answer is {', '.join(told)}, where {', '.join(wanted)} is right"
        added = [name for name, code in codes if not code]
        active = [text for text in asked.active if text.partition(" is ")[0].rpartition("-")[0] in added]
        if active:
            yield "answer-active", f"{', '.join(added)} is added, though {', '.join(active)}"
    if asked.key == CREATE_TOPICS:
        yield from _wrongly_created(asked.body, body)
    if asked.key == DESCRIBE_CONFIGS:
        yield from _wrongly_described(asked.body, body)


def _wrongly_created(request: Any, response: Any) -> Iterator[tuple[str, str]]:
    counts = {topic.name: topic.num_partitions for topic in request.topics if not topic.assignments}
    for row in response.topics:
        count = counts.get(row.name, 1)
        is_possible = count > 0 or count == USE_DEFAULT
        if row.error_code == ErrorCode.INVALID_PARTITIONS and is_possible and row.name in counts:
            yield "answer-partitions", f"topic {row.name} with {count} partitions is refused for their number"
        if not row.error_code and not is_possible:
            yield "answer-partitions", f"topic {row.name} is created with {count} partitions"


def _wrongly_described(request: Any, response: Any) -> Iterator[tuple[str, str]]:
    wanted = {(row.resource_type, row.resource_name): row.configuration_keys for row in request.resources}
    for result in response.results:
        keys = wanted.get((result.resource_type, result.resource_name))
        for config in result.configs:
            if config.synonyms and not request.include_synonyms:
                yield "answer-configs", f"config {config.name} has synonyms that nobody asked for"
                return
            if not config.synonyms and request.include_synonyms and config.value is not None:
                yield "answer-configs", f"config {config.name} has none of the synonyms that were asked for"
                return
            if keys and config.name not in keys:
                yield "answer-configs", f"config {config.name} is described, asked for were {', '.join(keys)}"
                return


def _named(rows: Iterable[Any]) -> list[str]:
    return [str(row.name) for row in rows]


def _in_partitions(body: Any) -> list[str]:
    """Return the partitions that a request or an answer names, topic by topic."""
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


DESCRIBE_CONFIGS = API_KEYS["DescribeConfigs"]
Names = Callable[[Any], Sequence[str]]
IN_PARTITIONS = (
    "AlterPartition",
    "DeleteRecords",
    "ListOffsets",
    "OffsetCommit",
    "OffsetForLeaderEpoch",
    "ReadMirrorStates",
    "TxnOffsetCommit",
    "WriteMirrorStates",
)
ROWS: dict[int, tuple[Names, Names]] = {
    **{key: (lambda body: [t.topic_name for t in body.topics], lambda body: _named(body.topics)) for key in ORDERS},
    **{API_KEYS[name]: (_in_partitions, _in_partitions) for name in IN_PARTITIONS},
    CREATE_TOPICS: (lambda body: _named(body.topics), lambda body: _named(body.topics)),
    API_KEYS["CreatePartitions"]: (lambda body: _named(body.topics), lambda body: _named(body.results)),
    DESCRIBE_CONFIGS: (lambda body: _resources(body.resources), lambda body: _resources(body.results)),
    API_KEYS["AlterConfigs"]: (lambda body: _resources(body.resources), lambda body: _resources(body.responses)),
    API_KEYS["IncrementalAlterConfigs"]: (
        lambda body: _resources(body.resources),
        lambda body: _resources(body.responses),
    ),
}
"""API to what a request asks about, and what an answer without an error is about."""
WATCHED = frozenset((*ROWS, ENVELOPE))
REFUSED = (ErrorCode.UNSUPPORTED_VERSION, ErrorCode.UNKNOWN_SERVER_ERROR, ErrorCode.COORDINATOR_NOT_AVAILABLE)
"""Of a feature that is off; of a node that failed, which is told otherwise."""
