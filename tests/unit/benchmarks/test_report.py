"""Recorded rows: the tables of the docs are generated from them, and a fallen ratio is detected."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import __main__ as suite
from benchmarks import harness, report
from benchmarks.harness import Case, Row, no_runs
from benchmarks.headlines import HEADLINES

ROW = Row(
    "P1", "append / limit", "kmirror", "-", 0.9, 0.89, 0.91, 0.8, 0.95, "abc1234", "2 x CPU, Linux, CPython 3.11.7"
)


def write_rows(path: Path, *rows: Row) -> str:
    path.write_text("".join(row.to_json() + "\n" for row in rows))
    return str(path)


def test_the_tables_of_the_docs_are_the_recorded_rows() -> None:
    text = report.DOCS.read_text(encoding="utf-8")
    assert report.with_tables(text) == text, "python -m benchmarks GROUP --record renews them"
    assert all(f"<!-- rows: {group} -->" in text for group in suite.GROUPS)


def test_the_headlines_have_the_recorded_ratios() -> None:
    text = report.FRONT_PAGE.read_text(encoding="utf-8")
    assert "<!-- headlines -->" in text
    assert report.with_headlines(text) == text, "python -m benchmarks GROUP --record renews them"
    assert len(HEADLINES) == 12
    assert {each.group for each in HEADLINES} <= suite.GROUPS.keys()
    with pytest.raises(KeyError):
        report.headline_table([HEADLINES[0]._replace(row=("M1", "no such case", "mirrormaker"))])


@pytest.mark.parametrize("path", sorted(report.RECORDED.glob("*.jsonl")), ids=lambda path: path.stem)
def test_recorded_rows_are_of_the_groups(path: Path) -> None:
    assert path.stem in suite.GROUPS
    rows = report.read_rows([path])
    assert rows
    assert len({report.key(row) for row in rows}) == len(rows), "two rows with one name cannot be compared"
    assert {row.id[0] for row in rows} == {
        {"protocol": "C", "log": "P", "spark": "K", "proxy": "X", "fuzz": "Z"}.get(path.stem, path.stem[0].upper())
    }


def test_a_table_has_a_row_for_each_case_and_names_the_machine() -> None:
    other = replace(ROW, peer="aiokafka", peer_version="0.14.0", ratio=123.4, floor=None, reach=None)
    told = report.markdown([ROW, other, replace(ROW, ratio=0.5)]).splitlines()
    assert told[0] == "Commit abc1234; 2 x CPU, Linux, CPython 3.11.7; aiokafka 0.14.0."
    assert told[4] == "| P1 | append / limit | kmirror | 0.90 | 0.89 | 0.91 | 0.8 | 0.95 |  |"
    assert told[5] == "| P1 | append / limit | aiokafka | 123 | 0.89 | 0.91 |  |  |  |"
    assert told[6].endswith("| below the floor |")
    assert report.markdown([]) == "Not measured yet.\n"


def test_rows_are_read_back_as_they_were_written(tmp_path: Path) -> None:
    write_rows(tmp_path / "a", ROW)
    assert report.read_rows([tmp_path / "a"]) == [ROW]
    for text in ("{}", "no JSON", json.dumps({**json.loads(ROW.to_json()), "more": 1})):
        (tmp_path / "b").write_text(ROW.to_json() + "\n" + text + "\n")
        with pytest.raises(ValueError, match="line 2"):
            report.read_rows([tmp_path / "b"])


@pytest.mark.parametrize(
    ("ratio", "low", "high", "fallen"),
    [
        (0.8, 0.79, 0.81, True),
        (0.8, 0.7, 0.895, False),  # The quartiles overlap.
        (0.88, 0.87, 0.885, False),  # Less than the noise between two runs.
        (1.2, 1.1, 1.3, False),
    ],
)
def test_a_fall_is_one_beyond_the_noise(ratio: float, low: float, high: float, fallen: bool) -> None:
    assert report.has_fallen(ROW, replace(ROW, ratio=ratio, low=low, high=high)) is fallen


def test_compare_prints_both_ratios_and_fails_if_one_fell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gone, new = replace(ROW, case="gone"), replace(ROW, case="new")
    slower = replace(ROW, ratio=0.7, low=0.69, high=0.71, machine="another")
    then = write_rows(tmp_path / "then", ROW, gone)
    assert suite.main(["--from", write_rows(tmp_path / "same", ROW, new), "--compare", then]) == 0
    assert "1 row compared, 0 fallen, 1 new, 1 not measured now" in capsys.readouterr().out
    assert suite.main(["--from", write_rows(tmp_path / "slower", slower), "--compare", then]) == 1
    told = capsys.readouterr().out
    assert "0.90     0.70   -22.2%  FALLEN  (another machine)" in told
    assert suite.main(["--from", write_rows(tmp_path / "peer", replace(ROW, peer_version="2")), "--compare", then]) == 0
    assert "(kmirror was -, is 2)" in capsys.readouterr().out


def test_measured_rows_are_compared_and_json_stays_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    case = Case(ROW.id, ROW.case, ROW.peer, no_runs, None, None, lambda _: [0.5] * 3)
    monkeypatch.setattr(suite, "GROUPS", {"log": lambda: [case]})
    assert suite.main(["--compare", write_rows(tmp_path / "then", ROW), "-o", "json"]) == 1
    told = capsys.readouterr()
    assert [json.loads(line)["ratio"] for line in told.out.splitlines()] == [0.5]
    assert "FALLEN" in told.err


def test_recorded_rows_are_printed_without_a_measurement(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_rows(tmp_path / "rows", ROW)
    assert suite.main(["--from", path, "-o", "markdown"]) == 0
    assert capsys.readouterr().out == report.markdown([ROW])
    assert suite.main(["--from", path]) == 0
    assert "append / limit" in capsys.readouterr().out


def test_record_keeps_a_group_and_renews_its_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    docs, front = tmp_path / "tables.md", tmp_path / "front.md"
    front.write_text("a page without headlines\n")
    docs.write_text("before\n<!-- rows: log -->\nold\n<!-- end -->\n<!-- rows: spark -->\n<!-- end -->\nafter\n")
    monkeypatch.setattr(report, "DOCS", docs)
    monkeypatch.setattr(report, "FRONT_PAGE", front)
    monkeypatch.setattr(report, "RECORDED", tmp_path / "recorded")
    monkeypatch.setattr(harness, "current_commit", lambda: "abc1234")
    case = Case("P1", "case", "zlib", no_runs, None, None, lambda _: [2.0] * 3, version="1.3")
    monkeypatch.setattr(suite, "GROUPS", {"log": lambda: [case]})
    assert suite.main(["log", "--record"]) == 0
    (row,) = report.read_rows([tmp_path / "recorded" / "log.jsonl"])
    assert (row.ratio, row.peer_version, row.commit) == (2.0, "1.3", "abc1234")
    text = docs.read_text()
    assert text.startswith("before\n<!-- rows: log -->\nCommit abc1234;")
    assert "| P1 | case | zlib | 2.00 |" in text
    assert text.endswith("<!-- rows: spark -->\nNot measured yet.\n<!-- end -->\nafter\n")
    assert report.with_tables(text) == text
    for option in (["--quick"], ["--only", "P1"], ["--from", str(docs)]):
        with pytest.raises(SystemExit):
            suite.main(["--record", *option])
