"""FetchSnapshot, versions 0-1: a snapshot that replaces deleted records of the metadata log (KIP-630).

Only for `__cluster_metadata`. It serves the snapshot named by an earlier Fetch, even if there is a newer one.
"""

from __future__ import annotations

from kmirror.cluster.controller.context import ControllerContext
from kmirror.cluster.metadata.snapshots import SnapshotId
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant
from kmirror.protocol.gen.fetch_snapshot_request import FetchSnapshotRequest
from kmirror.protocol.gen.fetch_snapshot_request import PartitionSnapshot as RequestedSnapshot
from kmirror.protocol.gen.fetch_snapshot_response import FetchSnapshotResponse, PartitionSnapshot, TopicSnapshot
from kmirror.protocol.gen.fetch_snapshot_response import SnapshotId as ResponseSnapshotId
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.topics import METADATA_TOPIC


def handle(context: ControllerContext, now: Instant, inbound: Inbound[FetchSnapshotRequest]) -> None:
    """Respond with at most `max_bytes` bytes of the snapshot, from byte `position` on.

    INVALID_REQUEST for other partitions than that of the metadata log; SNAPSHOT_NOT_FOUND, POSITION_OUT_OF_RANGE.
    """
    request = inbound.body
    partitions = [(topic.name, row.partition) for topic in request.topics for row in topic.partitions]
    if partitions != [(METADATA_TOPIC, 0)]:
        inbound.reply(FetchSnapshotResponse(error_code=ErrorCode.INVALID_REQUEST))
        return
    row = _read(context, request.topics[0].partitions[0], request.max_bytes)
    inbound.reply(FetchSnapshotResponse(topics=[TopicSnapshot(name=METADATA_TOPIC, partitions=[row])]))


def _read(context: ControllerContext, requested: RequestedSnapshot, max_bytes: int) -> PartitionSnapshot:
    id_ = SnapshotId(requested.snapshot_id.end_offset, requested.snapshot_id.epoch)
    data = context.log.snapshot_data(id_)
    if data is None:
        return PartitionSnapshot(index=0, error_code=ErrorCode.SNAPSHOT_NOT_FOUND, unaligned_records=b"")
    if not 0 <= requested.position < len(data):
        return PartitionSnapshot(index=0, error_code=ErrorCode.POSITION_OUT_OF_RANGE, unaligned_records=b"")
    return PartitionSnapshot(
        index=0,
        snapshot_id=ResponseSnapshotId(end_offset=id_.end_offset, epoch=id_.epoch),
        size=len(data),
        position=requested.position,
        unaligned_records=data[requested.position : requested.position + max(max_bytes, 0)],
    )
