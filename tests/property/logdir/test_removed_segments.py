"""Each segment of a broker's log is removed: a loss is a fault, or its offsets are reported."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.recorded import recorded_runs
from tests.segment_removal import BROKERS, is_reported, remove_each, table

DATA = Path(__file__).resolve().parents[2] / "data"


@pytest.mark.parametrize("top", BROKERS, ids=lambda path: str(path.relative_to(path.parents[2])))
def test_no_segment_above_the_first_is_missing_in_silence(
    top: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    removals = list(remove_each(top, tmp_path / "copy"))
    assert removals
    with capsys.disabled():
        if os.environ.get("KMIRROR_TABLES") == "1":
            print(f"\n{top}\n{table(removals)}")
    wrong = [one for one in removals if not is_reported(one)]
    assert wrong == [], table(removals)


def test_the_manual_has_the_table_of_the_recorded_brokers(tmp_path: Path) -> None:
    runs = recorded_runs()
    folders = sorted(
        path.parent for path in [*runs.rglob("meta.properties"), *runs.glob("epochs-4.3/before/*/epochs-0")]
    )
    tops = [path for path in folders if path != runs / "crash-4.3" / "before"]
    removals = [one for top in tops for one in remove_each(top, tmp_path / "copy")]
    assert {one.place for one in removals if one.verified == "silent"} <= {"first"}
    assert table(removals) in (DATA.parents[1] / "docs" / "logs.md").read_text("utf-8"), table(removals)
