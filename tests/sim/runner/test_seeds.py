"""The demo under many seeds with faults; `KMIRROR_SEEDS=100` or `KMIRROR_SEEDS=100-200` widens the sweep."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kmirror.experiments.demo import Demo
from kmirror.logdir.load import read_sample
from kmirror.records.codecs import Compression
from tests.builders import marker
from tests.sim.stage import TOPIC, WrittenLogs, legacy, plain, transactional

SEEDS_FILE = Path(__file__).with_name("seeds.txt")


def past_failures() -> list[int]:
    """Return the seeds that once failed."""
    lines = SEEDS_FILE.read_text().splitlines()
    return [int(line.split()[0]) for line in lines if line.strip() and not line.startswith("#")]


def swept(default: int) -> list[int]:
    """Return the seeds to try: the first `default`, or those in KMIRROR_SEEDS, and past failures."""
    text = os.environ.get("KMIRROR_SEEDS", str(default))
    first, _, last = text.rpartition("-")
    return sorted({*range(int(first or 0), int(last)), *past_failures()})


SMALL_LOGS = {
    TOPIC: [plain(0, 0, "r0", "r1"), plain(2, 3, "r2")],
    "ledger": [
        transactional(0, 1, 5, "t0"),
        transactional(1, 1, 6, "t1"),
        marker(offset=2, epoch=1, pid=5, commit=True),
        marker(offset=3, epoch=2, pid=6, commit=False),
        transactional(4, 2, 5, "open", sequence=1),
    ],
    "empty": [],
}

OLD_LOGS = {
    "both": [legacy(0, 0, "m0", "m1"), legacy(2, 1, "m2", "m3", codec=Compression.GZIP), plain(4, 2, "r4")],
    "long": [legacy(n, 1, "m" * 3000) for n in range(60)],
    "old": [legacy(0, 0, "m0"), legacy(1, 0, "m1", "m2", codec=Compression.SNAPPY)],
    "there-and-back": [plain(0, 1, "r0"), legacy(1, 1, "m1"), plain(2, 3, "r2")],
}


@pytest.mark.parametrize("seed", swept(20))
def test_small_logs_with_faults(seed: int) -> None:
    report = Demo(WrittenLogs(SMALL_LOGS), seed=seed, faults=True).run()
    assert [row.tp.topic for row in report.failover] == ["empty", "ledger", TOPIC]
    assert report.final.partitions == 3


@pytest.mark.decision("D28")
@pytest.mark.parametrize("seed", swept(10))
def test_small_logs_of_old_formats_with_faults(seed: int) -> None:
    report = Demo(WrittenLogs(OLD_LOGS), seed=seed, faults=True).run()
    assert report.final.partitions == 4
    ends = {"both": 5, "long": 60, "old": 3, "there-and-back": 3}
    for row in report.failback:
        assert row.cut_offset >= ends[row.tp.topic], "what B had was not cut"


@pytest.mark.parametrize("seed", swept(4))
def test_the_sample_with_faults(seed: int) -> None:
    report = Demo(read_sample(), seed=seed, faults=True).run()
    assert report.final.partitions == report.mirrored.partitions == len(report.failback)
    for row in report.failback:
        assert row.cut_offset <= row.lost_first_offset <= row.lost_end_offset
