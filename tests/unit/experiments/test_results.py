"""Results of sweeps: each run has one row, and rows of another version are refused."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyarrow import parquet

from kmirror.cli.report import command as report
from kmirror.errors import UsageError
from kmirror.experiments.results import SCHEMA, Results, read_rows
from kmirror.logdir.faults import Unreadable

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


def test_a_row_of_another_version_is_found(tmp_path: Path) -> None:
    where = folder(tmp_path, SCHEMA)
    old = OTHER_VERSIONS[0][0].empty_table()
    parquet.write_table(old, tmp_path / "runs" / "all-old.parquet")
    with pytest.raises(UsageError, match=r"all-old\.parquet was not written by this version"):
        Results(where).compact()


def test_results_of_this_version_are_read(tmp_path: Path) -> None:
    where = folder(tmp_path, SCHEMA)
    Results(where).prepare()
    assert [row["run_id"] for row in read_rows(where)] == ["0" * 16]


def test_a_run_that_ends_after_the_gathering_adds_no_second_row(tmp_path: Path) -> None:
    # The Python worker of a killed executor continues its run, which another executor has repeated.
    where = folder(tmp_path, SCHEMA)
    late = Results(where)
    assert Results(where).compact() == 1
    with pytest.raises(Unreadable, match="cannot be written"):
        late.write([{"run_id": "0" * 16, "status": "ok", "wall_ms": 2}], "0" * 16)
    assert parquet.read_table(tmp_path / "runs")["wall_ms"].to_pylist() == [1]
    late.prepare()
    late.write([{"run_id": "1" * 16, "status": "ok", "wall_ms": 2}], "1" * 16)
    assert Results(where).compact() == 2
    assert [path.name for path in (tmp_path / "runs").iterdir() if path.suffix != ".parquet"] == []


def test_a_file_written_while_results_are_gathered_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where = folder(tmp_path, SCHEMA)
    staging = tmp_path / "runs" / ".writing"
    (staging / ".half-written").write_bytes(b"PAR1")
    deleted = iter([OSError(errno.ENOTEMPTY, "a writer was faster")])
    results = Results(where)
    monkeypatch.setattr(results, "_fs", FaultyFolders(results._fs, deleted))
    assert results.compact() == 1
    assert not staging.exists()


class FaultyFolders:
    """A file system in which the first deletions of a folder fail."""

    def __init__(self, inner: Any, errors: Iterator[OSError]) -> None:
        self._inner = inner
        self._errors = errors

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def delete_dir(self, path: str) -> None:
        for error in self._errors:
            raise error
        self._inner.delete_dir(path)
