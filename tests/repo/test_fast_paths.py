"""Each fast path in docs/benchmarks.md has a benchmark row, and a test that compares it with the general path."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "benchmark-tables.md").read_text()
ROWS = re.findall(r"^\| `(kmirror/\S+\.py)` \| [^|]+ \| ([^|]+) \| `(tests/\S+\.py)` \|$", PAGE, re.M)


def test_fast_paths_are_few() -> None:
    assert 8 < len(ROWS) <= 10, "a further one needs a row that shows its gain, and another one's place"


@pytest.mark.parametrize(("path", "rows", "test"), ROWS, ids=[path for path, _, _ in ROWS])
def test_a_fast_path_has_its_rows_and_its_test(root: Path, path: str, rows: str, test: str) -> None:
    assert (root / path).is_file()
    for row in rows.split(", "):
        assert re.search(rf"^\| {row} \| ", PAGE, re.M), f"no row {row}"
    module = path.removesuffix(".py").replace("/", ".")
    package, _, name = module.rpartition(".")
    text = (root / test).read_text()
    assert module in text or f"from {package} import {name}" in text, f"{test} does not use {path}"
