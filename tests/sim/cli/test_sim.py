"""`kmirror sim`: its output, its exit codes, plans stored and run again, Ctrl-C. The histories are made up."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from kmirror.cli import main, sim_histories
from kmirror.cli import sim as sim_command
from kmirror.histories.plan import Plan
from kmirror.histories.verdict import Exit
from tests.unit.histories.fake import draw, run_history

ROOT = Path(__file__).resolve().parents[3]
PROFILES = {"full": "Everything, in any order.", "clean": "Nothing fails.", "mixed": "Every third fails."}
PROFILES |= dict.fromkeys(("crash", "stuck", "slow"), "As its name says.")


@pytest.fixture(autouse=True)
def _made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sim_histories, "runner", lambda: run_history)
    monkeypatch.setattr(sim_command, "profiles", lambda: PROFILES)


class Result:
    """Result of a call of the command."""

    def __init__(self, code: object, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err
        self.lines = out.splitlines()


@pytest.fixture
def sim(capsys: pytest.CaptureFixture[str]) -> Any:
    def call(*words: object) -> Result:
        with pytest.raises(SystemExit) as caught:
            main.run(["sim", *map(str, words)])
        return Result(caught.value.code, *capsys.readouterr())

    return call


# -- one history ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("profile", "code"), [("clean", Exit.CLEAN), ("crash", Exit.CRASH), ("full", Exit.SAFETY), ("stuck", Exit.LIVENESS)]
)
def test_crash_safety_and_liveness_have_exit_codes_of_their_own(sim: Any, profile: str, code: Exit) -> None:
    result = sim("--seed", 7, "--profile", profile)
    assert result.code == code == {"clean": 0, "crash": 3, "full": 4, "stuck": 5}[profile]
    assert result.lines[-1] == f"again: kmirror sim --seed 7 --profile {profile}"
    assert result.err == "", "nobody looks at a bar that is piped"


def test_a_failure_is_shrunk_and_printed(sim: Any) -> None:
    result = sim("--seed", 7)
    assert result.lines[0] == "acked-lost: orders-0 of b, offset 17"
    assert "seed 7, profile full: 2 steps, 1 client, 1 record acknowledged," in result.lines
    assert sum(re.match(r" +\d+\. ", line) is not None for line in result.lines) == 6
    assert max(map(len, result.lines)) <= 80
    whole = sim("--seed", 7, "--no-shrink")
    assert "seed 7, profile full: 20 steps, 3 clients, 1 record acknowledged," in whole.lines
    few = sim("--seed", 7, "--shrink-runs", 1)
    assert "2 steps" not in few.out and few.code == Exit.SAFETY


@pytest.mark.parametrize("jobs", [1, 2])
def test_coverage_is_a_table_over_all_histories_and_a_field_of_each(sim: Any, jobs: int) -> None:
    result = sim("--profile", "clean", "--seeds", 4, "--jobs", jobs, "--coverage")
    (row,) = [line.split() for line in result.lines if line.startswith("isr.shrink ")]
    assert row == ["isr.shrink", "4", "12"]
    assert any(line.startswith("isr.grow ") for line in result.lines), "what was not reached is named, too"
    rows = sim("--profile", "clean", "--seeds", 2, "--jobs", jobs, "--coverage", "-o", "json").lines
    assert [json.loads(line)["coverage"] for line in rows] == [{"isr.shrink": 3}] * 2
    assert "COVERAGE" in sim("--profile", "clean", "--coverage").out
    assert "COVERAGE" not in sim("--profile", "clean").out


def test_coverage_is_not_kept_by_spark(sim: Any) -> None:
    result = sim("--spark", "--coverage")
    assert (result.code, result.err) == (2, "kmirror: --coverage cannot be used with --spark: use --jobs\n")


def test_json_is_one_object_with_the_promised_fields_and_nothing_else(sim: Any) -> None:
    result = sim("--seed", 7, "-o", "json")
    (line,) = result.lines
    row = json.loads(line)
    assert list(row) == [
        "seed", "profile", "exit", "verdict", "anomalies", "accepted", "crash", "steps", "acked", "read", "digest",
        "events", "virtual_seconds", "plan", "cpu_seconds", "shrunk",
    ]  # fmt: skip
    assert (row["seed"], row["profile"], row["exit"], row["verdict"]) == (7, "full", 4, "safety")
    assert row["anomalies"][1] == {
        "checker": "acked-lost", "cluster": "b", "topic": "orders", "partition": 0, "offset": 17,
        "text": "p1:17 was acknowledged at 2.1 s, and b has x:1 there", "at_us": 7_000_000,
    }  # fmt: skip
    assert row["accepted"][1] == {"decision": "D29", "cluster": "b", "topic": "orders", "partition": 0, "records": 1}
    assert Plan.from_json(json.dumps(row["plan"])) == draw(7, "full")
    assert len(row["shrunk"]["plan"]["steps"]) == 2
    assert "shrunk" not in json.loads(sim("--seed", 7, "--no-shrink", "-o", "json").out)
    clean = json.loads(sim("--profile", "clean", "-o", "json").out)
    assert (clean["seed"], clean["plan"], clean["anomalies"]) == (0, None, [])
    for word in row:
        assert word in sim("--help").out, "each field is documented"


def test_a_saved_plan_runs_again_with_the_same_digest(sim: Any, tmp_path: Path) -> None:
    file = tmp_path / "a plan.json"
    result = sim("--seed", 7, "--save", file)
    assert result.lines[-1] == f"again: kmirror sim --plan '{file}'"
    again = sim("--plan", file)
    assert again.code == Exit.SAFETY
    digest = next(line for line in result.lines if line.startswith("digest "))
    assert digest in again.lines
    assert again.lines == result.lines, "what is smallest is not shrunk further, and is told in the same words"


def test_the_plan_of_a_clean_history_is_saved_too(sim: Any, tmp_path: Path) -> None:
    assert sim("--seed", 7, "--profile", "clean", "--save", tmp_path / "p").code == 0
    assert Plan.from_json((tmp_path / "p").read_text("utf-8")) == draw(7, "clean")


def test_the_page_shows_the_smallest(sim: Any, tmp_path: Path) -> None:
    assert sim("--seed", 7, "--html", tmp_path / "h.html").code == Exit.SAFETY
    text = (tmp_path / "h.html").read_text("utf-8")
    assert "acked-lost: orders-0 of b, offset 17" in text and "<p>2 steps" in text
    assert "kmirror sim --seed 7 --profile full" in text


# -- invalid plans ----------------------------------------------------------------------------

WRONG_PLANS = [
    ("", "is not a plan: Expecting value"),
    ("[]", "is not a plan: list indices"),
    ("{}", "is not a plan: it has no 'seed'"),
    ('{"seed": 1, "profile": "x", "clusters": 5}', "is not a plan: 'int' object is not iterable"),
    ('{"seed": 1, "profile": "x", "clusters": [{"name": "a", "size": 3}]}', "unexpected keyword argument 'size'"),
    (b"\xff\xfe", "is not a plan: 'utf-8' codec"),
    (draw(0, "full").to_json().replace("kill_broker", "kill_brokers"), "step 8: unknown action 'kill_brokers'"),
    (draw(0, "full").to_json().replace('"plain"', '"plane"'), "client p1: unknown kind 'plane'"),
    (draw(0, "full").to_json().replace("100", '"x"', 1), "the plan: network must be an object of integers"),
]


@pytest.mark.parametrize(("text", "said"), WRONG_PLANS, ids=range(len(WRONG_PLANS)))
def test_a_file_without_a_plan_is_a_one_line_error_with_exit_code_2(
    sim: Any, tmp_path: Path, text: str | bytes, said: str
) -> None:
    file = tmp_path / "plan.json"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    result = sim("--plan", file)
    (line,) = result.err.splitlines()
    assert (result.code, result.out) == (2, "")
    assert line.startswith(f"kmirror: {file}: ") and said in line


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--plan", "/no/such/file"], "/no/such/file: cannot be read: No such file or directory"),
        (["--plan", "/"], "/: cannot be read: Is a directory"),
        (["--profile", "ful"], "unknown profile 'ful'; available: full, clean, mixed"),
        (["--plan", "x", "--seed", "3"], "--plan cannot be used with --seed"),
        (["--plan", "x", "--profile", "full"], "--plan cannot be used with"),
        (["--plan", "x", "--seeds", "2"], "--plan cannot be used with"),
        (["--plan", "x", "--spark"], "--plan cannot be used with"),
        (["--results", "x"], "--results needs --spark"),
        (["--master", "local[2]"], "--master needs --spark"),
        (["--conf", "a=b"], "--conf needs --spark"),
        (["--spark", "--jobs", "2"], "--jobs cannot be used with --spark, which has its own processes"),
        (["--spark", "--master", "local", "--remote", "sc://x"], "a session has a master or a remote, not both"),
        (["--save", "/no/such/folder/p.json"], "/no/such/folder/p.json: no folder /no/such/folder"),
        (["--html", "/no/such/folder/p.html"], "/no/such/folder/p.html: no folder /no/such/folder"),
        (["--save", "/"], "/: is a folder"),
        (["--seed", str((1 << 64) - 1), "--seeds", "2"], "the largest seed is 18446744073709551615"),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, list) else "",
)
def test_an_invalid_command_line_is_a_one_line_error_with_exit_code_2(
    sim: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x").write_text(draw(0, "full").to_json(), "utf-8")
    result = sim(*words)
    (line,) = result.err.splitlines()
    assert (result.code, result.out) == (2, "")
    assert line.startswith(f"kmirror: {said}")


@pytest.mark.parametrize("words", [["--seed", "-1"], ["--seeds", "0"], ["--jobs", "0"], ["-o", "xml"], ["--nope"]])
def test_words_that_click_refuses_are_exit_code_2(sim: Any, words: list[str]) -> None:
    result = sim(*words)
    assert result.code == 2 and "Traceback" not in result.err


def test_profiles_are_listed_with_their_purpose(sim: Any) -> None:
    result = sim("--profiles")
    assert result.code == 0
    assert [line.split(maxsplit=1) for line in result.lines] == [[name, doc] for name, doc in PROFILES.items()]


# -- many histories ---------------------------------------------------------------------------


def test_many_histories_are_a_table_and_the_first_failure_is_printed(sim: Any) -> None:
    result = sim("--seed", 10, "--seeds", 6, "--profile", "mixed")
    assert result.code == Exit.SAFETY
    assert result.lines[0] == "6 histories of profile mixed, seeds 10 to 15"
    assert re.fullmatch(r"4 clean, 2 failed; \d+\.\d\d a second", result.lines[1])
    cells = [line.split() for line in result.lines]
    assert ["FINDING", "HISTORIES", "FIRST", "SEED"] in cells
    assert ["acked-lost", "2", "12"] in cells and ["stuck-state", "2", "12"] in cells
    assert ["KIP:", "asynchronous", "6", "18"] in cells and ["D29", "6", "6"] in cells
    assert "acked-lost: orders-0 of b, offset 17" in result.lines
    assert result.lines[-1] == "again: kmirror sim --seed 12 --profile mixed"
    assert max(map(len, result.lines)) <= 80


def test_a_table_of_clean_histories_is_all(sim: Any) -> None:
    result = sim("--seeds", 3, "--profile", "clean")
    assert result.code == 0
    assert "FINDING" not in result.out and "again:" not in result.out


def test_a_page_that_is_not_written_is_reported(sim: Any, tmp_path: Path) -> None:
    ended = sim("--seeds", 3, "--profile", "clean", "--html", tmp_path / "h.html")
    assert ended.code == 0 and not (tmp_path / "h.html").exists()
    assert ended.err == f"{tmp_path / 'h.html'}: not written, as no history failed; use --seed for a single history\n"


def test_many_as_json_are_a_line_each_in_the_order_of_seeds(sim: Any, tmp_path: Path) -> None:
    result = sim("--seed", 3, "--seeds", 4, "--profile", "mixed", "-o", "json", "--save", tmp_path / "p")
    rows = [json.loads(line) for line in result.lines]
    assert [(row["seed"], row["verdict"]) for row in rows] == [(3, "safety"), (4, "clean"), (5, "clean"), (6, "safety")]
    assert Plan.from_json((tmp_path / "p").read_text("utf-8")).seed == 3
    assert result.code == Exit.SAFETY


def test_two_processes_print_the_same_as_one(sim: Any) -> None:
    words = ["--seed", 3, "--seeds", 5, "--profile", "mixed", "-o", "json"]
    one, two = sim(*words), sim(*words, "--jobs", 2)
    assert two.code == one.code == Exit.SAFETY

    def known(text: str) -> list[Any]:
        return [{**json.loads(line), "cpu_seconds": 0} for line in text.splitlines()]

    assert known(two.out) == known(one.out)


def test_an_error_of_the_runner_is_a_crash_of_that_seed_only(sim: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(plan: Plan | None = None, *, seed: int = 0, profile: str = "full") -> Any:
        assert seed != 4, "planted"
        return run_history(plan, seed=seed, profile=profile)

    monkeypatch.setattr(sim_histories, "runner", lambda: run)
    result = sim("--seeds", 6, "--profile", "clean")
    assert result.code == Exit.CRASH
    assert "5 clean, 1 failed" in result.lines[1]
    assert ["crash", "1", "4"] in [line.split() for line in result.lines]
    assert "AssertionError: planted" in result.err and result.err.endswith(
        "again: kmirror sim --seed 4 --profile clean\n"
    )


# -- Ctrl-C -----------------------------------------------------------------------------------

PROGRAM = """if True:
    import sys
    from kmirror.cli import main, sim, sim_histories
    from tests.unit.histories.fake import run_history
    if __name__ == "__main__":
        sim_histories.runner = lambda: run_history
        sim.profiles = lambda: {"slow": "", "full": ""}
        main.run(["sim", *sys.argv[1:]])
"""


def interrupted(tmp_path: Path, jobs: int, *words: str) -> tuple[int, list[str], str, list[int]]:
    """Press Ctrl-C after the second line; return exit code, lines, stderr and the remaining processes."""
    command = [sys.executable, "-c", PROGRAM, "--seeds", "500", "--profile", "slow", "--jobs", str(jobs), *words]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        lines = [process.stdout.readline(), process.stdout.readline()]
        os.killpg(process.pid, signal.SIGINT)  # Like a terminal: every process of the group gets it.
        lines += process.stdout.readlines()
        errors = process.stderr.read()
        code = process.wait(timeout=30)
    # The resource tracker of multiprocessing detects the end of its parent, and exits.
    deadline = time.monotonic() + 10
    while group(process.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    return code, lines, errors, group(process.pid)


def group(leader: int) -> list[int]:
    """Return the living processes of a session."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, _, _, session = (folder / "stat").read_text().rpartition(")")[2].split()[:4]
        except OSError:
            continue
        if int(session) == leader and state != "Z":
            found.append(int(folder.name))
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").is_file(), reason="processes are looked up in /proc")
@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_ends_with_whole_lines_130_and_no_process_left(tmp_path: Path, jobs: int) -> None:
    code, lines, errors, left = interrupted(tmp_path, jobs, "-o", "json")
    assert (code, errors, left) == (130, "", [])
    assert [json.loads(line)["seed"] for line in lines] == list(range(len(lines)))
    assert 2 <= len(lines) < 100


def test_ctrl_c_prints_the_findings_so_far(sim: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def run(plan: Plan | None = None, *, seed: int = 0, profile: str = "full") -> Any:
        if seed == 5:
            raise KeyboardInterrupt
        return run_history(plan, seed=seed, profile=profile)

    monkeypatch.setattr(sim_histories, "runner", lambda: run)
    result = sim("--seeds", 50, "--profile", "mixed", "--save", tmp_path / "p")
    assert result.code == 130
    assert result.err == f"{tmp_path / 'p'}: not written, as the run was interrupted; use --seed for a single history\n"
    assert result.lines[0] == "5 histories of profile mixed, seeds 0 to 49: interrupted, 45 not run"
    assert ["acked-lost", "2", "0"] in [line.split() for line in result.lines]


def test_ctrl_c_while_shrinking_prints_the_smallest_so_far(
    sim: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    runs = 0

    def run(plan: Plan | None = None, *, seed: int = 0, profile: str = "full") -> Any:
        nonlocal runs
        runs += 1
        if runs == 25:
            raise KeyboardInterrupt
        return run_history(plan, seed=seed, profile=profile)

    monkeypatch.setattr(sim_histories, "runner", lambda: run)
    result = sim("--seed", 7, "--save", tmp_path / "p")
    assert result.code == 130
    assert result.lines[0] == "acked-lost: orders-0 of b, offset 17"
    assert len(Plan.from_json((tmp_path / "p").read_text("utf-8")).steps) < 20
