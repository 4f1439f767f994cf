"""The clients, their requirements, and the commands of their scripts."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.interop.jvm import java

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
SCRIPT_SECONDS = 240


class CannotRun(Exception):
    """A requirement of a client is missing on this machine."""


@dataclass(frozen=True)
class Family:
    """A client; `prepare` returns the command of its script, built in a separate folder, or raises CannotRun."""

    name: str
    prepare: Callable[[Path, str], list[str]]


def _python(module: str) -> Callable[[Path, str], list[str]]:
    return lambda folder, class_path: [sys.executable, "-m", f"tests.interop.clients.{module}"]


def _prepare_go(folder: Path, class_path: str) -> list[str]:
    require_programs("go")
    _built(["go", "build", "-o", str(folder / "steps"), "."], HERE / "go")
    return [str(folder / "steps")]


def _node(folder: Path, class_path: str) -> list[str]:
    require_programs("node", "npm")
    for name in ("package.json", "package-lock.json", "steps.js"):
        shutil.copy(HERE / "node" / name, folder)
    _built(["npm", "ci", "--no-audit", "--no-fund"], folder)
    return ["node", str(folder / "steps.js")]


def _java(folder: Path, class_path: str) -> list[str]:
    (folder / "log4j2.properties").write_text("rootLogger.level = OFF\n")
    logging = f"-Dlog4j2.configurationFile={folder / 'log4j2.properties'}"
    return java(class_path, HERE / "java" / "Steps.java", "-Xmx256m", logging)


def _built(command: list[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CannotRun(f"{' '.join(command[:2])} failed: {(done.stderr or done.stdout)[-2000:]}")


FAMILIES = {
    family.name: family
    for family in (
        Family("confluent-kafka", _python("confluent")),
        Family("kafka-python", _python("kafka_python")),
        Family("aiokafka", _python("aio")),
        Family("franz-go", _prepare_go),
        Family("kafkajs", _node),
        Family("java", _java),
    )
}


OWN = "configs of KIP-1279, which no release has"
# Family to its known differences, as patterns of their paths, and the reasons. Obsolete ones must be removed.
KNOWN: dict[str, dict[str, str]] = {
    "confluent-kafka": {"configs/names": OWN},
    "kafka-python": {"configs/.*/mirror[.]": OWN},
    "aiokafka": {},
    "franz-go": {
        "configs/.*/mirror[.]": OWN,
        "topics/[a-z]+/2": OWN,
    },
    "kafkajs": {},
    "java": {
        "topics/[a-z]+/2": OWN,
        "configs/.*/mirror[.]": OWN,
    },
}


def unknown(family: str, found: list[str]) -> list[str]:
    """Return the unexplained differences, and the explanations without a difference."""
    rows = [line for line in found if not any(re.match(f"/{pattern}", line) for pattern in KNOWN[family])]
    spare = [pattern for pattern in KNOWN[family] if not any(re.match(f"/{pattern}", line) for line in found)]
    return rows + [f"no such difference any more: {pattern} ({KNOWN[family][pattern]})" for pattern in spare]


def run_script(command: list[str], bootstrap: str, brokers: int) -> dict[str, Any]:
    """Return the result of each step by its name; AssertionError if the script was aborted."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "KAFKAJS_NO_PARTITIONER_WARNING": "1"}
    done = subprocess.run(
        [*command, bootstrap, str(brokers)],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SCRIPT_SECONDS,
        check=False,
    )
    # Kafka's tools print JSON too, some of it late.
    told = (json.loads(line) for line in done.stdout.splitlines() if line.startswith("{"))
    rows = [row for row in told if "outcome" in row]
    steps = ", ".join(row["step"] for row in rows)
    assert done.returncode == 0, f"broke off with {done.returncode} after {steps or 'no step'}: {done.stderr[-3000:]}"
    return {row["step"]: row["outcome"] for row in rows}


def require_programs(*programs: str) -> None:
    """Raise CannotRun unless these programs are installed."""
    for program in programs:
        if shutil.which(program) is None:
            raise CannotRun(f"there is no {program}")


def differences(kafka: Any, ours: Any, where: str = "") -> list[str]:
    """Return the path of each difference between two results, with both values."""
    if isinstance(kafka, dict) and isinstance(ours, dict):
        keys = [*kafka, *(key for key in ours if key not in kafka)]
        missing = "nothing"
        rows = (differences(kafka.get(key, missing), ours.get(key, missing), f"{where}/{key}") for key in keys)
        return [line for row in rows for line in row]
    if isinstance(kafka, list) and isinstance(ours, list) and len(kafka) == len(ours):
        rows = (differences(*pair, f"{where}/{index}") for index, pair in enumerate(zip(kafka, ours, strict=True)))
        return [line for row in rows for line in row]
    if kafka == ours:
        return []
    return [f"{where}\n  Kafka:   {json.dumps(kafka)}\n  kmirror: {json.dumps(ours)}"]
