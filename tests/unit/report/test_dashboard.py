"""The Grafana dashboard: docs/ contains the generated file, and each query has a result."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families as families

from kmirror.report.dashboard import ALL_MIRRORS, PANELS, dashboard
from tests.sim.stage import TOPIC, assert_equal, pair

FILE = Path(__file__).parents[3] / "docs" / "grafana-dashboard.json"
SELECTOR = re.compile(r"(kafka_\w+)(?:\{([^}]*)\})?")
MATCHER = re.compile(r'(\w+)(=~|!=|=)"([^"]*)"')
Series = tuple[str, dict[str, str]]


@pytest.fixture(scope="module")
def exported_series() -> list[Series]:
    """Return all series of a running mirror with one failed request."""
    p = pair(21, brokers=1)
    p.a.create_topic(TOPIC)
    p.begin()
    p.a.write("x")
    assert_equal(p.there)
    return [(sample.name, sample.labels) for family in families(p.b.metrics().page()) for sample in family.samples]


def answers(series: Series, name: str, matchers: str) -> bool:
    if series[0] != name:
        return False
    for key, how, wanted in MATCHER.findall(matchers or ""):
        value = series[1].get(key, "")
        pattern = wanted.replace("$mirror", ALL_MIRRORS)
        fits = re.fullmatch(pattern, value) is not None if how == "=~" else value == wanted
        if fits is (how == "!="):
            return False
    return True


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel.title)
def test_every_query_is_answered_by_a_mirror_that_runs(exported_series: list[Series], panel: object) -> None:
    for expression, legend in panel.queries:  # type: ignore[attr-defined]
        selectors = SELECTOR.findall(expression)
        assert selectors, expression
        for name, matchers in selectors:
            matchers = matchers.replace('error!="NONE"', 'error="NONE"')  # There was no error here.
            found = [labels for known, labels in exported_series if answers((known, labels), name, matchers)]
            assert found, f"{name}{{{matchers}}} of {expression}"
            shown = re.findall(r"\{\{(\w+)\}\}", legend)
            assert all(label in found[0] for label in shown), (legend, found[0])
            grouped = re.search(r"by \(([^)]*)\)", expression)
            assert grouped is None or set(shown) <= {label.strip() for label in grouped[1].split(",")}


def test_followers_are_no_mirror() -> None:
    """Their fetches have the same metric names as a mirror's, without the label `mirror_name`."""
    assert re.fullmatch(ALL_MIRRORS, "my-mirror") and not re.fullmatch(ALL_MIRRORS, "")


def test_the_file_equals_the_generated_dashboard() -> None:
    """`python -m manual` writes it."""
    assert json.loads(FILE.read_text("utf-8")) == dashboard()


def test_no_two_panels_share_a_place_or_an_id() -> None:
    panels = dashboard()["panels"]
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels]
    assert len(set(places)) == len(places) == len({panel["id"] for panel in panels})
