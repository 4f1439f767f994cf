"""`kmirror replay`, and the files that `kmirror serve --journal` writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kmirror.assembly.journal.entries import CALL, encode_entry, file_header, read_entries
from kmirror.assembly.journal.recorder import Journals
from kmirror.cli.journal_files import JournalFiles
from kmirror.cli.main import run
from kmirror.errors import UsageError
from kmirror.sim.cluster import Cluster
from kmirror.sim.simulation import Simulation


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the journals of a cluster whose broker was killed once."""
    found = tmp_path_factory.mktemp("journals")
    files = JournalFiles(found)
    with Simulation(3) as simulation, Cluster(simulation, "a", brokers=1, interpose=Journals(files.open)) as a:
        a.create_topic("orders")
        a.produce("orders", 0, [b"v"])
        a.kill(1)
        a.restart(1)
        simulation.run_for(span_s=10)
    files.close()
    return found


def run_replay(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[object, list[str], str]:
    """Return exit code, the lines of stdout, and stderr."""
    with pytest.raises(SystemExit) as caught:
        run(["replay", *map(str, words)])
    out = capsys.readouterr()
    return caught.value.code, out.out.splitlines(), out.err


def test_each_start_of_a_node_has_a_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = sorted(folder.iterdir())
    assert [path.name for path in files] == ["a-1.1.journal", "a-1.2.journal", "a-controller.1.journal"]
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}, "they have passwords in them"
    code, lines, err = run_replay(capsys, *files)
    assert (code, err) == (0, "")
    assert [line.split(",")[0] for line in lines] == [
        f"{files[0]}: a-1", f"{files[1]}: a-1", f"{files[2]}: a-controller",
    ]  # fmt: skip
    assert all(line.endswith(", equal") for line in lines)


def test_a_difference_ends_with_1_and_is_shown(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = file_header()
    for kind, value in read_entries((folder / "a-1.1.journal").read_bytes()):  # type: ignore[misc]
        is_late = kind == CALL and value[1][0] == "Started"
        changed += encode_entry(kind, (value[0] + 1000, *value[1:]) if is_late else value)
    path = tmp_path / "changed.journal"
    path.write_bytes(changed)
    code, lines, err = run_replay(capsys, path)
    assert (code, err) == (1, "")
    assert lines[0] == f"{path}: a-1, 1 call, not equal"
    assert lines[1].startswith("call 1 at ") and lines[1].endswith(" ms: Started")
    assert any(line.startswith("  recorded: SetTimer") for line in lines)
    assert any(line.startswith("  replayed: SetTimer") for line in lines)
    code, (line,), _ = run_replay(capsys, path, "-o", "json")
    found = json.loads(line)
    assert (code, found["is_equal"], found["calls"], found["difference"]["number"]) == (1, False, 1, 1)


def test_a_torn_journal_is_equal_with_a_note(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "torn.journal"
    path.write_bytes((folder / "a-1.1.journal").read_bytes()[:-3])
    code, lines, _ = run_replay(capsys, path)
    assert code == 0 and lines[0].endswith(", equal")
    assert lines[1].endswith("are a torn entry, which is ignored")
    path.write_bytes(b"kmirror jour")
    assert run_replay(capsys, path)[0] == 2
    path.write_bytes(file_header())
    assert run_replay(capsys, path)[:2] == (1, [f"{path}: no node, 0 calls, nothing to compare"])


def test_a_file_that_is_no_journal_exits_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a journal, but long enough to be one")
    assert run_replay(capsys, path) == (
        2, [], f"kmirror: {path}: not a journal: kmirror serve --journal writes them\n",
    )  # fmt: skip
    code, _, err = run_replay(capsys, tmp_path / "nowhere")
    assert (code, err) == (2, f"kmirror: {tmp_path / 'nowhere'}: No such file or directory\n")


def test_existing_journals_are_kept(tmp_path: Path) -> None:
    for expected in (["a.1.journal"], ["a.1.journal", "a.2.journal"]):
        files = JournalFiles(tmp_path)
        files.open("a")(b"x")
        files.close()
        assert sorted(path.name for path in tmp_path.iterdir()) == expected
    with pytest.raises(UsageError, match="cannot write journals to"):
        JournalFiles(tmp_path / "a.1.journal" / "inside")
