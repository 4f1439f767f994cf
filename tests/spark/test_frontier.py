"""A search distributed over Spark has the same result as in one process."""

from __future__ import annotations

from typing import Any

from kmirror.explorer.model import Model
from kmirror.explorer.rules import find_rules
from kmirror.explorer.scopes import find_scope
from kmirror.explorer.search import Ending, explore
from kmirror.explorer.stories import build_story
from kmirror.spark.frontier import explore_on_spark


def test_an_exhausted_scope_has_as_many_states_steps_and_levels(spark: Any) -> None:
    scope = find_scope("tiny")._replace(appends=(0, 0))
    alone = explore(Model(scope, find_rules("decided")))
    spread = explore_on_spark(spark, Model(scope, find_rules("decided")))
    assert spread == alone
    assert alone.ending is Ending.EXHAUSTED


def test_a_counter_example_is_found_by_as_few_steps(spark: Any) -> None:
    rules = find_rules("decided", ("D25",))
    alone = explore(Model(find_scope("tiny"), rules))
    model = Model(find_scope("tiny"), rules)
    spread = explore_on_spark(spark, model)
    assert (spread.ending, spread.anomaly) == (Ending.FOUND, alone.anomaly)
    assert len(spread.path) == len(alone.path)
    assert len(build_story(model, spread.path)) == len(alone.path) - 1


def test_a_bound_is_not_a_result(spark: Any) -> None:
    outcome = explore_on_spark(spark, Model(find_scope("tiny"), find_rules("decided")), lambda states: states < 5)
    assert outcome.ending is Ending.BOUND
    assert outcome.states >= 5
