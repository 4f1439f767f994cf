"""A Spark session that starts: Java found, Python named, the data source registered.

`session()` runs Spark in this process; `master="spark://host:7077"` sends tasks to a cluster, which gets the package as
an archive; `remote="sc://host:15002"` is a Spark Connect client and needs no Java here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from kmirror.errors import UsageError
from kmirror.spark.archive import build_archive
from kmirror.spark.failures import SparkFailure, translate_spark_errors
from kmirror.spark.java import find_java
from kmirror.spark.jvm import LOG_LEVEL, start_without_output

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# A heap this small needs no other collector.
SERIAL_GC = "-XX:+UseSerialGC"
# A job whose work is in Python starts faster without the JVM's second compiler; one that moves rows needs it: reading a
# log takes twice as long without.
NO_SECOND_COMPILER = "-XX:TieredStopAtLevel=1"
# Time limits for a silent server, at the start and during work: a minute in all.
ANSWER_SECONDS = 30
RETRIES_MAX, BACKOFF_MS_MAX = 8, 15_000
QUIET = Path(__file__).with_name("log4j2.properties")


def session(
    app: str = "kmirror",
    *,
    master: str | None = None,
    remote: str | None = None,
    ui: bool = True,
    quick_start: bool = False,
    configs: Mapping[str, str] | None = None,
) -> SparkSession:
    """Return a session with the format `kafka-log` in it.

    Raises `UsageError` if pyspark or Java is missing, `SparkFailure` if Spark does not start or a remote does not
    respond.

    Without `master` all cores of this machine work. `quick_start` saves a second or two of a session that moves few
    rows. `configs` are Spark's own and take precedence.
    """
    require_pyspark()
    if master is not None and remote is not None:
        raise UsageError("a session has a master or a remote, not both")
    with translate_spark_errors():
        if remote is not None:
            spark = _connect(app, remote, configs or {})
        else:
            options = f"{SERIAL_GC} {NO_SECOND_COMPILER}" if quick_start else SERIAL_GC
            spark = _start_session(app, master or "local[*]", ui, options, configs or {})
    from kmirror.spark.source import KafkaLogDataSource

    spark.dataSource.register(KafkaLogDataSource)
    return spark


def require_pyspark() -> None:
    """Raise `UsageError` if pyspark is not installed."""
    if find_spec("pyspark") is None:
        raise UsageError("pyspark is not installed: pip install 'kmirror[spark]' installs it, and a Java for it")


def _start_session(app: str, master: str, ui: bool, java_options: str, configs: Mapping[str, str]) -> SparkSession:
    os.environ["JAVA_HOME"] = str(find_java().home)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # Workers would use the system's python3.
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": str(ui).lower(),
        "spark.ui.showConsoleProgress": "false",
        LOG_LEVEL: "ERROR",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.session.timeZone": "UTC",
        "spark.driver.extraJavaOptions": f"{java_options} -Dlog4j2.configurationFile={QUIET.as_uri()}",
        **configs,
    }
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        settings = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", **settings}
    settings = {"spark.app.name": app, "spark.master": master, **settings}
    if LOG_LEVEL not in configs:
        start_without_output(settings)
    builder: Any = SparkSession.builder
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark: SparkSession = builder.getOrCreate()
    server: Any = getattr(spark.sparkContext, "_accumulatorServer", None)
    if server is not None:
        # When the JVM dies, its thread would print a stack trace beside the reason that is raised.
        server.handle_error = lambda request, address: None
    if not master.startswith("local["):
        spark.sparkContext.addPyFile(str(build_archive()))
    return spark


def _connect(app: str, remote: str, configs: Mapping[str, str]) -> SparkSession:
    missing = [name for name in ("grpc", "google.protobuf", "pandas") if not _is_installed(name)]
    if missing:
        raise UsageError(f"Spark Connect needs {', '.join(missing)}: pip install 'kmirror[spark]' installs them")
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # Failures are raised as well.
    from pyspark.sql import SparkSession
    from pyspark.sql.connect.client.retries import DefaultPolicy

    _check_server(remote)
    builder: Any = SparkSession.builder
    builder = builder.appName(app).remote(remote)
    for name, value in configs.items():
        builder = builder.config(name, value)
    spark: SparkSession = builder.getOrCreate()
    # Pyspark's own limit is ten minutes.
    policy = DefaultPolicy(max_retries=RETRIES_MAX, max_backoff=BACKOFF_MS_MAX)
    spark.client.set_retry_policies([policy])  # type: ignore[attr-defined]  # Of a Connect session.
    spark.addArtifacts(str(build_archive()), pyfile=True)
    return spark


def _check_server(remote: str) -> None:
    """Raise `SparkFailure` unless a Spark Connect server responds within `ANSWER_SECONDS`."""
    import grpc
    from pyspark.sql.connect import proto
    from pyspark.sql.connect.client import DefaultChannelBuilder

    builder = DefaultChannelBuilder(remote)
    request = proto.AnalyzePlanRequest(session_id=str(uuid4()), spark_version=proto.AnalyzePlanRequest.SparkVersion())
    with builder.toChannel() as channel:
        try:
            stub: Any = proto.SparkConnectServiceStub  # Pyspark gives it no types.
            stub(channel).AnalyzePlan(request, timeout=ANSWER_SECONDS, metadata=builder.metadata())
        except grpc.RpcError as error:
            is_silent = error.code() is grpc.StatusCode.DEADLINE_EXCEEDED
            reason = f"no answer within {ANSWER_SECONDS} s" if is_silent else str(error.details())
            raise SparkFailure(f"{remote}: no Spark Connect server answers there: {reason}") from None


def _is_installed(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False
