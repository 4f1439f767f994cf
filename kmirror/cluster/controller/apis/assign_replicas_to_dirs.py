"""AssignReplicasToDirs, version 0: a broker reports the log directories of its replicas to the controller.

A replica in an offline directory leaves its ISR and leadership (KIP-858).
"""

from __future__ import annotations

from kmirror.cluster.authorizer import Rights
from kmirror.cluster.controller.context import ControllerContext
from kmirror.cluster.controller.decisions import Decision
from kmirror.cluster.controller.elections import without_replica
from kmirror.cluster.images import MIGRATING, PartitionImage
from kmirror.kernel.clock import Instant
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.assign_replicas_to_dirs_request import AssignReplicasToDirsRequest
from kmirror.protocol.gen.assign_replicas_to_dirs_response import (
    AssignReplicasToDirsResponse,
    DirectoryData,
    PartitionData,
    TopicData,
)
from kmirror.protocol.gen.partition_change_record import PartitionChangeRecord
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode


def decide(
    context: ControllerContext, now: Instant, request: AssignReplicasToDirsRequest, version: int, rights: Rights
) -> Decision:
    """Return the changes of partitions, and NONE or an error for each replica.

    UNKNOWN_TOPIC_ID, UNKNOWN_TOPIC_OR_PARTITION, or NOT_LEADER_OR_FOLLOWER if the broker has no such replica;
    STALE_BROKER_EPOCH for the whole request, UNSUPPORTED_VERSION if the metadata.version has no log directories.
    """
    image = context.image
    response = AssignReplicasToDirsResponse(directories=[])
    if not image.features.has_directories:
        return Decision((), AssignReplicasToDirsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION, directories=[]))
    broker = image.brokers.get(request.broker_id)
    if broker is None or broker.epoch != request.broker_epoch:
        return Decision((), AssignReplicasToDirsResponse(error_code=ErrorCode.STALE_BROKER_EPOCH, directories=[]))
    records: list[Message] = []
    removals: list[Message] = []
    for directory in request.directories:
        answers = DirectoryData(id=directory.id, topics=[])
        response.directories.append(answers)
        for topic in directory.topics:
            rows = TopicData(topic_id=topic.topic_id, partitions=[])
            answers.topics.append(rows)
            name = image.topics.names.get(topic.topic_id)
            for index in (each.partition_index for each in topic.partitions):
                partition = None if name is None else image.topics[name].partitions.get(index)
                error = _error(name, partition, request.broker_id)
                rows.partitions.append(PartitionData(partition_index=index, error_code=error))
                if error or name is None or partition is None:
                    continue
                change = _assignment_record(topic.topic_id, index, partition, request.broker_id, directory.id)
                if change is not None:
                    records.append(change)
                if not broker.has_online(directory.id):
                    removal = without_replica(image, context.configs, image.topics[name], index, request.broker_id)
                    removals += [] if removal is None else [removal]
    return Decision([*records, *removals], response, atomic=False)


def _error(name: str | None, partition: PartitionImage | None, broker_id: int) -> ErrorCode:
    if name is None:
        return ErrorCode.UNKNOWN_TOPIC_ID
    if partition is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return ErrorCode.NONE if broker_id in partition.replicas else ErrorCode.NOT_LEADER_OR_FOLLOWER


def _assignment_record(
    topic_id: Uuid, index: int, partition: PartitionImage, broker_id: int, directory_id: Uuid
) -> PartitionChangeRecord | None:
    """Return the record that assigns one replica to this directory; None if it is there already."""
    if partition.directory_of(broker_id) == directory_id:
        return None
    before = partition.directories or (MIGRATING,) * len(partition.replicas)
    pairs = zip(partition.replicas, before, strict=True)
    directories = [directory_id if replica == broker_id else other for replica, other in pairs]
    return PartitionChangeRecord(partition_id=index, topic_id=topic_id, directories=directories)
