"""Files and folders that the system refuses, that are no files, or that are not the expected ones."""

from __future__ import annotations

import builtins
import errno
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from kmirror.cli.main import run
from kmirror.logdir.compare.pairs import pair_folders
from kmirror.logdir.compare.partitions import compare
from kmirror.logdir.faults import Unreadable

SAMPLE = Path(__file__).resolve().parents[2] / "data" / "cli" / "logs"
LOG = f"{0:020d}.log"


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """A copy of a log folder after a clean shutdown of its broker."""
    return shutil.copytree(SAMPLE / "kraft-4.3" / "data", tmp_path / "data")


def run_command(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[object, list[str], str]:
    """Run a command line; return exit code, the lines of stdout, and stderr."""
    with pytest.raises(SystemExit) as caught:
        run([str(word) for word in words])
    out = capsys.readouterr()
    return caught.value.code, out.out.splitlines(), out.err


def test_verify_continues_after_an_unreadable_file(
    top: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Permission errors are patched in, as root ignores permissions."""
    closed = [next((top / "txn-2").glob("*.log")), top / "replication-offset-checkpoint"]
    opens = builtins.open, Path.read_bytes

    def refuse(path: object) -> None:
        if path in closed:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))

    def open_refused(path: Any, *arguments: Any, **options: Any) -> Any:
        refuse(path)
        return opens[0](path, *arguments, **options)

    def read_refused(path: Path) -> bytes:
        refuse(path)
        return opens[1](path)

    _, (summary,), _ = run_command(capsys, "verify", top)
    monkeypatch.setattr(builtins, "open", open_refused)
    monkeypatch.setattr(Path, "read_bytes", read_refused)
    code, lines, err = run_command(capsys, "verify", top)
    assert (code, err) == (1, "")
    for path in closed:
        assert f"{path}: cannot be read: Permission denied" in lines
    assert summary.split(",")[0].partition(" in ")[2] in lines[-1]  # As many partitions as before.


def test_verify_finds_no_fault_only_where_there_is_something(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    top.rename(top.with_name("kafka-1"))
    code, lines, err = run_command(capsys, "verify", top.parent)
    assert (code, lines) == (1, [])
    meant = f"did you mean {top.parent / 'kafka-1'}?"
    assert err == f"kmirror: {top.parent}: none of its folders contains segment files; {meant}\n"
    new = top.parent / "new"
    new.mkdir()
    (new / "meta.properties").write_text("version=1\nnode.id=1\ncluster.id=c\n")
    code, lines, err = run_command(capsys, "verify", new)  # The result of `kafka-storage format`.
    assert (code, lines) == (1, [])
    assert err == f"kmirror: {new}: contains no partition yet, so there is no log to verify\n"
    (new / "t-0.0123456789abcdef-delete").mkdir()
    code, lines, err = run_command(capsys, "verify", new)
    assert code == 1 and err.endswith("contains no partition yet, so there is no log to verify\n")


def test_folders_of_log_folders_without_files_are_not_equal(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    top.rename(top.with_name("kafka-1"))
    code, lines, err = run_command(capsys, "diff", top.parent, top.parent)
    assert (code, lines) == (2, [])
    assert err == f"kmirror: {top.parent}: contains no log to compare; did you mean {top.parent / 'kafka-1'}?\n"


def test_a_segment_removed_during_a_comparison_is_a_system_error(top: Path) -> None:
    pairs = pair_folders(top / "txn-2", top / "txn-2")
    gone = pairs.both[0][0].segments[1].path
    gone.unlink()
    with pytest.raises(Unreadable) as caught:
        compare(pairs)
    assert (caught.value.path, caught.value.reason) == (gone, "cannot be read: No such file or directory")


@pytest.mark.parametrize("words", [["dissect"], ["dissect", "--as", "log"], ["dump-log", "--files"]], ids=" ".join)
def test_a_pipe_is_not_waited_for(words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tmp_path / LOG)
    code, _, err = run_command(capsys, *words, tmp_path / LOG)
    assert code == 1
    assert err.startswith(f"kmirror: {tmp_path / LOG}: ") and err.endswith("not a regular file\n")


@pytest.mark.parametrize(
    "words",
    [["cat"], ["diff", "."], ["verify"], ["verify", "--deep", "-ojson"], ["dissect"], ["demo", "--data"], ["sweep"]],
    ids=" ".join,
)
def test_permission_errors_are_no_usage_errors(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / LOG
    path.mkdir()
    monkeypatch.setattr(os, "access", lambda *_: False)  # The check that click itself makes.
    code, _, err = run_command(capsys, *words, path)
    assert (code, err[:8]) == (2 if words[0] == "diff" else 1, "kmirror:")
    assert err.count("\n") == 1


def test_a_report_that_cannot_be_written_names_its_path(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def refused(_: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(tmp_path / "runs"))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kmirror.report.notebook.load", refused)
        code, _, err = run_command(capsys, "report", tmp_path, "-o", "json")
    assert (code, err) == (1, f"kmirror: {tmp_path / 'runs'}: Permission denied\n")
