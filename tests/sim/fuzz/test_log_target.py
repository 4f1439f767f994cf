"""The target `log`: inputs that it accepts, and storage of its findings."""

from __future__ import annotations

from pathlib import Path

from kmirror.fuzz.campaign import Campaign, Tally
from kmirror.fuzz.findings import keep, load
from kmirror.fuzz.replay import replay
from kmirror.fuzz.targets.rows import TargetOptions, open_target
from tests.sim.fuzz.planted_files import repair_does_not_truncate

FRAMES = 600


def tally_of(seed: int, frames: int = FRAMES) -> Tally:
    campaign = Campaign(*open_target("log", TargetOptions(seed=seed)), shrinks=False)
    for _ in campaign.run(frames=frames):
        pass
    return campaign.tally


def test_every_broken_file_is_refused_or_recovered() -> None:
    tally = tally_of(3)
    assert not tally.findings
    assert FRAMES * 0.1 < tally.taken < FRAMES * 0.9


def test_files_of_a_seed_are_the_same_in_any_order() -> None:
    _, one = open_target("log", TargetOptions(seed=5))
    _, other = open_target("log", TargetOptions(seed=5))
    blocks = [one.block(number) for number in range(4)]
    assert [other.block(number) for number in reversed(range(4))] == blocks[::-1]
    assert [frame.is_valid for frame in blocks[0][:2]] == [True, False]


def test_a_finding_is_kept_under_a_name_without_folders(tmp_path: Path) -> None:
    with repair_does_not_truncate():
        finding = next(iter(tally_of(1, 100).findings.values()))
        path = keep(finding, tmp_path)
        assert path.parent == tmp_path
        assert replay(load(path)) is not None
    assert replay(load(path)) is None
