"""`kmirror dump-log` prints the same as Kafka's dump tool for damaged files, and fails where that fails.

tests/interop/conftest.py describes the source of Kafka's jars.
"""

from __future__ import annotations

import base64
import random
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from kmirror.cli.dump_log import command
from kmirror.errors import KmirrorError
from tests.golden.cli.runs import SAMPLE
from tests.interop.jvm import java

PROGRAM = Path(__file__).with_name("DumpFiles.java")
COUNT = 1_000
LOG_BYTES_MAX = 3_000
DECODERS = {
    "__consumer_offsets": "--offsets-decoder",
    "__transaction_state": "--transaction-log-decoder",
    "__share_group_state": "--share-group-state-decoder",
    "__cluster_metadata": "--cluster-metadata-decoder",
}
OF_LOGS = ([], ["--deep-iteration"], ["--print-data-log"], ["--print-data-log", "--skip-record-metadata"])
OF_INDEXES = ([], [], ["--index-sanity-check"], ["--verify-index-only"])


@dataclass(frozen=True, slots=True)
class Dump:
    exit_code: int
    out: bytes
    err: str  # Empty if the tool failed: its message then is Java's.


def by_jvm(lines: Sequence[list[str]], folder: Path, class_path: str) -> list[tuple[Dump, str]]:
    """Run Kafka's tool with each of the argument lists; return also its exception."""
    given = "".join(" ".join(line) + "\n" for line in lines)
    quiet = folder / "log4j2.xml"
    quiet.write_text('<Configuration><Loggers><Root level="OFF"/></Loggers></Configuration>')
    words = java(class_path, PROGRAM, "-Xmx512m", f"-Dlog4j2.configurationFile={quiet}")
    done = subprocess.run(words, input=given, cwd=folder, capture_output=True, text=True, check=False)
    rows = [line.split("\t")[1:] for line in done.stdout.splitlines() if line.startswith("R\t")]
    assert len(rows) == len(lines), done.stderr[-2000:]
    return [
        (Dump(int(code), base64.b64decode(out), "" if died else base64.b64decode(err).decode()), died)
        for code, out, err, died in rows
    ]


def by_us(line: list[str]) -> Dump:
    done = CliRunner().invoke(command, line)
    assert done.exception is None or isinstance(done.exception, KmirrorError), done.exception
    died = done.exception is not None
    return Dump(int(died), done.stdout_bytes, "" if died else done.stderr)


def damage(draw: random.Random, data: bytes) -> bytes:
    """Truncate the file, or change some bits or bytes, more often near its start."""
    if draw.random() < 0.2:
        return data[: draw.randrange(len(data) + 1)]
    broken = bytearray(data)
    flips = draw.random() < 0.75
    for _ in range(draw.choice([1, 1, 1, 2, 4])):
        at = draw.randrange(len(broken) if draw.random() < 0.5 else min(len(broken), 70))
        if flips:
            broken[at] ^= 1 << draw.randrange(8)
        else:
            broken[at] = draw.choice([0, 255, 127, 128, draw.randrange(256)])
    return bytes(broken)


def prepare(draw: random.Random, source: Path, folder: Path) -> list[str]:
    """Put a damaged copy of `source` into `folder`, with the other files that the tool needs; return the arguments."""
    stem = source.name.split(".")[0]
    folder.mkdir()
    for suffix in (".log", ".index", ".timeindex"):
        near = source.with_name(stem + suffix)
        if near.exists():
            shutil.copyfile(near, folder / near.name)
    data = source.read_bytes()
    is_log = source.suffix in (".log", ".checkpoint")
    if source.suffix == ".log" and len(data) > LOG_BYTES_MAX and draw.random() < 0.8:
        data = data[: draw.randrange(200, LOG_BYTES_MAX)]
    beside = folder / f"{stem}.log"
    if not is_log and beside.exists() and beside.stat().st_size and draw.random() < 0.2:
        (folder / source.name).write_bytes(data)
        beside.write_bytes(damage(draw, beside.read_bytes()))
    else:
        (folder / source.name).write_bytes(damage(draw, data))
    decoder = DECODERS.get(source.parent.name.rpartition("-")[0])
    if source.name == "bootstrap.checkpoint":
        decoder = DECODERS["__cluster_metadata"]
    flags = draw.choice(OF_LOGS if is_log else OF_INDEXES)
    if is_log and decoder is not None and draw.random() < 0.7:
        flags = [decoder]
    return [*flags, "--files", f"{folder.name}/{source.name}"]


def test_the_text_of_damaged_files(tmp_path: Path, kafka_class_path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(5)
    kinds = (".log", ".index", ".timeindex", ".txnindex", ".snapshot", ".checkpoint")
    files = {kind: [path for path in sorted(SAMPLE.rglob(f"*{kind}")) if path.stat().st_size] for kind in kinds}
    lines = []
    for number in range(COUNT):
        kind = draw.choices(kinds, weights=(10, 2, 2, 1, 1, 2))[0]
        lines.append(prepare(draw, draw.choice(files[kind]), tmp_path / str(number)))
    monkeypatch.chdir(tmp_path)
    ours = [by_us(line) for line in lines]  # First: Kafka's tool trims some of the indexes that it opens.
    died = 0
    for line, found, (theirs, reason) in zip(lines, ours, by_jvm(lines, tmp_path, kafka_class_path), strict=True):
        assert found == theirs, (line, reason)
        died += theirs.exit_code
    assert COUNT // 10 < died < COUNT * 9 // 10
