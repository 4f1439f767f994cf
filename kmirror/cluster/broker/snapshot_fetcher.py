"""How does a broker get what the metadata log holds no more? In pieces, from the controller's snapshot (KIP-630)."""

from __future__ import annotations

from collections.abc import Callable

from kmirror.cluster.node.context import BrokerContext
from kmirror.kernel.clock import Instant
from kmirror.protocol.gen.fetch_response import SnapshotId
from kmirror.protocol.gen.fetch_snapshot_request import FetchSnapshotRequest, PartitionSnapshot, TopicSnapshot
from kmirror.protocol.gen.fetch_snapshot_request import SnapshotId as WantedSnapshot
from kmirror.protocol.gen.fetch_snapshot_response import FetchSnapshotResponse
from kmirror.protocol.message import Message
from kmirror.spec.topics import METADATA_TOPIC

OnEnd = Callable[[Instant, bytes | None], None]
"""(now, the snapshot, None if the controller has no such snapshot or does not answer)"""


def fetch_snapshot(
    context: BrokerContext, now: Instant, channel: str, wanted: SnapshotId, bytes_max: int, on_end: OnEnd
) -> None:
    """Ask for a snapshot, `bytes_max` at a time, and hand it over as a whole."""
    read = bytearray()

    def ask(now: Instant) -> None:
        row = PartitionSnapshot(
            partition=0,
            current_leader_epoch=-1,
            snapshot_id=WantedSnapshot(end_offset=wanted.end_offset, epoch=wanted.epoch),
            position=len(read),
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
        read.extend(piece.unaligned_records)
        if len(read) < piece.size:
            ask(now)
        else:
            on_end(now, bytes(read))

    ask(now)
