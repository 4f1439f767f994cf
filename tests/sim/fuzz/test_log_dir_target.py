"""The target `log-dir`: inputs that it accepts, faults that it must detect, and no files left behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from kmirror.fuzz.campaign import Campaign
from kmirror.fuzz.log_files import has_unknown_batches, whole_batches
from kmirror.fuzz.targets.log_dir import LogDirTarget
from kmirror.fuzz.targets.rows import TargetOptions, open_target

LOG = "txn-0/00000000000000000005.log"


def test_damage_is_reported_and_the_folder_is_restored() -> None:
    target, source = open_target("log-dir", TargetOptions(seed=3))
    assert isinstance(target, LogDirTarget)
    campaign = Campaign(target, source, shrinks=False)
    for _ in campaign.run(frames=150):
        pass
    assert not campaign.tally.findings
    assert 10 < campaign.tally.taken < 140
    top = Path(target._temporary.name) / "logs"
    files = {str(path.relative_to(top)): path.read_bytes() for path in top.rglob("*") if path.is_file()}
    assert files == target.files
    target.close()
    assert not top.parent.exists()


def test_files_of_a_seed_are_of_every_kind_and_the_same_in_any_order() -> None:
    target, one = open_target("log-dir", TargetOptions(seed=5))
    other_target, other = open_target("log-dir", TargetOptions(seed=5))
    target.close()
    other_target.close()
    blocks = [one.block(number) for number in range(80)]
    assert [other.block(number) for number in reversed(range(80))] == blocks[::-1]
    names = {Path(block[0].name).name.lstrip("0123456789") for block in blocks}
    assert {".log", ".index", ".timeindex", ".txnindex", ".snapshot", "leader-epoch-checkpoint"} <= names
    assert {"partition.metadata", "meta.properties", "recovery-point-offset-checkpoint"} <= names


@pytest.fixture(scope="module")
def data() -> bytes:
    target = LogDirTarget()
    target.close()
    return target.files[LOG]


def test_a_change_is_one_that_a_checksum_shows(data: bytes) -> None:
    known = whole_batches(data)
    first = 12 + int.from_bytes(data[8:12], "big")
    assert not has_unknown_batches(data, known)
    assert not has_unknown_batches(data[first:], known)
    assert not has_unknown_batches(data[:first] * 2, known)
    for position in (0, 7, 12, 15):  # Of the offset and of the leader epoch.
        assert not has_unknown_batches(data[:position] + b"\x7f" + data[position + 1 :], known), position
    for position in (8, 11, 16, 17, 21, 60, 61, first - 1):
        assert has_unknown_batches(data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :], known), (
            position
        )
    assert has_unknown_batches(data[:-1], known) and has_unknown_batches(data + b"\0", known)
    assert has_unknown_batches(data[: first + 5], known)
