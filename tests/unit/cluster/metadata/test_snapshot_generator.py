"""Times at which a controller writes a snapshot of its metadata log."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from kmirror.cluster.metadata.snapshot_generator import SnapshotGenerator
from kmirror.kernel.events import DiskDone


class Stage:
    """A generator whose log has always grown enough, and the jobs that it requested."""

    def __init__(self) -> None:
        self.jobs: list[Any] = []
        self.notes: list[str] = []
        parts = (
            SimpleNamespace(bytes_since_snapshot=1, begin_snapshot=object),
            lambda: SimpleNamespace(integer=lambda name: 1),
            SimpleNamespace(note=self.notes.append),
            SimpleNamespace(submit=lambda log_dir, job, on_done: self.jobs.append(on_done)),
        )
        self.generator = SnapshotGenerator(*cast(Any, parts), "dir")


@pytest.fixture
def stage() -> Stage:
    return Stage()


def test_one_snapshot_is_written_at_a_time(stage: Stage) -> None:
    stage.generator.write_if_due(0)
    stage.generator.write_if_due(1)
    assert len(stage.jobs) == 1
    stage.jobs[0](2, DiskDone(1, None, OSError("full")))
    assert stage.notes == ["a snapshot of the metadata log could not be written: full"]
    stage.generator.write_if_due(3)
    assert len(stage.jobs) == 2


def test_a_generator_that_was_stopped_orders_nothing(stage: Stage) -> None:
    stage.generator.stop()
    stage.generator.write_if_due(0)
    assert stage.jobs == []
