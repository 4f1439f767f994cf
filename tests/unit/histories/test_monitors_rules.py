"""The table of rules and the observers agree: every rule named in the source has a row, and every row is used."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.histories import monitors
from kmirror.histories.account import NO_NODE, BrokenRule
from kmirror.histories.monitors.table import BY_SUBJECT, RULES
from kmirror.kernel.ids import TopicPartition
from tests.unit.histories.hand import Hand
from tests.unit.histories.monitors import TP, FakeScene, rules_of

NAME = re.compile(r"[a-z]+[a-z0-9-]*")
WRITERS = ("report", "_report")
"""Functions that take the name of a rule; others yield it."""


def rules_in(tree: ast.AST) -> Iterator[str]:
    """Yield the names of rules that a source passes to a writer, or yields with a text."""
    for node in ast.walk(tree):
        parts: list[ast.expr] = []
        if isinstance(node, ast.Yield) and isinstance(node.value, ast.Tuple):
            parts = node.value.elts
        elif isinstance(node, ast.Call):
            of = node.func
            called = of.attr if isinstance(of, ast.Attribute) else of.id if isinstance(of, ast.Name) else ""
            parts = node.args if called in WRITERS else []
        for part in parts:
            if isinstance(part, ast.Constant) and isinstance(part.value, str) and NAME.fullmatch(part.value):
                yield part.value


def test_each_rule_of_the_sources_is_in_the_table_and_no_other() -> None:
    (folder,) = monitors.__path__
    found = {name for path in sorted(Path(folder).glob("*.py")) for name in rules_in(ast.parse(path.read_text()))}
    assert found == set(RULES)


def test_rule_names_are_unique() -> None:
    assert sum(map(len, BY_SUBJECT.values())) == len(RULES)
    assert len(set(RULES.values())) == len(RULES)


@pytest.mark.parametrize("rule", RULES)
def test_a_row_is_one_sentence(rule: str) -> None:
    assert NAME.fullmatch(rule)
    assert re.fullmatch(r"[A-Z`].*[^.]\.", RULES[rule]) and len(RULES[rule]) <= 130


def test_a_rule_without_a_row_is_a_programming_error() -> None:
    scene = FakeScene()
    rules_of(scene).report("a", 1, TP, "range", "text")
    with pytest.raises(AssertionError, match="nonsense"):
        rules_of(scene).report("a", 1, TP, "nonsense", "text")
    assert [*scene.account.broken_rules] == [("a", TP, "range")]


@pytest.mark.parametrize(
    ("node_id", "who"), [(1, "broker 1 of a"), (CONTROLLER_ID, "the controller of a"), (NO_NODE, "a client of a")]
)
def test_a_finding_begins_with_the_rule(node_id: int, who: str) -> None:
    hand = Hand()
    hand.account.broken_rules["a", TP, "range"] = BrokenRule(node_id, "text", 12_300_000)
    ((anomaly,), _) = hand.judged()
    assert (anomaly.checker, anomaly.tp) == ("broken-invariant", TP)
    assert anomaly.text.startswith(f"range: {who} at ") and anomaly.text.endswith(": text")


def test_a_rule_without_a_partition_is_reported_for_the_cluster() -> None:
    hand = Hand()
    hand.account.broken_rules["a", TopicPartition("", -1), "late-timer"] = BrokenRule(1, "text", 1)
    ((anomaly,), _) = hand.judged()
    assert (anomaly.cluster, anomaly.tp) == ("a", None)
