"""The expiry of offsets depends on the members of the group (KIP-211)."""

from __future__ import annotations

import pytest

from kmirror.cluster.coordinators.groups.classic.group import NO_TIME, ClassicGroup
from kmirror.cluster.coordinators.groups.classic.group_states import GroupState
from tests.consumer_offsets import KEY, LogOfOffsets

RETENTION_MS = 1000
COMMITTED_MS = 500
EMPTY_SINCE_MS = 3000


def expires_at(
    state: GroupState,
    protocol_type: str | None,
    *,
    reads: frozenset[str] | None = None,
    since_ms: int = EMPTY_SINCE_MS,
    named_ms: int = -1,
) -> int | None:
    """Return the first half second, in ms, at which the offset has expired; None if it never does."""
    log = LogOfOffsets()
    log.commit(10, committed_ms=COMMITTED_MS, expires_ms=named_ms)
    group = ClassicGroup("g", since_ms)
    group.state, group.protocol_type, group.subscribed_topics = state, protocol_type, reads
    for now_ms in (*range(0, 6000, 500), 10**12):
        if group.expired_keys(log.offsets, now_ms, RETENTION_MS) == [KEY]:
            return now_ms
    return None


def test_offsets_of_a_simple_consumer_expire_after_their_commit() -> None:
    assert expires_at(GroupState.EMPTY, None) == COMMITTED_MS + RETENTION_MS


@pytest.mark.parametrize("protocol_type", ["consumer", "connect"])
def test_offsets_of_a_group_that_members_have_left_expire_after_that(protocol_type: str) -> None:
    left = frozenset[str]()
    assert expires_at(GroupState.EMPTY, protocol_type, reads=left) == EMPTY_SINCE_MS + RETENTION_MS


def test_a_record_without_the_time_of_the_empty_state_uses_the_commit() -> None:
    left = frozenset[str]()
    assert expires_at(GroupState.EMPTY, "consumer", reads=left, since_ms=NO_TIME) == COMMITTED_MS + RETENTION_MS


def test_offsets_of_a_stable_consumer_group_expire_for_unsubscribed_topics() -> None:
    assert expires_at(GroupState.STABLE, "consumer", reads=frozenset(["other"])) == COMMITTED_MS + RETENTION_MS
    assert expires_at(GroupState.STABLE, "consumer", reads=frozenset([KEY.tp.topic])) is None


def test_offsets_stay_while_members_need_them() -> None:
    nobody_reads = frozenset(["other"])
    assert expires_at(GroupState.STABLE, "consumer", reads=None) is None, "what they read cannot be told"
    assert expires_at(GroupState.STABLE, "connect") is None
    assert expires_at(GroupState.PREPARING_REBALANCE, "consumer", reads=nobody_reads) is None
    assert expires_at(GroupState.COMPLETING_REBALANCE, "consumer", reads=nobody_reads) is None


def test_a_retention_that_the_client_named_changes_only_when() -> None:
    assert expires_at(GroupState.EMPTY, "consumer", reads=frozenset(), named_ms=2000) == 2000
    assert expires_at(GroupState.STABLE, "consumer", reads=frozenset([KEY.tp.topic]), named_ms=2000) is None
