"""Incremental fetches are equivalent to full ones: both sides of a session against the full state (KIP-227)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kmirror.client.fetch_session import FetchSession, PartitionFetch
from kmirror.cluster.replication.fetch_sessions import NO_SESSION, FetchSessions, Session
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.rng import Rng
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest
from kmirror.protocol.gen.fetch_response import FetchResponse, PartitionData
from kmirror.spec.error_codes import ErrorCode

TPS = [TopicPartition(topic, index) for topic in ("a", "b") for index in range(3)]
IDS = {"a": Uuid.from_ints(0, 10), "b": Uuid.from_ints(0, 11)}
WANTED = st.dictionaries(st.sampled_from(TPS), st.integers(0, 3), max_size=6)


def fill(session: FetchSession, wanted: dict[TopicPartition, int]) -> FetchRequest:
    """Return the next request of a fetcher that wants these offsets, with only the changes since the last one."""
    rows = {tp: PartitionFetch(IDS[tp.topic], 0, offset, -1, 1_000) for tp, offset in wanted.items()}
    changed = [tp for tp in TPS if session.fetch_of(tp) != rows.get(tp)]
    for tp in changed:
        session.set_fetch(tp, rows.get(tp))
    request = FetchRequest()
    session.fill(request, TPS if session.is_new else changed, changed)
    return request


def over_the_wire(request: FetchRequest, version: int = 17) -> FetchRequest:
    return FetchRequest.decode(request.encode(version), version)


@pytest.mark.kip("227", "incremental fetch")
@given(st.lists(st.tuples(WANTED, st.booleans()), max_size=15))
def test_the_leader_knows_the_fetchers_partitions(rounds: list[tuple[dict[TopicPartition, int], bool]]) -> None:
    """Each round the fetcher wants other partitions or offsets; sometimes the leader loses its sessions."""
    client, server = FetchSession(), FetchSessions(Rng(1), 10)
    names = {topic_id: topic for topic, topic_id in IDS.items()}
    for wanted, forgets in rounds:
        if forgets:
            server = FetchSessions(Rng(2), 10)
        for _ in range(2):
            request = fill(client, wanted)
            error, session = server.resolve(over_the_wire(request), topic_ids=True)
            if error is ErrorCode.NONE:
                break
            client.reset()  # The session is gone: the next request names everything.
        assert error is ErrorCode.NONE
        found = {
            TopicPartition(names[key[1]], key[2]): one.request.fetch_offset for key, one in session.partitions.items()
        }
        assert found == wanted
        client.accept(FetchResponse(session_id=session.session_id))


MARKS = st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 2), st.sampled_from([0, 0, 0, 1]))


@pytest.mark.kip("227", "incremental fetch")
@given(st.lists(MARKS, min_size=1, max_size=20))
def test_values_left_out_of_a_response_were_sent_before(answers: list[tuple[int, int, int, int]]) -> None:
    session = Session(1, epoch=1, topic_ids=True)
    session.add(("", Uuid.ZERO, 0), FetchPartition())
    cached, told = session.partitions["", Uuid.ZERO, 0], None
    for high_watermark, stable, start, error in answers:
        data = PartitionData(
            high_watermark=high_watermark, last_stable_offset=stable, log_start_offset=start, error_code=error
        )
        now = (high_watermark, stable, start, error)
        news = cached.has_new_data(data)
        cached.save_offsets(data)
        if news:
            told = now
        assert told == now, "the fetcher knows, or has just been told"


def test_epochs_of_a_session_are_counted_and_checked() -> None:
    client, server = FetchSession(), FetchSessions(Rng(1), 10)
    request = fill(client, {TPS[0]: 0})
    _, session = server.resolve(request, topic_ids=True)
    stale = FetchRequest(session_id=session.session_id, session_epoch=5)
    assert server.resolve(stale, topic_ids=True)[0] is ErrorCode.INVALID_FETCH_SESSION_EPOCH
    unknown = FetchRequest(session_id=session.session_id + 1, session_epoch=1)
    assert server.resolve(unknown, topic_ids=True)[0] is ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def test_the_session_unused_longest_makes_room() -> None:
    server = FetchSessions(Rng(1), 2)
    opened = []
    for _ in range(3):
        request = fill(FetchSession(), {TPS[0]: 0})
        _, session = server.resolve(request, topic_ids=True)
        opened.append(session.session_id)
    first = FetchRequest(session_id=opened[0], session_epoch=1)
    assert server.resolve(first, topic_ids=True)[0] is ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    last = FetchRequest(session_id=opened[2], session_epoch=1)
    assert server.resolve(last, topic_ids=True)[0] is ErrorCode.NONE


def test_without_slots_every_fetch_is_a_full_one() -> None:
    request = fill(FetchSession(), {TPS[0]: 0})
    error, session = FetchSessions(Rng(1), 0).resolve(request, topic_ids=True)
    assert (error, session.session_id, len(session.partitions)) == (ErrorCode.NONE, NO_SESSION, 1)
