"""Rules of a mirror's actions: topics, configs and offsets follow the current state of the source (D60).

A source broker that has lost its controller continues to respond with outdated state. If a mirror acts on a state that
the source's controller, or a group's current coordinator, replaced long ago, it comes from such a broker.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, TypeVar

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.cluster.broker.broker import Broker
from kmirror.cluster.coordinators.groups.coordinator import GroupCoordinator
from kmirror.cluster.coordinators.groups.offsets import OffsetKey
from kmirror.cluster.node.partition import Partition
from kmirror.histories.monitors.frames import FrameMonitor, PendingRequest
from kmirror.histories.monitors.rules import Monitor, Rules
from kmirror.histories.monitors.sources import Sources
from kmirror.histories.scene import Scene
from kmirror.kernel.clock import SECOND, Duration, Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.mirror.context import MirrorContext
from kmirror.mirror.states import Wish
from kmirror.protocol.gen.create_topics_request import CreateTopicsRequest
from kmirror.protocol.gen.incremental_alter_configs_request import IncrementalAlterConfigsRequest
from kmirror.protocol.gen.offset_commit_key import OffsetCommitKey
from kmirror.protocol.gen.offset_commit_value import OffsetCommitValue
from kmirror.protocol.gen.offset_fetch_request import OffsetFetchRequest
from kmirror.protocol.gen.offset_fetch_response import (
    OffsetFetchResponse,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)
from kmirror.protocol.gen.remove_topics_from_mirror_request import RemoveTopicsFromMirrorRequest
from kmirror.protocol.keyed_records import decode_record
from kmirror.sim.network import Link
from kmirror.spec.topics import GROUP_TOPIC
from kmirror.spec.wire_values import ConfigOp, ResourceType

OUTDATED_AFTER: Duration = 15 * SECOND
"""Responses from before a change this long ago have been carried out by now."""


class _Dated(Protocol):
    @property
    def at(self) -> Instant: ...

    @property
    def cluster(self) -> str: ...


T = TypeVar("T", bound=_Dated)


@dataclass(slots=True)
class Commit:
    """A group's offset in a coordinator's log."""

    offset: int
    """Offset of the record."""
    token: str
    """Metadata, which identifies the commit."""
    is_transactional: bool


class _OffsetResponse(NamedTuple):
    """Last response with an offset of a group from a broker of the source."""

    at: Instant
    is_outdated: bool
    """The broker no longer coordinates the group, and its successor has committed another offset."""


@dataclass(slots=True)
class _GroupLog:
    """Commits read from the log of one coordinator in one leader epoch."""

    broker_id: int
    leader_epoch: int
    end: int = 0
    """Offset up to which the log was read, exclusive."""
    commits: dict[OffsetKey, list[Commit]] = field(default_factory=dict)
    high_watermark: int = 0


class SourceStateMonitor(FrameMonitor, Monitor):
    """Judges requests that brokers send to their controller for a mirror, and group offsets that it commits."""

    APIS = ("CreateTopics", "IncrementalAlterConfigs", "RemoveTopicsFromMirror", "OffsetFetch")
    EVERY = 8
    """Records stay in a coordinator's log, so it is enough to check after some events."""

    def __init__(self, scene: Scene, rules: Rules, nodes: Mapping[str, tuple[str, int]]) -> None:
        self._scene = scene
        self._rules = rules
        self._nodes = nodes
        self._sources = Sources(scene)
        self._logs: dict[tuple[str, int], _GroupLog] = {}
        """Logs by cluster and partition of `__consumer_offsets`, of the leader with the highest epoch."""
        self._offset_responses: dict[tuple[str, OffsetKey, str], _OffsetResponse] = {}
        """Responses by the cluster that received it, the offset's key, and its token."""

    # -- requests to controllers ------------------------------------------------------------------

    def judges(self, link: Link) -> bool:
        """Return whether a broker is the client, and the server is its controller or a source broker."""
        server, client = self._nodes.get(link.server), self._nodes.get(link.client)
        if server is None or client is None:
            return False
        return (server[1] == CONTROLLER_ID) is (server[0] == client[0])

    def on_request(self, pending: PendingRequest) -> None:
        body, cluster = pending.body, pending.cluster
        if isinstance(body, CreateTopicsRequest):
            ids = [(row.name, str(row.mirror_info.topic_id)) for row in body.topics if row.mirror_info is not None]
            for topic, topic_id in ids:
                self._check_topic_id(cluster, topic, topic_id)
        elif isinstance(body, IncrementalAlterConfigsRequest):
            for resource in body.resources:
                for row in resource.configs if resource.resource_type == ResourceType.TOPIC else ():
                    value = None if row.config_operation == ConfigOp.DELETE else row.value
                    self._check_config(cluster, resource.resource_name, row.name, value)
        elif isinstance(body, RemoveTopicsFromMirrorRequest):
            broker_id = self._nodes[pending.link.client][1]
            topics = [topic.topic_name for topic in body.topics]
            self._check_stop(cluster, broker_id, body.mirror_name, topics)

    def _check_topic_id(self, cluster: str, topic: str, topic_id: str) -> None:
        """Check that a topic is not created with an id that no other cluster has had recently, though one had it
        before.
        """
        rows = [row for row in self._scene.account.topics if row.topic == topic and row.cluster != cluster]
        earlier_ids = {row.topic_id for row in rows}
        recent_ids = {
            row.topic_id for some in self._split_by_cluster(rows) for row in self._recently_valid(some) if row.exists
        }
        if topic_id in earlier_ids - recent_ids:
            known_ids = ", ".join(sorted(recent_ids)) or "none"
            text = f"topic {topic} is created with id {topic_id}, but the source had {known_ids}"
            self._report(cluster, TopicPartition(topic, 0), "created-outdated", text)

    def _check_config(self, cluster: str, topic: str, name: str, value: str | None) -> None:
        """Check that a config of a topic does not get a value that it has had in no other cluster recently."""
        rows = [row for row in self._scene.account.topic_configs if row.topic == topic and row.cluster != cluster]
        if name.startswith("mirror.") or all(row.at > self._scene.now - OUTDATED_AFTER for row in rows):
            return
        values = [row.configs.get(name) for some in self._split_by_cluster(rows) for row in self._recently_valid(some)]
        if value not in values:
            text = f"{name} becomes {value}, but at the source it was {' or '.join(dict.fromkeys(map(str, values)))}"
            self._report(cluster, TopicPartition(topic, 0), "config-outdated", text)

    def _check_stop(self, cluster: str, broker_id: int, mirror: str, topics: Iterable[str]) -> None:
        """Check that the source has not always had a topic that is stopped because the source lacks it."""
        if not self._scene.clusters[cluster].runs(broker_id):
            return
        context = self._scene.mirror_context(cluster, broker_id)
        source = "" if context is None else self._sources.source_cluster(context, mirror)
        for topic in topics:
            rows = [row for row in self._scene.account.topics if (row.cluster, row.topic) == (source, topic)]
            if rows and rows[-1].exists and rows[-1].at <= self._scene.now - OUTDATED_AFTER:
                text = f"topic {topic} of mirror {mirror} is stopped, although {source} has it"
                self._report(cluster, TopicPartition(topic, 0), "stopped-outdated", text)

    def _split_by_cluster(self, rows: Sequence[T]) -> Iterator[list[T]]:
        for cluster in self._scene.clusters:
            yield [row for row in rows if row.cluster == cluster]

    def _recently_valid(self, rows: Sequence[T]) -> list[T]:
        """Return the rows that were valid at some recent time; each row is valid until the next one."""
        since = self._scene.now - OUTDATED_AFTER
        before = [row for row in rows if row.at <= since]
        return [*before[-1:], *(row for row in rows if row.at > since)]

    # -- offsets of groups ------------------------------------------------------------------------

    def broker_handled(self, cluster: str, broker: Broker) -> None:
        for index in broker.parts.components.get(GroupCoordinator).runtime.led_states():
            led = broker.parts.replicas.partitions.get(TopicPartition(GROUP_TOPIC, index))
            if led is not None:
                self._read_new_records(cluster, broker.context.node_id, index, led)

    def _read_new_records(self, cluster: str, broker_id: int, index: int, led: Partition) -> None:
        """Read the new records of a coordinator's log; records from before its current leader epoch are not judged."""
        known = self._logs.get((cluster, index))
        if known is not None and led.leader_epoch < known.leader_epoch:
            return  # It was deposed, and does not know it.
        if known is None or (known.broker_id, known.leader_epoch) != (broker_id, led.leader_epoch):
            known = self._logs[cluster, index] = _GroupLog(broker_id, led.leader_epoch)
            for _ in self._rows(known, led):
                pass
        elif known.end < led.log.log_end_offset:
            context = self._scene.mirror_context(cluster, broker_id)
            for key, row in self._rows(known, led):
                self._check_commit(cluster, index, context, key, row)
        known.high_watermark = led.log.high_watermark

    def _rows(self, known: _GroupLog, led: Partition) -> Iterator[tuple[OffsetKey, Commit]]:
        for batch in led.log.batches(max(known.end, led.log.log_start_offset)):
            for record in () if batch.is_control else batch.records():
                if record.key is None or int.from_bytes(record.key[:2], "big") != OffsetCommitKey.API_KEY:
                    continue
                name, value, _ = decode_record(GROUP_TOPIC, record.key, record.value)
                assert isinstance(name, OffsetCommitKey), "by its type"
                key = OffsetKey(name.group, TopicPartition(name.topic, name.partition))
                token = value.metadata if isinstance(value, OffsetCommitValue) else ""
                row = Commit(record.offset, token, batch.is_transactional)
                known.commits.setdefault(key, []).append(row)
                yield key, row
        known.end = led.log.log_end_offset

    def on_response_sent(self, pending: PendingRequest) -> None:
        """Record the offsets in a source broker's response, and whether it still coordinates the group."""
        if not isinstance(pending.answer, OffsetFetchResponse) or not isinstance(pending.body, OffsetFetchRequest):
            return
        cluster = self._nodes[pending.link.client][0]
        for key, token in _offsets(pending.body, pending.answer):
            last, is_outdated = (
                self._offset_responses.get((cluster, key, token)),
                self._is_outdated(pending, key, token),
            )
            if not is_outdated or last is None or last.is_outdated or last.at <= self._scene.now - OUTDATED_AFTER:
                self._offset_responses[cluster, key, token] = _OffsetResponse(self._scene.now, is_outdated)

    def _is_outdated(self, pending: PendingRequest, key: OffsetKey, token: str) -> bool:
        replicas = self._scene.clusters[pending.cluster].broker(pending.node_id).parts.replicas
        for (cluster, index), log in self._logs.items():
            led = replicas.partitions.get(TopicPartition(GROUP_TOPIC, index))
            if cluster == pending.cluster and led is not None and led.leader_epoch < log.leader_epoch:
                commits = [row for row in log.commits.get(key, ()) if row.offset < log.high_watermark]
                if is_replaced(commits, token):
                    return True
        return False

    def _check_commit(
        self, cluster: str, index: int, context: MirrorContext | None, key: OffsetKey, row: Commit
    ) -> None:
        """Check that a mirror does not commit an offset that it got only from a former coordinator."""
        assignment = None if context is None else context.assignments.get(key.tp.topic)
        response = self._offset_responses.get((cluster, key, row.token))
        if assignment is None or assignment.wish is not Wish.MIRROR or response is None:
            return
        if response.is_outdated and response.at > self._scene.now - OUTDATED_AFTER:
            text = f"{key.group} for {key.tp}: {row.token} is committed, but the source's coordinator has replaced it"
            self._report(cluster, TopicPartition(GROUP_TOPIC, index), "offset-outdated", text)

    def _report(self, cluster: str, tp: TopicPartition, rule: str, text: str) -> None:
        self._rules.report(cluster, CONTROLLER_ID, tp, rule, text)


def is_replaced(commits: Sequence[Commit], token: str) -> bool:
    """Return whether another commit followed the last one with this token.

    With commits in transactions the result is False, because the order of their markers is not known.
    """
    places = [number for number, row in enumerate(commits) if row.token == token]
    return bool(places) and places[-1] < len(commits) - 1 and not any(row.is_transactional for row in commits)


def _offsets(request: OffsetFetchRequest, answer: OffsetFetchResponse) -> Iterator[tuple[OffsetKey, str]]:
    """Yield the offsets in a response, each with the token of its commit."""
    topics: list[tuple[str, OffsetFetchResponseTopics | OffsetFetchResponseTopic]] = [
        *((row.group_id, topic) for row in answer.groups for topic in row.topics),
        *((request.group_id, topic) for topic in answer.topics),
    ]
    for group, topic in topics:
        for row in topic.partitions:
            if row.metadata:
                yield OffsetKey(group, TopicPartition(topic.name, row.partition_index)), row.metadata
