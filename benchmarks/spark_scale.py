"""`python -m benchmarks.spark_scale [--gib 1]`: a large folder of real logs, read and compared, with and without Spark.

The logs are the package's sample, written repeatedly with higher offsets until they have the requested size. The output
is rows and megabytes per second for each core, and the time to find one flipped bit.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import tempfile
import time
from pathlib import Path

from benchmarks.spark import ROOT, WORKERS, spark
from kmirror.log.committed import Committed
from kmirror.logdir.load import read_sample
from kmirror.records.batch import Batch, iter_batches
from kmirror.records.build import set_base_offset_and_epoch
from kmirror.spark.folders import find_segments, split
from kmirror.spark.rows import RowQuery, read_split
from kmirror.spark.verification import verify

SEGMENT_BYTES = 128 << 20


def write_logs(top: Path, size: int) -> int:
    """Write partitions of `size` bytes in total; returns the number of records."""
    selected = [(tp, files) for tp, files in read_sample().partitions.items() if files.size_in_bytes > 20_000]
    records = 0
    for tp, files in selected:
        folder = top / str(tp)
        folder.mkdir(parents=True)
        batches = [batch for base in sorted(files.segments) for batch in iter_batches(files.segments[base])]
        records += _repeat(folder, batches, size // len(selected))
    return records


def _repeat(folder: Path, batches: list[Batch], size: int) -> int:
    base = written = records = 0
    log, segment_size = None, SEGMENT_BYTES
    first, span = batches[0].base_offset, batches[-1].next_offset - batches[0].base_offset
    while written < size:
        if segment_size >= SEGMENT_BYTES:
            if log is not None:
                log.close()
            log, segment_size = (folder / f"{base:020}.log").open("wb"), 0
        assert log is not None
        for batch in batches:
            data = bytearray(batch.view)
            set_base_offset_and_epoch(data, base + batch.base_offset - first, 0)
            log.write(data)
            segment_size += len(data)
            written += len(data)
            records += 0 if batch.is_control else batch.record_count
        base += span
    if log is not None:
        log.close()
    return records


def read_in_process(path: Path) -> int:
    """Read all logs in this process; returns the number of rows."""
    pieces = [piece for segment in find_segments(str(path)) for piece in split(segment)]
    return sum(batch.num_rows for piece in pieces for batch in read_split(piece, RowQuery(), Committed()))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.spark_scale", description=__doc__)
    parser.add_argument("--gib", type=float, default=1.0)
    size = int(parser.parse_args().gib * (1 << 30))
    os.environ["PYTHONPATH"] = str(ROOT)
    top = Path(tempfile.mkdtemp(prefix="kmirror-scale-"))
    try:
        records = write_logs(top / "a", size)
        actual = sum(path.stat().st_size for path in (top / "a").rglob("*.log"))
        print(f"{actual / (1 << 20):.0f} MiB, {records} records, {len(list((top / 'a').iterdir()))} partitions")
        session = spark()

        def show(title: str, started_at: float, cores: int) -> None:
            spent = (time.perf_counter() - started_at) * cores
            rates = f"{records / spent / 1e6:7.3f} M rows/s and {actual / spent / 1e6:7.1f} MB/s a core"
            print(f"{title:<44} {rates}", flush=True)

        started_at = time.perf_counter()
        assert read_in_process(top / "a") == records
        show("no Spark, one process, all columns", started_at, 1)
        started_at = time.perf_counter()
        frame = session.read.format("kafka-log").load(str(top / "a"))
        frame.write.format("noop").mode("overwrite").save()
        show("Spark, all columns", started_at, WORKERS)
        started_at = time.perf_counter()
        assert frame.count() == records
        show("Spark, count: by headers, CRC checked", started_at, WORKERS)
        shutil.copytree(top / "a", top / "b")
        started_at = time.perf_counter()
        verification = verify(session, str(top / "a"), str(top / "b"))
        print(f"verify: {verification.summary()}, {time.perf_counter() - started_at:.1f} s")
        assert verification.is_equal
        damaged_file = random.choice(sorted((top / "b").rglob("*.log")))
        position, bit = random.randrange(damaged_file.stat().st_size), random.randrange(8)
        with damaged_file.open("r+b") as log:
            log.seek(position)
            byte = log.read(1)[0]
            log.seek(position)
            log.write(bytes([byte ^ 1 << bit]))
        started_at = time.perf_counter()
        found = verify(session, str(top / "a"), str(top / "b"))
        print(
            f"flipped bit {bit} at {damaged_file.name} {position}; found in {time.perf_counter() - started_at:.1f} s:"
        )
        for row in found.rows:
            print(f"  {row}")
        assert len(found.rows) == 1 and f"file position {position}" in found.rows[0].expected, "the bit is named"
    finally:
        shutil.rmtree(top, ignore_errors=True)


if __name__ == "__main__":
    main()
