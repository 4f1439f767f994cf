"""Faults can be planted, drawn again, and reported."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

import pytest

from benchmarks.faults import campaign as campaign_module
from benchmarks.faults import findings
from benchmarks.faults.campaign import Campaign, Result, plant_fault, read_results
from benchmarks.faults.drawing import PACKAGES, draw_faults, smallest_unique
from benchmarks.faults.finders import FINDERS, FIRST_SEED, Finding, Run, histories, run_histories
from benchmarks.faults.reach import REACHED, insert_probes, seeds_by_fault
from benchmarks.faults.report import summary, table
from benchmarks.faults.rows import FILES, FINDINGS, ROOT, Fault, controls, read_faults, to_toml
from kmirror.histories.profiles import PROFILES

FAULT = Fault("one", "kmirror/log/epochs.py", "The mistake.", "    return 1\n", "    return 2\n")


def test_the_files_have_fifty_faults_of_each_kind() -> None:
    faults = read_faults()
    drawn = [fault for fault in faults if fault.name.startswith("drawn-")]
    assert (len(faults) - len(drawn), len(drawn)) == (50, 50)


def test_old_mistakes_name_profiles_that_there_are() -> None:
    assert read_faults((FINDINGS,))
    assert {fault.profile for fault in read_faults((FINDINGS,))} <= PROFILES.keys() - {"full"}


@pytest.mark.parametrize("fault", read_faults((*FILES, FINDINGS)), ids=lambda fault: fault.name)
def test_a_fault_changes_its_file_into_another_program(fault: Fault) -> None:
    source = (ROOT / fault.file).read_text("utf-8")
    changed = fault.apply_to(source)
    assert changed != source
    compile(changed, fault.file, "exec")


def test_a_fault_whose_text_is_missing_is_refused() -> None:
    with pytest.raises(ValueError, match=r"fault one: its text stands 0 times in kmirror/log/epochs.py"):
        FAULT.apply_to("def f():\n    return 3\n")


def test_a_fault_is_planted_and_removed_again(tmp_path: Path) -> None:
    file = tmp_path / FAULT.file
    file.parent.mkdir(parents=True)
    file.write_text("def f():\n    return 1\n")
    before = file.stat().st_mtime
    with plant_fault(tmp_path, FAULT):
        assert file.read_text() == "def f():\n    return 2\n"
        assert file.stat().st_mtime > before + 1, "Python reads it anew"
    assert (file.read_text(), file.stat().st_mtime) == ("def f():\n    return 1\n", before)


def test_faults_survive_a_round_trip_through_toml(tmp_path: Path) -> None:
    path = tmp_path / "faults.toml"
    path.write_text(to_toml(read_faults(FILES[:1])), "utf-8")
    assert read_faults((path,)) == read_faults(FILES[:1])


def test_a_seed_draws_the_same_faults_each_in_another_file() -> None:
    faults = draw_faults(4, 5, ["log"])
    assert faults == draw_faults(4, 5, ["log"])
    assert len({fault.file for fault in faults}) == 4
    assert all(fault.apply_to((ROOT / fault.file).read_text("utf-8")) for fault in faults)


def test_a_fault_quotes_the_fewest_lines_that_are_unique() -> None:
    source = "a = 1\nif x:\n    b = 1\nelse:\n    b = 1\n"
    assert smallest_unique(source, source.replace("else:\n    b = 1", "else:\n    b = 2")) == (
        "else:\n    b = 1\n",
        "else:\n    b = 2\n",
    )


SOURCE = '''def decided(x):
    """Return a number."""
    if x > 2:
        return 3
    elif x < 1:
        return 4
    y = [
        x,
    ]
    return y


@cached
def other(
    x=5,
):
    try:
        return 6
    except ValueError:
        return 7


TABLE = 8
'''


@pytest.mark.parametrize(
    "before, after, follows",
    [
        ("return 3", "return 33", "        return 3\n"),
        ("x > 2", "x > 22", "    if x > 2:\n"),
        ("x < 1", "x < 11", "    if x > 2:\n"),
        ("return 4", "return 44", "        return 4\n"),
        ("        x,\n", "        x + 1,\n", "    y = [\n"),
        ("    ]\n    return y", "    ]\n    y = 0\n    return y", "    return y\n"),
        ("3\n    elif x < 1:\n        return 4\n    y", "4\n    y", "    if x > 2:\n"),
        ("return 6", "return 66", "        return 6\n"),
        ("return 7", "return 77", "        return 7\n"),
        ("x=5", "x=55", None),
        ("TABLE = 8", "TABLE = 88", None),
    ],
)
def test_a_probe_precedes_the_statement_that_a_fault_changes(before: str, after: str, follows: str | None) -> None:
    text, always = insert_probes(SOURCE, [Fault("one", "f", "", before, after)])
    compile(text, "f", "exec")
    lines = text.splitlines(keepends=True)
    found = [lines[number + 1] for number, line in enumerate(lines) if REACHED in line]
    assert found == ([follows] if follows else [])
    assert always == ([] if follows else ["one"])


@pytest.mark.parametrize("name", dict.fromkeys(fault.file for fault in read_faults()))
def test_a_file_with_its_probes_is_a_program(name: str) -> None:
    text, _ = insert_probes((ROOT / name).read_text("utf-8"), [fault for fault in read_faults() if fault.file == name])
    compile(text, name, "exec")


def test_seeds_that_reach_a_fault_are_kept_by_its_name() -> None:
    assert seeds_by_fault({7: [], 6: ["one", "two"], 5: ["one"]}, ["three"]) == {
        "one": [5, 6],
        "two": [6],
        "three": [5, 6, 7],
    }


def test_a_history_that_cannot_run_is_a_finding(tmp_path: Path) -> None:
    package = tmp_path / "kmirror"
    package.mkdir()
    (package / "__init__.py").write_text("raise ImportError('broken')\n")
    (run,) = run_histories(tmp_path, [FIRST_SEED + 2])
    assert (run.seed, run.found) == (FIRST_SEED + 2, "exit 1: ImportError: broken")
    assert histories(tmp_path, FAULT, [FIRST_SEED + 2]) == Finding(run.found, 3)
    assert histories(tmp_path, FAULT, []) == Finding("", 0)


def test_a_history_without_a_fault_finds_nothing_and_reaches_no_probe() -> None:
    assert run_histories(ROOT, [1_001]) == [Run(1_001, "", [])]


def test_a_campaign_with_more_histories_runs_only_the_additional_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault = read_faults()[0]
    asked: list[list[int]] = []

    def finder(project: Path, fault: Fault, seeds: Sequence[int]) -> Finding:
        asked.append(list(seeds))
        return Finding("acked-lost", seeds[-1] - FIRST_SEED + 1) if FIRST_SEED + 7 in seeds else Finding("", len(seeds))

    def copy_file(to: Path) -> None:
        (to / fault.file).parent.mkdir(parents=True)
        shutil.copy2(ROOT / fault.file, to / fault.file)

    monkeypatch.setitem(FINDERS, "histories", finder)
    monkeypatch.setattr(campaign_module, "copy_project", copy_file)
    reached = [FIRST_SEED + n for n in (0, 2, 7, 9)]
    for count in (3, 3, 8, 10):
        campaign = Campaign(tmp_path / "results.jsonl", histories=count, report_line=lambda line: None)
        kept = {"commit": campaign.commit, "histories": 10, "faults": [fault.name], "seeds": {fault.name: reached}}
        (tmp_path / "results.reach.json").write_text(json.dumps(kept))
        assert campaign.measure_reach([fault], jobs=1) == []
        campaign.run([fault], ["histories"], jobs=1, until_found=False)
    assert asked == [reached[:2], reached[2:3]]
    assert [row.after for row in read_results(tmp_path / "results.jsonl")] == [2, 8]


def test_an_old_mistake_is_searched_in_its_profile_and_in_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, list[int]]] = []

    def run(project: Path, seeds: Sequence[int], profile: str) -> list[Run]:
        asked.append((profile, list(seeds)))
        return [Run(seed, "key-lost" if profile == "full" and seed == FIRST_SEED + 3 else "", []) for seed in seeds]

    monkeypatch.setattr(findings, "run_histories", run)
    monkeypatch.setattr(findings, "copy_project", lambda to: None)
    monkeypatch.setattr(findings, "plant_fault", lambda project, fault: nullcontext())
    results = tmp_path / "results.jsonl"
    for count in (2, 4, 4):
        findings.run_findings(count=count, only="cut-below-the-cleaner", results=results)
    first, rest = [FIRST_SEED, FIRST_SEED + 1], [FIRST_SEED + 2, FIRST_SEED + 3]
    assert asked == [("compacted", first), ("full", first), ("compacted", rest), ("full", rest)]
    row = next(line for line in findings.table(results).splitlines() if "cleaner has passed" in line)
    assert row.endswith("| `compacted` | not in 4 | 4 | key-lost |")


def test_a_report_counts_each_finder_and_omits_equivalent_faults() -> None:
    faults = [FAULT, Fault("drawn-1-01", "kmirror/log/x.py", "", "a", "b"), Fault("same", "f", "", "a", "b", "No one.")]
    results = [
        Result("one", "histories", "acked-lost", 7, 1.0, "abc"),
        Result("one", "tests", "", 0, 1.0, "abc"),
        Result("drawn-1-01", "tests", "tests/unit/log/test_x.py::test_y", 0, 1.0, "abc"),
    ]
    lines = summary(faults, results).splitlines()
    assert "| histories | 1 of 1 | 0 of 1 | 1 |" in lines
    assert "| **anything** | 1 of 1 | 1 of 1 | 2 |" in lines
    assert "| one | log/epochs.py | The mistake. | acked-lost (7) | no |" in table(faults, results)


def test_controls_change_nothing() -> None:
    found = controls(read_faults())
    assert {row.file for row in found} == {f"kmirror/{name}/__init__.py" for name in PACKAGES}
    assert all(row.apply_to("text") == "text" for row in found)


def test_results_are_read_line_by_line(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    assert read_results(path) == []
    row = {"fault": "one", "finder": "tests", "found": "", "after": 0, "seconds": 1.0, "commit": "abc"}
    path.write_text(json.dumps(row) + "\n")
    assert read_results(path) == [Result("one", "tests", "", 0, 1.0, "abc")]
