"""Requests that nodes send each other, as from a broker with an old registration or outdated metadata.

None of them may be accepted: each has a broker epoch, member, topic or state that does not exist.
"""

from __future__ import annotations

from kmirror.histories.request_client import NO_MIRROR, NO_PARTITION, NO_TOPIC, RequestClient, RequestKind
from kmirror.histories.scripts import Script
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.allocate_producer_ids_request import AllocateProducerIdsRequest
from kmirror.protocol.gen.alter_partition_request import AlterPartitionRequest, BrokerState, PartitionData, TopicData
from kmirror.protocol.gen.assign_replicas_to_dirs_request import AssignReplicasToDirsRequest, DirectoryData
from kmirror.protocol.gen.assign_replicas_to_dirs_request import PartitionData as AssignedPartition
from kmirror.protocol.gen.assign_replicas_to_dirs_request import TopicData as AssignedTopic
from kmirror.protocol.gen.broker_heartbeat_request import BrokerHeartbeatRequest
from kmirror.protocol.gen.bump_leader_epochs_request import (
    BumpLeaderEpochsRequest,
    LeaderEpochState,
    TopicState,
)
from kmirror.protocol.gen.fetch_snapshot_request import FetchSnapshotRequest, PartitionSnapshot, SnapshotId
from kmirror.protocol.gen.fetch_snapshot_request import TopicSnapshot as SnapshotOf
from kmirror.protocol.gen.read_mirror_states_request import PartitionData as ReadPartition
from kmirror.protocol.gen.read_mirror_states_request import ReadMirrorStatesRequest
from kmirror.protocol.gen.read_mirror_states_request import TopicData as ReadTopic
from kmirror.protocol.gen.write_mirror_states_request import PartitionData as WrittenPartition
from kmirror.protocol.gen.write_mirror_states_request import TopicData as WrittenTopic
from kmirror.protocol.gen.write_mirror_states_request import WriteMirrorStatesRequest
from kmirror.protocol.gen.write_txn_markers_request import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from kmirror.spec.topics import METADATA_TOPIC

NO_STATE = 99
NO_EPOCH = 10**6
"""A broker epoch that no broker has."""


def _broker(client: RequestClient) -> tuple[int, int] | None:
    """Return id and epoch of a registered broker; None if there is none."""
    brokers = client.image.brokers
    if not brokers:
        return None
    broker_id = client.rng.choice(sorted(brokers))
    return broker_id, brokers[broker_id].epoch


def _former(client: RequestClient) -> Script[None]:
    """Send a request with a broker epoch that no broker has."""
    broker = _broker(client)
    if broker is None:
        return
    broker_id, _ = broker
    tp = client.partition()
    topic_id = client.topic_id(tp.topic)
    rows = [AssignedTopic(topic_id, [AssignedPartition(tp.partition)])]
    proposal = PartitionData(partition_index=tp.partition, leader_epoch=0, partition_epoch=0)
    requests = (
        BrokerHeartbeatRequest(broker_id=broker_id, broker_epoch=NO_EPOCH),
        AllocateProducerIdsRequest(broker_id=broker_id, broker_epoch=NO_EPOCH),
        AssignReplicasToDirsRequest(broker_id, NO_EPOCH, [DirectoryData(Uuid(client.rng.octets(16)), rows)]),
        AlterPartitionRequest(broker_id, NO_EPOCH, [TopicData(topic_id, [proposal])]),
    )
    yield from client.send(client.rng.choice(requests), client.controller())


def _proposal(client: RequestClient) -> Script[None]:
    """Propose an ISR whose members have restarted since, with the current partition epoch or a future one."""
    tp = client.partition()
    known, topic_id = client.image.topics.partition(tp), client.topic_id(tp.topic)
    leader = None if known is None else client.image.brokers.get(known.leader)
    if known is None or leader is None:
        return
    row = PartitionData(
        partition_index=tp.partition,
        leader_epoch=known.leader_epoch,
        new_isr_with_epochs=[BrokerState(member, NO_EPOCH) for member in known.replicas],
        partition_epoch=known.partition_epoch + client.rng.choice((0, 0, 3)),
    )
    request = AlterPartitionRequest(known.leader, leader.epoch, [TopicData(topic_id, [row])])
    yield from client.send(request, client.controller())


def _directories(client: RequestClient) -> Script[None]:
    """Report the directory of a replica that the broker does not have, or of a partition that does not exist."""
    broker = _broker(client)
    tp = client.partition()
    topic = client.image.topics.get(tp.topic)
    known = client.image.topics.partition(tp)
    if broker is None or topic is None or (known is not None and broker[0] in known.replicas):
        return
    rows = [AssignedTopic(topic.topic_id, [AssignedPartition(tp.partition)])]
    directory = DirectoryData(Uuid(client.rng.octets(16)), rows)
    yield from client.send(AssignReplicasToDirsRequest(*broker, [directory]), client.controller())


def _snapshot(client: RequestClient) -> Script[None]:
    """Fetch a snapshot of the metadata log that does not exist."""
    row = PartitionSnapshot(partition=0, current_leader_epoch=0, snapshot_id=SnapshotId(1, 0), position=0)
    request = FetchSnapshotRequest(replica_id=-1, max_bytes=1_000, topics=[SnapshotOf(METADATA_TOPIC, [row])])
    yield from client.send(request, client.controller())


def _states(client: RequestClient) -> Script[None]:
    """Read the states of a topic, or write an invalid state, or a state of an unknown topic or mirror."""
    tp, rng = client.partition(), client.rng
    if rng.chance(1, 2):
        read = ReadTopic(name=tp.topic, partitions=[ReadPartition(tp.partition)])
        yield from client.send(ReadMirrorStatesRequest(mirror_name=client.mirror(), topics=[read]))
        return
    written = WrittenPartition(partition_index=tp.partition, state=NO_STATE, leader_epoch=0)
    request = WriteMirrorStatesRequest(mirror_name=client.mirror())
    name = tp.topic
    if rng.chance(1, 2):
        written.state = 0
        if rng.chance(1, 2):
            name = NO_TOPIC
        else:
            request.mirror_name = NO_MIRROR
    request.topics = [WrittenTopic(name=name, topic_id=client.topic_id(name), partitions=[written])]
    yield from client.send(request)


def _bumps(client: RequestClient) -> Script[None]:
    """Ask for a leader epoch of a partition or topic that does not exist."""
    topic = client.topic()
    rows = [LeaderEpochState(partition_index=NO_PARTITION, min_leader_epoch=0)]
    request = BumpLeaderEpochsRequest(topics=[TopicState(client.topic_id(topic), rows)])
    yield from client.send(request, client.controller())


def _markers(client: RequestClient) -> Script[None]:
    """Write a transaction marker to a partition that does not exist."""
    marker = WritableTxnMarker(
        producer_id=0,
        producer_epoch=0,
        transaction_result=False,
        topics=[WritableTxnMarkerTopic(client.topic(), [NO_PARTITION])],
        coordinator_epoch=0,
    )
    yield from client.send(WriteTxnMarkersRequest(markers=[marker]))


REQUEST_KINDS: tuple[RequestKind, ...] = (
    RequestKind("former broker", "nodes", _former, 4),
    RequestKind("proposal", "nodes", _proposal, 4),
    RequestKind("directories", "nodes", _directories),
    RequestKind("snapshot", "nodes", _snapshot, 1),
    RequestKind("mirror states", "nodes", _states, 6),
    RequestKind("leader epochs", "nodes", _bumps, 2),
    RequestKind("markers", "nodes", _markers, 2),
)
