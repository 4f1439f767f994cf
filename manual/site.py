"""Can the manual be built without a warning, and is every public name in its reference?"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import zlib
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "build/manual"

# What users import from. Messages have a page of their own, for there are hundreds; so have error codes and configs.
PUBLIC_MODULES = (
    "kmirror.sim.simulation", "kmirror.sim.cluster", "kmirror.sim.files", "kmirror.sim.mirror", "kmirror.sim.producer",
    "kmirror.sim.consumer", "kmirror.sim.lines", "kmirror.sim.network", "kmirror.sim.disk_work", "kmirror.sim.checkers",
    "kmirror.sim.history.run", "kmirror.sim.history.plan", "kmirror.sim.history.verdict",
    "kmirror.sim.history.story", "kmirror.sim.history.shrink",
    "kmirror.kernel.ids", "kmirror.kernel.uuid",
    "kmirror.mirror.states",
    "kmirror.client.producer", "kmirror.client.consumer", "kmirror.client.admin", "kmirror.client.transactions",
    "kmirror.client.requester",
    "kmirror.log.config", "kmirror.log.partition_log", "kmirror.log.results", "kmirror.log.errors",
    "kmirror.log.memory_store", "kmirror.log.committed", "kmirror.log.compare", "kmirror.log.cleaner",
    "kmirror.logdir.load", "kmirror.logdir.write", "kmirror.logdir.store", "kmirror.logdir.partition",
    "kmirror.logdir.consume", "kmirror.logdir.verify.partition", "kmirror.logdir.compare.partitions",
    "kmirror.logdir.faults",
    "kmirror.records.batch", "kmirror.records.build", "kmirror.records.codecs", "kmirror.records.columns",
    "kmirror.records.control", "kmirror.records.record", "kmirror.records.legacy", "kmirror.records.layout",
    "kmirror.protocol.message", "kmirror.protocol.structs", "kmirror.protocol.registry", "kmirror.protocol.frames",
    "kmirror.protocol.headers", "kmirror.protocol.json_form", "kmirror.protocol.negotiate", "kmirror.protocol.wire",
    "kmirror.experiments.sweep_file", "kmirror.experiments.failover",
    "kmirror.experiments.failover_options", "kmirror.experiments.failover_figures", "kmirror.experiments.results",
    "kmirror.experiments.estimates", "kmirror.experiments.demo",
    "kmirror.spark.sessions", "kmirror.spark.source", "kmirror.spark.options",
    "kmirror.spark.verification", "kmirror.spark.sweep", "kmirror.spark.aggregates", "kmirror.spark.histories",
    "kmirror.report.notebook",
    "kmirror.testing.strategies.arbitrary", "kmirror.testing.strategies.plausible",
    "kmirror.testing.strategies.batches", "kmirror.testing.strategies.logs", "kmirror.testing.histories",
    "kmirror.errors", "kmirror.spec.wire_values",
)  # fmt: skip


def build() -> int:
    """Write the site to build/manual; return an exit code, which is 1 after any warning."""
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean"]
    environment = {**os.environ, "NO_COLOR": "1"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode != 0:
        print(done.stdout, file=sys.stderr)
        return 1
    absent = list(missing(inventory((SITE / "objects.inv").read_bytes())))
    for name in absent:
        print(f"no page of docs/reference/ shows {name}", file=sys.stderr)
    return 1 if absent else 0


def inventory(data: bytes) -> set[str]:
    """Return the names that a Sphinx inventory (version 2) lists."""
    *_, packed = data.split(b"\n", 4)
    return {line.split(" ", 1)[0] for line in zlib.decompress(packed).decode().splitlines()}


def missing(shown: Collection[str], modules: Iterable[str] = PUBLIC_MODULES) -> Iterator[str]:
    """Yield the public names of the modules that are not among those shown."""
    for module in modules:
        path = ROOT / (module.replace(".", "/") + ".py")
        for name in public_names(path.read_text("utf-8")):
            if f"{module}.{name}" not in shown:
                yield f"{module}.{name}"


def public_names(source: str) -> Iterator[str]:
    """Yield the classes and functions of a module, and the methods of the classes, without those that begin with _."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
            yield node.name
            for member in node.body if isinstance(node, ast.ClassDef) else []:
                if isinstance(member, ast.FunctionDef) and not member.name.startswith("_"):
                    yield f"{node.name}.{member.name}"
