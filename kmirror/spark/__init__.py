"""Kafka logs and sweeps on Spark: the only package that imports pyspark, and only when a name is first used.

from kmirror import spark as ks

spark = ks.session()                                  # finds Java, or says how to install it
rows = spark.read.format("kafka-log").load("/kafka-logs")
ks.verify(spark, "/kafka-logs-a", "/kafka-logs-b").summary()
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kmirror.spark.aggregates import aggregate
    from kmirror.spark.fuzzing import fuzz
    from kmirror.spark.histories import read_histories, run_histories
    from kmirror.spark.sessions import session
    from kmirror.spark.source import KafkaLogDataSource
    from kmirror.spark.sweep import run_sweep
    from kmirror.spark.verification import verify

_MODULES = {
    "session": "kmirror.spark.sessions",
    "KafkaLogDataSource": "kmirror.spark.source",
    "verify": "kmirror.spark.verification",
    "run_sweep": "kmirror.spark.sweep",
    "aggregate": "kmirror.spark.aggregates",
    "fuzz": "kmirror.spark.fuzzing",
    "run_histories": "kmirror.spark.histories",
    "read_histories": "kmirror.spark.histories",
}

__all__ = [
    "KafkaLogDataSource",
    "aggregate",
    "fuzz",
    "read_histories",
    "run_histories",
    "run_sweep",
    "session",
    "verify",
]


def __getattr__(name: str) -> object:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module 'kmirror.spark' has no attribute {name!r}")
    value = getattr(import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
