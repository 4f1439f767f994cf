"""Logs of batches and of messages of format 1, and a follower that fetches until it has caught up."""

from __future__ import annotations

from kmirror.cluster.images import PartitionImage
from kmirror.cluster.node.partition import Partition
from kmirror.cluster.replication.fetch_read import Reader, check_fetch, end_for, read
from kmirror.cluster.replication.truncation import last_epoch, truncation_point
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.log.memory_store import MemoryStore
from kmirror.log.partition_log import LogConfig, PartitionLog
from kmirror.protocol.gen.fetch_request import FetchPartition
from kmirror.protocol.gen.fetch_response import PartitionData
from kmirror.records.build import build_batch
from kmirror.records.codecs import Compression
from kmirror.records.legacy import build_message_set
from kmirror.records.record import RecordData
from kmirror.spec.error_codes import ErrorCode

TP = TopicPartition("t", 0)
Run = tuple[int | None, int]
"""(leader epoch, or None for messages of format 1; end offset, exclusive)"""


def log(*runs: Run, codec: Compression = Compression.NONE) -> PartitionLog:
    """Return a log of these runs: batches of two records, or messages; with a codec, in wrappers of two."""
    made = PartitionLog.open(TP, MemoryStore(), LogConfig(), now_ms=0)
    for epoch, end in runs:
        for offset in range(made.log_end_offset, end, 2):
            rows = [RecordData(value=b"%d" % (offset + n)) for n in range(2)]
            if epoch is None:
                data = build_message_set(rows, magic=1, base_offset=offset, compression=codec)
            else:
                data = build_batch(rows, base_offset=offset, partition_leader_epoch=epoch)
            made.append_as_follower(data, max_epoch=99)
    return made


def contents(log: PartitionLog, start: int = 0) -> list[bytes]:
    return [bytes(one.view) for one in log.any_batches(start)]


def fetch(
    leader: PartitionLog,
    offset: int,
    epoch: int,
    *,
    foreign: bool = False,
    max_bytes: int = 1 << 20,
    replica: int = 2,
) -> PartitionData:
    """Return the response to a replica's fetch, or to a consumer's for -1."""
    partition = Partition(1, TP, Uuid.ZERO, leader)
    partition.apply(0, PartitionImage((1, 2), (1, 2), 1, 20, 0))
    request = FetchPartition(partition=0, fetch_offset=offset, last_fetched_epoch=epoch, current_leader_epoch=20)
    reader = Reader(replica, False)
    refused = check_fetch(partition, request, reader, foreign=foreign)
    if refused is not None:
        return refused
    end = end_for(leader, reader)
    return read(partition, request, reader, end_offset=end, max_bytes=max_bytes, min_one=True, foreign=foreign)


def converge(leader: PartitionLog, follower: PartitionLog, *, foreign: bool, max_bytes: int = 1 << 20) -> list[int]:
    """Fetch like a replica until both logs end at the same offset; return the truncation offsets."""
    cuts: list[int] = []
    for _ in range(200):
        data = fetch(leader, follower.log_end_offset, last_epoch(follower), foreign=foreign, max_bytes=max_bytes)
        assert data.error_code == ErrorCode.NONE, ErrorCode(data.error_code).name
        if data.diverging_epoch.epoch != -1:
            cut = truncation_point(follower, data.diverging_epoch.epoch, data.diverging_epoch.end_offset)
            cuts.append(cut.offset)
            follower.truncate_to(cut.offset)
        elif data.records:
            follower.append_as_follower(data.records, max_epoch=99)
        else:
            return cuts
    raise AssertionError(f"no end: {leader} {follower}")
