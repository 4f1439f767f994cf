"""Folders of Kafka have no faults after a clean shutdown, and faults after a kill and a damaged end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from kmirror.cli.verify import command
from tests.golden.cli.runs import SAMPLE, WHOLE, log_folders


def check_clean(folder: Path) -> None:
    result = CliRunner().invoke(command, [str(folder), "-o", "json", "--deep"], standalone_mode=False)
    assert result.return_value == 0, result.stdout
    *told, summary = [json.loads(line) for line in result.stdout.splitlines()]
    assert {line["type"] for line in told} <= {"gap"}
    assert summary["faults"] == 0 and summary["partitions"] > 0
    assert summary["skipped"] == [f"{path}: the broker was deleting this folder" for path in folder.glob("*-delete")]


@pytest.mark.parametrize("run", ["kraft-4.3", "legacy-2.1"])
def test_sample_is_clean(run: str) -> None:
    check_clean(SAMPLE / "logs" / run / "data")


def test_every_folder_of_a_clean_shutdown_is_clean() -> None:
    folders = [folder for folder in log_folders() if "expected" not in folder.parts]
    assert len(folders) == 7
    for folder in folders:
        check_clean(folder)


def test_damage_is_found_and_nothing_else() -> None:
    top = WHOLE / "crash-4.3" / "before"
    result = CliRunner().invoke(command, [str(top)], standalone_mode=False)
    assert result.return_value == 1
    *faults, summary = result.stdout.splitlines()
    torn = top / "crashed-0" / "00000000000000000022.log"
    zeros = top / "crashed-1" / "00000000000000000000.log"
    assert faults == [
        f"{torn}, position 7048, offset 97: a batch of 78 bytes, but only 71 bytes are left",
        f"{top / 'replication-offset-checkpoint'}: crashed-0 is at 98, but its log ends at 97",
        f"{zeros}, position 7506, offset 0: a message length of 0 is too small",
        f"{top / 'crashed-compact-0'}: no segment contains offsets 0 to 65: cleaner-offset-checkpoint has the topic",
    ]
    assert summary.startswith("3 faults in 6 partitions, 9 segments, 122 batches")
