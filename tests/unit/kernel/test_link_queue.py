"""Pending requests of a link: their order, and the limit of the link."""

from __future__ import annotations

from kmirror.kernel.link_queue import LinkQueue


def test_requests_are_sent_in_order() -> None:
    queue: LinkQueue[str] = LinkQueue()
    queue.put("a", 1)
    queue.put("b", 2)
    assert queue.first == "a" and [queue.take(), queue.take()] == ["a", "b"]
    assert not queue.requests and queue.size == 0


def test_a_queue_is_full_by_its_requests_or_by_their_bytes() -> None:
    queue: LinkQueue[str] = LinkQueue(requests_max=2, bytes_max=10)
    queue.put("a", 9)
    assert not queue.is_full
    queue.put("b", 0)
    assert queue.is_full
    queue.take()
    assert not queue.is_full
    queue.put("c", 10)
    queue.take()
    assert queue.is_full, "one request is as large as all that may wait"
