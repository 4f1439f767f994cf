"""State search beyond one machine's memory: level by level, each a DataFrame distributed by state.

Executors compute the next level from packed states, each with tables of its own; Spark merges equal states and removes
those of earlier levels. Only DataFrames are used, as in sweeps. For small scopes one process is faster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from kmirror.explorer.model import Model, State
from kmirror.explorer.packing import pack, unpack
from kmirror.explorer.rules import Rules
from kmirror.explorer.scopes import Scope
from kmirror.explorer.search import Ending, Outcome

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

LEVEL = "state binary, parent binary, anomaly string, transition_count bigint"
REACHED = "state binary, parent binary, anomaly string"


def explore_on_spark(
    spark: SparkSession, model: Model, may_continue: Callable[[int], bool] = lambda states: True
) -> Outcome:
    """Search all states of the model, as `explore` does; `may_continue` is called after each level.

    The path is one of the shortest, though not always the one that `explore` finds.
    """
    first = pack(model, model.initial_state())
    levels = [spark.createDataFrame([(first, b"", model.violation(model.initial_state()), 0)], LEVEL)]
    seen, states, transitions = levels[0], 1, 0
    while True:
        violation = levels[-1].where("anomaly <> ''").orderBy("state").first()
        if violation is not None:
            path = _path(model, levels, bytes(violation["state"]))
            return Outcome(Ending.FOUND, states, transitions, len(levels) - 1, violation["anomaly"], path)
        if not may_continue(states):
            return Outcome(Ending.BOUND, states, transitions, len(levels) - 1)
        reached = _reached(levels[-1], model.scope, model.rules).localCheckpoint()
        level = reached.join(seen.select("state"), "state", "left_anti").localCheckpoint()
        count = level.count()
        transitions += _transitions(reached)
        if not count:
            return Outcome(Ending.EXHAUSTED, states, transitions, len(levels) - 1)
        states += count
        levels.append(level)
        seen = seen.union(level)


def _reached(level: DataFrame, scope: Scope, rules: Rules) -> DataFrame:
    """Return the states one step beyond a level, each once, with the least state from which it is reached."""
    from pyspark.sql import functions as f

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return expand(scope, rules, batches)

    rows = level.select("state").mapInArrow(work, REACHED)  # type: ignore[arg-type]  # pyspark's own alias
    return rows.groupBy("state").agg(
        f.min("parent").alias("parent"), f.first("anomaly").alias("anomaly"), f.count("*").alias("transition_count")
    )


def expand(scope: Scope, rules: Rules, batches: Iterator[Any]) -> Iterator[Any]:
    """Yield batches of `REACHED` for batches of packed states."""
    model = _model(scope, rules)
    for batch in batches:
        rows: list[tuple[bytes, bytes, str]] = []
        for data in batch.column(0).to_pylist():
            state = unpack(model, data)
            rows += [
                (pack(model, successor), data, model.violation(successor)) for successor in model.successors(state)
            ]
        columns = zip(*rows, strict=True) if rows else ((), (), ())
        kinds = (pa.binary(), pa.binary(), pa.string())
        arrays = [pa.array(list(column), kind) for column, kind in zip(columns, kinds, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, names=["state", "parent", "anomaly"])


@lru_cache(maxsize=1)
def _model(scope: Scope, rules: Rules) -> Model:
    return Model(scope, rules)  # A worker keeps its tables from level to level.


def _transitions(reached: DataFrame) -> int:
    row = reached.agg({"transition_count": "sum"}).first()
    assert row is not None, "an aggregate has a row"
    return int(row[0] or 0)


def _path(model: Model, levels: list[DataFrame], last: bytes) -> tuple[State, ...]:
    from pyspark.sql import functions as f

    path, state = [unpack(model, last)], last
    for level in reversed(levels[1:]):
        row = level.where(f.col("state") == f.lit(state)).first()
        assert row is not None, "each state but the first was reached from one"
        state = bytes(row["parent"])
        path.append(unpack(model, state))
    return tuple(reversed(path))
