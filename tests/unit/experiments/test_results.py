"""Rows that another version wrote, with other options or figures, are refused and not read as if they were ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyarrow import parquet

from kmirror.cli.report import command as report
from kmirror.errors import UsageError
from kmirror.experiments.results import SCHEMA, Results, read_rows

OTHER_VERSIONS = [
    (SCHEMA.remove(SCHEMA.get_field_index("transaction_ms")), "it lacks transaction_ms. Read it with the version"),
    (SCHEMA.append(pa.field("brand", pa.string())), "it also has brand. Read"),
    (SCHEMA.set(SCHEMA.get_field_index("rpo_ms"), pa.field("rpo_ms", pa.string())), "it has as another type rpo_ms. R"),
]


def folder(path: Path, schema: Any) -> str:
    results = Results(str(path), schema)
    results.prepare()
    results.write([{"run_id": "0" * 16, "status": "ok", "wall_ms": 1}], "0" * 16)
    return str(path)


@pytest.mark.parametrize(("schema", "reason"), OTHER_VERSIONS)
def test_results_of_another_version_are_refused_with_the_columns(tmp_path: Path, schema: Any, reason: str) -> None:
    where = folder(tmp_path, schema)
    for refused in (lambda: read_rows(where), Results(where).prepare, Results(where).check):
        with pytest.raises(UsageError) as told:
            refused()
        assert f"{where}/runs/{'0' * 16}.parquet was not written by this version" in str(told.value)
        assert reason in str(told.value)
    done = CliRunner().invoke(report, [where, "-o", "json"])
    assert isinstance(done.exception, UsageError)


def test_a_row_of_another_version_beside_ours_is_found(tmp_path: Path) -> None:
    where = folder(tmp_path, SCHEMA)
    old = OTHER_VERSIONS[0][0].empty_table()
    parquet.write_table(old, tmp_path / "runs" / "all-old.parquet")
    with pytest.raises(UsageError, match=r"all-old\.parquet was not written by this version"):
        Results(where).gather()


def test_what_this_version_wrote_is_read(tmp_path: Path) -> None:
    where = folder(tmp_path, SCHEMA)
    Results(where).prepare()
    assert [row["run_id"] for row in read_rows(where)] == ["0" * 16]
