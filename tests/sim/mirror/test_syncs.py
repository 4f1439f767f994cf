"""Configs, partitions and offsets of groups follow the source, topics stop with it (D16, D17)."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.hooks.hooks import Hooks
from kmirror.kernel.ids import TopicPartition
from kmirror.mirror.states import MirrorState
from kmirror.mirror.sync_errors import SyncKind
from kmirror.mirror.syncs import source_configs
from kmirror.mirror.syncs.report import SyncProblem
from kmirror.mirror.syncs.source_configs import TOPICS_MAX, ResponseCache, SourceConfigs, read
from kmirror.protocol.gen.delete_records_request import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from kmirror.protocol.gen.delete_records_response import DeleteRecordsResponse
from kmirror.protocol.gen.describe_configs_request import DescribeConfigsRequest
from kmirror.protocol.gen.describe_configs_response import (
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from kmirror.protocol.gen.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kmirror.protocol.gen.join_group_request import JoinGroupRequest, JoinGroupRequestProtocol
from kmirror.protocol.gen.join_group_response import JoinGroupResponse
from kmirror.protocol.gen.list_groups_request import ListGroupsRequest
from kmirror.protocol.gen.list_groups_response import ListedGroup, ListGroupsResponse
from kmirror.protocol.gen.offset_fetch_request import OffsetFetchRequest
from kmirror.protocol.gen.sync_group_request import SyncGroupRequest, SyncGroupRequestAssignment
from kmirror.protocol.message import Message
from kmirror.records.record import RecordData
from kmirror.sim.producer import Producer
from kmirror.sim.simulation import Simulation
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import ConfigOp, ConfigSource, ResourceType
from tests.sim.coordinators.offset_requests import Found, OffsetRequests
from tests.sim.mirror.test_old_sources import RELEASES, OldMirror
from tests.sim.stage import SMALL, TOPIC, TP, Pair, StagedCluster, assert_equal, pair, wait_until_mirrored

pytestmark = pytest.mark.decision("D17")
INTERVAL_S = int(SMALL["mirror.metadata.refresh.interval.ms"]) / 1000


def cycle(p: Pair, count: int = 1) -> None:
    """Let `count` cycles run."""
    p.simulation.run_for(span_s=count * INTERVAL_S + 1)


def configs_here(p: Pair, topic: str = TOPIC) -> dict[str, str]:
    return {name: text for name, text in p.b.image.configs.topic(topic).items() if not name.startswith("mirror.")}


def remove(p: Pair, name: str) -> None:
    """Delete a config of the source's topic."""
    row = AlterableConfig(name=name, config_operation=ConfigOp.DELETE, value=None)
    resource = AlterConfigsResource(resource_type=ResourceType.TOPIC, resource_name=TOPIC, configs=[row])
    p.a.client.call(p.a.endpoints()[0], IncrementalAlterConfigsRequest(resources=[resource]), 1)


def problems(p: Pair) -> dict[str, str]:
    """Collect the problems of syncs from now on: subject to reason."""
    told: dict[str, str] = {}
    p.simulation.on(SyncProblem, lambda seen: told.__setitem__(seen.fact.subject, seen.fact.reason))
    return told


def errors(p: Pair) -> Mapping[SyncKind, int]:
    counts = [p.b.component(broker_id).context.sync_errors.counts for broker_id in p.b.living()]
    return {kind: sum(each[kind] for each in counts) for kind in SyncKind}


def pair_with_hooks(release: str = "") -> tuple[Pair, Hooks]:
    """Return a pair whose source is controlled by hooks, and may emulate an earlier release."""
    simulation, hooks = Simulation(0), Hooks()
    if release:
        hooks.play(release)
    a = StagedCluster(simulation, "a", configs=SMALL, interpose=hooks)
    b = StagedCluster(simulation, "b", configs=SMALL)
    a.start()
    b.start()
    return Pair(simulation, a, b), hooks


# -- configs ----------------------------------------------------------------------------------


def test_a_compacted_topic_arrives_compacted_and_follows_its_configs() -> None:
    p = pair()
    p.a.create_topic(
        TOPIC, configs={"cleanup.policy": "compact", "min.insync.replicas": "1", "retention.ms": "86400000"}
    )
    Producer(p.a).send({TP: [RecordData(key=b"k", value=b"r0")]})
    p.begin()
    assert configs_here(p) == {"cleanup.policy": "compact", "retention.ms": "86400000"}, "without what is excluded"
    assert p.a.alter(TOPIC, {"retention.ms": "3600000", "segment.ms": "60000"}) is ErrorCode.NONE
    assert p.b.alter(TOPIC, {"min.insync.replicas": "3", "max.message.bytes": "2000000"}) is ErrorCode.NONE
    cycle(p)
    assert configs_here(p) == {
        "cleanup.policy": "compact",
        "retention.ms": "3600000",
        "segment.ms": "60000",
        "min.insync.replicas": "3",
    }, "what users alter here goes, unless it is excluded"
    remove(p, "segment.ms")
    cycle(p)
    assert "segment.ms" not in configs_here(p)
    assert errors(p) == dict.fromkeys(SyncKind, 0)
    assert_equal(p.there)


def test_an_equal_response_of_the_source_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request contains some of the topics, so one changed topic costs the decoding of few."""
    names = [f"t{number}" for number in range(2 * TOPICS_MAX)]
    p = pair(brokers=1)
    for name in names:
        p.a.create_topic(name, configs={"retention.ms": "86400000"})
    p.there.create()
    p.there.add_topics(names)
    p.there.catch_up()
    cycle(p)
    answers: list[object] = []
    monkeypatch.setattr(source_configs, "read", lambda reply: answers.append(reply) or read(reply))
    cycle(p, 2)
    assert answers == []
    assert p.a.alter("t7", {"retention.ms": "3600000"}) is ErrorCode.NONE
    cycle(p)
    assert len(answers) == 1 and configs_here(p, "t7") == {"retention.ms": "3600000"}
    assert p.b.alter("t7", {"retention.ms": "1"}) is ErrorCode.NONE
    cycle(p)
    assert len(answers) == 1 and configs_here(p, "t7") == {"retention.ms": "3600000"}, "altered back unread"


def test_old_responses_are_removed_from_the_cache() -> None:
    known, answer = ResponseCache(), SourceConfigs()
    for digest in (b"1", b"2", b"3"):
        known.add(digest, answer)
    assert known.find(b"1") is answer
    known.shrink(2)
    assert [known.find(digest) for digest in (b"1", b"2", b"3")] == [answer, None, answer]


def test_the_filters_are_read_in_each_cycle() -> None:
    p = pair()
    p.a.create_topic(TOPIC, configs={"retention.ms": "86400000"})
    p.begin()
    assert (
        p.b.alter("m", {"mirror.topic.properties.exclude": "retention.*"}, kind=ResourceType.MIRROR) is ErrorCode.NONE
    )
    assert p.a.alter(TOPIC, {"retention.ms": "1", "min.insync.replicas": "1"}) is ErrorCode.NONE
    cycle(p)
    assert configs_here(p) == {"retention.ms": "86400000", "min.insync.replicas": "1"}


def test_unknown_configs_are_reported_and_the_rest_is_copied() -> None:
    p, hooks = pair_with_hooks()
    told = problems(p)
    p.a.create_topic(TOPIC, configs={"retention.ms": "86400000"})
    p.a.create_topic("other", configs={"cleanup.policy": "compact"})
    hooks.on(DescribeConfigsRequest).respond(lambda request: with_configs_of_later(request.body))
    p.begin([TOPIC, "other"])
    cycle(p)
    assert configs_here(p) == configs_here(p, "other") == {"retention.ms": "1234567"}
    assert told[f"config of.a.later.release of topic {TOPIC}"] == "Unknown topic config name: of.a.later.release"
    assert "Tiered Storage" in told["config remote.storage.enable of topic other"]
    before = errors(p)[SyncKind.CONFIGS]
    assert before > 0
    hooks.clear()
    cycle(p, 2)
    assert told[f"config of.a.later.release of topic {TOPIC}"] == "", "that is over"
    assert configs_here(p, "other") == {"cleanup.policy": "compact"}


def with_configs_of_later(request: Message) -> DescribeConfigsResponse:
    """Answer like a source with unknown configs, and with tiered storage."""
    assert isinstance(request, DescribeConfigsRequest)
    told = {"of.a.later.release": "1", "remote.storage.enable": "true", "retention.ms": "1234567"}
    rows = [
        DescribeConfigsResourceResult(name=name, value=text, config_source=ConfigSource.TOPIC)
        for name, text in told.items()
    ]
    rows.append(DescribeConfigsResourceResult(name="segment.ms", value="5", config_source=ConfigSource.STATIC))
    return DescribeConfigsResponse(
        results=[
            DescribeConfigsResult(0, None, ResourceType.TOPIC, resource.resource_name, rows)
            for resource in request.resources
        ]
    )


def test_a_topic_without_describe_configs_rights_waits_alone() -> None:
    p, hooks = pair_with_hooks()
    told = problems(p)
    p.a.create_topic(TOPIC, configs={"cleanup.policy": "compact"})
    p.a.place_topic("other")
    denial = hooks.on(DescribeConfigsRequest).respond(lambda request: denied_for(request.body, TOPIC))
    p.there.create()
    p.there.add_topics([TOPIC, "other"])
    wait_until_mirrored(p.there, ["other"])
    cycle(p, 2)
    assert TOPIC not in p.b.image.topics, "a compacted topic must not arrive as one that deletes by age"
    assert "TOPIC_AUTHORIZATION_FAILED" in told[f"topic {TOPIC}"]
    denial.remove()
    wait_until_mirrored(p.there)
    assert configs_here(p) == {"cleanup.policy": "compact"}


def denied_for(request: Message, topic: str) -> DescribeConfigsResponse:
    assert isinstance(request, DescribeConfigsRequest)
    error = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    return DescribeConfigsResponse(
        results=[
            DescribeConfigsResult(
                error if row.resource_name == topic else 0, None, row.resource_type, row.resource_name, []
            )
            for row in request.resources
        ]
    )


# -- partitions -------------------------------------------------------------------------------


def test_partitions_that_are_added_at_the_source_are_mirrored() -> None:
    p = pair()
    p.a.place_topic()
    p.a.write("r0")
    p.begin()
    assert p.b.grow(TOPIC, 3) is ErrorCode.READ_ONLY_TOPIC, "only the source says how many there are"
    assert p.a.grow(TOPIC, 3) is ErrorCode.NONE
    added = TopicPartition(TOPIC, 2)
    p.a.write("r1", tp=added)
    p.run_until(lambda: p.b.state(added) == "MIRRORING", "the new partition")
    assert_equal(p.there)
    assert len(p.b.image.topics[TOPIC].partitions) == 3
    assert errors(p) == dict.fromkeys(SyncKind, 0)


def test_a_broker_that_led_nothing_for_a_while_requests_the_source_again() -> None:
    """Its knowledge of the source is from the time when it led the topic, which had one partition then."""
    p = pair()
    p.a.place_topic()
    p.a.write("r0")
    p.begin()
    deposed = p.b.await_leader().broker_id
    line = p.simulation.line(p.b.process(deposed), p.b.process(CONTROLLER_ID))
    line.take_down()
    p.run_until(lambda: p.b.image.topics[TOPIC].partitions[0].leader not in (deposed, -1), "another leader")
    line.bring_up()
    p.b.settle()
    p.simulation.run_for(span_s=20)  # Some regular refreshes.
    assert p.a.grow(TOPIC, 7) is ErrorCode.NONE
    added = [TopicPartition(TOPIC, partition) for partition in range(1, 7)]
    p.run_until(lambda: {p.b.state(tp) for tp in added} == {"MIRRORING"}, "the new partitions")
    assert deposed in {p.b.await_leader(tp).broker_id for tp in added}


def test_a_paused_topic_is_not_synced() -> None:
    p = pair()
    p.a.place_topic()
    groups = OffsetRequests(p.a)
    groups.create()
    p.begin()
    p.there.pause([TOPIC])
    p.run_until(lambda: p.b.state() == "PAUSED", "the pause")
    p.a.grow(TOPIC, 2)
    p.a.alter(TOPIC, {"retention.ms": "1"})
    groups.commit(0)
    cycle(p, 3)
    assert (len(p.b.image.topics[TOPIC].partitions), configs_here(p)) == (1, {})
    assert "__consumer_offsets" not in p.b.image.topics, "nobody has committed here"
    p.there.resume([TOPIC])
    p.run_until(lambda: len(p.b.image.topics[TOPIC].partitions) == 2, "the growth")
    cycle(p, 2)
    assert configs_here(p) == {"retention.ms": "1"}
    assert OffsetRequests(p.b).get().offset == 0


# -- deletion and other topics ----------------------------------------------------------------


@pytest.mark.decision("D16")
def test_a_topic_that_the_source_deletes_is_stopped() -> None:
    p = pair()
    p.a.place_topic()
    p.a.place_topic("other")
    p.a.write("r0")
    p.begin([TOPIC, "other"])
    p.a.delete(TOPIC)
    p.run_until(lambda: p.b.state() == "STOPPED", "the stop")
    assert p.b.try_write() is ErrorCode.NONE, "what was mirrored is kept, and can be used"
    assert p.b.state(TopicPartition("other", 0)) == "MIRRORING"
    p.a.write("more", tp=TopicPartition("other", 0))
    wait_until_mirrored(p.there, ["other"])


@pytest.mark.decision("D16")
def test_a_topic_recreated_at_the_source_fails() -> None:
    p = pair()
    p.a.place_topic()
    p.begin()
    p.a.delete(TOPIC)
    p.simulation.run_for(span_s=0.3)
    p.a.place_topic()
    p.run_until(lambda: p.b.state() == "FAILED", "the other id")
    cycle(p, 3)
    assert p.b.state() == "FAILED"


@pytest.mark.decision("D16")
def test_nothing_is_synced_from_another_cluster_until_the_source_returns() -> None:
    p = pair()
    told = problems(p)
    p.a.place_topic()
    p.begin()
    c = p.third()
    c.create_topic(TOPIC, partitions=4, configs={"retention.ms": "1"})
    servers = {"bootstrap.servers": c.bootstrap_servers}
    assert p.b.alter("m", servers, kind=ResourceType.MIRROR) is ErrorCode.NONE
    p.run_until(lambda: bool(told.get("its source")), "the halt")
    cycle(p, 3)
    assert (len(p.b.image.topics[TOPIC].partitions), configs_here(p), p.b.state()) == (1, {}, "MIRRORING")
    assert errors(p)[SyncKind.METADATA] >= 2, "one for each cycle"
    p.a.grow(TOPIC, 2)
    servers = {"bootstrap.servers": p.a.bootstrap_servers}
    assert p.b.alter("m", servers, kind=ResourceType.MIRROR) is ErrorCode.NONE
    p.run_until(lambda: p.b.state(TopicPartition(TOPIC, 1)) == "MIRRORING", "the growth")
    assert told["its source"] == ""


# -- groups -----------------------------------------------------------------------------------


def with_groups(
    p: Pair | None = None, *, create_here: bool = True, mirror: Mapping[str, str] | None = None
) -> tuple[Pair, OffsetRequests, OffsetRequests]:
    """Return a mirror of TP with ten records, and the requests of a group at both clusters."""
    p = p or pair()
    p.a.place_topic()
    p.a.write(*"0123456789")
    there, here = OffsetRequests(p.a), OffsetRequests(p.b)
    there.create()
    if create_here:
        here.create()
    p.there.create(mirror)
    p.there.add_topics([TOPIC])
    wait_until_mirrored(p.there)
    return p, there, here


def join(group: OffsetRequests) -> str:
    """Make the group active; return the id of its only member, in generation 1."""
    protocols = [JoinGroupRequestProtocol(name="range", metadata=b"")]
    request = JoinGroupRequest(
        group_id=group.group, session_timeout_ms=60_000, rebalance_timeout_ms=60_000, member_id="",
        protocol_type="consumer", protocols=protocols,
    )  # fmt: skip
    joined = group.call(request, 3)
    assert isinstance(joined, JoinGroupResponse) and joined.generation_id == 1, joined
    assignments = [SyncGroupRequestAssignment(member_id=joined.member_id, assignment=b"")]
    group.call(SyncGroupRequest(group.group, 1, joined.member_id, assignments=assignments), 2)
    return joined.member_id


def test_offsets_follow_with_their_epoch_and_metadata_forwards_and_backwards() -> None:
    p, there, here = with_groups(create_here=False)
    there.commit(7, epoch=0, metadata="seven")
    cycle(p, 2)
    assert here.get() == Found(7, 0, "seven")
    there.commit(3, epoch=0)
    cycle(p)
    assert here.get() == Found(3, 0, ""), "a reset"
    before = here.offsets.latest
    end = p.b.log(here.shard).log_end_offset
    cycle(p, 3)
    assert p.b.log(here.shard).log_end_offset == end, f"nothing is written while nothing changes: {before}"
    assert errors(p) == dict.fromkeys(SyncKind, 0)


@pytest.mark.parametrize(("clamp", "offset"), [("false", Found(10_000, 0)), ("true", Found(10))])
def test_an_offset_above_the_local_end_is_committed_unchanged_or_clamped(clamp: str, offset: Found) -> None:
    p, there, here = with_groups(mirror={"mirror.groups.clamp": clamp})
    there.commit(10_000, epoch=0)
    cycle(p)
    assert here.get() == offset


def test_offsets_are_clamped_once_the_mirror_is_configured_so() -> None:
    p, there, here = with_groups()
    there.commit(10_000, epoch=0)
    cycle(p)
    assert here.get() == Found(10_000, 0)
    assert p.b.alter("m", {"mirror.groups.clamp": "true"}, kind=ResourceType.MIRROR) is ErrorCode.NONE
    cycle(p, 2)
    assert here.get() == Found(10)


def test_an_offset_below_a_raised_log_start_is_clamped() -> None:
    p, there, here = with_groups(mirror={"mirror.groups.clamp": "true"})
    there.commit(5, epoch=0)
    cycle(p)
    assert here.get() == Found(5, 0)
    rows = [DeleteRecordsPartition(partition_index=TP.partition, offset=8)]
    request = DeleteRecordsRequest(topics=[DeleteRecordsTopic(name=TP.topic, partitions=rows)], timeout_ms=60_000)
    answer = p.a.client.call(p.a.endpoint(p.a.await_leader(TP).broker_id), request, 2)
    assert isinstance(answer, DeleteRecordsResponse) and answer.topics[0].partitions[0].low_watermark == 8
    cycle(p, 2)
    assert here.get() == Found(8)


@pytest.mark.decision("D61")
@pytest.mark.parametrize(("pattern", "is_copied"), [("g{1,2}", True), (r"\p{Lower}", True), (r"\p{Upper}", False)])
def test_groups_are_matched_by_regular_expressions_of_java(pattern: str, is_copied: bool) -> None:
    p, there, here = with_groups(mirror={"mirror.groups.include": pattern})
    there.commit(7, epoch=0)
    cycle(p, 2)
    assert here.get().offset == (7 if is_copied else -1)


def test_only_the_groups_that_match_are_copied() -> None:
    p, _, here = with_groups(mirror={"mirror.groups.include": "app-.*,g2"})
    names = ("g", "g2", "app-1", "my-app-1")
    for name in names:
        group = OffsetRequests(p.a, name)
        group.create()
        assert group.commit(5) is ErrorCode.NONE
    cycle(p)
    assert {name: OffsetRequests(p.b, name).get().offset for name in names} == {
        "g": -1, "g2": 5, "app-1": 5, "my-app-1": -1,
    }  # fmt: skip
    assert p.b.alter("m", {"mirror.groups.include": "g"}, kind=ResourceType.MIRROR) is ErrorCode.NONE
    cycle(p)
    assert here.get().offset == 5


def test_a_group_that_is_active_here_keeps_its_offsets() -> None:
    p, there, here = with_groups()
    told = problems(p)
    member = join(here)
    assert here.commit(2, member=member, generation=1) is ErrorCode.NONE
    there.commit(7)
    cycle(p)
    assert here.get().offset == 2
    assert told["group g"] == "it is active in this cluster"
    assert errors(p) == dict.fromkeys(SyncKind, 0), "that is no error"


def test_offsets_for_topics_that_are_not_mirrored_are_not_changed() -> None:
    p, there, here = with_groups()
    p.a.place_topic("payments")
    p.b.place_topic("payments")
    there.commit(7)
    there.commit(1, tp=TopicPartition("payments", 0))
    cycle(p)
    assert here.fetch() == {TP: Found(7)}


def test_a_stopped_topic_keeps_local_commits() -> None:
    p, there, here = with_groups()
    there.commit(7)
    cycle(p)
    p.fail_over()
    assert here.commit(11) is ErrorCode.NONE
    there.commit(9)
    cycle(p, 3)
    assert here.get().offset == 11


def test_one_broker_of_the_source_that_hangs_costs_only_its_groups() -> None:
    p, there, here = with_groups()
    coordinator = p.a.await_leader(there.shard).broker_id
    second = next(
        group
        for group in (OffsetRequests(p.a, f"n{number}") for number in range(99))
        if p.a.await_leader(group.shard).broker_id != coordinator
    )
    second.commit(4)
    there.commit(4)
    for broker_id in p.b.living():
        p.simulation.line(p.a.process(coordinator), p.b.process(broker_id), one_way=True).set(latency_ms=600_000)
    cycle(p, 2)
    assert OffsetRequests(p.b, second.group).get().offset == 4
    assert here.get().offset == -1


@pytest.mark.parametrize("error", [ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS])
def test_a_group_that_moves_after_it_was_listed_is_synced_in_the_next_cycle(error: ErrorCode) -> None:
    made, hooks = pair_with_hooks()
    p, there, here = with_groups(made)
    told = problems(p)
    there.commit(7)
    hooks.on(OffsetFetchRequest, times=1).answer(error)
    p.run_until(lambda: "group g" in told, "the answer")
    assert error.name in told["group g"] and here.get().offset == -1
    cycle(p)
    assert here.get().offset == 7 and told["group g"] == ""
    assert errors(p) == dict.fromkeys(SyncKind, 0)


def test_while_a_coordinator_loads_the_groups_that_it_lists_already_are_copied() -> None:
    """Brokers up to Kafka 3.9 list the groups of loaded partitions, together with the error."""
    made, hooks = pair_with_hooks()
    p, there, here = with_groups(made)
    there.commit(7)
    loading = ListGroupsResponse(
        error_code=ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, groups=[ListedGroup("g", "consumer")]
    )
    coordinator = p.a.await_leader(there.shard).broker_id
    hooks.on(ListGroupsRequest, node=coordinator).respond(loading)
    cycle(p)
    assert here.get().offset == 7
    assert errors(p) == dict.fromkeys(SyncKind, 0), "that is no error"


def test_a_group_of_the_consumer_protocol_is_copied_as_a_simple_one() -> None:
    made, hooks = pair_with_hooks()
    p, there, here = with_groups(made)
    there.commit(7)
    listed = ListGroupsResponse(groups=[ListedGroup("g", "consumer", "Stable", "Consumer")])
    hooks.on(ListGroupsRequest, node=p.a.await_leader(there.shard).broker_id).respond(listed)
    cycle(p)
    assert here.get().offset == 7
    assert errors(p) == dict.fromkeys(SyncKind, 0)


@pytest.mark.parametrize("release", RELEASES)
def test_groups_and_configs_of_every_release_are_copied(release: str) -> None:
    p, hooks = pair_with_hooks()
    p.a.create_topic(TOPIC, configs={"retention.ms": "86400000"})
    there = OffsetRequests(p.a)
    there.create()
    names = [OffsetRequests(p.a, name) for name in ("g", "h", "i")]
    for group in names:
        assert group.commit(0, epoch=0, metadata=group.group) is ErrorCode.NONE
    hooks.play(release)
    mirror = OldMirror("m", source=p.a, destination=p.b)
    mirror.create()
    mirror.add_topics([TOPIC])
    mirror.wait_for_state(MirrorState.MIRRORING, [TP])
    cycle(p, 2)
    assert configs_here(p) == {"retention.ms": "86400000"}
    assert [OffsetRequests(p.b, group.group).get() for group in names] == [Found(0, 0, group.group) for group in names]
    assert errors(p) == dict.fromkeys(SyncKind, 0)


def test_a_new_coordinator_continues_the_syncs() -> None:
    p, there, here = with_groups()
    there.commit(7)
    cycle(p)
    shard = p.b.component(p.b.living()[0]).context.coordinator.shard_of_mirror("m")
    assert shard is not None
    p.b.kill(p.b.await_leader(shard).broker_id)
    there.commit(8)
    p.a.alter(TOPIC, {"retention.ms": "123456"})
    p.run_until(lambda: configs_here(p) == {"retention.ms": "123456"}, "the next coordinator")
    cycle(p, 3)
    assert here.get().offset == 8
