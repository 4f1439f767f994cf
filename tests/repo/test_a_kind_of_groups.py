"""A second kind of groups is a folder of its own: made in a copy of the package, and asked for like any other."""

from __future__ import annotations

from pathlib import Path

from tests.repo.test_four_changes import Copy

KIND = '''"""Groups of nothing."""

from enum import Enum

from kmirror.cluster.coordinators.groups.effects import SetTimer
from kmirror.cluster.coordinators.groups.group import Group
from kmirror.cluster.coordinators.groups.kinds import GroupKind
from kmirror.cluster.coordinators.shard_state import Versioned
from kmirror.protocol.gen.consumer_group_heartbeat_request import ConsumerGroupHeartbeatRequest
from kmirror.protocol.gen.consumer_group_heartbeat_response import ConsumerGroupHeartbeatResponse
from kmirror.protocol.gen.consumer_group_metadata_key import ConsumerGroupMetadataKey
from kmirror.protocol.keyed_records import encode_key
from kmirror.spec.error_codes import ErrorCode


class Timer(Enum):
    LOOK = "look"


class EmptyGroup(Group):
    kind = "empty"
    state_name = "Idle"
    is_empty = True
    looks = 0

    def commit_error(self, member_id, group_instance_id, generation, *, in_transaction):
        return ErrorCode.STALE_MEMBER_EPOCH

    def offset_delete_error(self):
        return ErrorCode.NONE

    def is_subscribed_to(self, topic):
        return False

    def expired_keys(self, offsets, now_ms, retention_ms):
        return []

    def keep_alive(self, member_id):
        pass

    def end(self, error):
        pass


def handle(coordinator, now, inbound):
    inbound.reply(ConsumerGroupHeartbeatResponse())


class EmptyGroups(GroupKind):
    name = "empty"
    record_types = (ConsumerGroupMetadataKey.API_KEY,)
    routes = {ConsumerGroupHeartbeatRequest: handle}

    def __init__(self):
        self.epochs = Versioned()
        super().__init__(self.epochs)

    def replay(self, key, value):
        self.epochs.put(key.group_id, None if value is None else value.epoch)
        return key.group_id if value is None else None

    def ids(self, *, committed):
        return self.epochs.all_committed() if committed else self.epochs.keys()

    def load(self, group_id, *, committed):
        epoch = self.epochs.committed(group_id) if committed else self.epochs.get(group_id)
        return None if epoch is None else EmptyGroup(group_id)

    def tombstones(self, group_id):
        return [(encode_key(ConsumerGroupMetadataKey(group_id=group_id)), None)]

    def begin(self, group, now_ms, configs):
        group.effects.append(SetTimer(Timer.LOOK, "", 100))

    def on_timer(self, group, now_ms, timer, member_id):
        assert timer is Timer.LOOK
        group.looks += 1


KIND = EmptyGroups
'''
SEEN = """
from kmirror.cluster.coordinators.groups.coordinator import GroupCoordinator
from kmirror.cluster.coordinators.groups.empty.kind import EmptyGroup
from kmirror.protocol.gen.consumer_group_heartbeat_request import ConsumerGroupHeartbeatRequest
from kmirror.protocol.gen.consumer_group_metadata_key import ConsumerGroupMetadataKey
from kmirror.protocol.gen.consumer_group_metadata_value import ConsumerGroupMetadataValue
from kmirror.protocol.gen.delete_groups_request import DeleteGroupsRequest
from kmirror.protocol.gen.describe_groups_request import DescribeGroupsRequest
from kmirror.protocol.gen.list_groups_request import ListGroupsRequest
from kmirror.protocol.gen.offset_commit_request import OffsetCommitRequest, OffsetCommitRequestPartition
from kmirror.protocol.gen.offset_commit_request import OffsetCommitRequestTopic
from kmirror.protocol.keyed_records import encode_key, encode_value
from kmirror.sim.simulation import Simulation
from kmirror.spec.error_codes import ErrorCode as E
from tests.sim.coordinators.test_groups import CONFIGS, GROUP, Scene
from tests.sim.stage import StagedCluster

with StagedCluster(Simulation(3), "a", configs=CONFIGS) as cluster:
    cluster.create_topic("t", partitions=1)
    scene = Scene(cluster)
    scene.peer.wait(1)

    def coordinator() -> GroupCoordinator:
        parts = cluster.broker(scene.peer.broker_id).parts
        assert ConsumerGroupHeartbeatRequest in parts.server.routes
        return parts.components.get(GroupCoordinator)

    def ask(request, version):
        return scene.talk.ask("admin", "", request, version)

    def listed(*types):
        return [(row.group_type, row.group_state) for row in ask(ListGroupsRequest(types_filter=types), 5).groups]

    # A record of the kind makes a group.
    done = []
    record = encode_key(ConsumerGroupMetadataKey(group_id=GROUP)), encode_value(ConsumerGroupMetadataValue(epoch=1), 0)
    coordinator().write(GROUP, lambda _: ([record], E.NONE), lambda _, error: done.append(error))
    scene.peer.wait(2)
    assert done == [E.NONE]

    # It is in lists, and no classic group: as Kafka answers about groups of another kind.
    assert listed() == listed("EMPTY") == [("empty", "Idle")] and listed("classic") == []
    assert ask(DescribeGroupsRequest(groups=[GROUP]), 6).groups[0].error_code == E.GROUP_ID_NOT_FOUND
    one = scene.member("one")
    assert one.join("").error_code == E.INCONSISTENT_GROUP_PROTOCOL
    assert one.beat("").error_code == one.sync("").error_code == E.UNKNOWN_MEMBER_ID
    assert one.leave("").members[0].error_code == E.UNKNOWN_MEMBER_ID

    # It decides who commits.
    rows = [OffsetCommitRequestTopic(name="t", partitions=[OffsetCommitRequestPartition(committed_offset=1)])]
    [topic] = ask(OffsetCommitRequest(group_id=GROUP, topics=rows), 8).topics
    assert topic.partitions[0].error_code == E.STALE_MEMBER_EPOCH

    # The next coordinator loads it, and goes on with its timer.
    scene.fail_over()
    scene.peer.wait(1)
    [group] = coordinator().live_groups(EmptyGroup)
    assert group.looks == 1 and listed() == [("empty", "Idle")]

    # It is deleted by its own records, and the id is free for a classic group.
    assert ask(DeleteGroupsRequest(groups_names=[GROUP]), 2).results[0].error_code == E.NONE
    scene.peer.wait(1)
    assert listed() == []
    assert one.join("").error_code == E.NONE and listed() == [("classic", "CompletingRebalance")]
"""


def test_a_kind_of_groups_is_one_folder(root: Path, tmp_path: Path) -> None:
    copy = Copy(root, tmp_path)
    folder = "cluster/coordinators/groups/empty"
    copy.add(f"{folder}/__init__.py", "")
    copy.add(f"{folder}/kind.py", KIND)
    assert all(path.startswith(folder) for path in copy.changed)
    copy.run(SEEN, root)
