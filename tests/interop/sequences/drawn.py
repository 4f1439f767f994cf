"""Steps drawn at random; most of them make sense for the current log."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import NamedTuple

from kmirror.log.config import DAY_MS, LONG_MAX, LogConfig
from kmirror.log.partition_log import PartitionLog
from kmirror.log.producers import PRODUCER_EPOCH_MAX
from kmirror.log.segment import place_at
from kmirror.records import Compression, RecordData, build_batch
from kmirror.records.control import end_txn_marker
from kmirror.records.layout import SEQUENCE_MAX, TimestampType, add_to_sequence
from kmirror.records.legacy import LegacyBatch, build_message_set, iter_any_batches
from tests.interop.sequences.both_logs import Step
from tests.interop.sequences.damage import SUFFIXES, Cut, Flip, Lost, Swap, Tail

START_MS = 1_700_000_000_000
PRODUCERS = (5, 6, 21, 1_000_000_007)
MANY_PRODUCERS = (*range(40), 1 << 33, 1 << 40, LONG_MAX)  # More than the initial buckets of Java's table.
SAME_BYTES = (Compression.NONE, Compression.GZIP)
LEVELS = {Compression.GZIP: (1, 6, 9), Compression.LZ4: (1, 9, 17), Compression.ZSTD: (-5, 3, 19)}
WEIGHTS = {
    "lead": 40,
    "follow": 20,
    "mark": 14,
    "elect": 4,
    "cut": 5,
    "restart": 1,
    "start": 4,
    "retain": 4,
    "expire": 2,
    "config": 4,
    "flush": 2,
    "reopen": 5,
    "keep": 3,
    "clean": 3,
}
FAR_TIMES = (0, 1, LONG_MAX, LONG_MAX - 1, 1 << 62)
NEGATIVE_TIMES = (-2, -LONG_MAX)


class StepDrawer:
    """Draws one step after another for a log; the same seed draws the same steps if the log behaves the same."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.now_ms = START_MS
        self.epoch = 0
        off = self.draw.sample(sorted(set(WEIGHTS) - {"lead", "follow", "mark"}), self.draw.randrange(6))
        self.weights = {deed: weight for deed, weight in WEIGHTS.items() if deed not in off}
        for deed in self.draw.sample(sorted(self.weights), self.draw.choice([0, 0, 1, 2])):
            self.weights[deed] *= 4
        self.lateness = self.draw.choice([0, 1, 1])
        self.timeless = self.draw.choice([0.03, 0.03, 0.03, 0.9, 1])
        if self.timeless > 0.5:
            self.weights.pop("clean", None)
        elif "clean" in self.weights:
            self.timeless = 0  # A segment that the JVM's cleaner wrote uses the system's clock.
        self.legacy = self.draw.choice([0, 0, 0, 0.6])
        self.far = self.draw.choice([0, 0, 0, 0.05])
        self.producers = self.draw.choice([PRODUCERS, PRODUCERS, PRODUCERS, MANY_PRODUCERS])
        self.cleaned = self.draw.choice([0, 0, 0.3])
        self.transactional = self.draw.choice([0.4, 0.4, 0.05, 0])
        if self.draw.random() < 0.3:
            del self.weights["follow" if self.draw.random() < 0.6 else "lead"]
        # The JVM appends more rows to an index than it has room for, and fails.
        self.has_small_indexes = not {"follow", "clean", "reopen"} & set(self.weights)
        expiration_ms = self.draw.choice([DAY_MS, DAY_MS, 5_000, 700])
        self.config = self._changed(LogConfig(producer_id_expiration_ms=expiration_ms))

    def step(self, log: PartitionLog) -> Step:
        draw = self.draw
        self.now_ms += draw.choice([0, 1, 10, 10, 700, 700, 5_000, 60_000 if draw.random() < 0.2 else 3, 1])
        if draw.random() < 0.01:
            self.now_ms += draw.choice([DAY_MS, 8 * DAY_MS, 3_600_000])
        deed = draw.choices(list(self.weights), list(self.weights.values()))[0]
        words = getattr(self, "_" + deed)(log)
        return Step(self.now_ms, deed, words)

    def _changed(self, config: LogConfig) -> LogConfig:
        draw = self.draw
        policy = draw.choice([(False, True), (False, True), (True, False), (True, True)])
        return replace(
            config,
            segment_bytes=draw.choice([1_200, 2_000, 2_000, 6_000]),
            segment_ms=draw.choice([7 * DAY_MS, 7 * DAY_MS, 30_000, 2_000]),
            segment_index_bytes=draw.choice([16_384, 48, 84]) if self.has_small_indexes else 16_384,
            index_interval_bytes=draw.choice([0, 1, 100, 200, 4_096]),
            max_message_bytes=draw.choice([1_048_588, 1_048_588, 600]),
            compression_type=draw.choice([None, None, None, *SAME_BYTES]),
            message_timestamp_type=draw.choice([*[TimestampType.CREATE_TIME] * 3, TimestampType.LOG_APPEND_TIME]),
            message_timestamp_before_max_ms=draw.choice([LogConfig().message_timestamp_before_max_ms, 3_000]),
            message_timestamp_after_max_ms=draw.choice([3_600_000, 3_600_000, 100]),
            compact=policy[0],
            delete=policy[1],
            retention_ms=draw.choice([7 * DAY_MS, -1, 20_000]),
            retention_bytes=draw.choice([-1, -1, 4_000, 0]),
            delete_retention_ms=draw.choice([DAY_MS, 0, 1_500]),
            min_compaction_lag_ms=draw.choice([0, 0, 5_000]),
            producer_id_expiration_ms=config.producer_id_expiration_ms,
        )

    # Records

    def _records(self, count: int) -> list[RecordData]:
        draw = self.draw
        has_nulls = draw.random() < 0.1 or not self.config.compact
        found = []
        for _ in range(count):
            keys = [b"k%d" % draw.randrange(8)] * 3 + [b""] + [None] * has_nulls
            value = draw.choice([None, b"", b"v" * draw.randrange(200), draw.randbytes(20)])
            headers = [(draw.choice(["", "h", "größe"]), draw.choice([None, b"", b"x"]))] * draw.choice([0, 0, 0, 1, 3])
            late = draw.choice([0, 0, 0, 1, 50, 2_000, 10_000, -50, -5_000])
            timestamp = -1 if draw.random() < self.timeless else self.now_ms - late * self.lateness
            if draw.random() < self.far:
                # A cleaner of the JVM that meets a timestamp below -1 stops there for ever.
                timestamp = draw.choice(FAR_TIMES if "clean" in self.weights else FAR_TIMES + NEGATIVE_TIMES)
            found.append(RecordData(draw.choice(keys), value, headers, timestamp))
        return found

    def _codec(self) -> dict[str, object]:
        """Return the codec; the cleaner compresses again, with the JVM's libraries possibly finding other matches."""
        codecs = [one for one in Compression if "clean" not in self.weights or one in SAME_BYTES]
        codec = self.draw.choice([Compression.NONE, Compression.NONE, Compression.NONE, *codecs])
        return {"compression": codec, "level": self.draw.choice(LEVELS.get(codec, (None,)))}

    def _producer(self, known: dict[int, tuple[int, int, bool]], count: int, *, leads: bool) -> dict[str, object]:
        """Return the producer and the numbers of the next batch: none, the expected ones, or others."""
        draw = self.draw
        if draw.random() < 0.3:
            return {}
        pid = draw.choice(self.producers)
        first_epoch = PRODUCER_EPOCH_MAX - draw.randrange(2) if draw.random() < 0.1 else 0
        epoch, sequence, in_transaction = known.get(pid, (first_epoch, 0, False))
        is_transactional = in_transaction or draw.random() < self.transactional
        if leads and draw.random() < (0.1 if in_transaction else 0.02):
            is_transactional = not is_transactional
        if pid not in known and draw.random() < 0.5:
            sequence = SEQUENCE_MAX - draw.randrange(6)
        if draw.random() < 0.07:
            epoch, sequence = min(epoch + draw.choice([1, 1, 2]), PRODUCER_EPOCH_MAX), draw.choice([0, 0, 0, 3])
        elif draw.random() < 0.04:
            epoch, sequence = draw.choice([max(epoch - 1, 0), epoch]), draw.choice([0, sequence + 1, 5])
        known[pid] = epoch, add_to_sequence(sequence, count), is_transactional
        return {
            "producer_id": pid,
            "producer_epoch": epoch,
            "base_sequence": min(sequence, SEQUENCE_MAX),
            "is_transactional": is_transactional,
        }

    def _known_producers(self, log: PartitionLog) -> dict[int, tuple[int, int, bool]]:
        return {
            pid: (max(one.producer_epoch, 0), add_to_sequence(one.last_sequence, 1), one.txn_first_offset >= 0)
            for pid, one in log.producers.entries.items()
        }

    def _marker(
        self,
        log: PartitionLog,
        *,
        base_offset: int,
        epoch: int,
        version: int = 0,
        known: dict[int, tuple[int, int, bool]] | None = None,
    ) -> bytes | None:
        """Return the end of a producer's transaction; correct if `known` is the leader's state of producers."""
        draw = self.draw
        entries = list(log.producers.entries.values())
        busy = [entry for entry in entries if entry.txn_first_offset >= 0]
        if not busy and draw.random() < 0.9:
            return None
        if draw.random() < 0.9:
            entries = busy
        pid, producer_epoch, coordinator_epoch = draw.choice(self.producers), 0, 0
        if entries:
            entry = draw.choice(entries)
            pid, producer_epoch, coordinator_epoch = entry.producer_id, entry.producer_epoch, entry.coordinator_epoch
        bump = draw.choice([0, 0, 0, 1, -1]) if not version else draw.choice([1, 1, 1, 0])
        if known is not None:
            producer_epoch, bump = max(producer_epoch, known.get(pid, (0, 0, False))[0]), max(bump, 0)
        return end_txn_marker(
            base_offset=base_offset,
            leader_epoch=epoch,
            timestamp_ms=self.now_ms,
            producer_id=pid,
            producer_epoch=min(max(producer_epoch + bump, 0), PRODUCER_EPOCH_MAX),
            commit=draw.random() < 0.5,
            coordinator_epoch=max(coordinator_epoch + draw.choice([0, 0, 0, 1, -1]), 0),
        )

    # Deeds

    def _lead(self, log: PartitionLog) -> tuple[object, ...]:
        draw = self.draw
        self.epoch = max(self.epoch, log.latest_epoch)
        if draw.random() < 0.25:
            version = draw.choice([0, 0, 2])
            marker = self._marker(log, base_offset=0, epoch=-1, version=version)
            if marker is not None:
                return self.epoch, "COORDINATOR", version, marker
        count = draw.choice([1, 1, 2, 3, 7])
        known = self._known_producers(log)
        fields = self._producer(known, count, leads=True)
        stamps = {"timestamp_type": TimestampType.LOG_APPEND_TIME, "timestamp_ms": self.now_ms}
        fields |= self._codec() | (stamps if draw.random() < 0.02 else {})
        if draw.random() < 0.05:
            return self.epoch, "COORDINATOR", -1, self._coordinated(fields)
        if draw.random() < 0.02:
            fields |= draw.choice([{"base_offset": 1}, {"last_offset_delta": count}, {"last_offset_delta": 9}])
        data = bytearray(build_batch(self._records(count), **fields))  # type: ignore[arg-type]
        if draw.random() < 0.05 and log.producers.entries:
            return self.epoch, "CLIENT", -1, self._again(log)
        if draw.random() < 0.02:
            data[draw.randrange(17, len(data))] ^= 1 << draw.randrange(8)
        elif len(data) < 600 and draw.random() < 0.01:  # A broker counts the batches before it checks their size.
            data = data + data
        return self.epoch, "CLIENT", -1, bytes(data)

    def _coordinated(self, fields: dict[str, object]) -> bytes:
        """Return a group coordinator's append: in a transaction always with sequence number 0, otherwise none."""
        in_transaction = fields.get("is_transactional", False)
        nobody = {"producer_id": -1, "producer_epoch": -1, "base_sequence": -1}
        numbers = {"base_sequence": 0} if in_transaction else nobody
        return build_batch(self._records(self.draw.choice([1, 3])), **fields | numbers)  # type: ignore[arg-type]

    def _again(self, log: PartitionLog) -> bytes:
        """Return a batch with the numbers of one of the last five of some producer."""
        entry = self.draw.choice(list(log.producers.entries.values()))
        if not entry.batches:
            return build_batch(self._records(1))
        batch = self.draw.choice(entry.batches)
        return build_batch(
            self._records(batch.offset_delta + 1) if batch.offset_delta < 50 else self._records(1),
            producer_id=entry.producer_id,
            producer_epoch=max(entry.producer_epoch, 0),
            base_sequence=max(batch.first_sequence, 0),
            is_transactional=entry.txn_first_offset >= 0,
        )

    def _follow(self, log: PartitionLog) -> tuple[object, ...]:
        draw = self.draw
        offset, epoch = log.log_end_offset, max(log.latest_epoch, 0)
        known = self._known_producers(log)
        # After a return to the old formats kmirror's recovery forgets epochs (D28), and the JVM has one snapshot more.
        if draw.random() < self.legacy and ("reopen" not in self.weights or _is_old(log)):
            return epoch, self._legacy(offset)
        data, size, has_marker = b"", 0, False  # No transaction begins after a marker: the JVM's index is wrong then.
        if draw.random() < 0.03:
            offset = max(offset - draw.randrange(1, 4), 0)
        for _ in range(draw.choice([1, 1, 2, 5, 12])):
            offset += draw.choice([0] * 9 + [1, 7, 300])
            if not data and draw.random() < 0.01:
                offset += 2**31 - draw.randrange(-5, 20)
            epoch = min(epoch + draw.choice([0] * 9 + [1, 2]), 35)
            if draw.random() < 0.01:
                epoch = max(epoch - draw.choice([1, 2]), 0)
            marks = not has_marker and draw.random() < 0.2
            batch = self._marker(log, base_offset=offset, epoch=epoch, known=known) if marks else None
            has_marker = has_marker or batch is not None
            if batch is None:
                count = draw.choice([1, 2, 3])
                fields = self._producer(known, count, leads=False) if draw.random() < 0.7 and not has_marker else {}
                span = count - 1 + draw.choice([0] * 9 + [1, 5])
                batch = build_batch(
                    base_offset=offset,
                    partition_leader_epoch=epoch,
                    last_offset_delta=span,
                    **fields,  # type: ignore[arg-type]
                    **self._contents(count, offset),  # type: ignore[arg-type]
                )
                offset += span + 1
            else:
                offset += 1
            if len(data) + len(batch) > self.config.segment_bytes and data:
                break
            size = size or len(batch)
            data += batch
        if draw.random() < 0.03:
            at = draw.randrange(17, size)  # Beyond the bytes without a checksum, in the first batch.
            data = data[:at] + bytes([data[at] ^ 1 << draw.randrange(8)]) + data[at + 1 :]
        elif draw.random() < 0.1:
            data += batch[: draw.randrange(len(batch))]
        return epoch - (draw.random() < 0.1), data

    def _contents(self, count: int, offset: int) -> dict[str, object]:
        """Return the records of a replicated batch; its leader may have stamped it, or its cleaner compacted it."""
        draw = self.draw
        records: dict[str, object] = {"records": self._records(count)} | self._codec()
        if draw.random() < 0.1:
            records |= {"timestamp_type": TimestampType.LOG_APPEND_TIME, "timestamp_ms": self.now_ms}
        if draw.random() >= self.cleaned:
            return records
        if draw.random() < 0.3:  # Only the header is left.
            return {"records": [], "base_timestamp": -1, "max_timestamp": self.now_ms}
        kept = [record._replace(offset=offset + number) for number, record in enumerate(self._records(count))]
        horizon = draw.choice([None, self.now_ms, self.now_ms + draw.randrange(3_000), self.now_ms + DAY_MS])
        return records | {"records": kept[draw.randrange(count) :], "delete_horizon_ms": horizon}

    def _legacy(self, offset: int) -> bytes:
        """Return messages of the old formats."""
        draw = self.draw
        records = [record._replace(headers=()) for record in self._records(draw.choice([1, 2, 3]))]
        magic = draw.choice([0, 1]) if "clean" not in self.weights else 1  # Format 0 has no timestamps.
        codec = draw.choice([Compression.NONE, Compression.NONE, Compression.GZIP, Compression.SNAPPY])
        return build_message_set(records, magic=magic, base_offset=offset + draw.choice([0, 0, 3]), compression=codec)

    def _elect(self, log: PartitionLog) -> tuple[object, ...]:
        self.epoch = min(max(self.epoch, log.latest_epoch) + self.draw.choice([0, 1, 1, 2]), 35)
        return (self.epoch,)

    def _mark(self, log: PartitionLog) -> tuple[object, ...]:
        """Return the start of a batch: for other offsets the JVM moves the mark to a batch at its next use."""
        end, draw = log.log_end_offset, self.draw
        if log.log_start_offset > end:
            return (0,)
        above = [batch.base_offset for batch in log.any_batches() if batch.base_offset >= log.high_watermark]
        return (draw.choice([end, end, end + 5, draw.choice(above or [end])]),)

    def _offset(self, log: PartitionLog) -> int:
        """Return a significant offset, mostly in the log."""
        draw, start = self.draw, log.log_start_offset
        end = max(start, log.log_end_offset)
        base = draw.choice(log.segment_base_offsets)
        near = draw.randint(max(end - 12, 0), end)
        return draw.choice([draw.randint(start, end), draw.randint(start, end), near, near, base, base + 1, end, start])

    def _cut(self, log: PartitionLog) -> tuple[object, ...]:
        draw, end = self.draw, log.log_end_offset
        if log.producers.unreplicated and not log.producers.entries:
            return (end,)  # A log with decided transactions reads again which ones they are.
        return (draw.choice([self._offset(log)] * 8 + [draw.randint(0, end), end + 3]),)

    def _restart(self, log: PartitionLog) -> tuple[object, ...]:
        end = log.log_end_offset
        offset = self.draw.choice([0, self._offset(log), self._offset(log), end + 20, end + 20, end + (1 << 33)])
        return (offset,)

    def _start(self, log: PartitionLog) -> tuple[object, ...]:
        return (self.draw.choice([self._offset(log), self._offset(log), log.high_watermark]),)

    def _config(self, log: PartitionLog) -> tuple[object, ...]:
        self.config = self._changed(self.config)
        return (self.config,)

    def _retain(self, log: PartitionLog) -> tuple[object, ...]:
        return ()

    _expire = _flush = _keep = _retain

    def _clean(self, log: PartitionLog) -> tuple[object, ...]:
        return (self.draw.choice([20_000, 20_000, 20_000, 2, 4]),)

    def _reopen(self, log: PartitionLog) -> tuple[object, ...]:
        draw = self.draw
        lost = draw.choice([(), (), (), (".snapshot",), ("0.snapshot", "5.snapshot"), (".txnindex",), ("checkpoint",)])
        damaged = draw.choice([(), (), (), (".snapshot",), ("1.snapshot", "4.snapshot")])
        if draw.random() < 0.5:
            return "clean", lost, damaged, ()
        damages = tuple(self._damage(log) for _ in range(draw.choice([0, 1, 1, 2])))
        if len({type(damage) for damage in damages}) < len(damages):  # The cleaner swaps one segment at a time.
            damages = damages[:1]
        return "unclean", lost, damaged, damages

    def _damage(self, log: PartitionLog) -> NamedTuple:
        """Return possible damage of files by a kill or a power cut."""
        draw = self.draw
        tails = [bytes(30), draw.randbytes(40), build_batch([RecordData(b"k", b"v")])[:-3]]
        return draw.choice(
            [
                Tail(draw.choice(tails)),
                Cut(draw.choice([1, draw.randrange(60), draw.randrange(2_000), 1 << 30])),
                # The JVM recovers a segment without .index twice: by the snapshot of the first time, and it keeps the
                # files after a segment that was truncated the first time.
                Lost(draw.choice(SUFFIXES[2:])),
                self._flip(log),
                self._swap(log),
            ]
        )

    def _swap(self, log: PartitionLog) -> Swap:
        draw = self.draw
        number, count = draw.randrange(max(len(log.segments) - 1, 1)), draw.choice([1, 1, 2, 3])
        return Swap(number, count, draw.choice([0, 1, 2, 9, 9]), draw.choice([0, 1, 2, 5, 99, 99]), draw.randrange(5))

    def _flip(self, log: PartitionLog) -> Flip:
        """Return a bit under a checksum: Kafka's recovery trusts many of the other bytes."""
        draw = self.draw
        number = draw.randrange(len(log.segments))
        segment, position, places = log.segments[number], 0, []
        while position < segment.size:
            places.append(place_at(segment.view(), position))
            position = places[-1].end_position
        if not places:
            return Flip(number, 1 << 30, 0)
        place = draw.choice(places)
        return Flip(number, draw.randrange(place.position + 17, place.end_position), draw.randrange(8))


def _is_old(log: PartitionLog) -> bool:
    """Return whether there is no batch of the current format, not even below the log start."""
    batches = (batch for segment in log.segments for batch in iter_any_batches(segment.view()))
    return all(isinstance(batch, LegacyBatch) for batch in batches)
