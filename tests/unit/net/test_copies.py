"""Between socket and file, a mirrored batch is copied only by the system, except for bytes in the scratch buffer."""

from __future__ import annotations

import os
import tracemalloc
from pathlib import Path

import pytest

from kmirror.kernel.ids import TopicPartition
from kmirror.log.config import LogConfig
from kmirror.log.partition_log import PartitionLog
from kmirror.logdir.store import LogFolder
from kmirror.net.frames import FrameReader, Scratch
from kmirror.protocol.gen.fetch_request import FetchRequest
from kmirror.protocol.gen.fetch_response import FetchableTopicResponse, FetchResponse, PartitionData
from kmirror.protocol.headers import decode_response, encode_response
from kmirror.protocol.registry import key_of
from kmirror.records.build import build_batch
from kmirror.records.codecs import Compression
from kmirror.records.record import RecordData

TP = TopicPartition("t", 0)
VERSION = FetchRequest.MAX_VERSION
SCRATCH_BYTES = 64 << 10
BATCHES = 32


def fetch_response(number: int, codec: Compression) -> bytes:
    """Return the bytes of a response with `BATCHES` batches of about 128 KiB."""
    first = number * BATCHES
    values = [os.urandom(128 << 10) for _ in range(BATCHES)]
    batches = [
        bytes(
            build_batch([RecordData(value=value)], base_offset=first + at, partition_leader_epoch=1, compression=codec)
        )
        for at, value in enumerate(values)
    ]
    data = PartitionData(partition_index=0, high_watermark=first + BATCHES, records=b"".join(batches))
    response = FetchResponse(responses=[FetchableTopicResponse(partitions=[data])])
    frame = encode_response(response, VERSION, correlation_id=1)
    return len(frame).to_bytes(4, "big") + frame


def mirror(stream: memoryview, reader: FrameReader, log: PartitionLog) -> int:
    """Receive a response in large pieces and append its batches; return the number of bytes in the scratch buffer."""
    copied = at = 0
    while at < len(stream):
        began = reader.is_between
        next_buffers = reader.next_buffers()[0]
        count = min(len(stream) - at, len(next_buffers))
        next_buffers[:count] = stream[at : at + count]
        copied += count if began else 0
        at += count
        for frame in reader.cut_frames(count):
            reply = decode_response(frame, key_of(FetchRequest), VERSION).body
            assert isinstance(reply, FetchResponse)
            records = reply.responses[0].partitions[0].records
            assert records is not None
            assert log.append_as_mirror(records, source_epoch=1).batches == BATCHES
    return copied


@pytest.mark.parametrize("codec", [Compression.NONE, Compression.GZIP])
def test_mirrored_batches_are_copied_once_and_never_decoded(tmp_path: Path, codec: Compression) -> None:
    reader = FrameReader(1 << 30, Scratch(SCRATCH_BYTES))
    with LogFolder(tmp_path) as folder:
        log = PartitionLog.open(TP, folder.open(TP), LogConfig(), now_ms=0)
        streams = [memoryview(fetch_response(number, codec)) for number in range(3)]
        mirror(streams[0], reader, log)  # The memory to receive into is requested once.
        for stream in streams[1:]:
            tracemalloc.start()
            try:
                assert mirror(stream, reader, log) <= SCRATCH_BYTES
                _, peak = tracemalloc.get_traced_memory()
            finally:
                tracemalloc.stop()
            assert peak < 32 << 10  # A copy of one batch would be four times as large.
        held = b"".join(path.read_bytes() for path in sorted((tmp_path / str(TP)).glob("*.log")))
        assert len(held) > 3 * BATCHES * (120 << 10)
    parts = [bytes(stream) for stream in streams]
    ends = [len(held) * number // 3 for number in range(4)]
    assert all(held[begin:end] in part for begin, end, part in zip(ends, ends[1:], parts, strict=False))
