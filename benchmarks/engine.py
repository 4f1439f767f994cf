"""Cost of a request in a broker compared with the minimum around the log (E1, E2, E9).

The limit decodes the frame of the request, runs the log's own operation and encodes the response, nothing more. On
kmirror's side the `handle` of a broker (`lone_broker`) gets the same frame, and its effects are only collected. Each
side has its own logs in memory, which are emptied before they grow large.

Sessions are in `engine_sessions` (E3), an idle cluster in `engine_idle` (E4), whole mirrors in `engine_scale` (E5 to
E8, E10), and runs of minutes without a gate in `engine_long_runs`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import cycle

from benchmarks import engine_idle, engine_scale, engine_sessions
from benchmarks.harness import Case, Run, no_runs
from benchmarks.lone_broker import LEADER_EPOCH, LoneBroker, frame_of, response_in, version
from kmirror.kernel.ids import TopicPartition
from kmirror.log.config import LogConfig
from kmirror.log.memory_store import MemoryStore
from kmirror.log.partition_log import PartitionLog
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kmirror.protocol.gen.fetch_response import FetchableTopicResponse, FetchResponse, PartitionData
from kmirror.protocol.gen.metadata_request import MetadataRequest
from kmirror.protocol.gen.metadata_response import MetadataResponse
from kmirror.protocol.gen.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kmirror.protocol.gen.produce_response import PartitionProduceResponse, ProduceResponse, TopicProduceResponse
from kmirror.protocol.headers import decode_request, decode_response, encode_response_chunks
from kmirror.protocol.registry import key_of
from kmirror.records import Batch, RecordData, build_batch
from kmirror.records.crc32c import crc32c_function
from kmirror.spec.wire_values import Acks

TOPIC = "orders"
KIB = 1 << 10
LOG_BYTES = 8 << 20  # Size at which a log is emptied, on both sides.
LogAppend = Callable[[PartitionLog, memoryview, int], int]


def new_log(index: int = 0) -> PartitionLog:
    return PartitionLog.open(TopicPartition(TOPIC, index), MemoryStore(), LogConfig(), now_ms=0)


# -- E1 -----------------------------------------------------------------------------------------


def produce_frames(broker: LoneBroker, records: int, *, acks: int, producer_id: int) -> list[bytes]:
    """Return consecutive frames for one log: the sequence numbers of an idempotent producer increase."""
    rows = [RecordData(None, b"v" * 100, (), broker.now_ms)] * records
    idempotent = producer_id >= 0
    frames: list[bytes] = []
    size = 0
    while size < LOG_BYTES and (idempotent or not frames):
        batch = build_batch(
            rows,
            producer_id=producer_id,
            producer_epoch=0 if idempotent else -1,
            base_sequence=len(frames) * records if idempotent else -1,
        )
        size += len(batch)
        topic = TopicProduceData(
            name=TOPIC,
            topic_id=broker.topic_ids[TOPIC],
            partition_data=[PartitionProduceData(index=0, records=batch)],
        )
        frames.append(frame_of(ProduceRequest(acks=acks, timeout_ms=30_000, topic_data=[topic])))
    return frames


def serve_repeatedly(log: PartitionLog, frames: Sequence[bytes], serve: Callable[[bytes], object]) -> Run:
    """Serve the frames in order; after each round, empty the log and start from the first frame again."""
    round_size = max(len(frames), LOG_BYTES // len(frames[0]))
    served = 0
    next_frame = cycle(frames).__next__

    def run() -> object:
        nonlocal served
        if served == round_size:
            log.truncate_fully_and_start_at(0)
            served = 0
        served += 1
        return serve(next_frame())

    return run


def append_as_leader(log: PartitionLog, records: memoryview, now_ms: int) -> int:
    return log.append_as_leader(records, leader_epoch=LEADER_EPOCH, now_ms=now_ms).first_offset


def minimal_append() -> LogAppend:
    """Do the minimum work of an append: one checksum, one pass over the bounds of the records, one copy."""
    crc32c, buffer = crc32c_function(), memoryview(bytearray(LOG_BYTES))

    def append(log: PartitionLog, records: memoryview, now_ms: int) -> int:
        crc32c(records)
        Batch(records).check_framing()
        buffer[: len(records)] = records
        return 0

    return append


def produce_limit(log: PartitionLog, append: LogAppend, now_ms: int) -> Callable[[bytes], object]:
    versions = version(ProduceRequest)

    def serve(frame: bytes) -> object:
        head, request = decode_request(frame)
        assert isinstance(request, ProduceRequest)
        (topic,) = request.topic_data
        (data,) = topic.partition_data
        assert isinstance(data.records, memoryview)
        offset = append(log, data.records, now_ms)
        row = PartitionProduceResponse(index=data.index, base_offset=offset, log_start_offset=log.log_start_offset)
        answers = TopicProduceResponse(topic_id=topic.topic_id, partition_responses=[row])
        return encode_response_chunks(
            ProduceResponse(responses=[answers]), versions, correlation_id=head.correlation_id
        )

    return serve


def produce(
    records: int, *, acks: int = Acks.LEADER, producer_id: int = -1, append: LogAppend = append_as_leader
) -> Callable[[], tuple[Run, Run]]:
    def prepare() -> tuple[Run, Run]:
        broker = LoneBroker({TOPIC: 1})
        frames = produce_frames(broker, records, acks=acks, producer_id=producer_id)
        limit_log = new_log()
        limit = produce_limit(limit_log, append, broker.now_ms)
        served = broker.partition(TOPIC, 0).log
        answer = decode_response(
            response_in(broker.request(frames[0])), key_of(ProduceRequest), version(ProduceRequest)
        )
        assert isinstance(answer.body, ProduceResponse)
        assert answer.body.responses[0].partition_responses[0].error_code == 0
        limit(frames[0])
        assert served.log_end_offset == records and limit_log.log_end_offset in (0, records)
        for log in (served, limit_log):
            log.truncate_fully_and_start_at(0)
        return serve_repeatedly(served, frames, broker.request), serve_repeatedly(limit_log, frames, limit)

    return prepare


# -- E2 -----------------------------------------------------------------------------------------


def fill(log: PartitionLog, now_ms: int, *, batches: int = 4, size: int = 16 * KIB) -> None:
    """Append batches of `size` bytes, all of them below the high watermark."""
    batch = build_batch([RecordData(None, b"v" * (size - 80), (), now_ms)])
    assert size - 16 <= len(batch) <= size
    for _ in range(batches):
        log.append_as_leader(batch, leader_epoch=LEADER_EPOCH, now_ms=now_ms)
    log.update_high_watermark(log.log_end_offset)


def fetch_limit(logs: Sequence[PartitionLog]) -> Callable[[bytes], object]:
    newest = version(FetchRequest)

    def serve(frame: bytes) -> object:
        head, request = decode_request(frame)
        assert isinstance(request, FetchRequest)
        answers = []
        for topic in request.topics:
            rows = []
            for requested in topic.partitions:
                log = logs[requested.partition]
                high = log.high_watermark
                found = log.read(requested.fetch_offset, max_bytes=requested.partition_max_bytes, end_offset=high)
                row = PartitionData(requested.partition, 0, high, high, log.log_start_offset, records=found.records)
                row.aborted_transactions = None
                rows.append(row)
            answers.append(FetchableTopicResponse(topic_id=topic.topic_id, partitions=rows))
        return encode_response_chunks(FetchResponse(responses=answers), newest, correlation_id=head.correlation_id)

    return serve


def fetch(partitions: int) -> Callable[[], tuple[Run, Run]]:
    """A consumer's fetch without a session, of 16 KiB from each partition."""

    def prepare() -> tuple[Run, Run]:
        broker = LoneBroker({TOPIC: partitions})
        logs = [new_log(index) for index in range(partitions)]
        for log in (*logs, *(broker.partition(TOPIC, index).log for index in range(partitions))):
            fill(log, broker.now_ms)
        requested = [FetchPartition(index, -1, 1, partition_max_bytes=16 * KIB) for index in range(partitions)]
        topic = FetchTopic(topic_id=broker.topic_ids[TOPIC], partitions=requested)
        request = FetchRequest(max_wait_ms=500, min_bytes=1, max_bytes=50 << 20, session_epoch=-1, topics=[topic])
        frame = frame_of(request)
        limit = fetch_limit(logs)
        answer = decode_response(response_in(broker.request(frame)), key_of(FetchRequest), version(FetchRequest)).body
        assert isinstance(answer, FetchResponse)
        rows = [row for found in answer.responses for row in found.partitions]
        assert len(rows) == partitions and all(len(row.records or b"") > 16_000 for row in rows)
        return lambda: broker.request(frame), lambda: limit(frame)

    return prepare


# -- E9 -----------------------------------------------------------------------------------------


def second_metadata(partitions: int) -> Callable[[int], list[float]]:
    """Time of a broker's first Metadata response after it received its image, divided by that of the next one."""

    def measure(pairs: int) -> list[float]:
        topics = {f"topic-{number}": 10 for number in range(partitions // 10)}
        frame = frame_of(MetadataRequest(topics=None, allow_auto_topic_creation=False))
        ratios = []
        for _ in range(min(pairs, 5)):
            broker = LoneBroker(topics, node_id=3, replicas=(1, 2))
            spent = []
            answers = set()
            for _ in range(2):
                start = time.perf_counter_ns()
                effects = broker.request(frame)
                spent.append(time.perf_counter_ns() - start)
                answers.add(response_in(effects))
            (answer,) = answers
            body = decode_response(answer, key_of(MetadataRequest), version(MetadataRequest)).body
            assert isinstance(body, MetadataResponse) and len(body.topics) == len(topics)
            ratios.append(spent[0] / spent[1])
        return ratios

    return measure


# -- Cases --------------------------------------------------------------------------------------

PRODUCER = 7


def cases() -> list[Case]:
    """Return E1 to E10, in the order of the issue that sets their gates."""
    found = [
        Case("E1", "limit / handle, produce of 1 x 100 B", "kmirror", produce(1), 0.4, 0.6),
        Case("E1", "limit / handle, produce of 1,000 x 100 B in a batch", "kmirror", produce(1000), 0.8, 0.9),
        Case("E1", "limit / handle, produce of 1 x 100 B, acks=all", "kmirror", produce(1, acks=Acks.ALL)),
        Case("E1", "limit / handle, produce of 1 x 100 B, idempotent", "kmirror", produce(1, producer_id=PRODUCER)),
        Case(
            "E1", "limit / handle, produce of 1,000 x 100 B, idempotent", "kmirror", produce(1000, producer_id=PRODUCER)
        ),
        Case("E1", "checksum, walk, copy / handle, 1,000 x 100 B", "kmirror", produce(1000, append=minimal_append())),
        Case("E2", "limit / handle, fetch of 1 x 16 KiB", "kmirror", fetch(1), 0.4, 0.6),
        Case("E2", "limit / handle, fetch of 50 x 16 KiB", "kmirror", fetch(50), 0.6, 0.75),
    ]
    found += engine_sessions.cases()
    found += engine_idle.cases()
    found += engine_scale.cases()
    found.append(
        Case("E9", "first / second Metadata of 3,000 partitions", "kmirror", no_runs, 20, 100, second_metadata(3000))
    )
    return sorted(found, key=lambda case: int(case.id[1:]))
