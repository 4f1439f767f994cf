"""The alerting rules in docs/: their metrics and states exist, and docs/metrics.md describes each rule."""

from __future__ import annotations

import re
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families as families

from kmirror.mirror.states import MirrorState
from kmirror.spec.metrics import ROWS
from tests.sim.stage import TOPIC, assert_equal, pair

FILE = Path(__file__).parents[3] / "docs" / "prometheus-alerts.yml"
ALERT = re.compile(r"^ +- alert: (?P<name>\w+)\n +expr: (?P<expr>.*(?:\n {10}\S.*)*)\n(?P<rest>(?: {8}.*\n)+)", re.M)
METRIC = re.compile(r"\bkafka_\w+")
GROUPED = re.compile(r"\bby \((?P<labels>[\w, ]+)\)")
STATE = re.compile(r'state=~?"([A-Z|]+)"')


def alerts() -> dict[str, tuple[str, str]]:
    """Return the expression and the remaining lines of each rule by its name."""
    return {found["name"]: (found["expr"], found["rest"]) for found in ALERT.finditer(FILE.read_text("utf-8"))}


def test_every_rule_has_a_duration_a_severity_and_a_summary() -> None:
    text = FILE.read_text("utf-8")
    assert len(alerts()) == text.count("- alert:") >= 5
    for name, (_, rest) in alerts().items():
        assert [key for key in ("for: ", "severity: ", "summary: ") if key not in rest] == [], name


def test_every_metric_of_a_rule_exists() -> None:
    exported = {row.page_name for row in ROWS if not row.omission_reason}
    for name, (expression, _) in alerts().items():
        used = set(METRIC.findall(expression))
        assert used and used <= exported, (name, used - exported)


def test_every_state_of_a_rule_exists() -> None:
    used = {
        state
        for expression, _ in alerts().values()
        for states in STATE.findall(expression)
        for state in states.split("|")
    }
    assert {"FAILED", "PREPARING"} <= used <= {state.name for state in MirrorState}


def test_every_rule_is_described_on_the_page_of_metrics() -> None:
    page = FILE.with_name("metrics.md").read_text("utf-8")
    assert [name for name in alerts() if f"`{name}`" not in page] == []


def test_a_mirror_that_runs_has_the_metrics_and_labels_of_each_rule() -> None:
    p = pair(21, brokers=1)
    p.a.create_topic(TOPIC)
    p.begin()
    p.a.write("x")
    assert_equal(p.there)
    labels = {sample.name: sample.labels for family in families(p.b.metrics().page()) for sample in family.samples}
    for name, (expression, _) in alerts().items():
        grouped = {label for found in GROUPED.findall(expression) for label in found.split(", ")}
        for metric in METRIC.findall(expression):
            assert grouped - {"instance"} <= set(labels[metric]), name  # Prometheus adds this one.
            assert ("state=" in expression) is ("state" in labels[metric]), name
