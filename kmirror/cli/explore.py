"""`kmirror explore`: search for an order of events, within small bounds, that breaks mirroring."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import click

from kmirror.cli.commands import CONTEXT
from kmirror.explorer.model import Model
from kmirror.explorer.rules import DECISION_SWITCHES, RULES_BY_NAME, find_rules
from kmirror.explorer.scopes import SCOPES, Scope, find_scope
from kmirror.explorer.search import Ending, Outcome, explore
from kmirror.explorer.stories import StoryStep, build_story, format_step
from kmirror.kernel.names import counted

EXIT_CODES = {Ending.EXHAUSTED: 0, Ending.FOUND: 4, Ending.BOUND: 5}
STATES_MAX = 20_000_000
"""Default limit of states; a state takes about 200 bytes."""


@click.command("explore", context_settings=CONTEXT)
@click.option(
    "--scope",
    "scope_name",
    type=click.Choice([scope.name for scope in SCOPES]),
    default="elections",
    show_default=True,
    metavar="NAME",
    help="Size of the model; --list shows the scopes.",
)
@click.option(
    "--rules",
    "rules_name",
    type=click.Choice(list(RULES_BY_NAME)),
    default="decided",
    show_default=True,
    metavar="NAME",
    help="Set of rules; --list shows them.",
)
@click.option(
    "--without",
    multiple=True,
    type=click.Choice(list(DECISION_SWITCHES)),
    metavar="DECISION",
    help="Remove a decision, such as D36; repeatable.",
)
@click.option("--option", is_flag=True, help="Set mirror.support.unclean.leader.election (wait for all replicas).")
@click.option("--list", "is_list", is_flag=True, help="List scopes, rules and removable decisions, and exit.")
@click.option(
    "--max-states",
    type=click.IntRange(min=1),
    default=STATES_MAX,
    show_default=True,
    metavar="N",
    help="Approximate limit of states to search.",
)
@click.option("--max-seconds", type=click.FloatRange(min=0), metavar="S", help="Time limit.")
@click.option("--spark", "on_spark", is_flag=True, help="Spread the search over Spark, for scopes beyond one machine.")
@click.option("--master", metavar="URL", help="With --spark: Spark master; default: local[*].")
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(
    scope_name: str,
    rules_name: str,
    without: tuple[str, ...],
    option: bool,
    is_list: bool,
    max_states: int,
    max_seconds: float | None,
    on_spark: bool,
    master: str | None,
    output: str,
) -> int:
    """Search every history of a scope, breadth-first, for one that loses a record or lets replicas differ.

    The exit code is 0 if the whole scope was searched and nothing was found, 4 with a counter-example, which is printed
    as the shortest story, and 5 if a limit was reached before the end.
    """
    if is_list:
        _print_scopes_and_rules(output)
        return 0
    if master is not None and not on_spark:
        raise click.UsageError("--master needs --spark")
    scope = find_scope(scope_name)
    model = Model(scope, find_rules(rules_name, without, option=option))
    started_at = time.monotonic()

    def may_continue(states: int) -> bool:
        return states < max_states and (max_seconds is None or time.monotonic() - started_at < max_seconds)

    outcome = _on_spark(model, may_continue, master) if on_spark else explore(model, may_continue)
    seconds = time.monotonic() - started_at
    story = build_story(model, outcome.path) if outcome.path else []
    if output == "json":
        options = {"scope": scope_name, "rules": rules_name, "without": list(without), "option": option}
        click.echo(json.dumps({**options, **_as_json(outcome, seconds, story)}))
    else:
        _print(scope, outcome, seconds, story)
    return EXIT_CODES[outcome.ending]


def _on_spark(model: Model, may_continue: Callable[[int], bool], master: str | None) -> Outcome:
    from kmirror.spark.frontier import explore_on_spark
    from kmirror.spark.sessions import session

    spark = session("kmirror explore", master=master, quick_start=True)
    try:
        return explore_on_spark(spark, model, may_continue)
    finally:
        spark.stop()


def _print_scopes_and_rules(output: str) -> None:
    if output == "json":
        rules = {name: about for name, (_, about) in RULES_BY_NAME.items()}
        click.echo(
            json.dumps({"scopes": [s._asdict() for s in SCOPES], "rules": rules, "without": list(DECISION_SWITCHES)})
        )
        return
    click.echo("scopes (a pair is cluster A, cluster B)")
    for scope in SCOPES:
        click.echo(f"  {scope.name:20} {scope.purpose}\n  {'':20} {_bounds(scope)}")
    click.echo("rules")
    for name, (_, about) in RULES_BY_NAME.items():
        click.echo(f"  {name:20} {about}")
    click.echo(f"without\n  {' '.join(DECISION_SWITCHES)}")


def _bounds(scope: Scope) -> str:
    rows = (
        ("replicas", scope.replicas), ("records", scope.appends), ("sessions", scope.sessions),
        ("clean elections", scope.clean), ("unclean elections", scope.unclean),
    )  # fmt: skip
    text = ", ".join(f"{name} {a}+{b}" for name, (a, b) in rows)
    text += " (unclean only from stop to failback)" if scope.unclean_while_stopped else ""
    text += ", B is new" if scope.b_is_new else ""
    return text + (", fetches of one record" if scope.one_by_one else "")


def _print(scope: Scope, outcome: Outcome, seconds: float, story: list[StoryStep]) -> None:
    for step in story:
        click.echo("\n".join(format_step(step)))
    if story:
        click.echo(f"\n{outcome.anomaly}\n")
    ending_texts = {
        Ending.EXHAUSTED: "complete: every history in this scope was checked, none breaks an invariant",
        Ending.FOUND: f"counter-example: {counted(len(story), 'step')}, the shortest one",
        Ending.BOUND: f"undecided: a limit was reached at depth {outcome.depth}, nothing found so far",
    }
    click.echo(ending_texts[outcome.ending])
    click.echo(f"scope {scope.name}: {_bounds(scope)}")
    click.echo(
        f"{counted(outcome.states, 'state')}, "
        f"{counted(outcome.transitions, 'step')} between them, depth {outcome.depth}, {seconds:.1f} s, "
        f"{_states_per_second(outcome, seconds)} states a second"
    )


def _states_per_second(outcome: Outcome, seconds: float) -> int:
    return round(outcome.states / seconds) if seconds > 0 else outcome.states


def _as_json(outcome: Outcome, seconds: float, story: list[StoryStep]) -> dict[str, Any]:
    return {
        "ending": outcome.ending.value, "states": outcome.states, "transitions": outcome.transitions,
        "depth": outcome.depth, "seconds": round(seconds, 3), "states_per_second": _states_per_second(outcome, seconds),
        "anomaly": outcome.anomaly,
        "story": [
            {
                "number": step.number, "text": step.text,
                "clusters": [
                    {**picture._asdict(), "rows": [row._asdict() for row in picture.rows]} for picture in step.pictures
                ],
            }
            for step in story
        ],
    }  # fmt: skip
