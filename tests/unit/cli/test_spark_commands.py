"""Commands that use Spark: errors are reported before a JVM is started, and each command ends with one line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest

pytest.importorskip("pyspark")

from kmirror.cli.main import run
from kmirror.spark import sessions

Run = Callable[..., tuple[int, str, str]]
SWEEP = "seeds = 2\n[fixed]\nfailure_ms = 300\n"


@pytest.fixture
def kmirror(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command line where no session is available; returns exit code, stdout, stderr."""

    def no_session(*_: object, **__: object) -> NoReturn:
        raise AssertionError("a JVM would have been started")

    monkeypatch.setattr(sessions, "session", no_session)

    def run_command(*words: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as caught:
            run(words)
        told = capsys.readouterr()
        assert isinstance(caught.value.code, int)
        return caught.value.code, told.out, told.err

    return run_command


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "s.toml"
    path.write_text(SWEEP)
    return str(path)


def test_an_unwritable_output_is_reported_first(kmirror: Run, file: str, tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("")
    for words in (("sweep", file, "-o"), ("sim", "--spark", "--seeds", "2", "--profile", "smoke", "--results")):
        code, out, err = kmirror(*words, str(tmp_path / "plain"))
        assert (code, out) == (1, "")
        assert err.startswith(f"kmirror: {tmp_path}/plain/runs: cannot be written: ")
        assert err.count("\n") == 1
        code, out, err = kmirror(*words, "s4://nowhere")
        assert err.startswith("kmirror: s4://nowhere: cannot be used: ")
        assert err.count("\n") == 1


def test_damaged_results_are_reported_first(kmirror: Run, file: str, tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    damaged = tmp_path / "runs" / "all-x.parquet"
    damaged.write_bytes(b"hello")
    for words in (
        ("sweep", file, "-o", str(tmp_path)),
        ("sim", "--spark", "--seeds", "2", "--profile", "smoke", "--results", str(tmp_path)),
        ("report", str(tmp_path), "-o", "json"),
        ("report", str(tmp_path), "-o", str(tmp_path / "page.html")),
    ):
        code, out, err = kmirror(*words)
        assert (code, out) == (1, "")
        assert err.startswith(f"kmirror: {damaged}: is damaged: ")
        assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["sweep", "FILE", "-o", "DIR"], "finished results are kept in DIR, the same command continues from there"),
        (["sim", "--spark", "--seeds=2", "--profile=smoke", "--results", "DIR"], "finished results are kept in DIR"),
        (["spark-verify", "DIR", "DIR"], ""),
    ],
    ids=["sweep", "sim", "spark-verify"],
)
def test_ctrl_c_is_one_line_and_130(
    kmirror: Run, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], told: str
) -> None:
    class Session:
        def stop(self) -> None:
            raise ConnectionError("the JVM went first")

        def __getattr__(self, name: str) -> Any:
            raise KeyboardInterrupt

    folder = tmp_path / "t-0"
    folder.mkdir()
    (folder / f"{0:020}.log").write_bytes(b"")
    monkeypatch.setattr(sessions, "session", lambda *_, **__: Session())
    places = {"FILE": file, "DIR": str(tmp_path)}
    code, _, err = kmirror(*(places.get(word, word) for word in words))
    assert code == 130
    assert err.startswith(f"kmirror: interrupted{'; ' if told else ''}{told.replace('DIR', str(tmp_path))}")
    assert err.count("\n") == 1
