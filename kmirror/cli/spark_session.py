"""Spark session of a command, from its start to its stop."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from kmirror.errors import UsageError


@contextmanager
def spark_session(
    app: str, *, master: str | None, remote: str | None, configs: Mapping[str, str], ui: bool = True
) -> Iterator[Any]:
    """Yield a SparkSession and stop it; Spark's errors are raised as SparkFailure, with one line of text."""
    from kmirror.spark.failures import translate_spark_errors
    from kmirror.spark.sessions import session

    # Py4j logs a stack trace for Ctrl-C, and would set up logging for that.
    logging.getLogger().addHandler(logging.NullHandler())
    with translate_spark_errors():
        spark = session(app, master=master, remote=remote, ui=ui, quick_start=True, configs=configs)
        try:
            yield spark
        finally:
            with suppress(Exception):  # A server or a JVM that has ended needs no stop.
                spark.stop()


def parse_confs(confs: tuple[str, ...]) -> Mapping[str, str]:
    """Return `KEY=VALUE` pairs as a mapping."""
    pairs = {}
    for text in confs:
        key, found, value = text.partition("=")
        if not found:
            raise UsageError(f"--conf must be KEY=VALUE, not {text!r}")
        pairs[key] = value
    return pairs
