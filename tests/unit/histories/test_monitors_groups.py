"""The rules of groups, each with a kept and a broken case."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from kmirror.cluster.coordinators.groups.classic.group import ClassicGroup, Member
from kmirror.cluster.coordinators.groups.classic.group_states import GroupState
from kmirror.histories.monitors.groups import GroupMonitor
from kmirror.histories.plan import Step
from kmirror.kernel.clock import MILLISECOND
from kmirror.kernel.ids import TopicPartition
from kmirror.protocol.gen.heartbeat_request import HeartbeatRequest
from kmirror.protocol.gen.heartbeat_response import HeartbeatResponse
from kmirror.protocol.gen.leave_group_request import LeaveGroupRequest, MemberIdentity
from kmirror.protocol.gen.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kmirror.protocol.gen.offset_commit_response import (
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from kmirror.protocol.gen.sync_group_request import SyncGroupRequest, SyncGroupRequestAssignment
from kmirror.protocol.gen.sync_group_response import SyncGroupResponse
from kmirror.protocol.gen.txn_offset_commit_request import TxnOffsetCommitRequest
from kmirror.protocol.gen.txn_offset_commit_response import (
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from kmirror.spec.error_codes import ErrorCode
from tests.unit.histories.monitors import FakeScene, Link, answer, ask, broken_rules, rules_of

SESSION_MS = 2_000
REBALANCE_MS = 3_000
LINK = Link("g0@a")


class Stage:
    """A group of two members, the leader `x` and `y`, at a coordinator."""

    def __init__(self, instance: str | None = None, steps: tuple[Step, ...] = ()) -> None:
        self.scene = FakeScene(steps=steps)
        self.monitor = GroupMonitor(self.scene, rules_of(self.scene))  # type: ignore[arg-type]
        self.group = ClassicGroup("g", 0)
        groups = SimpleNamespace(
            live_groups=lambda _: [self.group], shard_partition=lambda _: TopicPartition("__consumer_offsets", 0)
        )
        components = SimpleNamespace(get=lambda kind: groups)
        self.broker = SimpleNamespace(context=SimpleNamespace(node_id=1), parts=SimpleNamespace(components=components))
        self.scene.clusters["a"] = SimpleNamespace(broker=lambda _: self.broker)
        for member_id, name in (("x", None), ("y", instance)):
            protocols = {"range": b""}
            self.group.add(Member(member_id, name, "", "", REBALANCE_MS, SESSION_MS, "consumer", protocols))
        self.group.state = GroupState.STABLE
        self.handle()

    def handle(self, *, after_ms: int = 0) -> None:
        """Observe an event of the coordinator."""
        self.scene.simulation.world.now += after_ms * MILLISECOND
        self.monitor.broker_handled("a", self.broker)  # type: ignore[arg-type]

    def rebalance(self) -> None:
        """Bring the group to its next generation, before an assignment."""
        self.group.move_to(GroupState.PREPARING_REBALANCE, 0)
        self.handle()
        self.group.begin_generation(0)
        self.handle()

    def beat(self) -> None:
        """Deliver a heartbeat of `y` and its response."""
        request = HeartbeatRequest(group_id="g", generation_id=1, member_id="y")
        pending = ask(self.monitor, LINK, request, version=4, at=self.scene.simulation.world.now)
        answer(self.monitor, pending, HeartbeatResponse())

    def sync(self, member_id: str, **is_in_shared_part: bytes) -> SyncGroupRequest:
        """Deliver a SyncGroup."""
        rows = [SyncGroupRequestAssignment(name, share) for name, share in is_in_shared_part.items()]
        request = SyncGroupRequest(
            group_id="g", generation_id=self.group.generation, member_id=member_id, assignments=rows
        )
        ask(self.monitor, LINK, request, version=5)
        return request

    @property
    def broken(self) -> list[str]:
        """The broken rules."""
        return broken_rules(self.scene)


def test_a_group_that_rebalances_breaks_no_rule() -> None:
    stage = Stage()
    stage.rebalance()
    stage.sync("y")
    stage.sync("x", x=b"0", y=b"1")
    stage.group.members["x"].assignment, stage.group.members["y"].assignment = b"0", b"1"
    stage.group.move_to(GroupState.STABLE, 0)
    stage.handle()
    assert stage.broken == []


def test_generations_do_not_fall() -> None:
    stage = Stage()
    stage.rebalance()
    stage.group.generation -= 1
    stage.handle()
    assert stage.broken == ["generation"]


def test_states_follow_the_table() -> None:
    stage = Stage()
    stage.group.state, stage.group.previous_state = GroupState.COMPLETING_REBALANCE, GroupState.EMPTY
    stage.handle()
    assert stage.broken == ["group-state"]


def test_every_member_supports_the_protocol() -> None:
    stage = Stage()
    stage.group.move_to(GroupState.PREPARING_REBALANCE, 0)
    stage.group.begin_generation(0)
    stage.group.members["y"].protocols = (("roundrobin", b""),)
    stage.handle()
    assert stage.broken == ["group-protocol"]


def test_a_generation_has_its_leaders_assignment() -> None:
    stage = Stage()
    stage.rebalance()
    stage.sync("x", x=b"0", y=b"1")
    stage.rebalance()
    stage.group.members["x"].assignment, stage.group.members["y"].assignment = b"0", b"1"
    stage.group.move_to(GroupState.STABLE, 0)
    stage.handle()
    assert stage.broken == ["assignment"]


def test_a_member_gets_its_own_assignment() -> None:
    stage = Stage()
    stage.rebalance()
    stage.sync("x", x=b"0", y=b"1")
    request = SyncGroupRequest(group_id="g", generation_id=1, member_id="y")
    answer(stage.monitor, ask(stage.monitor, LINK, request, version=5), SyncGroupResponse(assignment=b"1"))
    assert stage.broken == []
    answer(stage.monitor, ask(stage.monitor, LINK, request, version=5), SyncGroupResponse(assignment=b"0"))
    assert stage.broken == ["assignment-response"]


def test_a_silent_member_is_removed_after_its_session() -> None:
    stage = Stage()
    stage.group.remove("y")
    stage.handle(after_ms=SESSION_MS)
    assert stage.broken == []


def test_an_active_member_stays() -> None:
    stage = Stage()
    stage.scene.simulation.world.now = (SESSION_MS - 1) * MILLISECOND
    stage.beat()
    stage.group.remove("y")
    stage.handle(after_ms=SESSION_MS - 1)
    assert stage.broken == ["member-dropped"]


@pytest.mark.parametrize("name", [{"member_id": "y"}, {"group_instance_id": "i"}])
def test_a_member_that_leaves_or_is_removed_is_gone(name: dict[str, str]) -> None:
    stage = Stage("i")
    members = [MemberIdentity(member_id=name.get("member_id", ""), group_instance_id=name.get("group_instance_id"))]
    ask(stage.monitor, LINK, LeaveGroupRequest(group_id="g", members=members), version=5)
    stage.group.remove("y")
    stage.handle()
    assert stage.broken == []


def test_a_static_member_is_replaced() -> None:
    stage = Stage("i")
    stage.group.replace(stage.group.members["y"], "z")
    stage.handle()
    assert stage.broken == []


@pytest.mark.parametrize(("instance", "rules"), [(None, []), ("i", ["member-dropped"])])
def test_only_a_dynamic_member_has_to_join_in_time(instance: str | None, rules: list[str]) -> None:
    stage = Stage(instance)
    stage.group.move_to(GroupState.PREPARING_REBALANCE, 0)
    stage.handle()
    stage.scene.simulation.world.now += (REBALANCE_MS - 1) * MILLISECOND
    stage.beat()
    stage.group.remove("y")
    stage.group.begin_generation(0)
    stage.handle(after_ms=1)
    assert stage.broken == rules


def test_a_member_that_has_joined_stays() -> None:
    stage = Stage()
    stage.group.move_to(GroupState.PREPARING_REBALANCE, 0)
    stage.group.members["y"].join_waiter = lambda _: None
    stage.handle()
    stage.scene.simulation.world.now += (REBALANCE_MS - 1) * MILLISECOND
    stage.beat()
    stage.group.remove("y")
    stage.group.begin_generation(0)
    stage.handle(after_ms=1)
    assert stage.broken == ["member-dropped"]


def test_a_member_that_does_not_sync_is_removed_after_the_rebalance_timeout() -> None:
    stage = Stage("i")
    stage.group.move_to(GroupState.PREPARING_REBALANCE, 0)
    stage.group.begin_generation(0)
    stage.group.pending_syncs["y"] = None
    stage.handle()
    stage.scene.simulation.world.now += (REBALANCE_MS - 1) * MILLISECOND
    stage.beat()
    stage.group.remove("y")
    stage.handle(after_ms=1)
    assert stage.broken == []


def test_where_a_clock_is_wrong_no_span_is_measured() -> None:
    stage = Stage(steps=(Step(1, "set_clock", {"cluster": "a", "broker": 1, "ahead_ms": 5_000}),))
    stage.group.remove("y")
    stage.handle()
    assert stage.broken == []


def test_a_heartbeat_that_is_refused_begins_no_session() -> None:
    stage = Stage()
    stage.scene.simulation.world.now = (SESSION_MS - 1) * MILLISECOND
    request = HeartbeatRequest(group_id="g", generation_id=7, member_id="y")
    pending = ask(stage.monitor, LINK, request, version=4, at=stage.scene.simulation.world.now)
    answer(stage.monitor, pending, HeartbeatResponse(error_code=ErrorCode.ILLEGAL_GENERATION))
    stage.group.remove("y")
    stage.handle(after_ms=1)
    assert stage.broken == []


# -- commits --------------------------------------------------------------------------------------


def commit(stage: Stage, member: str, generation: int, *, error: int = 0, plain: bool = True) -> list[str]:
    """Commit an offset, and answer it; return the broken rules."""
    rows = [OffsetCommitRequestPartition(partition_index=0, committed_offset=5)]
    topics = [OffsetCommitRequestTopic(name="t0", partitions=rows)]
    request: OffsetCommitRequest | TxnOffsetCommitRequest = OffsetCommitRequest(
        group_id="g", generation_id_or_member_epoch=generation, member_id=member, topics=topics
    )
    answered = [OffsetCommitResponsePartition(partition_index=0, error_code=error)]
    response: OffsetCommitResponse | TxnOffsetCommitResponse = OffsetCommitResponse(
        topics=[OffsetCommitResponseTopic(name="t0", partitions=answered)]
    )
    if not plain:
        request = TxnOffsetCommitRequest(group_id="g", generation_id=generation, member_id=member)
        row = TxnOffsetCommitResponsePartition(partition_index=0, error_code=error)
        response = TxnOffsetCommitResponse(topics=[TxnOffsetCommitResponseTopic(name="t0", partitions=[row])])
    answer(stage.monitor, ask(stage.monitor, LINK, request, version=8 if plain else 3), response)
    return stage.broken


@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize(
    ("member", "generation", "error", "is_right"),
    [
        ("x", 1, 0, True),
        ("x", 0, 0, False),
        ("x", 2, 0, False),
        ("x", 0, ErrorCode.ILLEGAL_GENERATION, True),
        ("z", 1, 0, False),
        ("z", 1, ErrorCode.UNKNOWN_MEMBER_ID, True),
    ],
)
def test_only_members_of_this_generation_commit(
    member: str, generation: int, error: int, is_right: bool, plain: bool
) -> None:
    stage = Stage()
    stage.group.generation = 1
    assert commit(stage, member, generation, error=error, plain=plain) == ([] if is_right else ["commit-fenced"])


@pytest.mark.parametrize(
    ("plain", "empty", "is_right"), [(True, False, False), (True, True, True), (False, False, True)]
)
def test_a_commit_without_a_member_needs_an_empty_group_or_a_transaction(
    plain: bool, empty: bool, is_right: bool
) -> None:
    stage = Stage()
    if empty:
        stage.group.members.clear()
    assert commit(stage, "", -1, plain=plain) == ([] if is_right else ["commit-fenced"])


@pytest.mark.parametrize(
    ("client", "epoch", "expected"), [("a-2", 4, ["synced-epoch"]), ("a-2", 3, []), ("c0@a", 4, [])]
)
def test_a_mirror_commits_no_epoch_unknown_to_its_partition(client: str, epoch: int, expected: list[str]) -> None:
    stage = Stage()
    stage.group.members.clear()
    image = SimpleNamespace(topics={"t0": SimpleNamespace(partitions={0: SimpleNamespace(leader_epoch=3)})})
    stage.scene.image = lambda _: image  # type: ignore[method-assign, assignment]
    row = OffsetCommitRequestPartition(partition_index=0, committed_offset=5, committed_leader_epoch=epoch)
    request = OffsetCommitRequest(group_id="g", topics=[OffsetCommitRequestTopic(name="t0", partitions=[row])])
    ask(stage.monitor, Link(client), request, version=8)
    assert stage.broken == expected
