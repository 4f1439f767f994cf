"""A fetch on the fast path gets the same response as on the general path."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.lone_broker import LoneBroker, frame_of
from kmirror.cluster.broker.apis import fast_fetch
from kmirror.cluster.images import Delta
from kmirror.kernel.events import Reply
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, FetchTopic, ReplicaState
from kmirror.protocol.gen.fetch_response import FetchResponse
from kmirror.spec.wire_values import AclOperation
from tests.acls import ACL_CONFIGS, deny
from tests.builders import batch

TOPICS = ("t", "u")
COUNT = 3
BATCHES = 4
SIZE = len(batch())
UNKNOWN = Uuid.from_ints(9, 9)
SIZES = st.sampled_from([0, 1, SIZE, SIZE + 1, 2 * SIZE, 3 * SIZE, 1 << 20])
PLAIN_ROW = st.builds(
    FetchPartition,
    partition=st.integers(0, COUNT - 1),
    current_leader_epoch=st.sampled_from([-1, 0]),
    fetch_offset=st.integers(0, BATCHES - 1),
    last_fetched_epoch=st.sampled_from([-1, 0]),
    partition_max_bytes=SIZES,
)
ANY_ROW = st.builds(
    FetchPartition,
    partition=st.sampled_from([0, 1, 7]),
    current_leader_epoch=st.sampled_from([-1, 0, 1]),
    fetch_offset=st.sampled_from([0, BATCHES, BATCHES + 1, -1]),
    last_fetched_epoch=st.sampled_from([-1, 0, 1]),
    partition_max_bytes=SIZES,
)
PLAIN_TOPIC = st.tuples(
    st.sampled_from(TOPICS), st.lists(PLAIN_ROW, min_size=1, max_size=COUNT, unique_by=lambda row: row.partition)
)
ANY_TOPIC = st.tuples(st.sampled_from([*TOPICS, "unknown"]), st.lists(st.one_of(PLAIN_ROW, ANY_ROW), max_size=4))
ASKED = st.one_of(
    st.lists(PLAIN_TOPIC, min_size=1, max_size=2, unique_by=lambda topic: topic[0]),
    st.lists(st.tuples(st.sampled_from(TOPICS), st.lists(PLAIN_ROW, min_size=2, max_size=4)), min_size=1, max_size=2),
    st.lists(st.one_of(PLAIN_TOPIC, ANY_TOPIC), max_size=3),
)
LIMITS = {
    "max_wait_ms": st.sampled_from([0, 100]),
    "min_bytes": st.sampled_from([0, 1, SIZE, 5 * SIZE]),
    "max_bytes": SIZES,
}
PLAIN = st.builds(FetchRequest, isolation_level=st.integers(0, 1), session_epoch=st.just(-1), **LIMITS)
ANY = st.builds(
    FetchRequest,
    replica_state=st.sampled_from([-1, 2]).map(lambda replica: ReplicaState(replica_id=replica)),
    isolation_level=st.integers(0, 2),
    session_epoch=st.integers(-1, 1),
    **LIMITS,
)
REQUESTS = st.one_of(PLAIN, PLAIN, ANY)


@contextmanager
def only_in_general() -> Iterator[None]:
    with patch.object(fast_fetch, "respond", return_value=None):
        yield


def filled_broker(denied: str | None = None) -> LoneBroker:
    """Return a broker whose high watermark is a batch below the log end in each second partition.

    An ACL denies to read the topic `denied`.
    """
    broker = LoneBroker(dict.fromkeys(TOPICS, COUNT), configs={} if denied is None else ACL_CONFIGS)
    if denied is not None:
        broker.broker.context.image.apply(deny(1, AclOperation.READ, denied), Delta())
    for topic in TOPICS:
        for index in range(COUNT):
            log = broker.partition(topic, index).log
            for _ in range(BATCHES):
                log.append_as_leader(batch(), leader_epoch=0, now_ms=broker.now_ms)
            log.update_high_watermark(log.log_end_offset - index % 2)
    return broker


def replies(broker: LoneBroker, frame: bytes) -> list[bytes]:
    """Return the response, or an empty list if the fetch waits."""
    return [b"".join(effect.chunks) for effect in broker.request(frame) if isinstance(effect, Reply)]


@settings(max_examples=300)
@given(REQUESTS, ASKED, st.sampled_from([None, None, *TOPICS]))
def test_a_plain_fetch_is_answered_as_any_other(
    request: FetchRequest, asked: list[tuple[str, list[FetchPartition]]], denied: str | None
) -> None:
    """Each on a separate broker, since a fetch may open a session, or wait."""
    plainly, generally = filled_broker(denied), filled_broker(denied)
    request.topics = [
        FetchTopic(topic_id=plainly.topic_ids.get(name, UNKNOWN), partitions=rows) for name, rows in asked
    ]
    frame = frame_of(request)
    with only_in_general():
        expected = replies(generally, frame)
    assert replies(plainly, frame) == expected


@pytest.mark.parametrize("denied", [None, "another"])
def test_plain_fetches_take_the_fast_path(denied: str | None) -> None:
    """Otherwise the property above would compare the general path with itself."""
    broker = filled_broker(denied)
    rows = [FetchPartition(partition=index, partition_max_bytes=1 << 20) for index in range(COUNT)]
    topics = [FetchTopic(topic_id=broker.topic_ids[name], partitions=list(rows)) for name in TOPICS]
    request = FetchRequest(max_wait_ms=100, min_bytes=1, max_bytes=1 << 20, session_epoch=-1, topics=topics)
    answers: list[FetchResponse | None] = []
    answer = fast_fetch.respond

    def record_call(*arguments: object) -> FetchResponse | None:
        answers.append(answer(*arguments))  # type: ignore[arg-type]
        return answers[-1]

    with patch.object(fast_fetch, "respond", record_call):
        assert len(replies(broker, frame_of(request))) == 1
    [found] = answers
    assert found is not None and sum(len(topic.partitions) for topic in found.responses) == 2 * COUNT
