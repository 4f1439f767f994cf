"""Disk jobs of a node that does nothing else."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from kmirror.errors import CorruptBatch
from kmirror.kernel.clock import MILLISECOND, SECOND, Instant
from kmirror.kernel.disk_jobs import DiskJobs
from kmirror.kernel.events import DiskDone, DiskWork, Effect, Event
from kmirror.kernel.outbox import Outbox
from kmirror.sim.disk_work import DiskOptions
from kmirror.sim.world import START, World

SLOW = DiskOptions(10 * MILLISECOND, 10 * MILLISECOND)


@dataclass(frozen=True)
class Write:
    """Add a value to a disk that survives its process."""

    disk: list[str]
    value: str

    def run(self) -> int:
        if self.value == "bad":
            raise CorruptBatch("not what it claims")
        if self.value == "bug":
            raise AssertionError("broken invariant")
        self.disk.append(self.value)
        return len(self.disk)


class Toy:
    def __init__(self) -> None:
        self.outbox = Outbox()
        self.jobs = DiskJobs(self.outbox)
        self.told: list[tuple[Instant, str, object]] = []

    def handle(self, now: Instant, event: Event) -> list[Effect]:
        if isinstance(event, DiskDone):
            self.jobs.on_done(now, event)
        return self.outbox.drain()

    def write(self, disk: list[str], *values: str, log_dir: str = "d1") -> list[Effect]:
        for value in values:

            def on_done(now: Instant, done: DiskDone, value: str = value) -> None:
                self.told.append((now - START, value, done.result if done.error is None else done.error))

            self.jobs.submit(log_dir, Write(disk, value), on_done)
        return self.outbox.drain()


def world(options: DiskOptions = SLOW) -> tuple[World, list[Toy]]:
    made = World(1, disk=options)
    toys: list[Toy] = []

    def make() -> Toy:
        toys.append(Toy())
        return toys[-1]

    made.add("toy", "here", make)
    made.start("toy")
    return made, toys


def test_disk_work_is_done_later_even_if_it_takes_no_time() -> None:
    w, [toy] = world(DiskOptions())
    disk: list[str] = []
    w.perform("toy", toy.write(disk, "a"))
    assert disk == [] and not toy.jobs.idle
    w.run_for(span_us=0)
    assert disk == ["a"] and toy.told == [(0, "a", 1)] and toy.jobs.idle


def test_jobs_of_one_log_dir_follow_each_other_and_others_do_not_wait() -> None:
    w, [toy] = world()
    disk: list[str] = []
    w.perform("toy", toy.write(disk, "a", "b") + toy.write(disk, "c", log_dir="d2"))
    w.run_for(span_us=SECOND)
    assert [(now, value) for now, value, _ in toy.told] == [
        (10 * MILLISECOND, "a"),
        (10 * MILLISECOND, "c"),
        (20 * MILLISECOND, "b"),
    ]


def test_the_disks_of_a_process_may_be_slower_for_a_while() -> None:
    w, [toy] = world()
    w.disk_workers.slow |= {"toy": 25 * MILLISECOND, "other": SECOND}
    w.perform("toy", toy.write([], "a"))
    w.run_for(span_us=SECOND)
    del w.disk_workers.slow["toy"]
    w.perform("toy", toy.write([], "b"))
    w.run_for(span_us=SECOND)
    assert [now for now, *_ in toy.told] == [35 * MILLISECOND, SECOND + 10 * MILLISECOND]


def test_a_kill_interrupts_a_job_whose_result_is_lost() -> None:
    w, toys = world()
    disk: list[str] = []
    w.perform("toy", toys[0].write(disk, "a", "b", "c"))
    w.run_for(span_us=15 * MILLISECOND)
    w.kill("toy")
    w.start("toy")
    w.perform("toy", toys[1].write(disk, "d"))
    w.run_for(span_us=SECOND)
    assert disk == ["a", "d"] and [value for _, value, _ in toys[0].told] == ["a"]
    assert toys[1].told == [(25 * MILLISECOND, "d", 2)], "the dead one's work does not hold it up"


def test_an_injected_error_leaves_the_work_undone_once() -> None:
    w, [toy] = world()
    disk: list[str] = []
    full = OSError(28, "No space left on device")

    def is_b(work: DiskWork) -> bool:
        return isinstance(work.job, Write) and work.job.value == "b"

    w.disk_workers.fail_next("toy", full, is_b)
    w.perform("toy", toy.write(disk, "a", "b", "b"))
    w.run_for(span_us=SECOND)
    assert disk == ["a", "b"] and [outcome for _, _, outcome in toy.told] == [1, full, 2]


def test_wrong_data_is_an_error_of_a_job_and_a_bug_is_raised() -> None:
    w, [toy] = world()
    w.perform("toy", toy.write([], "bad", "bug"))
    with pytest.raises(AssertionError, match="broken invariant"):
        w.run_for(span_us=SECOND)
    [(_, _, error)] = toy.told
    assert isinstance(error, CorruptBatch)
