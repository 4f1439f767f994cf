"""DescribeLogDirs, versions 1-5: what lies in each log directory of this broker, and how much room is left there.

Left out: directories that are cordoned or offline, logs on their way to another directory.
"""

from __future__ import annotations

from kmirror.cluster.authorizer import CLUSTER
from kmirror.cluster.broker.parts import BrokerParts
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.protocol.gen.describe_log_dirs_request import DescribeLogDirsRequest
from kmirror.protocol.gen.describe_log_dirs_response import (
    DescribeLogDirsPartition,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)
from kmirror.spec.wire_values import AclOperation


def handle(parts: BrokerParts, now: Instant, inbound: Inbound) -> None:
    """Answer each log directory with the size in bytes of each log that is asked for, and how far it lags."""
    request = inbound.body
    assert isinstance(request, DescribeLogDirsRequest)
    denied = inbound.rights.error(AclOperation.DESCRIBE, CLUSTER)
    if denied:
        inbound.reply(DescribeLogDirsResponse(error_code=denied))
        return
    held = parts.replicas.partitions
    wanted = set(held)
    if request.topics is not None:
        wanted &= {TopicPartition(topic.topic, index) for topic in request.topics for index in topic.partitions}
    disk, results = parts.context.disk, []
    for log_dir in disk.log_dirs():
        topics: dict[str, DescribeLogDirsTopic] = {}
        for tp in sorted(wanted):
            if disk.log_dir_of(tp) == log_dir.path:
                topic = topics.setdefault(tp.topic, DescribeLogDirsTopic(name=tp.topic, partitions=[]))
                log = held[tp].log
                lag = max(log.high_watermark - log.log_end_offset, 0)
                topic.partitions.append(DescribeLogDirsPartition(tp.partition, log.size_in_bytes, lag))
        results.append(
            DescribeLogDirsResult(
                log_dir=log_dir.path,
                topics=list(topics.values()),
                total_bytes=log_dir.total_bytes,
                usable_bytes=log_dir.usable_bytes,
            )
        )
    inbound.reply(DescribeLogDirsResponse(results=results))
