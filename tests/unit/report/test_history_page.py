"""The page of a history: lanes for orders, faults and partitions, the anomaly marked, all in one file."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from kmirror.histories.plan import Plan
from kmirror.report.history_page import history_page
from tests.unit.histories.fake import SECOND, run_history

AGAIN = "kmirror sim --seed 7 --profile full"
VOID = {"meta", "link", "rect", "circle", "line", "img", "br"}


class Nesting(HTMLParser):
    """Fails if tags are not closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag


def lanes(text: str) -> list[str]:
    return re.findall(r'<div class="lane"[^>]*><div><b>([^<]*)</b><small>([^<]*)</small>', text)


def test_the_page_has_lanes_for_orders_faults_and_partitions() -> None:
    text = history_page(run_history(seed=7), AGAIN)
    assert lanes(text) == [
        ("orders", "sent to answered"),
        ("a|b", "line down"),
        ("b-2", "broker away"),
        ("orders-0", "on a (in question)"),
        ("orders-0", "on b (in question)"),
        ("payments-1", "on b"),
    ]
    assert not re.search(r"""(src|href)=["'](?!data:)""", text)
    parser = Nesting()
    parser.feed(text)
    assert parser.open == []


def test_anomaly_truncation_and_election_are_marked_at_their_place() -> None:
    text = history_page(run_history(seed=7), AGAIN)
    (lane,) = re.findall(r'<div class="lane" data-partition="b orders-0">.*?</svg></div>', text)
    for sign, title in (
        ("✂", "b-1 cuts orders-0 at 17 (was 20): stopping"),
        ("▲!", "b-1 leads in epoch 4, elected uncleanly"),
        ("✖", "p1:17 was acknowledged at 2.1 s, and b has x:1 there"),
    ):
        assert re.search(rf">{sign}</text><title>{re.escape(title)}</title>", lane), sign
    (other,) = re.findall(r'<div class="lane" data-partition="b payments-1">.*?</svg></div>', text)
    assert "✂" not in other and "✖" not in other
    assert text.count('class="found" x1="583.3"') == 6, "7 of 12 s, through all lanes"
    assert "MIRRORING from 1.0 s to 5.0 s" in lane and "STOPPED from 5.0 s to 12.0 s" in lane


def test_the_page_holds_story_logs_losses_and_the_plan() -> None:
    outcome = run_history(seed=7)
    text = history_page(outcome, AGAIN)
    assert '<li class="found"><time>7.000 s</time>acked-lost: orders-0 of b, offset 17</li>' in text
    assert '<li class="other"><time>5.000 s</time>b payments-1 STOPPED</li>' in text
    assert '<li class=""><time>5.000 s</time>b orders-0 STOPPED</li>' in text
    assert '<pre id="logs">Logs of orders-0 around offset 17' in text
    assert "KIP: asynchronous" in text and AGAIN in text
    plan = text.partition("for --plan</summary><pre>")[2].partition("</pre>")[0]
    assert Plan.from_json(plan.replace("&quot;", '"').replace("&#x27;", "'")) == outcome.plan


def test_the_text_of_a_checker_is_wrapped() -> None:
    text = history_page(run_history(seed=7), AGAIN)
    rows = text.partition("<h2>Anomalies</h2>")[2].partition("</table>")[0]
    assert re.search(r"<td class=prose>p1:17 was acknowledged at 2.1 s, and b has x:1 there", rows)
    assert re.search(r"td\.prose \{[^}]*white-space: normal", text)


def test_markup_in_names_is_text() -> None:
    outcome = run_history(seed=7)
    outcome.story.append((SECOND, "<script>alert(1)</script>"))
    outcome.account.crash = "<b>bold</b>"
    text = history_page(outcome, "<i>")
    assert "<script>alert" not in text and "<b>bold" not in text and "<i>" not in text


def test_a_clean_history_and_one_without_anything_seen_have_a_page_too() -> None:
    outcome = run_history(seed=7, profile="clean")
    assert '<span class="good">clean' in history_page(outcome, AGAIN)
    outcome.account = type(outcome.account)()
    outcome.story = []
    assert lanes(history_page(outcome, AGAIN)) == [("orders", "sent to answered")]


def test_an_observed_truncation_is_drawn_regardless_of_the_story() -> None:
    outcome = run_history(seed=7)
    outcome.story[:] = [(at, text) for at, text in outcome.story if "cuts" not in text]
    outcome.story.append((3_000_000, "b-1 says of orders-0: no cut today"))
    (lane,) = re.findall(r'<div class="lane" data-partition="b orders-0">.*?</svg></div>', history_page(outcome, AGAIN))
    assert re.findall(r">✂</text><title>([^<]*)<", lane) == ["b-1 cuts orders-0 at 17 (was 20): stopping"]
