"""Histories: runs of several clusters, drawn from a seed and judged by named checkers (`kmirror sim`).

    from kmirror.histories import run_history

    outcome = run_history(seed=7, profile="full")        # the same as `kmirror sim --seed 7`
    outcome.exit, outcome.anomalies, outcome.digest
    run_history(Plan.from_json(text))                    # a file written by `kmirror sim --save`

`run_history` returns a `kmirror.histories.verdict.Outcome`: anomalies with the names of their checkers, losses that the
KIP accepts, the account of all observations, and the story. A failure inside the run is reported in the outcome and
raises nothing. `kmirror.histories.story.tell` formats an outcome as text; `kmirror.histories.shrink.shrink` reduces it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kmirror.histories.run import run_history

__all__ = ["run_history"]


def __getattr__(name: str) -> object:
    if name != "run_history":
        raise AttributeError(f"module 'kmirror.histories' has no attribute {name!r}")
    return import_module("kmirror.histories.run").run_history
