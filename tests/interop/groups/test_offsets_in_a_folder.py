"""One folder, served in turns by Kafka and by kmirror: offsets pending in one are settled by the other."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.interop.groups.offset_script import PLAIN, Administrator, Consumer, Producer, prepare
from tests.interop.groups.talk import RealPeer, SimulatedPeer, Talk
from tests.interop.log.judge import Judge
from tests.interop.log.test_one_folder import CLUSTER_ID, served, stop

CONFIGS = {
    "offsets.topic.num.partitions": "1",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.num.partitions": "1",
}
GROUP = "folder"


@pytest.fixture
def judge(log_class_path: str, tmp_path: Path) -> Iterator[Judge]:
    with contextlib.closing(Judge(log_class_path, tmp_path)) as made:
        yield made


@contextlib.contextmanager
def theirs(judge: Judge, folder: Path, cluster_id: str = "") -> Iterator[Talk]:
    server = judge.start_formatted(folder, cluster_id, **CONFIGS)
    with contextlib.closing(RealPeer(server)) as peer:
        yield Talk(peer)
    stop(judge)


@contextlib.contextmanager
def ours(folder: Path) -> Iterator[Talk]:
    cluster = served(folder)
    cluster.start()
    yield Talk(SimulatedPeer(cluster))
    cluster.stop()


def leave(talk: Talk) -> None:
    """Commit, and leave a transaction open."""
    admin = prepare(talk)
    Consumer(admin, GROUP).commit("before", {("orders", 0): (3, 1, "before"), ("payments", 0): PLAIN})
    for commit, offset in ((True, 10), (False, 20), (None, 30)):
        producer = Producer(talk, "folder")
        producer.begin()
        producer.add("adds", GROUP)
        producer.commit("commits", GROUP, {("orders", 0): (offset, -1, "in txn"), ("orders", 1): (offset, -1, "")})
        if commit is not None:
            producer.end("ends", commit=commit)


def fetch_offsets(talk: Talk, *, stable: bool = True) -> dict[tuple[str, int], tuple[int, int]]:
    """Return offset and error of all partitions that the group has committed."""
    talk.find_coordinator()
    answer: Any = Consumer(Administrator(talk), GROUP).fetch("found", None, 7, stable=stable)
    return {
        (topic.name, row.partition_index): (row.committed_offset, row.error_code)
        for topic in answer.topics
        for row in topic.partitions
    }


@pytest.mark.parametrize("first", ["kafka", "kmirror"])
def test_pending_offsets_are_settled_by_the_other_broker(first: str, judge: Judge, tmp_path: Path) -> None:
    folder, payments = tmp_path / "data", {("payments", 0): (7, 0)}
    open_now = {("orders", 0): (-1, 88), ("orders", 1): (-1, 88), **payments}
    settled = {("orders", 0): (10, 0), ("orders", 1): (10, 0), **payments}
    with theirs(judge, folder, CLUSTER_ID) as talk:
        prepare(talk)
        if first == "kafka":
            leave(talk)
            assert fetch_offsets(talk) == open_now
    if first == "kmirror":
        with ours(folder) as talk:
            leave(talk)
            assert fetch_offsets(talk) == open_now
    second = ours(folder) if first == "kafka" else theirs(judge, folder)
    with second as talk:
        assert (fetch_offsets(talk), fetch_offsets(talk, stable=False)) == (open_now, settled)
        Producer(talk, "folder").begin()  # This aborts the transaction that the former one has left open.
        assert fetch_offsets(talk) == settled
        Consumer(Administrator(talk), GROUP).delete("deletes", {"payments": [0]})
    third = theirs(judge, folder) if first == "kafka" else ours(folder)
    with third as talk:
        del settled["payments", 0]
        assert fetch_offsets(talk) == settled
