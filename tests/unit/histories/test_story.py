"""The text of a failed history: the finding, its story, the logs side by side, and the command to repeat it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kmirror.histories.diagram import first_difference, side_by_side
from kmirror.histories.story import FOUND, LINES_MAX, numbered, story, tell
from kmirror.histories.verdict import Anomaly
from kmirror.kernel.ids import TopicPartition
from tests.unit.histories.fake import OTHER, SECOND, TP, account, log, run_history

AGAIN = "kmirror sim --seed 7 --profile full"


def test_a_failure_report_has_name_setting_story_logs_and_command() -> None:
    text = tell(run_history(seed=7), AGAIN)
    lines = text.splitlines()
    assert lines[0] == "acked-lost: orders-0 of b, offset 17"
    assert lines[-1] == f"again: {AGAIN}"
    assert "  b: 3 brokers, replication factor 3, min.insync.replicas=2" in lines
    assert "  orders: 3 partitions on a" in lines
    assert "  p1: plain on a, orders, payments" in lines
    assert "  stuck-state: orders-0 of b: b is STOPPING and waits for the ISR" in lines
    assert "  KIP: asynchronous: 3 records" in lines and "  D29: 1 record" in lines
    assert max(len(line) for line in lines) <= 80


def test_a_story_omits_other_partitions_and_shows_the_fate_of_the_record() -> None:
    outcome = run_history()
    texts = [text for _, text in story(outcome, outcome.anomalies[1])]
    assert "b orders-0 STOPPED" in texts and "b payments-1 STOPPED" not in texts
    assert any("orders,payments" in text for text in texts), "an order that names the topic among others stays"
    assert "a-1 acknowledges p1:17 at offset 17 of orders-0" in texts
    assert "c1 reads p1:17 at offset 17 of orders-0 from a" in texts
    assert texts[-1] == f"{FOUND} acked-lost: orders-0 of b, offset 17"
    times = [at for at, _ in story(outcome, outcome.anomalies[1])]
    assert times == sorted(times)


@pytest.mark.parametrize(
    ("text", "is_told"),
    [
        ("b-2 killed", True),
        ("b orders-0: leader 1, epoch 4", True),
        ("orders is created on a", True),
        ("b payments-1 STOPPED", False),
        ("payments: removed", False),
        ("add orders, payments to m", True),
        ("b orders-00 STOPPED", True),
        ("b orders-10 STOPPED.", False),
        ("b local-orders-0 STOPPED", False),
    ],
)
def test_names_are_whole_words(text: str, is_told: bool) -> None:
    outcome = run_history()
    for tp in (TopicPartition("orders", 10), TopicPartition("local-orders", 0)):
        outcome.account.final_logs["b", tp] = log("b", [], 1, 0, tp)
    outcome.story = [(SECOND, text)]
    told = [line for _, line in story(outcome, Anomaly("acked-lost", "b", TP, -1, ""))]
    assert (text in told) is is_told


def test_the_result_of_a_step_is_removed_with_it() -> None:
    outcome = run_history()
    texts = [
        "step 3: remove mirror=m topics=payments", "step 4: remove mirror=m topics=orders", "step 5: kill_broker",
        "order 3 answered: NONE", "order 4 answered: NONE", "step 5 skipped: b-1 is down", "step 33: turn clients=p1",
    ]  # fmt: skip
    outcome.story = [(SECOND, text) for text in texts]
    told = [text for _, text in story(outcome, Anomaly("acked-lost", "b", TP, -1, ""))]
    assert [text for text in texts if text not in told] == [texts[0], texts[3]]


def test_a_finding_without_a_partition_or_time_comes_last() -> None:
    outcome = run_history()
    lines = story(outcome, Anomaly("topic-id-mismatch", "b", None, -1, "two ids"))
    assert [text for _, text in lines[:-1]] == [text for _, text in outcome.story]
    assert lines[-1] == (lines[-2][0], f"{FOUND} topic-id-mismatch: b")


def letters(count: int) -> list[tuple[int, str]]:
    """Return lines that differ in more than numbers."""
    return [(n * SECOND, f"step {'x' if n % 2 else 'y'} {n}") for n in range(count)]


def test_a_long_story_loses_its_middle() -> None:
    shown = numbered(letters(300))
    assert len(shown) == LINES_MAX + 1
    assert shown[0] == "   1.    0.000 s  step y 0"
    assert shown[LINES_MAX // 2].strip() == f"... {300 - LINES_MAX} lines left out; --html shows all"
    assert shown[-1] == " 300.  299.000 s  step x 299"


def test_a_story_ends_with_the_finding() -> None:
    lines = letters(300)
    lines[5] = (5 * SECOND, f"{FOUND} acked-lost: orders-0 of b")
    shown = numbered(lines)
    assert shown[-2:] == [
        "  ***    5.000 s  acked-lost: orders-0 of b", "      ... and 294 lines after it; --html shows all",
    ]  # fmt: skip
    assert len(shown) == 7


def test_lines_that_differ_only_in_numbers_are_folded() -> None:
    cuts = [(SECOND, f"b-1 cuts orders-0 at {n} (was {n + 2}): LSO") for n in (13, 11, 9, 7)]
    shown = numbered([(0, "before"), *cuts, (2 * SECOND, "after")])
    assert shown == [
        "   1.    0.000 s  before",
        "   2.    1.000 s  b-1 cuts orders-0 at 13 (was 15): LSO",
        "      ... 2 similar lines",
        "   5.    1.000 s  b-1 cuts orders-0 at 7 (was 9): LSO",
        "   6.    2.000 s  after",
    ]
    assert len(numbered(cuts[:3])) == 3


def test_a_crash_shows_the_end_of_its_traceback() -> None:
    text = tell(run_history(profile="crash"), AGAIN)
    assert text.startswith("CRASH inside a node: KeyError: 5\n\n  Traceback")
    assert 'File "broker.py", line 7, in handle' in text


def test_a_clean_history_is_a_line_and_its_measure() -> None:
    lines = tell(run_history(seed=3, profile="clean"), AGAIN).splitlines()
    assert lines[0] == "clean: seed 3, profile clean"
    assert "What happened" not in lines and "KIP: asynchronous" in lines[3]


def test_logs_are_shown_side_by_side_with_earlier_contents() -> None:
    lines = side_by_side(account(), TP, 17, 7 * SECOND)
    heads = [cell.strip() for cell in lines[1].split("|")]
    assert heads == ["offset", "a at the end", "b at 2.400 s", "b at the end"]
    (marked,) = [line for line in lines if line.startswith(">")]
    assert [cell.split() for cell in marked.split("|")] == [[">", "17"], ["3", "p1:17"], ["3", "p1:17"], ["4", "x:1"]]
    hidden = next(line for line in lines if line.split()[:1] == ["16"])
    assert hidden.count("~") == 3
    assert "  b-1 leads in epoch 4: start 0, LSO 18, HW 18, end 19" in lines
    assert any(line.startswith("  b-3 is in the ISR but differs from its leader: offset 17") for line in lines)


def test_a_log_that_only_grew_is_shown_once() -> None:
    seen = account()
    seen.logs = [log("b", ["p1:0"], 4, SECOND), log("a", ["p1:0"], 3, SECOND)]
    assert "b at the end" in side_by_side(seen, TP, 0)[1] and "b at 1.000 s" not in side_by_side(seen, TP, 0)[1]


def test_a_row_that_became_visible_is_no_contradiction_but_a_hidden_one_is() -> None:
    seen = account()
    shown = log("b", ["p1:0"], 4, SECOND)
    hidden = replace(shown, rows=(replace(shown.rows[0], visible=False),))
    for before, now, is_told in ((hidden, shown, False), (shown, hidden, True)):
        seen.logs, seen.final_logs["b", TP] = [before], now
        assert ("b at 1.000 s" in side_by_side(seen, TP, 0)[1]) is is_told


def test_an_observation_after_the_anomaly_is_not_one_before_it() -> None:
    assert "b at 2.400 s" not in side_by_side(account(), TP, 17, SECOND)[1]


def test_without_an_offset_the_first_difference_is_shown() -> None:
    logs = [log("a", ["x", "y", "z"], 3, 0), log("b", ["x", "y"], 3, 0)]
    assert first_difference(logs) == 2
    assert first_difference([logs[0], replace(logs[0], last_stable_offset=1)]) == 1
    assert "around offset 0 " in side_by_side(account(), TP, -1)[0]


def test_long_values_and_three_clusters_stay_within_80_columns() -> None:
    seen = account()
    values = [f"producer-with-a-long-name:{n}" for n in range(20)]
    for cluster in ("a", "b", "c"):
        seen.final_logs[cluster, TP] = log(cluster, values, 4, 0)
        seen.logs.append(log(cluster, values[::-1], 3, SECOND))
    lines = side_by_side(seen, TP, 10)
    assert max(len(line) for line in lines) <= 80
    assert sum(line.count("at the end") for line in lines) == 3, "in two tables, one below the other"
    assert sum("offset |" in line for line in lines) == 2


def test_a_producer_reset_is_named_in_short() -> None:
    seen = account()
    seen.final_logs["b", TP] = log("b", ["<MIRROR_PID_RESET -1>"], 4, 0)
    assert any("4 <PID_RESET>" in line for line in side_by_side(seen, TP, 0))


def test_an_unobserved_partition_is_named() -> None:
    assert side_by_side(account(), TP._replace(partition=9), 3) == ["orders-9: no log was observed at the end"]
    outcome = replace(run_history(), anomalies=[Anomaly("stuck-state", "b", OTHER._replace(partition=9), -1, "x")])
    assert "no log was observed" in tell(outcome, AGAIN)
