"""Every file of Kafka is dissected without a byte left over or shown twice."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from kmirror.errors import CorruptBatch
from kmirror.logdir.dissect.core import DissectedRow, with_paths
from kmirror.logdir.dissect.files import dissect, kind_of
from kmirror.records.legacy import iter_any_batches
from tests.golden.records.recorded import SAMPLE, WHOLE

ROOTS = [pytest.param(SAMPLE, id="sample"), pytest.param(WHOLE, id="whole")]
# Files that recovery would truncate: after the kill of a broker, or damaged by a test.
DAMAGED = {("crashed-0", "00000000000000000022.log"), ("crashed-1", "00000000000000000000.log")}


def files(root: Path) -> Iterator[Path]:
    for path in sorted(root.glob("**/*")):
        if path.is_file() and kind_of(path.name) is not None and "expected" not in path.parts:
            yield path


def rows_of(path: Path) -> list[DissectedRow]:
    found = kind_of(path.name)
    assert found is not None
    kind, base_offset = found
    return list(dissect(kind, path.read_bytes(), base_offset=base_offset))


def assert_tiled(rows: list[DissectedRow], start: int, end: int, where: str) -> None:
    """Assert that rows of one depth are contiguous from `start` to `end`, and that their members fill each."""
    at = start
    index = 0
    while index < len(rows):
        row = rows[index]
        assert row.start == at, f"{where}: {row}"
        at = row.end
        following = index + 1
        while following < len(rows) and rows[following].depth > row.depth:
            following += 1
        members = [member for member in rows[index + 1 : following] if member.within == row.within]
        if members:
            assert_tiled(members, row.start, row.end, f"{where}.{row.name}")
        index = following
    assert at == end, f"{where} ends at {at}, not {end}"


@pytest.mark.parametrize("root", ROOTS)
def test_the_fields_tile_the_file(root: Path) -> None:
    kinds = set()
    for path in files(root):
        found = kind_of(path.name)
        assert found is not None
        if "before" in path.parts and (path.parent.name, path.name) in DAMAGED:
            with pytest.raises(CorruptBatch):
                rows_of(path)
            continue
        rows = rows_of(path)
        assert not [row for row in rows if row.is_fault], path
        # A row inside decompressed data counts from its own start.
        assert_tiled([row for row in rows if not row.within], 0, path.stat().st_size, str(path))
        kinds.add(found[0].name)
    assert {"log", "metadata-snapshot", "index", "timeindex", "txnindex", "snapshot", "epochs", "offsets"} <= kinds
    assert {"partition", "text"} <= kinds


@pytest.mark.parametrize("root", ROOTS)
def test_records_are_the_ones_that_the_fast_path_reads(root: Path) -> None:
    compared = 0
    for path in sorted(root.glob("*/data/**/*.log")):
        rows = rows_of(path)
        wrappers = {place for row, place in with_paths(rows) if row.meaning.startswith("a wrapper")}
        records = [one for batch in iter_any_batches(path.read_bytes()) for one in batch.records()]
        for name, expected in (("key", [one.key for one in records]), ("value", [one.value for one in records])):
            field = re.compile(rf"(record|batch|message)\[\d+\]\.{name}$")
            shown = [
                row.value
                for row, place in with_paths(rows)
                if field.search(place) and place.rpartition(".")[0] not in wrappers
            ]
            assert shown == expected, path
        compared += len(records)
    assert compared > 1000
