"""Faults planted in fetch sessions and in mirroring, one function each, for the rule machines to find."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from kmirror.cluster.broker.apis import fetch
from kmirror.cluster.replication.fetch_sessions import FINAL_EPOCH, CachedPartition, FetchSessions, Session
from kmirror.kernel.clock import Instant
from kmirror.log.partition_log import PartitionLog
from kmirror.mirror import access, coordinator, stopping
from kmirror.mirror.broker_apis import describe_mirrors
from kmirror.mirror.controller_apis import delete_mirror, pause_mirror_topics
from kmirror.mirror.driver import PartitionDriver
from kmirror.mirror.fetchers import MirrorFetchers
from kmirror.mirror.partition import MirrorPartition
from kmirror.mirror.state_records import PartitionState
from kmirror.mirror.states import MirrorState, Wish
from kmirror.protocol.gen.fetch_request import FetchRequest
from kmirror.protocol.gen.fetch_response import PartitionData
from kmirror.records.batch import iter_batches
from kmirror.records.layout import LOG_OVERHEAD
from tests.sim.fuzz.planted_sessions import Patch, Planted

NO_LEADER_EPOCH = -1

# -- fetch sessions -----------------------------------------------------------------------------


def _change_requests(change: Callable[[FetchSessions, FetchRequest, dict[str, bool]], None]) -> Patch:
    """Return a patch that changes requests before their sessions are looked up."""
    resolve = FetchSessions.resolve

    def resolve_changed(self: FetchSessions, request: FetchRequest, **options: bool) -> Any:
        change(self, request, options)
        return resolve(self, request, **options)

    return patch.object(FetchSessions, "resolve", resolve_changed)


def session_epoch_not_compared() -> Patch:
    """A session accepts a request of any epoch."""

    def set_current_epoch(sessions: FetchSessions, request: FetchRequest, options: dict[str, bool]) -> None:
        found = sessions._sessions.get(request.session_id)
        if found is not None and request.session_epoch > 0:
            request.session_epoch = found.epoch

    return _change_requests(set_current_epoch)


def names_in_a_session_of_ids() -> Patch:
    """A session that was opened with topic ids continues with names, and vice versa."""

    def set_topic_ids(sessions: FetchSessions, request: FetchRequest, options: dict[str, bool]) -> None:
        found = sessions._sessions.get(request.session_id)
        if found is not None and request.session_epoch > 0:
            options["topic_ids"] = found.topic_ids

    return _change_requests(set_topic_ids)


def closed_session_stays_open() -> Patch:
    """The last request of a session does not close it."""

    def clear_session_id(sessions: FetchSessions, request: FetchRequest, options: dict[str, bool]) -> None:
        if request.session_epoch == FINAL_EPOCH:
            request.session_id = 0

    return _change_requests(clear_session_id)


def forgotten_partition_is_kept() -> Patch:
    """A forgotten partition stays in the session."""
    return patch.object(Session, "remove", lambda self, key: None)


def changed_log_start_is_left_out() -> Patch:
    """A partition is returned only with records or an error: a changed log start is not reported."""

    def has_new_data(self: CachedPartition, data: PartitionData) -> bool:
        return bool(data.records or data.error_code)

    return patch.object(CachedPartition, "has_new_data", has_new_data)


def recovery_is_not_reported() -> Patch:
    """After an error the session assumes that the earlier values are still known."""
    save_offsets = CachedPartition.save_offsets

    def save_unless_error(self: CachedPartition, data: PartitionData) -> None:
        if not data.error_code:
            save_offsets(self, data)

    return patch.object(CachedPartition, "save_offsets", save_unless_error)


def leader_epoch_not_compared() -> Patch:
    """A fetch may name any leader epoch."""
    check_fetch = fetch.check_fetch

    def check_without_epoch(partition: Any, request: Any, reader: Any, *, foreign: bool) -> PartitionData | None:
        found = check_fetch(partition, request, reader, foreign=foreign)
        return None if found is not None and found.error_code in fetch_epoch_errors else found

    fetch_epoch_errors = (74, 75)
    return patch.object(fetch, "check_fetch", check_without_epoch)


def last_batch_not_read() -> Patch:
    """A read ends one batch early where there are several."""
    read = PartitionLog.read

    def read_less(self: PartitionLog, offset: int, **options: Any) -> Any:
        found = read(self, offset, **options)
        batches = list(self.batches(offset, options["end_offset"]))
        if len(batches) < 3 or not found.records:
            return found
        return read(self, offset, **{**options, "end_offset": batches[-1].base_offset})

    return patch.object(PartitionLog, "read", read_less)


# -- mirrors ------------------------------------------------------------------------------------


def paused_mirror_is_fetched() -> Patch:
    """A paused partition is fetched again."""
    do_next = PartitionDriver._do_next

    def fetch_when_paused(self: PartitionDriver, now: Instant, mp: Any, state: MirrorState, partition: Any) -> None:
        do_next(self, now, mp, state, partition)
        if state is MirrorState.PAUSED:
            self.fetchers.assign(now, mp)

    return patch.object(PartitionDriver, "_do_next", fetch_when_paused)


def read_only_topic_takes_records() -> Patch:
    """A mirrored topic accepts a Produce."""
    return patch.object(access, "produce_error", lambda context, tp: None)


def stop_cuts_below_the_mark() -> Patch:
    """A failover truncates the last mirrored batch."""
    decided_offset = stopping.decided_offset
    return patch.object(stopping, "decided_offset", lambda log, markers: max(0, decided_offset(log, markers) - 1))


def removed_topic_is_paused() -> Patch:
    """A topic that is being removed from its mirror can be paused."""
    wishes = {**pause_mirror_topics.WISHES, Wish.REMOVE: Wish.PAUSE}
    return patch.object(pause_mirror_topics, "WISHES", wishes)


def mirror_with_topics_is_deleted() -> Patch:
    """The controller ignores the topics of a mirror and their state."""
    return patch.object(delete_mirror, "_topic_records", lambda context, mirror, stopped: [])


def former_leader_is_not_fenced() -> Patch:
    """A coordinator compares no leader epoch."""
    decide = coordinator.decide
    return patch.object(
        coordinator, "decide", lambda known, write: decide(replace(known, leader_epoch=NO_LEADER_EPOCH), write)
    )


def leader_epoch_not_persisted() -> Patch:
    """A coordinator stores no leader epoch to compare with."""
    decide = coordinator.decide
    return patch.object(
        coordinator, "decide", lambda known, write: decide(known, replace(write, leader_epoch=NO_LEADER_EPOCH))
    )


def former_leader_writes_the_same_state() -> Patch:
    """A coordinator compares leader epochs only if a write changes the state."""
    decide = coordinator.decide

    def decide_same_state(known: PartitionState, write: coordinator.StateWrite) -> Any:
        is_same = known.state is write.state
        return decide(replace(known, leader_epoch=NO_LEADER_EPOCH) if is_same else known, write)

    return patch.object(coordinator, "decide", decide_same_state)


def own_epoch_counts_as_mirrored() -> Patch:
    """The last mirrored epoch is that of the stop's own record, one too high."""
    epoch_below = stopping.epoch_below
    return patch.object(stopping, "epoch_below", lambda log, offset: epoch_below(log, offset) + 1)


def no_epoch_counts_as_mirrored() -> Patch:
    """A stop settles that nothing was ever mirrored."""
    return patch.object(stopping, "epoch_below", lambda log, offset: -1)


def deleted_mirror_leaves_configs() -> Patch:
    """One config of a mirror is not deleted with it."""
    mirror_configs = delete_mirror.mirror_configs

    def all_but_one(context: Any, mirror: str) -> list[str]:
        return [name for name in mirror_configs(context, mirror) if name != "mirror.groups.clamp"]

    return patch.object(delete_mirror, "mirror_configs", all_but_one)


def described_as_it_was_before() -> Patch:
    """DescribeMirrors returns the state at the time of the previous request."""
    detail, found = describe_mirrors._detail, dict[int, tuple[MirrorPartition, str]]()

    def earlier_detail(context: Any, mp: MirrorPartition) -> Any:
        row = detail(context, mp)
        now = row.state
        _, row.state = found.get(id(mp), (mp, now))
        found[id(mp)] = (mp, now)
        return row

    return patch.object(describe_mirrors, "_detail", earlier_detail)


@contextmanager
def resume_leaves_a_batch_out() -> Iterator[None]:
    """The first batch after a pause is not appended."""
    enter, on_records, were_paused = MirrorPartition.enter, MirrorFetchers._on_records, dict[int, MirrorPartition]()

    def record_pauses(self: MirrorPartition, state: MirrorState) -> None:
        enter(self, state)
        if state is MirrorState.PAUSED:
            were_paused[id(self)] = self

    def drop_first_batch(
        self: MirrorFetchers, now: Instant, fetcher: Any, mp: Any, requested: Any, data: PartitionData
    ) -> None:
        if data.records and were_paused.pop(id(mp), None):
            first = next(iter_batches(data.records))
            data.records = data.records[LOG_OVERHEAD + first.batch_length :]
        on_records(self, now, fetcher, mp, requested, data)

    with (
        patch.object(MirrorPartition, "enter", record_pauses),
        patch.object(MirrorFetchers, "_on_records", drop_first_batch),
    ):
        yield


_FETCHES = (
    session_epoch_not_compared,
    names_in_a_session_of_ids,
    closed_session_stays_open,
    forgotten_partition_is_kept,
    changed_log_start_is_left_out,
    recovery_is_not_reported,
    leader_epoch_not_compared,
    last_batch_not_read,
)
_MIRRORS = (
    paused_mirror_is_fetched,
    read_only_topic_takes_records,
    stop_cuts_below_the_mark,
    removed_topic_is_paused,
    mirror_with_topics_is_deleted,
    former_leader_is_not_fenced,
    leader_epoch_not_persisted,
    former_leader_writes_the_same_state,
    own_epoch_counts_as_mirrored,
    no_epoch_counts_as_mirrored,
    deleted_mirror_leaves_configs,
    described_as_it_was_before,
    resume_leaves_a_batch_out,
)
WORKFLOW = (*(Planted("fetches", plant) for plant in _FETCHES), *(Planted("mirrors", plant) for plant in _MIRRORS))
