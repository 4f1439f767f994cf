"""Averages of the runs of a sweep, with confidence intervals, in Spark SQL.

One row for each combination of the axes: the number of runs, and of each figure the mean, half the width of its 95 %
confidence interval (Student's t), the median, the 95th percentile and the maximum.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kmirror.errors import UsageError
from kmirror.experiments.estimates import T_95
from kmirror.experiments.failover_options import OPTION_NAMES
from kmirror.experiments.results import NUMBERS, Results
from kmirror.experiments.sweep_run import BROKEN, FAILED

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

DEFAULT_FIGURES = ("rpo_records", "rpo_ms", "rto_ms", "failback_cut_records", "failback_ms")


def half_width_sql(figure: str) -> str:
    """Return the SQL of half the confidence interval of a mean; null for a single run."""
    steps = " ".join(f"WHEN {freedom} THEN {t}" for freedom, t in enumerate(T_95, start=1))
    return f"CASE count({figure}) - 1 {steps} ELSE 1.96 END * stddev_samp({figure}) / sqrt(count({figure}))"


def aggregate(
    spark: SparkSession, location: str, by: Sequence[str] = (), figures: Sequence[str] = DEFAULT_FIGURES
) -> DataFrame:
    """Return the aggregates of the results under `location`, grouped `by` options; failed runs are left out.

    Intervals assume that the runs of a group are independent. Runs with the same seed are not: group by all options
    that differ.
    """
    for name in by:
        if name not in OPTION_NAMES:
            raise UsageError(f"no option is named {name!r}: there are {', '.join(OPTION_NAMES)}")
    for name in figures:
        if name not in NUMBERS:
            raise UsageError(f"no figure is named {name!r}: there are {', '.join(NUMBERS)}")
    Results(location).check()
    spark.read.parquet(f"{location}/runs").createOrReplaceTempView("kmirror_runs")
    columns = [*by, "count(*) AS runs", f"sum(CASE status WHEN '{BROKEN}' THEN 1 ELSE 0 END) AS broken"]
    for figure in figures:
        columns += [
            f"avg({figure}) AS {figure}",
            f"{half_width_sql(figure)} AS {figure}_ci95",
            f"percentile({figure}, 0.5) AS {figure}_p50",
            f"percentile({figure}, 0.95) AS {figure}_p95",
            f"max({figure}) AS {figure}_max",
        ]
    group = f"GROUP BY {', '.join(by)} ORDER BY {', '.join(by)}" if by else ""
    return spark.sql(f"SELECT {', '.join(columns)} FROM kmirror_runs WHERE status <> '{FAILED}' {group}")
