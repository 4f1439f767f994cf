"""A sweep runs every run once, stores failures, resumes after a stop, and gives the same result on any cluster."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from kmirror.experiments.failover_options import ExperimentOptions
from kmirror.experiments.results import Results
from kmirror.experiments.sweep_file import Run, Sweep, parse_sweep, run_id
from kmirror.experiments.sweep_run import run_to_row
from kmirror.spark.aggregates import aggregate
from kmirror.spark.archive import build_archive
from kmirror.spark.sweep import run_sweep
from tests.spark.consumed import ROOT

QUICK = {"failure_ms": 300, "detect_ms": 100, "after_ms": 100, "partitions": 1, "refresh_ms": 100}
FILE = """
seeds = 2
[fixed]
failure_ms = 300
detect_ms = 100
after_ms = 100
[grid]
latency_ms = [5, 50]
"""


def test_every_run_once_with_seed_digest_and_version(spark: Any, tmp_path: Path) -> None:
    sweep = parse_sweep({"seeds": 2, "fixed": QUICK, "grid": {"latency_ms": [5, 50, 200]}}, "s")
    told: list[tuple[int, int]] = []
    report = run_sweep(spark, sweep, str(tmp_path), progress=lambda done, total: told.append((done, total)))
    assert (report.total, report.skipped, report.statuses) == (6, 0, {"ok": 6})
    assert told[-1] == (6, 6)
    rows = Results(str(tmp_path)).read().to_pylist()
    assert len(list((tmp_path / "runs").glob("*.parquet"))) == 1, "gathered into one file"
    for row in rows:
        options = ExperimentOptions(**{name: row[name] for name in ExperimentOptions.__slots__})
        assert run_id(options) == row["run_id"]
        assert row["kmirror_version"] and len(row["digest"]) == 64
    again = run_to_row("s", next(run for run in sweep.runs if run.run_id == rows[0]["run_id"]))
    assert again["digest"] == rows[0]["digest"], "an executor runs what this process runs"
    # A longer file runs only the new runs.
    longer = parse_sweep({"seeds": 2, "fixed": QUICK, "grid": {"latency_ms": [5, 50, 200, 400]}}, "s")
    report = run_sweep(spark, longer, str(tmp_path))
    assert (report.skipped, report.statuses) == (6, {"ok": 2})
    (row,) = aggregate(spark, str(tmp_path), [], ["rpo_ms"]).collect()
    assert row.runs == 8
    by_latency = aggregate(spark, str(tmp_path), ["latency_ms"], ["rpo_ms", "rto_ms"]).collect()
    assert [row.latency_ms for row in by_latency] == [5, 50, 200, 400]
    for row in by_latency:
        mine = [r["rto_ms"] for r in Results(str(tmp_path)).read().to_pylist() if r["latency_ms"] == row.latency_ms]
        mean = sum(mine) / 2
        half = 12.706 * ((sum((v - mean) ** 2 for v in mine) / 1) ** 0.5) / 2**0.5
        assert row.rto_ms == pytest.approx(mean)
        assert row.rto_ms_ci95 == pytest.approx(half)


def test_a_run_that_raises_keeps_seed_and_traceback_and_stops_nothing(spark: Any, tmp_path: Path) -> None:
    good = parse_sweep({"fixed": QUICK}, "s").runs[0]
    failed_or_broken = Run("0" * 16, ExperimentOptions(seed=77, codec="zstd", brokers=1, fault="source_broker"))
    report = run_sweep(spark, Sweep("s", (), (failed_or_broken, good)), str(tmp_path))
    assert report.statuses == {"failed": 1, "ok": 1}
    assert report.failed_or_broken == [failed_or_broken.run_id]
    row = next(row for row in Results(str(tmp_path)).read().to_pylist() if row["status"] == "failed")
    assert row["seed"] == 77
    assert "Traceback" in row["error"] and "brokers must be 2" in row["error"]


# -- other processes --------------------------------------------------------------------------


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_DAEMON_MEMORY": "256m"}


def sweep_command(tmp_path: Path, *arguments: str) -> list[str]:
    file = tmp_path / "s.toml"
    file.write_text(FILE, "utf-8")
    command = [sys.executable, "-m", "kmirror", "sweep", str(file), "-o", str(tmp_path / "out")]
    return [*command, "--conf", "spark.ui.enabled=false", "--conf", "spark.driver.memory=512m", *arguments]


def digests(tmp_path: Path) -> dict[str, str]:
    table = parquet.read_table(tmp_path / "out" / "runs")
    return dict(zip(table["run_id"].to_pylist(), table["digest"].to_pylist(), strict=True))


def packages(tmp_path: Path) -> set[str]:
    """Return the origin of kmirror in the executors."""
    return set(parquet.read_table(tmp_path / "out" / "runs")["package"].to_pylist())


def wanted() -> dict[str, str]:
    fixed = {"failure_ms": 300, "detect_ms": 100, "after_ms": 100}
    sweep = parse_sweep({"seeds": 2, "fixed": fixed, "grid": {"latency_ms": [5, 50]}})
    return {item.run_id: run_to_row("s", item)["digest"] for item in sweep.runs}


@contextmanager
def running(command: list[str], tmp_path: Path, name: str, ready: str, **extra: str) -> Iterator[str]:
    """Start a server of Spark's and wait for a line; yield the line."""
    log = tmp_path / f"{name}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=subprocess.STDOUT, env={**environment(), **extra}, cwd=tmp_path
        )
    try:
        deadline = time.monotonic() + 300
        line = None
        while line is None:
            assert process.poll() is None and time.monotonic() < deadline, log.read_text("utf-8", "replace")[-3000:]
            time.sleep(0.2)
            line = next((text for text in log.read_text("utf-8", "replace").splitlines() if ready in text), None)
        yield line
    finally:
        process.terminate()
        process.wait(timeout=60)


def spark_class(*arguments: str) -> list[str]:
    """Return the command of one of Spark's own daemons, run directly so that it ends with its process."""
    import pyspark

    from kmirror.spark.java import find_java

    home = Path(pyspark.__file__).parent
    os.environ["JAVA_HOME"] = str(find_java().home)
    # The options of Spark's scripts that are needed here; newer Java versions need the last ones for Arrow.
    opens = (
        "--add-opens=java.base/java.nio=ALL-UNNAMED --add-opens=java.base/sun.nio.ch=ALL-UNNAMED "
        "-Dio.netty.tryReflectionSetAccessible=true -XX:+IgnoreUnrecognizedVMOptions "
        "--sun-misc-unsafe-memory-access=allow"
    )
    return [
        f"{find_java().home}/bin/java", "-cp", f"{home}/jars/*", "-Xmx512m", "-XX:TieredStopAtLevel=1",
        "-XX:+UseSerialGC", *opens.split(), *arguments,
    ]  # fmt: skip


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the URL of a master with two workers on loopback."""
    folder = tmp_path_factory.mktemp("cluster")
    deploy = "org.apache.spark.deploy"
    master = spark_class(f"{deploy}.master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
    with running(master, folder, "master", "Starting Spark master at") as line:
        url = line.rpartition(" ")[2]
        worker = spark_class(
            f"{deploy}.worker.Worker", "--host", "127.0.0.1", "--webui-port", "0", "-c", "1", "-m", "700m", url
        )
        # Workers must not find the package by themselves.
        alone = {"PYTHONPATH": "", "SPARK_SCALA_VERSION": "2.13", "SPARK_HOME": _spark_home()}
        ready = "Successfully registered with master"
        with running(worker, folder, "one", ready, **alone), running(worker, folder, "two", ready, **alone):
            yield url


def cluster_command(tmp_path: Path, url: str, tasks: int) -> list[str]:
    return sweep_command(
        tmp_path, "--master", url, "--conf", "spark.driver.host=127.0.0.1", "--conf", "spark.executor.memory=450m",
        "--conf", "spark.executorEnv.PYTHONPATH=", "--tasks", str(tasks),
    )  # fmt: skip


def test_a_standalone_cluster_gets_the_package_and_returns_the_same_digests(cluster: str, tmp_path: Path) -> None:
    command = cluster_command(tmp_path, cluster, 2)
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=600, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    assert digests(tmp_path) == wanted()
    assert packages(tmp_path) == {build_archive().name}, "executors run the archive, whatever they have themselves"


def executors() -> list[int]:
    """Return the executors that run on this machine."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"org.apache.spark.executor.CoarseGrainedExecutorBackend" in words and b"--worker-url" in words:
            found.append(int(folder.name))
    return found


def test_a_killed_executor_loses_no_finished_run(cluster: str, tmp_path: Path) -> None:
    command = cluster_command(tmp_path, cluster, 4)
    (tmp_path / "s.toml").write_text(FILE.replace("seeds = 2", "seeds = 12"), "utf-8")
    before = executors()
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(command, env=environment(), stdout=log, stderr=log)
        wait_for_runs(tmp_path, process, 6)
        victim = next(pid for pid in executors() if pid not in before)
        kept = {row["run_id"]: row for row in Results(str(tmp_path / "out")).read().to_pylist()}
        os.kill(victim, signal.SIGKILL)
        assert process.wait(timeout=600) == 0, (tmp_path / "log").read_text("utf-8")
    assert 6 <= len(kept) < 24, "it was killed in the middle"
    rows = parquet.read_table(tmp_path / "out" / "runs").to_pylist()
    assert len(rows) == len({row["run_id"] for row in rows}) == 24
    assert {row["status"] for row in rows} == {"ok"}
    assert [row for row in rows if kept.get(row["run_id"], row) != row] == [], "nothing that was finished ran again"
    assert "24 new (24 ok)" in (tmp_path / "log").read_text("utf-8")


def wait_for_runs(tmp_path: Path, process: subprocess.Popen[bytes], count: int) -> None:
    deadline = time.monotonic() + 300
    while len(list((tmp_path / "out" / "runs").glob("*.parquet"))) < count:
        assert process.poll() is None and time.monotonic() < deadline, (tmp_path / "log").read_text("utf-8")
        time.sleep(0.05)


def java_of(leader: int) -> int:
    """Return the JVM in the session that a process leads."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            session = int((folder / "stat").read_text().rpartition(")")[2].split()[3])
            command = (folder / "cmdline").read_bytes().split(b"\0")[0]
        except OSError:
            continue
        if session == leader and command.endswith(b"java"):
            return int(folder.name)
    raise AssertionError("there is no JVM")


def test_a_jvm_that_dies_is_one_line(tmp_path: Path) -> None:
    command = sweep_command(tmp_path, "--master", "local[1]")
    (tmp_path / "s.toml").write_text(FILE.replace("seeds = 2", "seeds = 12"), "utf-8")
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(command, env=environment(), stdout=log, stderr=log, start_new_session=True)
        wait_for_runs(tmp_path, process, 1)
        os.kill(java_of(process.pid), signal.SIGKILL)
        assert process.wait(timeout=300) == 1
    told = (tmp_path / "log").read_text("utf-8")
    assert told.startswith("kmirror: Spark: its JVM ended: ")
    assert told.count("\n") == 1


def _spark_home() -> str:
    import pyspark

    return str(Path(pyspark.__file__).parent)


def test_spark_connect_returns_the_same_digests(tmp_path: Path) -> None:
    pytest.importorskip("grpc", reason="Spark Connect needs grpcio: pip install 'kmirror[spark]'")
    port = "15911"
    server = spark_class(
        "org.apache.spark.deploy.SparkSubmit", "--master", "local[2]",
        "--conf", f"spark.connect.grpc.binding.port={port}", "--conf", "spark.ui.enabled=false",
        "--class", "org.apache.spark.sql.connect.service.SparkConnectServer",
        "spark-internal",
    )  # fmt: skip
    extra = {"PYSPARK_PYTHON": sys.executable, "PYTHONPATH": "", "SPARK_HOME": _spark_home()}
    with running(server, tmp_path, "connect", "Spark Connect server started", **extra):
        command = sweep_command(tmp_path, "--remote", f"sc://127.0.0.1:{port}", "--tasks", "2")
        done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    complaints = [line for line in done.stderr.splitlines() if "UserWarning" in line]
    assert all("CANNOT_MODIFY_CONFIG" in line for line in complaints), "a remote has settings of its own"
    assert digests(tmp_path) == wanted()
    assert packages(tmp_path) == {build_archive().name}, "executors run the archive, whatever they have themselves"


def test_ctrl_c_and_a_killed_driver_lose_no_finished_run(tmp_path: Path) -> None:
    command = sweep_command(tmp_path, "--master", "local[2]")
    (tmp_path / "s.toml").write_text(FILE.replace("seeds = 2", "seeds = 12"), "utf-8")
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(command, env=environment(), stdout=log, stderr=log, start_new_session=True)
        wait_for_runs(tmp_path, process, 2)
        os.killpg(process.pid, signal.SIGINT)  # Like a terminal: the workers get it too.
        assert process.wait(timeout=300) == 130
    told = (
        f"kmirror: interrupted; finished results are kept in {tmp_path / 'out'}, "
        "the same command continues from there\n"
    )
    assert (tmp_path / "log").read_text("utf-8") == told
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(command, env=environment(), stdout=log, stderr=log)
        wait_for_runs(tmp_path, process, 7)
        process.kill()
        process.wait(timeout=60)
    kept = Results(str(tmp_path / "out")).finished()
    assert 7 <= len(kept) < 24
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=600, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    found = digests(tmp_path)
    assert len(found) == 24 and kept <= found.keys()
    again = int(done.stdout.partition(" from earlier runs")[0].rpartition(" ")[2])
    assert again >= len(kept)
