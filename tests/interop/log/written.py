"""Partitions that kmirror writes, with one function for each possible past of a log."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.log.partition_log import CLEAN_SHUTDOWN, AppendOrigin, LogConfig, PartitionLog
from kmirror.log.state_files import encode_partition_metadata
from kmirror.log.store import PARTITION_METADATA, RECOVERY_POINT
from kmirror.logdir.load import read_sample
from kmirror.logdir.store import LogFolder
from kmirror.records import Compression, RecordData, build_batch
from kmirror.records.batch import iter_batches
from kmirror.records.control import end_txn_marker, mirror_pid_reset
from kmirror.records.layout import TimestampType
from kmirror.records.legacy import build_message_set
from tests.interop.log.cluster import Topic, finish
from tests.sim.stage import ONE_BROKER, pair

HOUR_MS = 3_600_000
# Topics that were mirrored, and written to after a failover: their logs have a producer reset.
FAILED_OVER = "failed-over-"
RESET = f"{FAILED_OVER}now"
# The maximum that Kafka accepts, 24 days.
PRODUCER_EXPIRATION_MS = 0x7FFF_FFFF
CONFIG = LogConfig(
    segment_bytes=2500, index_interval_bytes=300, retention_ms=-1, producer_id_expiration_ms=PRODUCER_EXPIRATION_MS
)


class Writer:
    """A log with the state of its writer: the epoch, the clock, the producers' sequences."""

    def __init__(self, log: PartitionLog, *, now_ms: int, seed: int) -> None:
        self.log = log
        self.epoch = 0
        self.now_ms = now_ms
        self.draw = random.Random(seed)
        self.sequences: dict[tuple[int, int], int] = {}

    def records(self, count: int, *, keys: int = 0, null_values: bool = False) -> list[RecordData]:
        """Return records that differ in every field; with `keys`, of that many keys."""
        draw, found = self.draw, []
        for _ in range(count):
            self.now_ms += draw.randrange(2000)
            key = f"key-{draw.randrange(keys)}".encode() if keys else draw.choice([None, b"", draw.randbytes(9)])
            value = draw.choice([b"", b"x" * draw.randrange(400), "Grüße".encode(), draw.randbytes(40)])
            headers = [(draw.choice(["", "a", "größe"]), draw.choice([None, b"", b"v"]))] * draw.choice([0, 0, 1, 2])
            timestamp = self.now_ms - draw.choice([0, 0, 0, 5000])
            is_null = null_values and draw.random() < 0.3
            found.append(RecordData(key, None if is_null else value, headers, timestamp))
        return found

    def lead(self, count: int = 3, *, keys: int = 0, null_values: bool = False, **fields: Any) -> None:
        data = build_batch(self.records(count, keys=keys, null_values=null_values), **fields)
        self.log.append_as_leader(data, leader_epoch=self.epoch, now_ms=self.now_ms)
        self.log.update_high_watermark(self.log.log_end_offset)

    def produce(self, pid: int, count: int = 2, *, producer_epoch: int = 0, txn: bool = False, **fields: Any) -> None:
        """Write a batch of a producer with the next sequence."""
        sequence = self.sequences.get((pid, producer_epoch), 0)
        self.sequences[pid, producer_epoch] = sequence + count
        ids: dict[str, Any] = {"producer_id": pid, "producer_epoch": producer_epoch, "base_sequence": sequence}
        self.lead(count, is_transactional=txn, **ids, **fields)

    def end(self, pid: int, *, commit: bool, producer_epoch: int = 0) -> None:
        self.now_ms += 7
        data = end_txn_marker(
            base_offset=0,
            leader_epoch=self.epoch,
            timestamp_ms=self.now_ms,
            producer_id=pid,
            producer_epoch=producer_epoch,
            commit=commit,
            coordinator_epoch=3,
        )
        log = self.log
        log.append_as_leader(data, leader_epoch=self.epoch, now_ms=self.now_ms, origin=AppendOrigin.COORDINATOR)
        log.update_high_watermark(log.log_end_offset)

    def elect(self, epoch: int) -> None:
        self.epoch = epoch
        self.log.assign_epoch_start(epoch)


def write_codecs(w: Writer) -> None:
    for _ in range(6):
        for codec in Compression:
            w.lead(w.draw.choice([1, 4, 20]), compression=codec)


def write_producers(w: Writer) -> None:
    for number in range(30):
        w.produce(w.draw.choice([7, 8, 70_000_000_009]), w.draw.choice([1, 5]), compression=Compression.GZIP)
        w.produce(9, producer_epoch=number // 8)
        if number == 11:
            w.lead(4)


def write_transactions(w: Writer) -> None:
    """Interleaved, over several segments; those of producers 4 and 5 stay open."""
    for number in range(24):
        pid = number % 3 + 1
        w.produce(pid, 3, producer_epoch=2, txn=True)
        w.produce(1 + (number + 1) % 3, 1, producer_epoch=2, txn=True, compression=Compression.LZ4)
        if number % 4 == 3:
            w.end(pid, commit=number % 8 == 3, producer_epoch=2)
        if number == 12:
            w.lead(2)
            w.end(6, commit=False)  # Of a transaction without records here.
    for pid in (1, 2, 3):
        w.end(pid, commit=pid == 2, producer_epoch=2)
    w.produce(4, txn=True)
    w.lead(5)
    w.produce(5, txn=True)


def write_decided(w: Writer) -> None:
    for number in range(12):
        w.produce(1, 10, producer_epoch=number, txn=True)
        w.end(1, commit=number % 3 > 0, producer_epoch=number)


def write_epochs(w: Writer) -> None:
    for epoch in (0, 1, 2, 5, 6, 9):
        w.elect(epoch)
        for _ in range(0 if epoch == 5 else 4):
            w.lead(5)


def write_as_follower(w: Writer) -> None:
    """Many batches in one append, like in fetch responses."""
    end, epoch = 0, 0
    for _ in range(6):
        chunk = b""
        for _ in range(w.draw.randrange(3, 12)):
            count = w.draw.randrange(1, 6)
            epoch += w.draw.random() < 0.2
            codec = w.draw.choice(list(Compression))
            chunk += build_batch(w.records(count), base_offset=end, partition_leader_epoch=epoch, compression=codec)
            end += count
        w.log.append_as_follower(chunk, max_epoch=epoch, now_ms=w.now_ms)
    w.log.update_high_watermark(end)


def write_compacted(w: Writer) -> None:
    """Two runs of the cleaner: tombstones have horizons, markers of transactions and empty batches remain."""
    for number in range(30):
        w.lead(6, keys=12, null_values=True, compression=w.draw.choice(list(Compression)))
        w.produce(number % 4 + 1, 3, producer_epoch=number // 4, keys=4, txn=True)
        w.end(number % 4 + 1, commit=number % 3 > 0, producer_epoch=number // 4)
        if number in (14, 24):
            assert w.log.compact(w.now_ms) is not None
    w.lead(3, keys=12)


def write_cut(w: Writer) -> None:
    """Truncated in mid-segment, in an open transaction, below the high watermark; then led in a later epoch."""
    for _ in range(15):
        w.lead(4)
        w.produce(1, 2, txn=True)
    w.log.truncate_to(w.log.log_end_offset - 29)
    w.elect(4)
    w.sequences.clear()
    w.end(1, commit=False, producer_epoch=1)
    for _ in range(4):
        w.lead(4)
        w.produce(1, 2, producer_epoch=1, txn=True)
    w.end(1, commit=True, producer_epoch=1)


def write_deleted(w: Writer) -> None:
    """DeleteRecords in mid-segment; the segments before are deleted."""
    for _ in range(30):
        w.lead(4)
        w.produce(1, 2)
    w.log.advance_log_start(w.log.segment_base_offsets[2] + 5)
    assert w.log.delete_old_segments(w.now_ms) == 2


def write_deleted_to_the_end(w: Writer) -> None:
    for _ in range(5):
        w.produce(1, 2)
    w.log.advance_log_start(w.log.log_end_offset)


def write_emptied(w: Writer) -> None:
    """Retention deleted every segment."""
    for _ in range(20):
        w.produce(1, 5)
    log, w.now_ms = w.log, w.now_ms + 2 * HOUR_MS
    log.config, config = replace(log.config, retention_ms=HOUR_MS), log.config
    assert log.delete_old_segments(w.now_ms) > 1
    log.config = config


def write_stamped(w: Writer) -> None:
    for codec in [*Compression, *Compression, *Compression]:
        w.lead(6, compression=codec)


def write_large(w: Writer) -> None:
    """Batches from one record to a tenth of a segment, so that some index rows are far apart."""
    for _ in range(60):
        sizes = [w.draw.choice([0, 10, 3000, 5000]) for _ in range(w.draw.choice([1, 2, 9, 20]))]
        w.now_ms += w.draw.randrange(5000)
        data = build_batch([RecordData(None, w.draw.randbytes(size), (), w.now_ms) for size in sizes])
        w.log.append_as_leader(data, leader_epoch=w.epoch, now_ms=w.now_ms)
    w.log.update_high_watermark(w.log.log_end_offset)


def write_a_little(w: Writer) -> None:
    for _ in range(60):
        w.lead(1)


def write_nothing(w: Writer) -> None:
    """A partition that was created, and nothing else."""


def write_format_0(w: Writer) -> None:
    write_legacy(w, 0)


def write_format_1(w: Writer) -> None:
    write_legacy(w, 1)


def write_format_1_stamped(w: Writer) -> None:
    write_legacy(w, 1, TimestampType.LOG_APPEND_TIME)


def write_legacy(w: Writer, magic: int, timestamp_type: TimestampType = TimestampType.CREATE_TIME) -> None:
    for codec in [codec for codec in Compression if codec is not Compression.ZSTD] * 5:
        data = build_message_set(
            [record._replace(headers=()) for record in w.records(7)],
            magic=magic,
            base_offset=w.log.log_end_offset,
            compression=codec,
            timestamp_type=timestamp_type,
            timestamp_ms=w.now_ms,
        )
        w.log.append_as_follower(data, max_epoch=0, now_ms=w.now_ms)
    w.log.update_high_watermark(w.log.log_end_offset)


def write_as_mirror(w: Writer) -> None:
    """Interleaved transactions of Kafka, as a mirror fetches them: up to the last stable offset."""
    sample = read_sample().partitions[TopicPartition("txn", 0)]
    for base in sorted(sample.segments):
        for batch in iter_batches(sample.segments[base]):
            w.log.append_as_mirror(batch.view, source_epoch=batch.partition_leader_epoch, now_ms=w.now_ms)
    w.log.update_high_watermark(w.log.log_end_offset)
    w.log.truncate_to(w.log.last_stable_offset)


@dataclass(frozen=True, slots=True)
class Case:
    """A topic with one partition; `fields` are those of LogConfig that differ from CONFIG."""

    write: Callable[[Writer], None]
    fields: Mapping[str, Any] = field(default_factory=dict)

    @property
    def config(self) -> LogConfig:
        return replace(CONFIG, **self.fields)


def write_reset(w: Writer) -> None:
    """A failover resets the producer state. Kafka does not know such a control record."""
    for _ in range(8):
        w.produce(1, 3)
        w.produce(2, 2, producer_epoch=5, txn=True)
        w.end(2, commit=True, producer_epoch=5)
    w.elect(3)
    data = mirror_pid_reset(base_offset=0, leader_epoch=3, timestamp_ms=w.now_ms, source_cluster_id="source")
    w.log.append_as_leader(data, leader_epoch=3, now_ms=w.now_ms, origin=AppendOrigin.COORDINATOR)
    w.lead(2)


STAMPED = {"message_timestamp_type": TimestampType.LOG_APPEND_TIME}
CASES: dict[str, Case] = {
    "codecs": Case(write_codecs),
    "codecs-kept-apart": Case(write_codecs, {"compression_type": Compression.ZSTD}),
    "compacted": Case(write_compacted, {"compact": True, "delete": False}),
    "cut": Case(write_cut),
    "decided": Case(write_decided),
    "deleted": Case(write_deleted),
    "deleted-to-the-end": Case(write_deleted_to_the_end),
    "emptied": Case(write_emptied),
    "epochs": Case(write_epochs),
    RESET: Case(write_reset),
    "followed": Case(write_as_follower),
    "format-0": Case(write_format_0),
    "format-1": Case(write_format_1),
    "format-1-stamped": Case(write_format_1_stamped, STAMPED),
    "large": Case(write_large, {"segment_bytes": 400_000, "index_interval_bytes": 4096}),
    "mirrored": Case(write_as_mirror, {"segment_bytes": 2000}),
    "nothing": Case(write_nothing),
    "producers": Case(write_producers),
    "rolled-by-index": Case(write_a_little, {"segment_index_bytes": 120, "index_interval_bytes": 200}),
    "rolled-by-time": Case(write_a_little, {"segment_ms": 10_000}),
    "stamped": Case(write_stamped, STAMPED),
    "transactions": Case(write_transactions),
}


@dataclass(frozen=True, slots=True)
class Written:
    """A folder of `log.dirs`, and the config with which each of its partitions was written."""

    path: Path
    configs: dict[TopicPartition, LogConfig]
    now_ms: int

    @property
    def partitions(self) -> list[TopicPartition]:
        return sorted(self.configs)

    def at(self, path: Path) -> Written:
        """Return the same for a copy."""
        return replace(self, path=path)

    def open(self, tp: TopicPartition, folder: LogFolder, *, is_clean: bool) -> PartitionLog:
        """Return kmirror's log of the partition after a clean shutdown, or after a crash; all of it is replicated."""
        store, config = folder.open(tp), self.configs[tp]
        point = CLEAN_SHUTDOWN if is_clean else int(store.read_file(RECOVERY_POINT) or 0)
        log = PartitionLog.open(tp, store, config, now_ms=self.now_ms, recovery_point=point, repair=not is_clean)
        log.update_high_watermark(log.log_end_offset)
        return log


def write_folder(path: Path, *, now_ms: int) -> Written:
    """Write all cases, and the logs of a simulated cluster after a failover, as after a node's clean shutdown."""
    folder = LogFolder(path)
    topics: dict[str, Topic] = {}
    configs: dict[TopicPartition, LogConfig] = {}
    for number, (name, case) in enumerate(CASES.items(), 1):
        tp = TopicPartition(name, 0)
        configs[tp], topic_id = case.config, Uuid.from_ints(7, number)
        store = folder.open(tp)
        log = PartitionLog.open(tp, store, case.config, now_ms=now_ms - 24 * HOUR_MS)
        case.write(Writer(log, now_ms=now_ms - 24 * HOUR_MS, seed=number))
        store.write_file(PARTITION_METADATA, encode_partition_metadata(topic_id))
        topics[name] = Topic(topic_id, topic_configs(case.config), {0: log.latest_epoch})
        log.close()
    _copy_failed_over(folder, topics, configs)
    finish(folder, topics, now_ms=now_ms)
    folder.close()
    return Written(path, configs, now_ms)


def _copy_failed_over(folder: LogFolder, topics: dict[str, Topic], configs: dict[TopicPartition, LogConfig]) -> None:
    """Mirror Kafka's sample to a simulated broker, fail over, write there; add that broker's logs."""
    names = ["codecs", "compacted", "epochs", "retention", "txn"]
    p = pair(logs=read_sample(), brokers=1, b_configs={**ONE_BROKER, "producer.id.expiration.ms": str(2**31 - 1)})
    p.begin(names)
    p.fail_over(topics=names)
    for tp in p.b.partitions(names):
        p.b.write("written after the failover", tp=tp)
        log, copy = p.b.log(tp), TopicPartition(f"{FAILED_OVER}{tp.topic}", tp.partition)
        log.close()
        store = folder.open(copy)
        for base in log.store.segments():
            store.create(base)
            store.append(base, log.store.view(base))
        for name in log.store.files():
            data = log.store.read_file(name)
            assert data is not None
            store.write_file(name, data)
        topic_id = p.b.image.topics[tp.topic].topic_id
        store.write_file(PARTITION_METADATA, encode_partition_metadata(topic_id))
        configs[copy] = replace(log.config, producer_id_expiration_ms=PRODUCER_EXPIRATION_MS)
        topic = topics.setdefault(copy.topic, Topic(topic_id, topic_configs(log.config), {}))
        topic.epochs[copy.partition] = log.latest_epoch


def topic_configs(config: LogConfig) -> dict[str, str]:
    """Return configs with which a broker treats the topic like kmirror, and does not change its files."""
    stamped = config.message_timestamp_type is TimestampType.LOG_APPEND_TIME
    return {
        "internal.segment.bytes": str(config.segment_bytes),
        "segment.ms": str(config.segment_ms),
        "segment.index.bytes": str(config.segment_index_bytes),
        "index.interval.bytes": str(config.index_interval_bytes),
        "message.timestamp.type": "LogAppendTime" if stamped else "CreateTime",
        "cleanup.policy": "compact" if config.compact else "delete",
        "min.cleanable.dirty.ratio": "1.0",
        "retention.ms": "-1",
    }
