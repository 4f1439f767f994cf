"""DescribeLogDirs, versions 1-5: the logs in each log directory of this broker, and the free space there.

An offline directory has KAFKA_STORAGE_ERROR and nothing else. Left out: cordoned directories, and logs that are moving
to another directory.
"""

from __future__ import annotations

from kmirror.cluster.authorizer import CLUSTER
from kmirror.cluster.broker.parts import BrokerParts
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.log.disk import Disk, Room
from kmirror.protocol.gen.describe_log_dirs_request import DescribeLogDirsRequest
from kmirror.protocol.gen.describe_log_dirs_response import (
    DescribeLogDirsPartition,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import AclOperation


def handle(parts: BrokerParts, now: Instant, inbound: Inbound[DescribeLogDirsRequest]) -> None:
    """Reply with the size in bytes and the lag of each requested log, by log directory."""
    request = inbound.body
    denied = inbound.rights.error(AclOperation.DESCRIBE, CLUSTER)
    if denied:
        inbound.reply(DescribeLogDirsResponse(error_code=denied))
        return
    partitions = parts.replicas.partitions
    requested = set(partitions)
    if request.topics is not None:
        requested &= {TopicPartition(topic.topic, index) for topic in request.topics for index in topic.partitions}
    topics_by_dir: dict[str, dict[str, DescribeLogDirsTopic]] = {}
    for tp in sorted(requested):
        log = partitions[tp].log
        topics = topics_by_dir.setdefault(partitions[tp].log_dir, {})
        topic = topics.setdefault(tp.topic, DescribeLogDirsTopic(name=tp.topic, partitions=[]))
        lag = max(log.high_watermark - log.log_end_offset, 0)
        topic.partitions.append(DescribeLogDirsPartition(tp.partition, log.size_in_bytes, lag))
    log_dirs, results = parts.context.log_dirs, []
    online = {disk.log_dir: disk for disk in log_dirs.online}
    for name in log_dirs.names:
        disk = online.get(name)
        room = None if disk is None else _room(disk)
        if room is None:
            results.append(DescribeLogDirsResult(log_dir=name, error_code=ErrorCode.KAFKA_STORAGE_ERROR, topics=[]))
            continue
        results.append(
            DescribeLogDirsResult(
                log_dir=name,
                topics=list(topics_by_dir.get(name, {}).values()),
                total_bytes=room.total_bytes,
                usable_bytes=room.usable_bytes,
            )
        )
    inbound.reply(DescribeLogDirsResponse(results=results))


def _room(disk: Disk) -> Room | None:
    """Return the space in a log directory; None if the query fails, which does not take it offline."""
    try:
        return disk.room()
    except OSError:
        return None
