"""`python -m benchmarks.engine_long_runs scale | week | month`: long runs without a gate.

scale   the KIP's own scale test: 1,000 topics of 100 partitions reach MIRRORING between two clusters of three
        brokers, fail over and fail back, in one process
week    its stability test: the same pair under load for seven virtual days; memory should not grow
month   a compacted topic of 1,000 keys, mirrored for thirty virtual days: size of its logs on both disks

Every line shows the cost of a part of the run: wall and processor seconds, memory in use after it, and the peak until
then. The results are in docs/findings.md.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from benchmarks.engine_scale import KB, TIMEOUT_S, Pair, resident_kb
from benchmarks.harness import current_commit, current_machine
from kmirror.assembly.mirrors import MirrorRow
from kmirror.kernel.ids import TopicPartition
from kmirror.mirror.states import MirrorState
from kmirror.records import RecordData
from kmirror.sim.cluster import Cluster
from kmirror.sim.mirror import Mirror
from kmirror.sim.producer import Producer
from kmirror.sim.simulation import Simulation

GIB = 1 << 30
HOURS, HOUR_S = 24, 3600
LINE = "{:<44} {:>8} {:>8} {:>8} {:>8}"
MB = 1_000_000
MONTH_LINE = "{:>3} {:>10} {:>8} {:>8} {:>6}"
LOAD_TOPIC, LOAD_PARTITIONS, LOAD_RECORDS = "orders", 8, 3
WEEK_CONFIGS = {"log.retention.ms": str(HOUR_S * 1000), "log.roll.ms": str(HOUR_S * 1000 // 6)}
"""Without these the logs themselves would grow, as they should."""
KEYED_TOPIC, KEYED_RECORDS, TOMBSTONE_SHARE, VALUE_BYTES = "latest", 20, 0.05, 100
KEYED_CONFIGS = {"cleanup.policy": "compact", "segment.bytes": str(1 << 20), "segment.ms": str(HOUR_S * 1000)}
MONTH_CONFIGS = {"broker.heartbeat.interval.ms": "60000", "broker.session.timeout.ms": "300000"}
"""All others are Kafka's defaults; rarer heartbeats make the month faster to simulate."""


class PartReport:
    """Prints a line for each part of a run, and a progress bar during it."""

    def __init__(self) -> None:
        console = Console(stderr=True)
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        print(f"commit {current_commit()}; {current_machine()}")
        print(LINE.format("", "clock s", "CPU s", "GiB", "peak GiB"), flush=True)

    @contextmanager
    def part(self, title: str, total: int) -> Iterator[Callable[[int], None]]:
        """Report the cost of the block; call the yielded function with the part of `total` that is done."""
        with self._progress:
            task = self._progress.add_task(title, total=total)
            clock, processor = time.perf_counter(), time.process_time()
            yield lambda done: self._progress.update(task, completed=done)
            spent = time.perf_counter() - clock, time.process_time() - processor
            self._progress.remove_task(task)
        memory = resident_kb() * KB / GIB, peak_bytes() / GIB
        print(
            LINE.format(title, *(f"{value:.1f}" for value in spent), *(f"{value:.2f}" for value in memory)), flush=True
        )


def peak_bytes() -> int:
    """Return the peak memory of this process in bytes."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    (line,) = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1]) << 10


def report_count(state: MirrorState, report_done: Callable[[int], None]) -> Callable[[list[MirrorRow]], None]:
    return lambda rows: report_done(sum(row.state is state for row in rows))


def scale(topics: int, partitions: int) -> None:
    report = PartReport()
    total = topics * partitions
    names = [f"topic-{number}" for number in range(topics)]
    pair = Pair()
    with report.part(f"{total:,} partitions created on a", total):
        pair.create(pair.a, names, partitions)
    mirror = Mirror("dr", source=pair.a, destination=pair.b)
    mirror.create()
    all_partitions = pair.a.partitions()
    with report.part("b mirrors them: MIRRORING", total) as report_done:
        mirror.add_topics(names)
        wait_for_state(mirror, MirrorState.MIRRORING, all_partitions, report_done)
    with report.part("failover to b: STOPPED", total) as report_done:
        mirror.remove_topics(names)
        wait_for_state(mirror, MirrorState.STOPPED, all_partitions, report_done)
    sent = pair.sent()
    failback = Mirror("dr", source=pair.b, destination=pair.a)
    with report.part("failback to a: MIRRORING", total) as report_done:
        failback.create()
        failback.add_topics(names)
        wait_for_state(failback, MirrorState.MIRRORING, all_partitions, report_done)
    print(f"between the sites during the failback: {(pair.sent() - sent) / total:.0f} B for each partition")


def wait_for_state(
    mirror: Mirror, state: MirrorState, partitions: Sequence[TopicPartition], report_done: Callable[[int], None]
) -> None:
    """Run until all partitions are in `state`; those in MIRRORING have also caught up."""
    caught_up = state is MirrorState.MIRRORING
    mirror.wait_for_state(
        state, partitions, within_s=TIMEOUT_S, caught_up=caught_up, watch=report_count(state, report_done)
    )


def week(days: int, every_s: float) -> None:
    """Each partition gets three records at a time, as in the demo while it mirrors."""
    report = PartReport()
    pair = Pair(WEEK_CONFIGS)
    pair.create(pair.a, [LOAD_TOPIC], LOAD_PARTITIONS)
    mirror = Mirror("dr", source=pair.a, destination=pair.b)
    mirror.create()
    mirror.add_topics([LOAD_TOPIC])
    mirror.catch_up()
    producer = Producer(pair.a)
    rows = [RecordData(key=b"key", value=b"v" * 100)] * LOAD_RECORDS
    batches = dict.fromkeys(pair.a.partitions(), rows)
    for day in range(1, days + 1):
        with report.part(f"day {day}", HOURS) as report_done:
            for hour in range(1, HOURS + 1):
                end_s = pair.simulation.elapsed_s + HOUR_S
                while pair.simulation.elapsed_s < end_s:
                    producer.send(batches)
                    pair.simulation.run_for(span_s=every_s)
                report_done(hour)
    mirror.catch_up()
    mirror.assert_equal()
    print("equal byte for byte on every replica of b")


def month(days: int, keys: int, every_s: float) -> None:
    """Records of random keys, some of them tombstones, at regular times; each day's end is a row.

    Each side has one broker, so that the results of the cleaners are compared, not the times when they ran.
    """
    simulation = Simulation(seed=1)
    a = Cluster(simulation, "a", brokers=1, configs=MONTH_CONFIGS)
    b = Cluster(simulation, "b", brokers=1, configs=MONTH_CONFIGS)
    a.start()
    b.start()
    a.create_topic(KEYED_TOPIC, configs=KEYED_CONFIGS)
    mirror = Mirror("dr", source=a, destination=b)
    mirror.create()
    mirror.add_topics([KEYED_TOPIC])
    mirror.catch_up()
    tp, producer, rng = TopicPartition(KEYED_TOPIC, 0), Producer(a), random.Random(1)
    written = 0
    print(MONTH_LINE.format("day", "written MB", "on a MB", "on b MB", "b / a"), flush=True)
    for day in range(1, days + 1):
        end_s = day * HOURS * HOUR_S
        while simulation.elapsed_s < end_s:
            batch = [keyed_record(rng, keys) for _ in range(KEYED_RECORDS)]
            producer.send({tp: batch})
            written += sum(len(record.key or b"") + len(record.value or b"") for record in batch)
            simulation.run_for(span_s=every_s)
        bytes_on_a, bytes_on_b = log_bytes(a, tp), log_bytes(b, tp)
        numbers = (
            f"{written / MB:.1f}",
            f"{bytes_on_a / MB:.2f}",
            f"{bytes_on_b / MB:.2f}",
            f"{bytes_on_b / bytes_on_a:.2f}",
        )
        print(MONTH_LINE.format(day, *numbers), flush=True)
    mirror.catch_up()
    mirror.assert_equal()
    print("no record on one side only, but for those that a cleaner may take")


def log_bytes(cluster: Cluster, tp: TopicPartition) -> int:
    leader = cluster.leader(tp)
    assert leader is not None
    return leader.log.size_in_bytes


def keyed_record(rng: random.Random, keys: int) -> RecordData:
    deletes = rng.random() < TOMBSTONE_SHARE
    return RecordData(key=b"key-%d" % rng.randrange(keys), value=None if deletes else rng.randbytes(VALUE_BYTES))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.engine_long_runs",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    runs = parser.add_subparsers(dest="run", required=True, metavar="RUN")
    scale_parser = runs.add_parser("scale", help="many partitions: mirrored, failed over, failed back")
    scale_parser.add_argument("--topics", type=int, default=1000)
    scale_parser.add_argument("--partitions", type=int, default=100, help="of each topic")
    week_parser = runs.add_parser("week", help="many days of a mirror under load")
    week_parser.add_argument("--days", type=int, default=7)
    week_parser.add_argument("--every-s", type=float, default=60, help="virtual seconds from one write to the next")
    month_parser = runs.add_parser("month", help="disk use of a compacted topic and of its mirror")
    month_parser.add_argument("--days", type=int, default=30)
    month_parser.add_argument("--keys", type=int, default=1000)
    month_parser.add_argument("--every-s", type=float, default=60, help="virtual seconds from one write to the next")
    options = parser.parse_args(arguments)
    if options.run == "scale":
        scale(options.topics, options.partitions)
    elif options.run == "week":
        week(options.days, options.every_s)
    else:
        month(options.days, options.keys, options.every_s)


if __name__ == "__main__":
    main()
