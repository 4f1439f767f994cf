"""The verdict of the search on each set of rules, for every history within the bounds."""

from __future__ import annotations

from itertools import pairwise

import pytest

from kmirror.errors import UsageError
from kmirror.explorer.cluster import NOT_LISTED
from kmirror.explorer.model import Model
from kmirror.explorer.rules import find_rules
from kmirror.explorer.scopes import SCOPES, Scope, find_scope
from kmirror.explorer.search import Ending, Outcome, explore
from kmirror.explorer.stories import build_story

LAGS_TWICE = Scope("lags", "a replica that missed cuts", (2, 1), (1, 1), (1, 1), clean=(1, 0))


def search(scope: str | Scope, rules: str = "decided", *without: str, option: bool = False) -> tuple[Model, Outcome]:
    found = find_scope(scope) if isinstance(scope, str) else scope
    model = Model(found, find_rules(rules, without, option=option))
    return model, explore(model)


def story(scope: str | Scope, rules: str = "decided", *without: str, option: bool = False) -> tuple[str, list[str]]:
    model, outcome = search(scope, rules, *without, option=option)
    assert outcome.ending is Ending.FOUND
    return outcome.anomaly, [told.text for told in build_story(model, outcome.path)]


@pytest.mark.parametrize("scope", ["tiny", "four-sessions", "destination-three", "missed-two"])
@pytest.mark.decision("D30")
def test_the_rules_hold_in_every_history_of_a_scope(scope: str) -> None:
    _, outcome = search(scope)
    assert outcome.ending is Ending.EXHAUSTED
    assert outcome.path == ()


@pytest.mark.kip(1279, "unclean leader election")
def test_the_kips_own_counter_example_is_found() -> None:
    anomaly, texts = story("kip", "kip")
    assert anomaly.startswith("divergence: the destination has caught up")
    # The KIP's three unclean elections, the last of them after the truncation to the last mirrored epoch.
    assert sum("unclean election" in text for text in texts) == 3
    assert "unclean election" in texts[-1]
    asked = texts.index("A1 asks B where to cut: to epoch 0; its log has nothing to cut")
    assert asked > texts.index("B1 settles the last mirrored epoch: 0")


@pytest.mark.kip(1279, "unclean leader election")
def test_the_kips_option_does_not_help_the_kips_text() -> None:
    anomaly, texts = story("kip", "kip", option=True)
    assert anomaly.startswith("divergence")
    assert len(texts) == 22


NEEDED = [
    ("D14", "destination-three", "divergence", 17),
    ("D25", "tiny", "last-copy-lost", 7),
    ("D30", "missed-two", "divergence", 9),
    ("D31", "missed-two", "last-copy-lost", 21),
    ("D35", "destination-three", "divergence", 11),
    ("D36", "destination-three", "divergence", 16),
    ("D37-settle", "tiny", "divergence", 9),
    ("D37-wait", "missed-two", "acked-lost", 11),
    ("D39", "four-sessions", "last-copy-lost", 30),
]


@pytest.mark.parametrize(("decision", "scope", "anomaly", "steps"), NEEDED)
def test_without_a_decision_there_is_a_counter_example(decision: str, scope: str, anomaly: str, steps: int) -> None:
    found, texts = story(scope, "decided", decision)
    assert found.startswith(anomaly)
    assert len(texts) == steps


WRONG = [
    ("replaced", "missed-two-unclean", "divergence", 19),
    ("mirroring-only", "missed-two", "divergence", 10),
    ("list-if-removing", "missed-two-unclean", "divergence", 9),
    ("leader-stays-listed", "missed-two", "last-copy-lost", 14),
]


@pytest.mark.parametrize(("rules", "scope", "anomaly", "steps"), WRONG)
@pytest.mark.decision("D30")
def test_rules_that_are_wrong_are_refuted(rules: str, scope: str, anomaly: str, steps: int) -> None:
    found, texts = story(scope, rules)
    assert found.startswith(anomaly)
    assert len(texts) == steps


@pytest.mark.decision("D30")
def test_an_offset_in_place_of_the_epoch_is_refuted() -> None:
    found, texts = story("source-unclean", "offset")
    assert found.startswith("divergence: two in-sync replicas")
    assert len(texts) == 21


def test_the_shortest_story_is_no_longer_than_that_of_a_wider_scope() -> None:
    _, narrow = search("tiny", "decided", "D37-settle")
    wide = find_scope("tiny")._replace(appends=(2, 2), sessions=(2, 2))
    _, wider = search(wide, "decided", "D37-settle")
    assert len(wider.path) == len(narrow.path)
    assert wider.states > narrow.states


def test_a_bound_is_not_a_result() -> None:
    model = Model(find_scope("elections"), find_rules("decided"))
    outcome = explore(model, lambda states: states < 10_000)
    assert outcome.ending is Ending.BOUND
    assert outcome.states >= 10_000
    assert outcome.path == ()


def test_each_step_of_a_path_is_a_step_of_the_model() -> None:
    model, outcome = search("four-sessions", "decided", "D39")
    for state, after in pairwise(outcome.path):
        steps = [step for step in model.described_steps(state) if step.state == after]
        assert steps
    assert outcome.path[0] == model.initial_state()
    assert model.violation(outcome.path[-1]) == outcome.anomaly
    assert [model.violation(state) for state in outcome.path[:-1]] == [""] * (len(outcome.path) - 1)


def reached(scope: Scope, rules: str) -> Model:
    model = Model(scope, find_rules(rules))
    assert explore(model).ending is Ending.EXHAUSTED
    return model


@pytest.mark.decision("D30")
def test_no_writable_leader_is_on_the_list() -> None:
    model = reached(LAGS_TWICE, "decided")
    listed = [cluster for cluster in model.clusters if any(r.listed_cut != NOT_LISTED for r in cluster.replicas)]
    assert any(cluster.state.name == "STOPPED" for cluster in listed), "the list outlives the session"
    assert all(cluster.leader.listed_cut == NOT_LISTED for cluster in listed if not cluster.is_foreign)


@pytest.mark.decision("D14")
def test_no_log_has_an_epoch_above_its_clusters_own() -> None:
    model = reached(LAGS_TWICE, "decided")
    for cluster in model.clusters:
        assert model.logs.logs[cluster.leader.log].latest_epoch <= cluster.epoch


def test_followers_that_differ_only_in_name_are_one_state() -> None:
    model = Model(find_scope("three"), find_rules("decided"))
    leaving = [
        step
        for step in model.described_steps(model.initial_state())
        if step.move.kind == "leaves" and step.cluster_number == 0
    ]
    assert len(leaving) == 1


def test_unknown_names_are_refused() -> None:
    with pytest.raises(UsageError, match="unknown scope"):
        find_scope("none")
    with pytest.raises(UsageError, match="unknown rules"):
        find_rules("none")
    with pytest.raises(UsageError, match="cannot be removed"):
        find_rules("decided", ("D1",))


def test_scopes_have_names_of_their_own() -> None:
    assert len({scope.name for scope in SCOPES}) == len(SCOPES)
