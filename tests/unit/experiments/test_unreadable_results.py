"""Results that cannot be written or read give one line that names the file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kmirror.errors import KmirrorError, ProtocolError, UsageError
from kmirror.experiments.results import Results, read_rows
from kmirror.logdir.faults import Unreadable

ID = "0" * 16


def one_line(error: KmirrorError) -> str:
    text = str(error)
    assert "\n" not in text and len(text) < 400
    return text


@pytest.mark.parametrize("name", [f"{ID}.parquet", "all-x.parquet"])
@pytest.mark.parametrize("data", [b"", b"hello", b"PAR1" + b"a" * 40 + b"PAR1", b"PAR1" + b"\x00" * 8 + b"PAR1"])
def test_a_damaged_file_is_named_with_its_remedy(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / "runs").mkdir()
    file = tmp_path / "runs" / name
    file.write_bytes(data)
    with pytest.raises(ProtocolError) as caught:
        read_rows(str(tmp_path))
    text = one_line(caught.value)
    assert text.startswith(f"{file}: is damaged: ")
    assert text.endswith("; delete it to repeat its runs")


def test_damage_is_found_before_any_run(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "all-x.parquet").write_bytes(b"hello")
    with pytest.raises(ProtocolError, match="is damaged"):
        Results(str(tmp_path)).prepare_if_missing([ID])


def test_a_folder_that_cannot_be_made_or_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Unreadable) as caught:
        Results(str(tmp_path / "file")).prepare()
    assert one_line(caught.value).startswith(f"{tmp_path}/file/runs: cannot be written: ")
    with pytest.raises(Unreadable, match="cannot be written"):
        Results("/proc/kmirror").prepare_if_missing([ID])
    if os.geteuid() != 0:  # Root may write everywhere.
        (tmp_path / "runs").mkdir(mode=0o500)
        with pytest.raises(Unreadable, match=r"cannot be written: .*denied"):
            Results(str(tmp_path)).prepare()


def test_a_failed_write_of_a_run_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results = Results(str(tmp_path))
    results.prepare()
    (staging,) = (tmp_path / "runs").iterdir()
    assert list(staging.iterdir()) == [], "the probe is gone"
    staging.rmdir()
    (tmp_path / "runs").rmdir()
    with pytest.raises(Unreadable, match=r"runs: cannot be written: No such file or directory"):
        results.write([{"run_id": ID}], ID)


def test_where_nothing_is_missing_nothing_is_written(tmp_path: Path) -> None:
    results = Results(str(tmp_path / "none"))
    results.prepare_if_missing([])
    assert not (tmp_path / "none").exists()


def test_a_uri_of_no_file_system_is_refused() -> None:
    with pytest.raises(UsageError) as caught:
        Results("s4://bucket/x")
    assert one_line(caught.value).startswith("s4://bucket/x: cannot be used: ")
