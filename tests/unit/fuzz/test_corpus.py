"""Past findings: each frame once broke its target, and is judged again."""

from __future__ import annotations

from pathlib import Path

import pytest

from kmirror.fuzz.findings import load
from kmirror.fuzz.replay import replay

CORPUS = sorted((Path(__file__).parents[2] / "data" / "fuzz").glob("*.json"))


def test_there_is_a_corpus() -> None:
    assert CORPUS


@pytest.mark.parametrize("path", CORPUS, ids=[path.stem for path in CORPUS])
def test_a_finding_that_was_mended_stays_mended(path: Path) -> None:
    assert replay(load(path)) is None
