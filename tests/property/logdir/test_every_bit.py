"""`kmirror verify` finds a changed bit at any place of a segment and of its indexes."""

from __future__ import annotations

from pathlib import Path
from struct import Struct

import pytest

from kmirror.records.batch import iter_batches
from tests.verify_command import copy_sample, flip, verify

_ABORTED = Struct(">hqqqq")


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """A copy of a log folder after a clean shutdown of its broker."""
    return copy_sample(tmp_path / "data")


def test_every_bit_of_a_segment_counts(top: Path) -> None:
    """Except in the base offset of the log's last batch: a gap may be the cleaner's."""
    for partition in ("txn-2", "clients-2"):
        paths = sorted((top / partition).glob("*.log"))
        for path in paths:
            whole = path.read_bytes()
            last = max(batch.position for batch in iter_batches(whole)) if path == paths[-1] else len(whole)
            for position in range(0, len(whole), 7):
                if last <= position < last + 8:
                    continue
                flip(path, position, 1 << position % 8)
                assert verify(top / partition)[0] == 1, (path, position)
                path.write_bytes(whole)


def test_each_row_of_an_index_counts(top: Path) -> None:
    for path in sorted((top / "txn-2").glob("*.*index")):
        whole = path.read_bytes()
        for position in range(0, len(whole), 5):
            if path.suffix == ".txnindex" and position % _ABORTED.size >= 26:
                continue  # The last stable offset depends on records that the cleaner may have removed.
            flip(path, position, 1 << position % 8)
            assert verify(top / "txn-2")[0] == 1, (path, position)
            path.write_bytes(whole)
