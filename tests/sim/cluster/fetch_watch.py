"""Check that a fetch with only the changed partitions equals one from all partitions.

    with watched() as watch:
        run_history(seed=3, profile="smoke")
    assert watch.fetches > 0

Before each fetch of a follower or mirror all positions are computed, as if everything had changed, and compared with
the session's next request. A change without a notification of the fetcher raises an AssertionError during the run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from kmirror.client.fetch_loop import Fetcher, FetchLoop
from kmirror.client.fetch_session import FetchSession, PartitionFetch
from kmirror.client.requester import Sent
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.mirror.fetchers import MirrorFetchers
from kmirror.protocol.gen.fetch_request import FetchRequest
from kmirror.protocol.repeated_fetch import RepeatedFetch


@dataclass
class Watch:
    """Number of compared fetches, and of compared positions."""

    fetches: int = 0
    positions: int = 0


def _position(owner: Any, now: Instant, state: Any) -> PartitionFetch | None:
    """Return the fetch that the owner wants, without its side effects if that is not known yet."""
    found: PartitionFetch | None = (
        owner._position(state) if isinstance(owner, MirrorFetchers) else owner.next_fetch(now, state)
    )
    return found


def compare(loop: FetchLoop[Any], now: Instant, fetcher: Fetcher[Any]) -> None:
    """Raise AssertionError if the session's wanted fetches differ from the positions of all partitions.

    Partitions that the fetcher is yet to check may differ.
    """
    for tp, state in fetcher.partitions.items():
        if tp in fetcher.changed:
            continue
        is_left_out = state.resolving or state.paused_until > now
        expected = None if is_left_out else _position(loop._owner, now, state)
        wanted = fetcher.session.fetch_of(tp)
        assert wanted == expected, (
            f"no call reported that {tp} changed: {fetcher.key} fetches {wanted}, expected {expected}"
        )
    strangers = [tp for tp in fetcher.session.partitions() if tp not in (*fetcher.partitions, *fetcher.changed)]
    assert not strangers, f"{fetcher.key} still asks for {strangers}"


@contextmanager
def watch_fetches() -> Iterator[Watch]:
    """Compare every fetch that is made within the block."""
    watch = Watch()
    fetch, fill, again = FetchLoop._fetch, FetchSession.fill, Sent.resend
    under_way: list[tuple[FetchLoop[Any], Instant, Fetcher[Any]]] = []

    def watched_fetch(loop: FetchLoop[Any], now: Instant, fetcher: Fetcher[Any]) -> None:
        under_way.append((loop, now, fetcher))
        try:
            fetch(loop, now, fetcher)
            if not fetcher.in_flight and loop._owner.identity(fetcher) is not None:
                compare(loop, now, fetcher)  # There was nothing to fetch.
        finally:
            under_way.pop()

    def watched_fill(
        session: FetchSession,
        request: FetchRequest,
        partitions: Iterable[TopicPartition],
        forgotten: Iterable[TopicPartition],
    ) -> None:
        if under_way and under_way[-1][2].session is session:
            count_and_compare()
        fill(session, request, partitions, forgotten)

    def watched_again(sent: Sent, now: Instant, request: RepeatedFetch) -> None:
        if under_way:  # Otherwise it is a fetch of the metadata log.
            count_and_compare()
        again(sent, now, request)

    def count_and_compare() -> None:
        compare(*under_way[-1])
        watch.fetches += 1
        watch.positions += len(under_way[-1][2].partitions)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FetchLoop, "_fetch", watched_fetch)
        patch.setattr(Sent, "resend", watched_again)
        patch.setattr(FetchSession, "fill", watched_fill)
        yield watch
