"""The rules of data from a source: data that it replaced long ago is rejected (D60)."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.cluster.coordinators.groups.offsets import Committed, OffsetKey
from kmirror.histories.account import TopicChange, TopicConfigs
from kmirror.histories.monitors.frames import PendingRequest
from kmirror.histories.monitors.source_states import Commit, SourceStateMonitor, is_replaced
from kmirror.kernel.clock import SECOND
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.states import Wish
from kmirror.protocol.gen.create_topics_request import CreatableTopic, CreateTopicsRequest, MirrorInfo
from kmirror.protocol.gen.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kmirror.protocol.gen.offset_fetch_request import OffsetFetchRequest
from kmirror.protocol.gen.offset_fetch_response import (
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)
from kmirror.protocol.gen.remove_topics_from_mirror_request import RemoveTopicsFromMirrorRequest, TopicData
from kmirror.protocol.message import Message
from kmirror.records.batch import Batch, iter_batches
from kmirror.records.build import build_batch
from kmirror.records.record import RecordData
from kmirror.spec.topics import GROUP_TOPIC
from kmirror.spec.wire_values import ConfigOp, ResourceType
from tests.unit.histories.monitors import TP, FakeScene, Link, broken_rules, rules_of

pytestmark = pytest.mark.decision("D60")
SHARD = TopicPartition(GROUP_TOPIC, 0)
NAME = OffsetKey("g", TP)
NODES = {"a-1": ("a", 1), "a-2": ("a", 2), "b-1": ("b", 1), "b-controller": ("b", CONTROLLER_ID)}
FORMER, PRESENT = Uuid(b"the former topic"), Uuid(b"the topic as now")


class Log:
    """A coordinator's log, committed up to its end."""

    log_start_offset = 0

    def __init__(self) -> None:
        self.held: list[Batch] = []

    @property
    def log_end_offset(self) -> int:
        """Return the next offset."""
        return self.held[-1].last_offset + 1 if self.held else 0

    high_watermark = log_end_offset

    def batches(self, start: int) -> Iterator[Batch]:
        """Yield the batches from an offset on."""
        return (batch for batch in self.held if batch.base_offset >= start)


class Node:
    """A broker that leads the groups' shard, or believes so."""

    def __init__(self, node_id: int, leader_epoch: int) -> None:
        self.log = Log()
        led = SimpleNamespace(log=self.log, leader_epoch=leader_epoch)
        self.context = SimpleNamespace(node_id=node_id)
        runtime = SimpleNamespace(led_states=lambda: {0: None})
        replicas = SimpleNamespace(partitions={SHARD: led})
        components = SimpleNamespace(get=lambda kind: SimpleNamespace(runtime=runtime))
        self.parts = SimpleNamespace(components=components, replicas=replicas)

    def commit(self, *tokens: str) -> None:
        """Append a commit with each token."""
        for token in tokens:
            key, value = Committed(1, -1, token, 0).record(NAME)
            rows = [RecordData(key=key, value=value)]
            self.log.held += iter_batches(build_batch(rows, base_offset=self.log.log_end_offset))


class Stage:
    """Cluster b mirrors topic t0 of cluster a; in a broker 2 has succeeded broker 1 as coordinator."""

    def __init__(self) -> None:
        self.scene = FakeScene()
        self.deposed, self.coordinator, self.mirror = Node(1, 3), Node(2, 4), Node(1, 0)
        brokers: dict[str, Any] = {"a": {1: self.deposed, 2: self.coordinator}, "b": {1: self.mirror}}
        self.scene.clusters = {
            name: SimpleNamespace(cluster_id=f"id of {name}", runs=lambda _: True, broker=found.__getitem__)
            for name, found in brokers.items()
        }
        assignment = SimpleNamespace(mirror="m", wish=Wish.MIRROR)
        context = SimpleNamespace(
            sources={"m": SimpleNamespace(cluster_id="id of a")}, assignments={TP.topic: assignment}
        )
        self.scene.mirror_context = lambda cluster, _: context if cluster == "b" else None
        self.monitor = SourceStateMonitor(self.scene, rules_of(self.scene), NODES)  # type: ignore[arg-type]

    def ask(self, body: Message, *, now: int) -> list[str]:
        """Send a request from the mirror's broker to its controller; return the broken rules."""
        self.scene.now = now
        link: Any = Link("b-1", "b-controller")
        assert body.API_KEY is not None
        self.monitor.on_request(PendingRequest("b", CONTROLLER_ID, link, body.API_KEY, 0, body, 0))
        return broken_rules(self.scene)

    def handle(self, cluster: str, node: Node) -> list[str]:
        """Observe enough events of a node for one check; return the broken rules."""
        for _ in range(SourceStateMonitor.EVERY):
            self.monitor.broker_handled(cluster, node)  # type: ignore[arg-type]
        return broken_rules(self.scene)

    def fetch(self, node: Node, token: str) -> None:
        """Deliver a response with one offset from a broker of the source to the mirror."""
        row = OffsetFetchResponsePartitions(partition_index=0, committed_offset=1, metadata=token)
        group = OffsetFetchResponseGroup("g", [OffsetFetchResponseTopics(name=TP.topic, partitions=[row])])
        body, link = OffsetFetchRequest(), Link("b-1", f"a-{node.context.node_id}")
        pending = PendingRequest("a", node.context.node_id, link, body.API_KEY, 8, body, 0)  # type: ignore[arg-type]
        pending.answer = OffsetFetchResponse(groups=[group])
        self.monitor.on_response_sent(pending)


@pytest.fixture
def stage() -> Stage:
    return Stage()


def altered(value: str | None) -> IncrementalAlterConfigsRequest:
    kind = ConfigOp.DELETE if value is None else ConfigOp.SET
    row = AlterableConfig(name="retention.ms", config_operation=kind, value=value)
    return IncrementalAlterConfigsRequest(resources=[AlterConfigsResource(ResourceType.TOPIC, TP.topic, [row])])


@pytest.mark.parametrize(
    ("value", "now_s", "is_right"),
    [("1", 24, True), ("1", 26, False), ("2", 26, True), ("3", 26, False), (None, 26, False), ("3", 14, True)],
)
def test_a_config_gets_a_current_or_recent_value_of_the_source(
    stage: Stage, value: str | None, now_s: int, is_right: bool
) -> None:
    seen = [TopicConfigs("a", TP.topic, {"retention.ms": text}, at) for text, at in (("1", 0), ("2", 10 * SECOND))]
    stage.scene.account.topic_configs += seen
    assert stage.ask(altered(value), now=now_s * SECOND) == ([] if is_right else ["config-outdated"])


@pytest.mark.parametrize(
    ("topic_id", "now_s", "is_right"), [(FORMER, 24, True), (FORMER, 26, False), (PRESENT, 26, True)]
)
def test_a_topic_is_created_with_its_current_or_recent_id(
    stage: Stage, topic_id: Uuid, now_s: int, is_right: bool
) -> None:
    changes = ((FORMER, True, 0), (FORMER, False, 10 * SECOND), (PRESENT, True, 10 * SECOND))
    stage.scene.account.topics += [TopicChange("a", TP.topic, str(id_), there, at) for id_, there, at in changes]
    wanted = CreatableTopic(TP.topic, 1, 1, mirror_info=MirrorInfo(topic_id=topic_id))
    found = stage.ask(CreateTopicsRequest(topics=[wanted]), now=now_s * SECOND)
    assert found == ([] if is_right else ["created-outdated"])


@pytest.mark.parametrize("exists", [True, False])
def test_a_topic_that_the_source_has_is_not_stopped(stage: Stage, exists: bool) -> None:
    stage.scene.account.topics.append(TopicChange("a", TP.topic, str(PRESENT), exists, 0))
    request = RemoveTopicsFromMirrorRequest(mirror_name="m", topics=[TopicData(topic_name=TP.topic)])
    assert stage.ask(request, now=14 * SECOND) == []
    assert stage.ask(request, now=15 * SECOND) == (["stopped-outdated"] if exists else [])


@pytest.mark.parametrize(
    ("told_by", "is_right"), [(("coordinator",), True), (("deposed",), False), (("coordinator", "deposed"), True)]
)
def test_an_offset_is_the_one_that_the_coordinator_has(stage: Stage, told_by: tuple[str, ...], is_right: bool) -> None:
    stage.deposed.commit("t1")
    stage.coordinator.commit("t1", "t2")
    for node in (stage.coordinator, stage.deposed):
        stage.handle("a", node)
    stage.handle("b", stage.mirror)
    for name in told_by:
        stage.fetch(getattr(stage, name), "t1")
    stage.mirror.commit("t1")
    assert stage.handle("b", stage.mirror) == ([] if is_right else ["offset-outdated"])


def test_a_deposed_coordinator_that_knows_the_newest_offset_is_right(stage: Stage) -> None:
    stage.coordinator.commit("t1")
    for cluster, node in (("a", stage.coordinator), ("b", stage.mirror)):
        stage.handle(cluster, node)
    stage.fetch(stage.deposed, "t1")
    stage.mirror.commit("t1")
    assert stage.handle("b", stage.mirror) == []


def test_a_commit_is_replaced_only_by_a_later_one() -> None:
    rows = [Commit(number, token, is_transactional=False) for number, token in enumerate(("t1", "t2", "t1"))]
    assert is_replaced(rows, "t2") and is_replaced(rows[:2], "t1")
    assert not is_replaced(rows, "t1") and not is_replaced(rows, "t3")
    assert not is_replaced([*rows, Commit(3, "t4", is_transactional=True)], "t2")
