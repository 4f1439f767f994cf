"""The log tools compared with Kafka's: `kmirror verify` and kafka-dump-log on the same files, on one core.

kafka-dump-log is an operator's tool to verify a log. By default it checks each batch's checksum; it checks that offsets
are consecutive only with --deep-iteration, which prints each record. `verify` checks checksums, offsets, leader epochs,
producers and indexes, and decodes nothing; `verify --deep` also decompresses and frames each record.

Both sides are whole processes including their start, run in turns and bound to one core, over files in the page cache;
their output is discarded. The JVM gets the options of Kafka's script; the time of the shell script is not counted.
Python's modules are compiled, like those of an installed package. A separate line excludes the start: the time for one
batch is subtracted on both sides. Processor time is compared, which other processes on the machine do not change.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from benchmarks.big_logs import Shape, partition, segments
from benchmarks.harness import Case, no_runs, scratch
from kmirror.records import Compression

ROOT = Path(__file__).resolve().parent.parent
PEER = "kafka-dump-log"
GIB, MIB, KIB = 1 << 30, 1 << 20, 1 << 10
ONE_BATCH = 1
FULL_PAIRS = 15  # For cases within a process; processes take longer, and vary less.
# The options that bin/kafka-run-class.sh sets if the environment does not.
JVM_OPTIONS = [
    *("-Xmx256M", "-server", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20", "-XX:InitiatingHeapOccupancyPercent=35"),
    *("-XX:+ExplicitGCInvokesConcurrent", "-XX:MaxInlineLevel=15", "-Djava.awt.headless=true"),
    *("-Dcom.sun.management.jmxremote=true", "-Dcom.sun.management.jmxremote.authenticate=false"),
    "-Dcom.sun.management.jmxremote.ssl=false",
]
# That script also names a logging configuration for tools: warnings, to stderr.
LOGGING = """Configuration:
  Appenders:
    Console:
      name: STDERR
      target: SYSTEM_ERR
      PatternLayout:
        pattern: "[%d] %p %m (%c)%n"
  Loggers:
    Root:
      level: WARN
      AppenderRef:
        - ref: STDERR
"""

SHAPES = (
    Shape("batches of 1 KiB", KIB),
    Shape("batches of 16 KiB", 16 * KIB),
    Shape("batches of 100 KiB", 100 * KIB),
    Shape("zstd batches of 16 KiB", 16 * KIB, Compression.ZSTD),
)
MIDDLE = SHAPES[1]  # Batches of a producer with the default configs under load.
GATES = (10.0, 15.0)  # Floor and reach from that shape on; the smallest batches are shown without a gate.


# -- Kafka --------------------------------------------------------------------------------------


@cache
def class_path() -> str | None:
    """Return Kafka's class path: the folder in KMIRROR_KAFKA_JARS, else the jars that Maven has for tests/interop."""
    if shutil.which("java") is None:
        return None
    folder = os.environ.get("KMIRROR_KAFKA_JARS")
    if folder:
        return f"{folder}/*" if list(Path(folder).glob("kafka-tools-*.jar")) else None
    return _maven_class_path(ROOT / "tests" / "interop" / "pom.xml")


@cache
def mirror_maker_class_path() -> str | None:
    """Return MirrorMaker's class path: the same folder, else the jars that Maven has for benchmarks/poms."""
    path = class_path()
    if path is None or not path.endswith("/*"):
        return None if path is None else _maven_class_path(ROOT / "benchmarks" / "poms" / "mirror-maker.xml")
    return path if list(Path(path[:-2]).glob("connect-mirror-[0-9]*.jar")) else None


def _maven_class_path(pom: Path) -> str | None:
    """Return the class path of a pom if Maven has fetched its jars before, else None."""
    if shutil.which("mvn") is None:
        return None
    out = scratch() / f"classpath-{pom.stem}"
    command = ["mvn", "-q", "-B", "-o", "-f", str(pom), "dependency:build-classpath", f"-Dmdep.outputFile={out}"]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        return None
    return out.read_text(encoding="utf-8").strip()


def kafka_version(path: str) -> str:
    names = [name.name for name in Path(path[:-2]).glob("*.jar")] if path.endswith("/*") else path.split(os.pathsep)
    found = [match[1] for name in names if (match := re.search(r"kafka-tools-([0-9][^/]*)\.jar", name))]
    return found[0] if found else "-"


# -- Processes ----------------------------------------------------------------------------------


def rounds(pairs: int) -> int:
    return 5 if pairs >= FULL_PAIRS else 3


@contextmanager
def one_core() -> Iterator[None]:
    """Bind this process and its children to one core, if the system can."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def environment() -> dict[str, str]:
    """Return an environment in which Python keeps compiled modules, like those of an installed package."""
    variables = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    return variables | {"PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": str(scratch() / "modules")}


def seconds(command: Sequence[str]) -> float:
    """Return a process's processor time: its duration alone on one core with its files in memory."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=environment(), stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def output(command: Sequence[str]) -> str:
    return subprocess.run(command, env=environment(), stdout=subprocess.PIPE, check=True, text=True).stdout


def kmirror(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "kmirror", *arguments]


def dump_log(folder: Path, *options: str, suffixes: Sequence[str] = (".log",)) -> list[str]:
    path = class_path()
    assert path is not None
    files = [str(log.with_suffix(suffix)) for log in segments(folder) for suffix in suffixes]
    main = "org.apache.kafka.tools.DumpLogSegments"
    logging = scratch() / "tools-log4j2.yaml"
    logging.write_text(LOGGING, encoding="ascii")
    settings = [*JVM_OPTIONS, f"-Dlog4j2.configurationFile={logging}"]
    return ["java", *settings, "-cp", path, main, *options, "--files", ",".join(files)]


def alternate_runs(ours: Sequence[str], theirs: Sequence[str], pairs: int) -> list[float]:
    """Return the peer's time over kmirror's; both have run before, so that files and modules are warm."""
    ratios = []
    for turn in range(pairs):
        order = [ours, theirs] if turn % 2 else [theirs, ours]
        spent = [seconds(command) for command in order]
        ratios.append(spent[0] / spent[1] if order[0] is theirs else spent[1] / spent[0])
    return ratios


def compare_with_kafka(
    shape: Shape, *, ours: Sequence[str] = (), theirs: Sequence[str] = ()
) -> Callable[[int], list[float]]:
    def measure(pairs: int) -> list[float]:
        folder = partition(shape, GIB)
        our_command, peer_command = kmirror("verify", *ours, str(folder)), dump_log(folder, *theirs)
        with one_core():
            found = re.search(r"no fault in 1 partition, \d+ segments?, (\d+) batches", output(our_command))
            assert found, "verify finds nothing wrong"
            assert output(peer_command).count(" isvalid: true") == int(found[1]), "Kafka sees the same batches"
            return alternate_runs(our_command, peer_command, rounds(pairs))

    return measure


def with_indexes(shape: Shape, size: int) -> Callable[[int], list[float]]:
    """Both read the log, its offset index and its time index."""

    def measure(pairs: int) -> list[float]:
        folder = partition(shape, size)
        our_command, peer_command = (
            kmirror("verify", str(folder)),
            dump_log(folder, suffixes=(".log", ".index", ".timeindex")),
        )
        with one_core():
            assert output(our_command).startswith("no fault") and output(peer_command).count("Dumping ") == 3
            return alternate_runs(our_command, peer_command, 3)

    return measure


def without_start(shape: Shape) -> Callable[[int], list[float]]:
    """Subtract the time for a single batch on both sides."""

    def measure(pairs: int) -> list[float]:
        large, small = partition(shape, GIB), partition(shape, ONE_BATCH)
        commands = [kmirror("verify", str(large)), kmirror("verify", str(small)), dump_log(large), dump_log(small)]
        ratios = []
        with one_core():
            for turn in range(1 + rounds(pairs)):
                ours, our_start, theirs, their_start = map(seconds, commands)
                if turn:
                    ratios.append((theirs - their_start) / (ours - our_start))
        return ratios

    return measure


def compare_dumps(shape: Shape) -> Callable[[int], list[float]]:
    """kmirror's dump-log and Kafka's, which print the same text."""

    def measure(pairs: int) -> list[float]:
        folder = partition(shape, GIB // 8)
        files = ",".join(map(str, segments(folder)))
        our_command, peer_command = kmirror("dump-log", "--files", files), dump_log(folder)
        with one_core():
            assert output(our_command) == output(peer_command)
            return alternate_runs(our_command, peer_command, rounds(pairs))

    return measure


# -- Limits -------------------------------------------------------------------------------------

CHECKSUM = """
import mmap, sys
sys.path.insert(0, sys.argv[1])
from kmirror.records.crc32c import crc32c_function
crc32c = crc32c_function()
with open(sys.argv[2], "rb") as file:
    view = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    for at in range(0, len(view), 1 << 20):
        crc32c(view[at : at + (1 << 20)])
"""


def compare_with_checksum(shape: Shape) -> Callable[[int], list[float]]:
    """A process that maps the file and computes its checksums, and nothing else."""

    def measure(pairs: int) -> list[float]:
        folder = partition(shape, GIB)
        our_command = kmirror("verify", str(folder))
        peer_command = [sys.executable, "-c", CHECKSUM, str(ROOT), str(segments(folder)[0])]
        with one_core():
            seconds(our_command), seconds(peer_command)
            return alternate_runs(our_command, peer_command, rounds(pairs))

    return measure


def difference(shape: Shape) -> Callable[[int], list[float]]:
    """`kmirror diff` of two folders and `cmp` of the two files, which ignores batches."""

    def measure(pairs: int) -> list[float]:
        folder = partition(shape, GIB)
        copy = scratch() / "copy" / folder.name
        shutil.copytree(folder, copy, dirs_exist_ok=True)
        our_command = kmirror("diff", str(folder), str(copy))
        cmp_command = ["cmp", *(str(segments(path)[0]) for path in (folder, copy))]
        try:
            with one_core():
                seconds(our_command), seconds(cmp_command)
                return alternate_runs(our_command, cmp_command, rounds(pairs))
        finally:
            shutil.rmtree(copy)

    return measure


# The last line of the output is the process's peak; `ru_maxrss` would include its parent's.
PEAK = """
import sys
sys.path.insert(0, sys.argv[1])
from kmirror.cli.main import run
try:
    run(sys.argv[2:])
finally:
    for line in open("/proc/self/status"):
        if line.startswith("VmHWM:"):
            print("peak", line.split()[1])
"""


def memory(shape: Shape) -> Callable[[int], list[float]]:
    """Return the peak memory of verify over 64 MiB relative to that over 4 GiB."""

    def measure(pairs: int) -> list[float]:
        small, large = partition(shape, 64 * MIB), partition(shape, 4 * GIB)
        peak(small)  # Compiling modules takes memory too.
        try:
            return [peak(small) / peak(large) for _ in range(min(pairs, 3))]
        finally:
            shutil.rmtree(large)

    return measure


def peak(folder: Path) -> int:
    return int(output([sys.executable, "-c", PEAK, str(ROOT), "verify", str(folder)]).rsplit("peak ", 1)[1])


# -- Cases --------------------------------------------------------------------------------------


def cases() -> list[Case]:
    path = class_path()
    found: list[Case] = []
    if path is None:
        print(
            "no Kafka at hand, its rows are left out: KMIRROR_KAFKA_JARS names the folder of its jars", file=sys.stderr
        )
    else:
        found += _kafka_cases(kafka_version(path))
    found += [
        Case("T5", f"verify / checksums of the mapped file, 1 GiB, {shape.name}", "kmirror", no_runs, None, None,
             compare_with_checksum(shape))
        for shape in SHAPES[:3]
    ]  # fmt: skip
    if Path("/proc/self/status").exists():
        found.append(
            Case("T6", "memory of verify, 64 MiB / 4 GiB of log", "kmirror", no_runs, 0.9, 0.95, memory(MIDDLE))
        )
    if shutil.which("cmp"):
        title = f"diff of folders / cmp of files, 1 GiB, {MIDDLE.name}"
        found.append(Case("T7", title, "cmp", no_runs, None, None, difference(MIDDLE), version=_cmp_version()))
    return found


def _kafka_cases(version: str) -> list[Case]:
    def case(id_: str, title: str, measure: Callable[[int], list[float]], *gates: float | None) -> Case:
        floor, reach = gates or (None, None)
        return Case(id_, title, PEER, no_runs, floor, reach, measure, version=version)

    deep = ["--deep-iteration"]
    found = [
        case(
            "T1",
            f"verify / dump, 1 GiB, {shape.name}",
            compare_with_kafka(shape),
            *(GATES if shape.batch >= MIDDLE.batch else ()),
        )
        for shape in SHAPES
    ]
    found.append(case("T1", f"verify / dump, 1 GiB, without the start, {MIDDLE.name}", without_start(MIDDLE)))
    title = f"verify / dump of log and indexes, 128 MiB, {MIDDLE.name}"  # A GiB would take Kafka's tool 15 minutes.
    found.append(case("T1", title, with_indexes(MIDDLE, GIB // 8), 10.0, 100.0))
    found += [
        case(
            "T2",
            f"verify / deep iteration, 1 GiB, {shape.name}",
            compare_with_kafka(shape, theirs=deep),
            *(GATES if shape.batch >= MIDDLE.batch else ()),
        )
        for shape in SHAPES
    ]
    found += [
        case(
            "T3",
            f"verify --deep / deep iteration, 1 GiB, {shape.name}",
            compare_with_kafka(shape, ours=["--deep"], theirs=deep),
        )
        for shape in (MIDDLE, SHAPES[3])
    ]
    found.append(case("T4", f"dump-log / dump, 128 MiB, {MIDDLE.name}", compare_dumps(MIDDLE)))
    return found


def _cmp_version() -> str:
    found = subprocess.run(["cmp", "--version"], capture_output=True, text=True, check=False).stdout
    match = re.search(r"[0-9][0-9.]*", found)
    return match[0] if match else "-"
