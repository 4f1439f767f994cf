"""Whole log folders of brokers: read completely except for internal topics, and mirrored there and back."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from kmirror.experiments.demo import Demo
from kmirror.logdir.load import LogDirs, read_log_dirs
from kmirror.records.legacy import iter_any_batches
from kmirror.spec.topics import SYSTEM_TOPICS
from tests.recorded import recorded_runs

HERE = Path(__file__).resolve().parents[2] / "data" / "log" / "legacy-2.1"
NAMES = [
    "legacy-2.1/data",
    "kraft-4.3/data",
    "crash-4.3/data",
    "epochs-4.3/broker-1/data",
    "epochs-4.3/broker-2/data",
    "epochs-4.3/broker-3/data",
    "epochs-4.3/before/broker-2",
    "epochs-4.3/before/broker-3",
]
FOLDERS = [HERE, *(recorded_runs() / name for name in NAMES)]
SEEDS = int(os.environ.get("KMIRROR_FOLDER_SEEDS", "0"))
"""Number of seeds to mirror each folder with; those with messages of old formats are always mirrored once."""


def label(folder: Path) -> str:
    return "sample" if folder == HERE else str(folder.relative_to(recorded_runs()))


def holds_old_formats(logs: LogDirs) -> bool:
    segments = (data for files in logs.partitions.values() for data in files.segments.values())
    return any(batch.magic < 2 for data in segments for batch in iter_any_batches(data))


@pytest.mark.decision("D21")
@pytest.mark.parametrize("folder", FOLDERS, ids=label)
def test_every_topic_of_a_folder_is_read(folder: Path) -> None:
    found = read_log_dirs(folder)
    present = {path.name.rpartition("-")[0] for path in folder.iterdir() if any(path.glob("*.log"))}
    aside = {name.rpartition("-")[0] for name, _ in found.skipped}
    assert set(found.topics) == {name for name in present if name not in SYSTEM_TOPICS} - aside
    for files in found.partitions.values():
        ends = [batch.next_offset for data in files.segments.values() for batch in iter_any_batches(data)]
        assert files.batches == len(ends)
        assert files.log_end_offset == max([*ends, max(files.segments)])


@pytest.mark.decision("D21")
def test_offsets_equal_the_brokers_description() -> None:
    folder = recorded_runs() / "legacy-2.1"
    told = json.loads((folder / "offsets.json").read_text())
    found = read_log_dirs(folder / "data")
    assert len(found.partitions) == 19
    for tp, files in found.partitions.items():
        row = told[str(tp)]
        assert files.log_start_offset == row["earliest"]["offset"], tp
        assert files.log_end_offset == row["latest"]["offset"], tp


@pytest.mark.parametrize("folder", FOLDERS, ids=label)
def test_a_folder_is_mirrored_there_and_back(folder: Path) -> None:
    logs = read_log_dirs(folder)
    for seed in range(max(SEEDS, int(holds_old_formats(logs)))):
        report = Demo(logs, seed=seed, faults=True).run()
        assert report.mirrored.partitions == report.final.partitions == len(logs.partitions)
