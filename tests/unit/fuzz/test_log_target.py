"""The target `log`: what it takes, and that it finds a recovery that is not finished after the first time."""

from __future__ import annotations

from unittest.mock import patch

from kmirror.fuzz.campaign import Campaign, Tally
from kmirror.fuzz.findings import Kind
from kmirror.fuzz.targets.rows import Wanted, open_target
from kmirror.log import recovery
from kmirror.log.memory_store import MemoryStore

FRAMES = 600


def tally_of(seed: int, frames: int = FRAMES) -> Tally:
    campaign = Campaign(*open_target("log", Wanted(seed=seed)), shrinks=False)
    for _ in campaign.run(frames=frames):
        pass
    return campaign.tally


def test_every_broken_file_is_refused_or_recovered() -> None:
    tally = tally_of(3)
    assert not tally.findings
    assert FRAMES * 0.1 < tally.taken < FRAMES * 0.9


def test_files_of_a_seed_are_the_same_in_any_order() -> None:
    _, one = open_target("log", Wanted(seed=5))
    _, other = open_target("log", Wanted(seed=5))
    blocks = [one.block(number) for number in range(4)]
    assert [other.block(number) for number in reversed(range(4))] == blocks[::-1]
    assert [frame.is_valid for frame in blocks[0][:2]] == [True, False]


def test_a_cut_that_is_not_made_is_found() -> None:
    with patch.object(MemoryStore, "truncate", lambda self, base_offset, size: None):
        found = tally_of(1, 100).findings.values()
    assert {finding.kind for finding in found} == {Kind.DIFFERS}


def test_an_untyped_error_of_recovery_is_found() -> None:
    placed = recovery.placed

    def untyped(error: Exception, segment: object) -> Exception:
        return IndexError(str(error)) if "inside a batch" in str(error) else placed(error, segment)  # type: ignore[arg-type]

    with patch.object(recovery, "placed", untyped):
        found = tally_of(1, 300).findings.values()
    assert Kind.RAISED in {finding.kind for finding in found}
