"""The frame of the command line: exit codes, no tracebacks, no imports before they are needed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import types
from pathlib import Path

import click
import pytest

import kmirror
from kmirror.cli import main, quick_start
from kmirror.cli.commands import COMMANDS, CommandRow
from kmirror.cli.group import build
from kmirror.errors import UsageError

MODULE = "planted_commands"


@click.command()
def refuse() -> None:
    raise UsageError("/data: is not a folder")


@click.command()
def answer() -> int:
    return 7


@click.command()
def crash() -> None:
    raise ZeroDivisionError


@click.command()
def interrupt() -> None:
    raise KeyboardInterrupt


ROWS = tuple(CommandRow(name, MODULE, name, f"{name} it") for name in ("refuse", "answer", "crash", "interrupt"))


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType(MODULE)
    vars(module).update(refuse=refuse, answer=answer, crash=crash, interrupt=interrupt)
    monkeypatch.setitem(sys.modules, MODULE, module)


def exit_code(*arguments: str, rows: tuple[CommandRow, ...] = ROWS) -> object:
    with pytest.raises(SystemExit) as caught:
        main.run(arguments, rows=rows)
    return caught.value.code


def test_similar_names_are_suggested_for_an_unknown_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("crsh") == 2
    assert capsys.readouterr().err.endswith("Error: No such command 'crsh': did you mean crash?\n")
    assert exit_code("xyzzy") == 2
    assert capsys.readouterr().err.endswith("Error: No such command 'xyzzy'.\n")


@pytest.mark.usefixtures("planted")
def test_an_expected_error_is_one_line_on_stderr_with_exit_code_1(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert exit_code("refuse") == 1
    assert capsys.readouterr() == ("", "kmirror: /data: is not a folder\n")


@pytest.mark.usefixtures("planted")
def test_the_exit_code_is_the_return_value_of_the_command() -> None:
    assert exit_code("answer") == 7


@pytest.mark.usefixtures("planted")
def test_a_bug_is_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError):
        main.run(["crash"], rows=ROWS)


@pytest.mark.usefixtures("planted")
def test_interruption_is_exit_code_130() -> None:
    assert exit_code("interrupt") == 130


def test_an_unknown_command_and_an_unknown_option_are_exit_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("nope") == 2
    assert exit_code("--nope") == 2
    errors = capsys.readouterr().err
    assert "nope" in errors
    assert "Traceback" not in errors


def test_help_lists_every_command_and_imports_none(capsys: pytest.CaptureFixture[str]) -> None:
    absent = (CommandRow("demo", "no.such.module", "demo", "what demo does"),)
    assert exit_code("--help", rows=absent) == 0
    assert "what demo does" in capsys.readouterr().out


def test_version_is_the_packages(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("--version") == 0
    assert capsys.readouterr().out == f"kmirror {kmirror.__version__}\n"


def test_every_row_leads_to_a_command_of_its_name() -> None:
    group = build(COMMANDS)
    for row in COMMANDS:
        command = group.get_command(click.Context(group), row.name)
        assert command is not None
        assert command.name == row.name


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
    )


def test_ctrl_c_ends_the_process_with_130_and_no_traceback() -> None:
    program = """if True:
        import signal, sys, types, click
        from kmirror.cli.commands import CommandRow
        from kmirror.cli.main import run
        module = types.ModuleType("planted")
        module.wait = click.command("wait")(lambda: signal.raise_signal(signal.SIGINT))
        sys.modules["planted"] = module
        run(["wait"], rows=(CommandRow("wait", "planted", "wait", ""),))
    """
    done = python("-c", program)
    assert done.returncode == 130
    assert "Traceback" not in done.stderr


def test_a_quick_command_runs_without_click_unless_it_declines(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt_quickly(words: list[str]) -> int | None:
        if words == ["wait"]:
            raise KeyboardInterrupt
        return None if words else 5

    module = types.ModuleType(MODULE)
    vars(module).update(answer=answer)
    monkeypatch.setitem(sys.modules, MODULE, module)
    monkeypatch.setitem(quick_start.QUICK_COMMANDS, "answer", interrupt_quickly)
    rows = (CommandRow("answer", MODULE, "answer", "answer it"),)
    assert exit_code("answer", rows=rows) == 5
    assert exit_code("answer", "wait", rows=rows) == 130
    assert exit_code("answer", "--nope", rows=rows) == 2


@pytest.mark.parametrize("command", ["verify", "cat"])
def test_a_closed_pipe_ends_a_command_quietly(command: str) -> None:
    shell = ["sh", "-c", '"$@"; echo $? >&2', "sh", sys.executable, "-m", "kmirror", command, str(SEGMENT.parent)]
    with subprocess.Popen(shell, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None and running.stderr is not None
        running.stdout.close()
        assert running.stderr.read() == "1\n"


BUFFERED = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
SEGMENT = Path(kmirror.__file__).parent / "logdir" / "sample" / "codecs-0" / f"{0:020d}.log"
PRINTING = [
    ["cat", str(SEGMENT.parent)],
    ["verify", str(SEGMENT.parent)],
    ["diff", str(SEGMENT.parent), str(SEGMENT.parent)],
    ["dump-log", "--files", str(SEGMENT)],
    ["dissect", str(SEGMENT)],
]


@pytest.mark.parametrize("words", PRINTING, ids=[words[0] for words in PRINTING])
@pytest.mark.parametrize(("stdout", "reason"), [(">&-", "stdout is closed"), (">/dev/full", "No space left on device")])
def test_a_stdout_that_cannot_be_written_is_a_one_line_error(words: list[str], stdout: str, reason: str) -> None:
    shell = ["sh", "-c", f'exec "$@" {stdout}', "sh", sys.executable, "-m", "kmirror", *words]
    ended = subprocess.run(shell, capture_output=True, text=True, check=False)
    assert ended.returncode == (2 if words[0] == "diff" else 1), "1 is an answer of diff"
    (line,) = ended.stderr.splitlines()
    assert line.startswith("kmirror: stdout ") and line.endswith(reason)


@pytest.mark.parametrize("words", [["--help"], ["dump-log", "--help"], ["apis"], ["demo", "--topic", "txn"]], ids=str)
@pytest.mark.parametrize("is_buffered", [True, False])
def test_so_it_is_where_click_and_rich_print(words: list[str], is_buffered: bool) -> None:
    shell = ["sh", "-c", 'exec "$@" >/dev/full', "sh", sys.executable, "-m", "kmirror", *words]
    env = BUFFERED if is_buffered else BUFFERED | {"PYTHONUNBUFFERED": "1"}
    ended = subprocess.run(shell, capture_output=True, text=True, check=False, env=env)
    assert (ended.returncode, ended.stderr) == (1, "kmirror: stdout cannot be written: No space left on device\n")


def test_a_stdin_that_is_closed_is_an_error_in_one_line() -> None:
    shell = ["sh", "-c", 'exec "$@" <&-', "sh", sys.executable, "-m", "kmirror", "decode", "-"]
    ended = subprocess.run(shell, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (1, "kmirror: stdin is closed\n")


def test_a_stdout_that_cannot_spell_a_name_gets_it_escaped(tmp_path: Path) -> None:
    shutil.copytree(SEGMENT.parent, tmp_path / "codecs-0")
    (tmp_path / os.fsdecode(b"caf\xc3\xa9-\xff")).mkdir()
    words = [sys.executable, "-m", "kmirror", "demo", "--data", str(tmp_path)]
    latin = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "1"}
    ended = subprocess.run(words, capture_output=True, text=True, check=False, env=latin)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert r"skipped caf\xe9-\udcff: the name is not TOPIC-PARTITION" in ended.stdout


def test_optimised_python_is_refused() -> None:
    done = python("-O", "-m", "kmirror", "--version")
    assert done.returncode == 1
    assert "without -O" in done.stderr
    assert "Traceback" not in done.stderr


def test_help_imports_neither_rich_nor_any_engine() -> None:
    program = """if True:
        import sys
        from kmirror.cli.main import run
        try:
            run(["--help"])
        except SystemExit:
            print(*sorted(sys.modules), file=sys.stderr)
    """
    done = python("-c", program)
    loaded = done.stderr.split()
    assert {name for name in loaded if name.startswith("kmirror.")} == {
        "kmirror.cli",
        "kmirror.cli.commands",
        "kmirror.cli.group",
        "kmirror.cli.main",
        "kmirror.cli.output",
        "kmirror.cli.quick_start",
        "kmirror.errors",
    }
    assert "rich" not in loaded
    assert "asyncio" not in loaded


@pytest.mark.parametrize("command", ["mirrors", "configs", "features", "dump_log"])
def test_a_command_that_serves_nothing_starts_without_the_broker(command: str) -> None:
    """Loading the broker's modules takes as long as the command itself."""
    program = f"import sys, kmirror.cli.{command}; print('kmirror.cluster.broker.broker' in sys.modules)"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout == "False\n"
