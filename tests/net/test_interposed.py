"""Hooks and journals around the nodes of a cluster on TCP ports work as in the simulator."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from kmirror.assembly.journal.recorder import Journals
from kmirror.assembly.journal.replay import replay
from kmirror.cli.journal_files import JournalFiles
from kmirror.errors import KafkaError
from kmirror.hooks.hooks import Hooks
from kmirror.hooks.received import ReceivedRequest
from kmirror.kernel.events import Node
from kmirror.kernel.ids import TopicPartition
from kmirror.protocol.gen.api_versions_request import ApiVersionsRequest
from kmirror.protocol.gen.api_versions_response import ApiVersionsResponse
from kmirror.protocol.gen.list_offsets_request import ListOffsetsRequest
from kmirror.protocol.gen.list_offsets_response import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from kmirror.protocol.gen.metadata_request import MetadataRequest
from kmirror.protocol.gen.produce_request import ProduceRequest
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode
from tests.net.test_cluster import QUICK, cluster, values
from tests.net.wire import Wire


def test_hooks_answer_hold_and_cap() -> None:
    hooks = Hooks()
    with cluster(3, interpose=hooks, topics=["orders"]) as c:
        hook = hooks.on(ProduceRequest, topic="orders", times=1).answer(ErrorCode.MESSAGE_TOO_LARGE)
        with pytest.raises(KafkaError) as caught:
            c.produce("orders", 0, [b"a"])
        assert caught.value.code is ErrorCode.MESSAGE_TOO_LARGE and hook.count == 1
        held = hooks.on(ProduceRequest).hold()
        writer = threading.Thread(target=c.produce, args=("orders", 0, [b"b"]))
        writer.start()
        c.until(lambda: len(held.requests) == 1, what="a held request")
        assert values(c) == []
        held.release()
        writer.join()
        assert values(c) == [b"b"]
        hooks.cap(MetadataRequest, 5)
        with Wire(str(c.endpoint(1))) as wire:
            answer = wire.ask(ApiVersionsRequest(), 2)
            assert isinstance(answer, ApiVersionsResponse)
            assert [row.max_version for row in answer.api_keys if row.api_key == 3] == [5]


def longer(seen: ReceivedRequest) -> Message:
    """Respond that the log ends at 9, as before the truncation."""
    row = ListOffsetsPartitionResponse(partition_index=0, timestamp=-1, offset=9, leader_epoch=0)
    return ListOffsetsResponse(topics=[ListOffsetsTopicResponse(name="orders", partitions=[row])])


def test_a_log_truncated_while_it_is_read_is_read_again() -> None:
    """The end offset that the reader got is never reached."""
    hooks = Hooks()
    with cluster(1, interpose=hooks, topics=["orders"]) as c:
        c.produce("orders", 0, [b"a", b"b"])
        hook = hooks.on(ListOffsetsRequest, times=1).respond(longer)
        assert values(c) == [b"a", b"b"] and hook.count == 1


@pytest.mark.parametrize("on_disk", [False, True])
def test_journals_of_threads_and_sockets_replay_to_the_same_effects(on_disk: bool, tmp_path: Path) -> None:
    """Two lives of a cluster, and a broker that was killed: its second journal begins with the content of its disk."""
    files, hooks = JournalFiles(tmp_path / "journals"), Hooks()
    journals = Journals(files.open)

    def interpose(name: str, node: Node) -> Node:
        return hooks(name, journals(name, node))

    configs = {**QUICK, "log.flush.interval.messages": "2", "log.retention.check.interval.ms": "50"}
    data = tmp_path / "data" if on_disk else None
    with cluster(3, interpose=interpose, topics={"orders": 2}, configs=configs, data=data) as c:
        for number in range(20):
            c.produce("orders", number % 2, [b"v" * 50])
        hooks.on(ProduceRequest, times=1).delay(5)
        c.kill(2)
        c.restart(2)
        c.until(c.is_settled, what="broker 2")
        c.stop()
        c.start()
        c.produce("orders", 0, [b"last"])
        assert len(c.read(TopicPartition("orders", 0))) == 11
    files.close()
    found = {path.name: replay(path.read_bytes()) for path in sorted((tmp_path / "journals").iterdir())}
    assert {name: str(one.difference) for name, one in found.items() if not one.is_equal} == {}
    assert [name for name in found if name.startswith("kafka-2.")] == [f"kafka-2.{n}.journal" for n in (1, 2, 3)]
