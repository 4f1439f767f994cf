"""A Spark session that starts: Java found, Python named, the data source registered.

`session()` runs Spark in this process; `master="spark://host:7077"` sends tasks to a cluster, which gets the
package as an archive; `remote="sc://host:15002"` is a Spark Connect client and needs no Java here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kmirror.errors import UsageError
from kmirror.spark.archive import build_archive
from kmirror.spark.java import find_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# A heap this small needs no other collector.
LEAN = "-XX:+UseSerialGC"
# A job whose work is in Python starts faster without the JVM's second compiler; one that moves rows needs it:
# reading a log takes twice as long without.
NO_SECOND_COMPILER = "-XX:TieredStopAtLevel=1"
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
    """Return a session with the format `kafka-log` in it; `UsageError` if pyspark or Java is missing.

    Without `master` all cores of this machine work. `quick_start` saves a second or two of a session that moves few
    rows. `configs` are Spark's own and win.
    """
    if find_spec("pyspark") is None:
        raise UsageError("pyspark is not installed: pip install 'kmirror[spark]' brings it, and a Java for it")
    if master is not None and remote is not None:
        raise UsageError("a session has a master or a remote, not both")
    if remote is not None:
        spark = _connect(app, remote, configs or {})
    else:
        options = f"{LEAN} {NO_SECOND_COMPILER}" if quick_start else LEAN
        spark = _classic(app, master or "local[*]", ui, options, configs or {})
    from kmirror.spark.source import KafkaLogDataSource

    spark.dataSource.register(KafkaLogDataSource)
    return spark


def _classic(app: str, master: str, ui: bool, java_options: str, configs: Mapping[str, str]) -> SparkSession:
    os.environ["JAVA_HOME"] = str(find_java().home)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # Workers would take the system's python3.
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": str(ui).lower(),
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.session.timeZone": "UTC",
        "spark.driver.extraJavaOptions": f"{java_options} -Dlog4j2.configurationFile={QUIET.as_uri()}",
        **configs,
    }
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        settings = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", **settings}
    builder: Any = SparkSession.builder
    builder = builder.appName(app).master(master)
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark: SparkSession = builder.getOrCreate()
    if not master.startswith("local["):
        spark.sparkContext.addPyFile(str(build_archive()))
    return spark


def _connect(app: str, remote: str, configs: Mapping[str, str]) -> SparkSession:
    missing = [name for name in ("grpc", "google.protobuf", "pandas") if not _is_there(name)]
    if missing:
        raise UsageError(f"Spark Connect needs {', '.join(missing)}: pip install 'kmirror[spark]' brings them")
    from pyspark.sql import SparkSession

    builder: Any = SparkSession.builder
    builder = builder.appName(app).remote(remote)
    for name, value in configs.items():
        builder = builder.config(name, value)
    spark: SparkSession = builder.getOrCreate()
    spark.addArtifacts(str(build_archive()), pyfile=True)
    return spark


def _is_there(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False
