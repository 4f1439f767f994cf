"""Fetch sessions: the definition of news, the order of partitions, and the end of a session."""

from __future__ import annotations

from kmirror.client.fetch_session import FetchSession, PartitionFetch
from kmirror.cluster.replication.fetch_sessions import NO_SESSION, FetchSessions, Session
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.rng import Rng
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, FetchTopic, ForgottenTopic
from kmirror.protocol.gen.fetch_response import FetchResponse, PartitionData
from kmirror.spec.error_codes import ErrorCode

ID, OTHER_ID = Uuid(b"1" * 16), Uuid(b"2" * 16)
TP = TopicPartition("t", 0)
WANTED = PartitionFetch(ID, current_leader_epoch=0, fetch_offset=0, last_fetched_epoch=-1, partition_max_bytes=1_000)


def topic(topic_id: Uuid = ID) -> FetchTopic:
    return FetchTopic(topic_id=topic_id, partitions=[FetchPartition(partition=0)])


def test_a_high_watermark_not_applied_by_the_client_is_news_again() -> None:
    data = PartitionData(partition_index=0, high_watermark=10, last_stable_offset=10, log_start_offset=0, records=b"")
    session = Session(1, epoch=1, topic_ids=True)
    session.add(("", ID, 0), FetchPartition(partition=0, fetch_offset=10, high_watermark=9))
    cached = session.partitions["", ID, 0]
    cached.save_offsets(data)
    assert cached.has_new_data(data)
    cached.request = FetchPartition(partition=0, fetch_offset=10, high_watermark=10)
    assert not cached.has_new_data(data)


def test_a_session_does_not_change_from_topic_ids_to_names() -> None:
    sessions = FetchSessions(Rng(1), slots=10)
    error, session = sessions.resolve(FetchRequest(session_epoch=0, topics=[topic()]), topic_ids=True)
    assert error is ErrorCode.NONE
    request = FetchRequest(session_id=session.session_id, session_epoch=1, topics=[FetchTopic(topic="t")])
    assert sessions.resolve(request, topic_ids=False)[0] is ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR


def test_a_session_without_partitions_is_closed() -> None:
    sessions = FetchSessions(Rng(1), slots=10)
    _, session = sessions.resolve(FetchRequest(session_epoch=0, topics=[topic()]), topic_ids=True)
    forget = FetchRequest(
        session_id=session.session_id,
        session_epoch=1,
        forgotten_topics_data=[ForgottenTopic(topic_id=ID, partitions=[0])],
    )
    error, ended = sessions.resolve(forget, topic_ids=True)
    assert (error, ended.session_id, ended.partitions) == (ErrorCode.NONE, NO_SESSION, {})
    again = FetchRequest(session_id=session.session_id, session_epoch=2, topics=[topic()])
    assert sessions.resolve(again, topic_ids=True)[0] is ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def test_a_fetcher_with_a_closed_session_names_everything_again() -> None:
    session = FetchSession()
    session.set_fetch(TP, WANTED)
    session.fill(FetchRequest(), [TP], [])
    session.accept(FetchResponse(session_id=7))
    session.accept(FetchResponse(session_id=0))
    request = FetchRequest()
    session.fill(request, [TP], [])
    assert (request.session_id, request.session_epoch) == (0, 0)
    assert len(request.topics) == 1


def test_a_recreated_topic_opens_a_new_session() -> None:
    """Up to Fetch v12 one request could not forget the old topic and name the new one: a broker forgets last."""
    session = FetchSession()
    session.set_fetch(TP, WANTED)
    session.fill(FetchRequest(), [TP], [])
    session.accept(FetchResponse(session_id=7))
    request = FetchRequest()
    session.set_fetch(TP, WANTED._replace(topic_id=OTHER_ID))
    session.fill(request, [TP], [TP])
    assert (request.session_id, request.session_epoch) == (7, 0)
    assert not request.forgotten_topics_data
    assert [row.topic_id for row in request.topics] == [OTHER_ID]
