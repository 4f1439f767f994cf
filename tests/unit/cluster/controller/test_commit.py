"""Committed records of a controller survive a power cut; it waits for its disk outside of `handle`."""

from __future__ import annotations

from unittest.mock import Mock

import pytest

from kmirror.kernel.events import DiskDone, DiskWork, Effect, Note, Reply, RequestReceived, Stop, Stopped
from kmirror.protocol.gen.create_topics_request import CreatableTopic, CreateTopicsRequest
from kmirror.protocol.headers import encode_request
from tests.client_links import link_opened
from tests.unit.cluster.stage import controller


def create(name: str, correlation_id: int) -> bytes:
    topic = CreatableTopic(name=name, num_partitions=1, replication_factor=1)
    return encode_request(CreateTopicsRequest(topics=[topic]), 7, correlation_id=correlation_id, client_id="c")


def replies(effects: list[Effect]) -> list[int]:
    """Return the correlation ids of the responses."""
    found = [b"".join(effect.chunks) for effect in effects if isinstance(effect, Reply)]
    return [int.from_bytes(frame[:4], "big") for frame in found]


def jobs(effects: list[Effect]) -> list[DiskWork]:
    return [effect for effect in effects if isinstance(effect, DiskWork)]


def test_a_response_is_sent_when_its_records_are_flushed() -> None:
    node, one, other = controller(), link_opened("one"), link_opened("other")
    node.handle(0, one)
    node.handle(0, other)
    first = node.handle(0, RequestReceived(one.link, create("a", 1)))
    [flush] = jobs(first)
    assert replies(first) == [] and "a" in node.image.topics
    second = node.handle(1, RequestReceived(other.link, create("b", 2)))
    assert (replies(second), jobs(second)) == ([], []), "one flush at a time"
    assert node.context.log.log.high_watermark < node.context.log.log.log_end_offset, "brokers do not see them either"
    third = node.handle(2, DiskDone(flush.key, flush.job.run()))
    [again] = jobs(third)
    assert replies(third) == [1]
    assert replies(node.handle(3, DiskDone(again.key, again.job.run()))) == [2]
    assert node.context.log.log.high_watermark == node.context.log.log.log_end_offset


def test_a_controller_with_a_failed_disk_ends_without_a_response() -> None:
    node, one = controller(), link_opened("one")
    node.handle(0, one)
    [flush] = jobs(node.handle(0, RequestReceived(one.link, create("a", 1))))
    effects = node.handle(1, DiskDone(flush.key, None, OSError("no space left")))
    assert [type(effect) for effect in effects] == [Note, Stopped]
    assert node.handle(2, RequestReceived(one.link, create("b", 2))) == []


def test_a_controller_that_cannot_write_returns_no_decision() -> None:
    node, one, other = controller(), link_opened("one"), link_opened("other")
    node.handle(0, one)
    node.handle(0, other)
    node.handle(0, RequestReceived(one.link, create("a", 1)))
    store = node.context.log.log.store
    with pytest.MonkeyPatch.context() as full:
        full.setattr(type(store), "append", Mock(side_effect=OSError("no space left")))
        effects = node.handle(1, RequestReceived(other.link, create("b", 2)))
    assert [type(effect) for effect in effects] == [Note, Stopped]
    assert isinstance(effects[0], Note) and "the metadata log cannot be written: no space left" in effects[0].text
    assert "b" not in node.image.topics


def test_a_stop_waits_for_the_disk_and_returns_the_decision() -> None:
    node, one = controller(), link_opened("one")
    node.handle(0, one)
    [flush] = jobs(node.handle(0, RequestReceived(one.link, create("a", 1))))
    assert node.handle(1, Stop()) == []
    effects = node.handle(2, DiskDone(flush.key, flush.job.run()))
    [close] = jobs(effects)
    assert replies(effects) == [1]
    assert [type(effect) for effect in node.handle(3, DiskDone(close.key, close.job.run()))] == [Stopped]
