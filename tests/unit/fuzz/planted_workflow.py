"""Faults that are planted in fetch sessions and in mirroring, one function each, for the rule machines to find."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

from kmirror.cluster.broker.apis import fetch
from kmirror.cluster.replication.fetch_sessions import FINAL_EPOCH, CachedPartition, FetchSessions, Session
from kmirror.kernel.clock import Instant
from kmirror.log.partition_log import PartitionLog
from kmirror.mirror import access, stopping
from kmirror.mirror.controller_apis import delete_mirror, pause_mirror_topics
from kmirror.mirror.driver import PartitionDriver
from kmirror.mirror.states import MirrorState, Wish
from kmirror.protocol.gen.fetch_request import FetchRequest
from kmirror.protocol.gen.fetch_response import PartitionData
from tests.unit.fuzz.planted_sessions import Patch, Planted

# -- fetch sessions -----------------------------------------------------------------------------


def _resolving(change: Callable[[FetchSessions, FetchRequest, dict[str, bool]], None]) -> Patch:
    """Return what changes requests before their sessions are looked up."""
    resolve = FetchSessions.resolve

    def changed(self: FetchSessions, request: FetchRequest, **how: bool) -> Any:
        change(self, request, how)
        return resolve(self, request, **how)

    return patch.object(FetchSessions, "resolve", changed)


def session_epoch_not_compared() -> Patch:
    """A session takes a request of any epoch."""

    def lax(sessions: FetchSessions, request: FetchRequest, how: dict[str, bool]) -> None:
        found = sessions._sessions.get(request.session_id)
        if found is not None and request.session_epoch > 0:
            request.session_epoch = found.epoch

    return _resolving(lax)


def names_in_a_session_of_ids() -> Patch:
    """A session that was begun with topic ids goes on with names, and the other way round."""

    def lax(sessions: FetchSessions, request: FetchRequest, how: dict[str, bool]) -> None:
        found = sessions._sessions.get(request.session_id)
        if found is not None and request.session_epoch > 0:
            how["topic_ids"] = found.topic_ids

    return _resolving(lax)


def closed_session_goes_on() -> Patch:
    """The last request of a session does not close it."""

    def lax(sessions: FetchSessions, request: FetchRequest, how: dict[str, bool]) -> None:
        if request.session_epoch == FINAL_EPOCH:
            request.session_id = 0

    return _resolving(lax)


def forgotten_partition_still_told() -> Patch:
    """A partition that is to be forgotten stays in the session."""
    return patch.object(Session, "forget", lambda self, key: None)


def news_left_out() -> Patch:
    """A partition is told only with records or an error: that its log begins elsewhere is not."""

    def has_news(self: CachedPartition, data: PartitionData) -> bool:
        return bool(data.records or data.error_code)

    return patch.object(CachedPartition, "has_news", has_news)


def recovery_not_told() -> Patch:
    """After an error the session takes for told what was told before it."""
    remember = CachedPartition.remember

    def remembering(self: CachedPartition, data: PartitionData) -> None:
        if not data.error_code:
            remember(self, data)

    return patch.object(CachedPartition, "remember", remembering)


def leader_epoch_not_compared() -> Patch:
    """A fetch may name any leader epoch."""
    refuse = fetch.refuse

    def lax(partition: Any, request: Any, reader: Any, *, foreign: bool) -> PartitionData | None:
        found = refuse(partition, request, reader, foreign=foreign)
        return None if found is not None and found.error_code in fetch_epoch_errors else found

    fetch_epoch_errors = (74, 75)
    return patch.object(fetch, "refuse", lax)


def last_batch_not_read() -> Patch:
    """A read ends one batch early where there are several."""
    read = PartitionLog.read

    def short(self: PartitionLog, offset: int, **how: Any) -> Any:
        found = read(self, offset, **how)
        batches = list(self.batches(offset, how["end_offset"]))
        if len(batches) < 3 or not found.records:
            return found
        return read(self, offset, **{**how, "end_offset": batches[-1].base_offset})

    return patch.object(PartitionLog, "read", short)


# -- mirrors ------------------------------------------------------------------------------------


def paused_mirror_goes_on() -> Patch:
    """A partition that is paused is fetched again."""
    do_next = PartitionDriver._do_next

    def going_on(self: PartitionDriver, now: Instant, mp: Any, state: MirrorState, partition: Any) -> None:
        do_next(self, now, mp, state, partition)
        if state is MirrorState.PAUSED:
            self.fetchers.assign(now, mp)

    return patch.object(PartitionDriver, "_do_next", going_on)


def read_only_topic_takes_records() -> Patch:
    """A topic that is mirrored takes a Produce."""
    return patch.object(access, "produce_error", lambda context, tp: None)


def stop_cuts_below_the_mark() -> Patch:
    """A failover cuts the last batch that was mirrored."""
    decided_offset = stopping.decided_offset
    return patch.object(stopping, "decided_offset", lambda log, markers: max(0, decided_offset(log, markers) - 1))


def removed_topic_is_paused() -> Patch:
    """A topic that is being removed from its mirror can be paused."""
    lax = {**pause_mirror_topics.WISHES, Wish.REMOVE: Wish.PAUSE}
    return patch.object(pause_mirror_topics, "WISHES", lax)


def mirror_with_topics_is_deleted() -> Patch:
    """The controller does not look for topics that are in a mirror, or for what became of them."""
    return patch.object(delete_mirror, "_topic_records", lambda context, mirror, stopped: [])


_FETCHES = (
    session_epoch_not_compared,
    names_in_a_session_of_ids,
    closed_session_goes_on,
    forgotten_partition_still_told,
    news_left_out,
    recovery_not_told,
    leader_epoch_not_compared,
    last_batch_not_read,
)
_MIRRORS = (
    paused_mirror_goes_on,
    read_only_topic_takes_records,
    stop_cuts_below_the_mark,
    removed_topic_is_paused,
    mirror_with_topics_is_deleted,
)
WORKFLOW = (*(Planted("fetches", plant) for plant in _FETCHES), *(Planted("mirrors", plant) for plant in _MIRRORS))
