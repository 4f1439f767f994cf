"""`kmirror explore`: exit codes, stories, and the JSON."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner, Result

from kmirror.cli.explore import command
from kmirror.explorer.rules import DECISION_SWITCHES, RULES_BY_NAME
from kmirror.explorer.scopes import SCOPES


def run(*words: str) -> Result:
    return CliRunner().invoke(command, list(words), standalone_mode=False)


def test_a_scope_that_is_exhausted_ends_with_0() -> None:
    result = run("--scope", "tiny")
    assert result.return_value == 0, result.exception
    assert "complete" in result.stdout
    assert "states a second" in result.stdout
    assert "replicas 1+1" in result.stdout


def test_a_counter_example_is_printed_and_the_exit_code_is_4() -> None:
    result = run("--scope", "tiny", "--without", "D37")
    assert result.return_value == 4
    lines = result.stdout.splitlines()
    assert lines[0].startswith("  1. ")
    assert sum("B1  leader ISR" in line for line in lines) == 9
    assert "9 steps, the shortest one" in result.stdout
    assert "complete" not in result.stdout


@pytest.mark.parametrize("bound", [("--max-states", "5000"), ("--max-seconds", "0")])
def test_a_bound_ends_with_5_and_claims_nothing(bound: tuple[str, str]) -> None:
    result = run("--scope", "elections", *bound)
    assert result.return_value == 5
    assert "undecided" in result.stdout
    assert "complete" not in result.stdout


@pytest.mark.parametrize(
    "words",
    [
        ("--scope", "none"),
        ("--rules", "none"),
        ("--without", "D1"),
        ("--max-states", "0"),
        ("more",),
        ("--master", "local[1]"),
    ],
)
def test_unknown_names_end_with_exit_code_2(words: tuple[str, ...]) -> None:
    assert CliRunner().invoke(command, list(words)).exit_code == 2


def test_json_has_the_question_the_size_and_the_story() -> None:
    result = run("--scope", "tiny", "--rules", "decided", "--without", "D25", "--option", "-o", "json")
    assert result.return_value == 4
    told = json.loads(result.stdout)
    assert (told["scope"], told["rules"], told["without"], told["option"]) == ("tiny", "decided", ["D25"], True)
    assert told["ending"] == "counter-example"
    assert told["states"] > 0 and told["transitions"] > 0 and told["depth"] == len(told["story"])
    last = told["story"][-1]
    assert last["number"] == len(told["story"])
    assert [cluster["cluster"] for cluster in last["clusters"]] == ["A", "B"]
    assert set(last["clusters"][0]["rows"][0]) == {"replica", "is_leader", "in_isr", "uncut", "cells"}


def test_the_list_has_all_possible_arguments() -> None:
    text = run("--list")
    assert text.return_value == 0
    told = json.loads(run("--list", "-o", "json").stdout)
    names = [scope.name for scope in SCOPES] + list(RULES_BY_NAME) + list(DECISION_SWITCHES)
    assert [row["name"] for row in told["scopes"]] + list(told["rules"]) + told["without"] == names
    assert all(name in text.stdout for name in names)
