"""Operators: the orders of a cluster are sent one after the other, each until it is answered.

An order is sent to other brokers until one responds or PATIENCE_MS is over. If an earlier attempt had no response,
"exists already" counts as success, as in scripts around Kafka's tools. The result for one topic of an order is recorded
as the result for that topic only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from kmirror.assembly import mirrors
from kmirror.client.admin import RETRIED_ERRORS, error_of
from kmirror.histories.account import Order
from kmirror.histories.observer import Observer
from kmirror.histories.plan import Step, Value
from kmirror.histories.scene import Scene
from kmirror.histories.scripts import Request, Script, Sleep
from kmirror.kernel.clock import MILLISECOND
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.configs import BOOTSTRAP_SERVERS
from kmirror.mirror.naming import MIRROR_NAME, parse
from kmirror.protocol.gen.add_topics_to_mirror_response import AddTopicsToMirrorResponse
from kmirror.protocol.gen.alter_configs_request import AlterableConfig as LegacyConfig
from kmirror.protocol.gen.alter_configs_request import AlterConfigsRequest
from kmirror.protocol.gen.alter_configs_request import AlterConfigsResource as LegacyResource
from kmirror.protocol.gen.alter_configs_response import AlterConfigsResponse
from kmirror.protocol.gen.create_partitions_request import CreatePartitionsRequest, CreatePartitionsTopic
from kmirror.protocol.gen.create_topics_request import CreatableTopic, CreateTopicsRequest
from kmirror.protocol.gen.delete_records_request import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from kmirror.protocol.gen.delete_records_response import DeleteRecordsResponse
from kmirror.protocol.gen.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from kmirror.protocol.gen.describe_mirrors_request import DescribeMirrorsRequest
from kmirror.protocol.gen.describe_mirrors_response import DescribeMirrorsResponse
from kmirror.protocol.gen.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kmirror.protocol.gen.pause_mirror_topics_response import PauseMirrorTopicsResponse
from kmirror.protocol.gen.remove_topics_from_mirror_response import RemoveTopicsFromMirrorResponse
from kmirror.protocol.gen.resume_mirror_topics_response import ResumeMirrorTopicsResponse
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.releases import NOT_SERVED
from kmirror.spec.wire_values import ConfigOp, ResourceType

ORDER_TIMEOUT_MS = 8_000
RETRY_MS = 250
TRY_MS = 3_000
NOBODY = "nobody"
"""Used instead of a cluster's name: bootstrap servers that do not exist."""
OBSERVED_BEFORE = ("add", "remove", "pause", "resume", "delete_topic")
"""Actions before which all logs of their topics are recorded."""
ALREADY_DONE_ERRORS = {
    "create_mirror": ErrorCode.MIRROR_ALREADY_EXISTS,
    "add": ErrorCode.TOPIC_ALREADY_IN_MIRROR,
    "create_topic": ErrorCode.TOPIC_ALREADY_EXISTS,
    "delete_topic": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    "pause": ErrorCode.MIRROR_TOPIC_ALREADY_PAUSED,
    "resume": ErrorCode.MIRROR_TOPIC_NOT_PAUSED,
}
MIRROR_TIMEOUT_KEY = "request.timeout.ms"
FINAL = (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.INCONSISTENT_TOPIC_ID)
"""Retriable for a client that produces; an operator has to find the cause."""
WITH_TOPICS = (
    AddTopicsToMirrorResponse,
    PauseMirrorTopicsResponse,
    RemoveTopicsFromMirrorResponse,
    ResumeMirrorTopicsResponse,
)
DELETED_BY_ROWS_MIN_VERSION = 6
"""First version of DeleteTopics with rows instead of names."""
MakeRequest = Callable[[Scene, str, Mapping[str, Value]], Message]
"""Makes the request of one kind of order to a cluster from a step's arguments."""
RefusalReason = Callable[[str, int, Step], str]
"""Returns why the order to a cluster is not given; empty if it is."""


@dataclass(slots=True)
class Operator:
    """Sends the orders of one cluster."""

    scene: Scene
    observer: Observer
    cluster: str
    refusal_reason: RefusalReason = lambda cluster, number, step: ""
    _waiting: list[tuple[int, Step]] = field(default_factory=list)
    _is_running: bool = False

    def order(self, number: int, step: Step) -> None:
        """Queue a step, to run after those before it."""
        self._waiting.append((number, step))
        if not self._is_running:
            self._is_running = True
            self.scene.scripts.start("operator", self._run_orders())

    def drop_waiting(self) -> bool:
        """Drop all waiting orders; return whether an order is still in progress."""
        for number, _ in self._waiting:
            self.scene.note(f"order {number} is not given: time is up")
        self._waiting.clear()
        return self._is_running

    @property
    def idle(self) -> bool:
        return not self._is_running

    def _run_orders(self) -> Script[None]:
        while self._waiting:
            number, step = self._waiting.pop(0)
            yield from self._carry_out(number, step)
        self._is_running = False

    def _eligibility_reason(self, step: Step) -> str:
        """Return why the order would leave a partition without any eligible leader, as the manual warns (D71); else
        empty.
        """
        if step.args.get("name") != "min.insync.replicas":
            return ""
        for name, topic in ((name, topic) for name in self.scene.clusters for topic in step_topics(step.args)):
            image = self.scene.image(name)
            partitions = (
                image.topics[topic].partitions if topic in image.topics and image.features.has_eligible_replicas else {}
            )
            for tp in (TopicPartition(topic, index) for index in partitions):
                if self.scene.leader(name, tp) is None:
                    return f"{tp} of {name} has no leader, and the order would make every replica ineligible"
        return ""

    def _carry_out(self, number: int, step: Step) -> Script[None]:
        scene, args = self.scene, step.args
        topics = step_topics(args)
        reason = self.refusal_reason(self.cluster, number, step) or self._eligibility_reason(step)
        if reason:
            scene.note(f"order {number} is not given: {reason}")
            return
        if step.action in OBSERVED_BEFORE:
            self.observer.observe_logs([tp for tp in _partitions(scene) if tp.topic in topics])
        sent_at = scene.now
        errors = yield from self._send(step.action, args)
        for error in dict.fromkeys(errors.values()):
            scene.account.orders.append(
                Order(
                    number,
                    step.action,
                    str(args.get("mirror", "")),
                    str(args.get("source", "")),
                    self.cluster,
                    tuple(topic for topic in topics if errors[topic] == error),
                    sent_at,
                    scene.now if error else -1,
                    error,
                )
            )
        alike = len(dict.fromkeys(errors.values())) == 1
        results = [
            error or "no answer" if alike else f"{topic} {error or 'no response'}" for topic, error in errors.items()
        ]
        scene.note(f"order {number} answered: {results[0] if alike else ', '.join(results)}")

    def _send(self, action: str, args: Mapping[str, Value]) -> Script[dict[str, str]]:
        """Return the error name by topic, with one empty topic for an order about none; empty if no response came."""
        scene, request = self.scene, ORDERS[action]
        subjects = step_topics(args) or ("",)
        until = scene.now + ORDER_TIMEOUT_MS * MILLISECOND
        tried = False
        while scene.now < until:
            endpoint = scene.metadata_caches[self.cluster].any_broker()
            may_be_received = scene.simulation.world.runs(endpoint.host)
            reply = yield Request(self.cluster, endpoint, request(scene, self.cluster, args), timeout_ms=TRY_MS)
            if reply is not None:
                errors = {subject: _topic_error(reply, subject) for subject in subjects}
                if tried:
                    errors = {
                        name: ErrorCode.NONE if self._was_executed(action, args, name, error) else error
                        for name, error in errors.items()
                    }
                if all(not error.retriable or error in FINAL for error in errors.values()):
                    # The first attempt may have caused the error of a repeated one.
                    return {name: "" if tried and error else error.name for name, error in errors.items()}
                may_be_received = any(error not in RETRIED_ERRORS for error in errors.values())
            tried = (
                tried or may_be_received
            )  # A broker that was down, or says that it did nothing, has not carried it out.
            yield Sleep(RETRY_MS)
        return dict.fromkeys(subjects, "")

    def _was_executed(self, action: str, args: Mapping[str, Value], topic: str, error: ErrorCode) -> bool:
        """Return whether the error of a repeated order shows that it was carried out; a topic in another mirror does
        not.
        """
        if error is not ALREADY_DONE_ERRORS.get(action):
            return False
        assignment = parse(self.scene.image(self.cluster).configs.topic(topic).get(MIRROR_NAME, ""))
        return action != "add" or (assignment is not None and assignment.mirror == args["mirror"])


def step_topics(args: Mapping[str, Value]) -> tuple[str, ...]:
    """Return the topics of a step."""
    text = str(args.get("topics", args.get("topic", "")))
    return tuple(name for name in text.split(",") if name)


def _topic_error(reply: Message, topic: str) -> ErrorCode:
    """Return the error code for a topic, or that of the whole response if it has no row for it."""
    if isinstance(reply, DescribeMirrorsResponse):
        return ErrorCode(reply.error_code)
    if isinstance(reply, AlterConfigsResponse):
        return next((ErrorCode(row.error_code) for row in reply.responses if row.error_code), ErrorCode.NONE)
    if isinstance(reply, DeleteRecordsResponse):
        rows = [row for found in reply.topics for row in found.partitions]
        return next((ErrorCode(row.error_code) for row in rows if row.error_code), ErrorCode.NONE)
    if isinstance(reply, WITH_TOPICS) and not reply.error_code:
        for row in reply.topics:
            if row.name == topic:
                return ErrorCode(row.error_code)
    return error_of(reply)


def _partitions(scene: Scene) -> list[TopicPartition]:
    found = [tp for name in scene.clusters for tp in scene.partitions(name)]
    return sorted(dict.fromkeys(found))


def servers(scene: Scene, cluster: str) -> str:
    """Return the bootstrap servers of a cluster of the plan, or addresses where no server listens."""
    return "nowhere:9092" if cluster == NOBODY else scene.clusters[cluster].bootstrap_servers


# -- requests ---------------------------------------------------------------------------------


def _create(scene: Scene, cluster: str, args: Mapping[str, Value]) -> Message:
    bootstrap_servers = servers(scene, str(args.get("servers", args["source"])))
    return mirrors.create_request(
        str(args["mirror"]), bootstrap_servers, {MIRROR_TIMEOUT_KEY: str(args.get("timeout_ms", 3_000))}
    )


def _add(scene: Scene, cluster: str, args: Mapping[str, Value]) -> Message:
    named, source = bool(args.get("named", True)), str(args["source"])
    ids = {topic: scene.topic_id(source, topic) if named else Uuid.ZERO for topic in step_topics(args)}
    return mirrors.add_topics_request(str(args["mirror"]), ids)


def _remove(scene: Scene, cluster: str, args: Mapping[str, Value]) -> Message:
    return mirrors.remove_topics_request(str(args["mirror"]), step_topics(args))


def _pause(scene: Scene, cluster: str, args: Mapping[str, Value]) -> Message:
    return mirrors.pause_topics_request(str(args["mirror"]), step_topics(args))


def _resume(scene: Scene, cluster: str, args: Mapping[str, Value]) -> Message:
    return mirrors.resume_topics_request(str(args["mirror"]), step_topics(args))


def _delete_mirror(scene: Scene, cluster: str, args: Mapping[str, Value]) -> Message:
    return mirrors.delete_request(str(args["mirror"]))


def _describe_mirror(scene: Scene, cluster: str, args: Mapping[str, Value]) -> Message:
    return DescribeMirrorsRequest(mirror_names=[str(args["mirror"])])


def _create_topic(scene: Scene, cluster: str, args: Mapping[str, Value]) -> Message:
    return CreateTopicsRequest(
        topics=[
            CreatableTopic(
                name=topic,
                num_partitions=int(args["partitions"]),
                replication_factor=scene.clusters[cluster].replication_factor,
            )
            for topic in step_topics(args)
        ]
    )


def _grow_topic(scene: Scene, cluster: str, args: Mapping[str, Value]) -> Message:
    row = CreatePartitionsTopic(name=str(args["topic"]), count=int(args["partitions"]), assignments=None)
    return CreatePartitionsRequest(topics=[row], timeout_ms=TRY_MS)


def _delete_topic(scene: Scene, cluster: str, args: Mapping[str, Value]) -> Message:
    names = list(step_topics(args))
    if scene.last_version(cluster, "DeleteTopics") < DELETED_BY_ROWS_MIN_VERSION:
        return DeleteTopicsRequest(topic_names=names, timeout_ms=TRY_MS)
    return DeleteTopicsRequest(topics=[DeleteTopicState(name=name) for name in names], timeout_ms=TRY_MS)


def _delete_records(scene: Scene, cluster: str, args: Mapping[str, Value]) -> Message:
    row = DeleteRecordsPartition(partition_index=int(args["partition"]), offset=int(args["offset"]))
    return DeleteRecordsRequest(
        topics=[DeleteRecordsTopic(name=str(args["topic"]), partitions=[row])], timeout_ms=TRY_MS - 500
    )


def _alter(kind: int, name: str, key: str, value: str | None) -> Message:
    """Return the request that sets a config, or deletes it if `value` is None."""
    operation = ConfigOp.DELETE if value is None else ConfigOp.SET
    config = AlterableConfig(name=key, config_operation=operation, value=value)
    return IncrementalAlterConfigsRequest(
        resources=[AlterConfigsResource(resource_type=kind, resource_name=name, configs=[config])]
    )


def _alter_topic(scene: Scene, cluster: str, args: Mapping[str, Value]) -> Message:
    return _alter_topic_request(scene, cluster, str(args["topic"]), str(args["name"]), str(args["value"]))


def _reset_topic(scene: Scene, cluster: str, args: Mapping[str, Value]) -> Message:
    return _alter_topic_request(scene, cluster, str(args["topic"]), str(args["name"]), None)


def _alter_topic_request(scene: Scene, cluster: str, topic: str, name: str, value: str | None) -> Message:
    if scene.last_version(cluster, "IncrementalAlterConfigs") > NOT_SERVED:
        return _alter(ResourceType.TOPIC, topic, name, value)
    # Tools of such a release read all configs and send the complete new set.
    values = {key: old for key, old in scene.image(cluster).configs.topic(topic).items() if key != name}
    values |= {} if value is None else {name: value}
    rows = [LegacyConfig(name=key, value=text) for key, text in values.items()]
    resource = LegacyResource(resource_type=ResourceType.TOPIC, resource_name=topic, configs=rows)
    return AlterConfigsRequest(resources=[resource])


def _alter_cluster(scene: Scene, cluster: str, args: Mapping[str, Value]) -> Message:
    return _alter(ResourceType.BROKER, "", str(args["name"]), str(args["value"]))


def _reset_cluster(scene: Scene, cluster: str, args: Mapping[str, Value]) -> Message:
    return _alter(ResourceType.BROKER, "", str(args["name"]), None)


def _alter_mirror(scene: Scene, cluster: str, args: Mapping[str, Value]) -> Message:
    return mirrors.alter_request(str(args["mirror"]), {str(args["name"]): str(args["value"])})


def _point_mirror(scene: Scene, cluster: str, args: Mapping[str, Value]) -> Message:
    return mirrors.alter_request(str(args["mirror"]), {BOOTSTRAP_SERVERS: servers(scene, str(args["servers"]))})


ORDERS: dict[str, MakeRequest] = {
    "create_mirror": _create,
    "add": _add,
    "remove": _remove,
    "pause": _pause,
    "resume": _resume,
    "delete_mirror": _delete_mirror,
    "describe_mirror": _describe_mirror,
    "create_topic": _create_topic,
    "grow_topic": _grow_topic,
    "delete_topic": _delete_topic,
    "delete_records": _delete_records,
    "alter_topic": _alter_topic,
    "reset_topic": _reset_topic,
    "alter_cluster": _alter_cluster,
    "reset_cluster": _reset_cluster,
    "alter_mirror": _alter_mirror,
    "point_mirror": _point_mirror,
}
"""Action to the function that makes its request."""
