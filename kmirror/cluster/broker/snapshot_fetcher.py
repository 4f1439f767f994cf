"""Download of the controller's metadata snapshot, in pieces, when the log no longer has the records (KIP-630)."""

from __future__ import annotations

from collections.abc import Callable

from kmirror.cluster.node.context import BrokerContext
from kmirror.kernel.clock import Instant
from kmirror.protocol.gen.fetch_response import SnapshotId
from kmirror.protocol.gen.fetch_snapshot_request import FetchSnapshotRequest, PartitionSnapshot, TopicSnapshot
from kmirror.protocol.gen.fetch_snapshot_request import SnapshotId as RequestSnapshotId
from kmirror.protocol.gen.fetch_snapshot_response import FetchSnapshotResponse
from kmirror.protocol.message import Message
from kmirror.spec.topics import METADATA_TOPIC

OnEnd = Callable[[Instant, bytes | None], None]
"""(now, the snapshot; None if the controller does not have it or does not respond)"""


def fetch_snapshot(
    context: BrokerContext, now: Instant, channel: str, snapshot_id: SnapshotId, bytes_max: int, on_end: OnEnd
) -> None:
    """Fetch a snapshot, at most `bytes_max` bytes per request, and pass the whole of it to `on_end`."""
    snapshot = bytearray()

    def send(now: Instant) -> None:
        row = PartitionSnapshot(
            partition=0,
            current_leader_epoch=-1,
            snapshot_id=RequestSnapshotId(end_offset=snapshot_id.end_offset, epoch=snapshot_id.epoch),
            position=len(snapshot),
        )
        request = FetchSnapshotRequest(
            cluster_id=context.cluster_id,
            replica_id=context.node_id,
            max_bytes=bytes_max,
            topics=[TopicSnapshot(name=METADATA_TOPIC, partitions=[row])],
        )
        context.ask_controller(now, request, on_reply, channel=channel)

    def on_reply(now: Instant, reply: Message | None) -> None:
        piece = None
        if isinstance(reply, FetchSnapshotResponse) and not reply.error_code and reply.topics:
            piece = reply.topics[0].partitions[0]
        if piece is None or piece.error_code or not piece.unaligned_records:
            on_end(now, None)
            return
        snapshot.extend(piece.unaligned_records)
        if len(snapshot) < piece.size:
            send(now)
        else:
            on_end(now, bytes(snapshot))

    send(now)
