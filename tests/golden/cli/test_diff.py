"""Replicas of one partition are equal; a replica that was not yet truncated diverges where the brokers diverged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from kmirror.cli.diff import command
from tests.golden.cli.runs import SAMPLE, WHOLE, log_folders

EPOCHS = WHOLE / "epochs-4.3"


def diff(left: Path, right: Path, *options: str) -> tuple[int, list[dict[str, Any]]]:
    result = CliRunner().invoke(command, [str(left), str(right), "-o", "json", *options], standalone_mode=False)
    return result.return_value, [json.loads(line) for line in result.stdout.splitlines()]


def test_every_folder_equals_itself() -> None:
    for folder in [folder for folder in log_folders() if "expected" not in folder.parts]:
        code, (*partitions, summary) = diff(folder, folder, "--internal")
        assert (code, summary["differences"]) == (0, 0)
        assert summary["batches"] == sum(row["common"]["batches"] for row in partitions) > 0
        assert {row["type"] for row in partitions} == {"partition"}


@pytest.mark.parametrize("topic", ["epochs-0", "epochs-idle-0"])
def test_replicas_are_equal(topic: str) -> None:
    for other in (2, 3):
        code, (_, summary) = diff(EPOCHS / "broker-1" / "data" / topic, EPOCHS / f"broker-{other}" / "data" / topic)
        assert (code, summary["differences"]) == (0, 0)


def test_records_lost_by_an_unclean_election_are_the_first_difference() -> None:
    lost = EPOCHS / "before" / "broker-2" / "ule-0"
    kept = EPOCHS / "broker-3" / "data" / "ule-0"
    code, (difference, partition, summary) = diff(lost, kept)
    assert code == 1
    assert difference == {
        "type": "difference",
        "topic": "ule",
        "partition": 0,
        "offset": 12,
        "right_offset": None,
        "field": "leader epoch",
        "left": 2,
        "right": 4,
        "within": "batch",
        "byte": 15,
        "left_bytes": "02",
        "right_bytes": "04",
        "text": "leader epoch is 2 on the left and 4 on the right; "
        "byte 15 of the batch: 02 on the left, 04 on the right",
    }
    assert summary["batches"] == partition["common"]["batches"] == 3


def test_a_partition_that_one_side_lacks_is_a_difference() -> None:
    code, rows = diff(EPOCHS / "broker-1" / "data", EPOCHS / "broker-2" / "data")
    assert code == 1
    found = [(row["topic"], row["field"], row["left"], row["right"]) for row in rows if row["type"] == "difference"]
    assert found == [("spread", "partition", True, False), ("ule", "partition", False, True)]
    assert rows[-1]["partitions"] == 4
    code, rows = diff(EPOCHS / "broker-1" / "data", EPOCHS / "broker-2" / "data", "--common")
    assert (code, rows[-1]["differences"], rows[-1]["only_left"], rows[-1]["only_right"]) == (0, 0, 1, 1)


def test_the_sample_equals_the_recorded_runs() -> None:
    for run in ("kraft-4.3", "legacy-2.1"):
        for folder in sorted((SAMPLE / "logs" / run / "data").glob("*-0")):
            code, (partition, *summary) = diff(folder, WHOLE / run / "data" / folder.name)
            assert partition["equal"]
            if folder.name == "emptied-0":  # Without a batch there was nothing to compare.
                assert (code, summary) == (None, [])
            else:
                assert (code, summary[0]["differences"]) == (0, 0)
