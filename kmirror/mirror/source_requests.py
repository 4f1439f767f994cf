"""Shared requests to brokers of a source: partitions share a request of the same kind to the same broker.

Everything that one event needs is sent together at its end, for at most `PARTITIONS_MAX` partitions in a request. Of
each kind, one request at a time is under way to a broker of a mirror's source; later ones wait for the next request,
as a response may describe a state from before they were added (D32).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from kmirror.client.list_offsets import list_offsets
from kmirror.client.remote_cluster import RemoteCluster
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.log.epochs import EndOffset
from kmirror.mirror.context import MirrorContext
from kmirror.mirror.source_query import SourceQuery
from kmirror.mirror.source_responses import (
    DescribeResult,
    ListResult,
    OffsetsResult,
    epoch_ends_in,
    metadata_request,
    topic_ids_in,
)
from kmirror.mirror.state_writer import ScheduleStep
from kmirror.protocol.gen.describe_mirrors_request import DescribeMirrorsRequest, LineageTopic
from kmirror.protocol.gen.describe_mirrors_response import DescribeMirrorsResponse
from kmirror.protocol.gen.list_mirrors_request import ListMirrorsRequest
from kmirror.protocol.gen.list_mirrors_response import ListMirrorsResponse
from kmirror.protocol.gen.list_offsets_response import ListOffsetsResponse
from kmirror.protocol.gen.offset_for_leader_epoch_request import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from kmirror.protocol.message import Message
from kmirror.spec.wire_values import CONSUMER_REPLICA_ID, OffsetSpec

PARTITIONS_MAX = 1000
"""Bounds the time that a broker of the source, and the broker that reads its response, spend on one request."""
PURPOSE = "describe"
A = TypeVar("A")

OnResponse = Callable[[Instant, SourceQuery, A | None], None]
"""(now, query, response); the response is None if there was none."""


class SourceBroker(NamedTuple):
    """A broker of the source of one mirror."""

    source: RemoteCluster
    endpoint: Endpoint


class _Waiting(NamedTuple, Generic[A]):
    query: SourceQuery
    on_response: OnResponse[A]


class SharedRequest(Generic[A]):
    """Requests of one kind; A is the type of a parsed response, shared by all partitions that requested it."""

    def __init__(
        self,
        context: MirrorContext,
        schedule_step: ScheduleStep,
        compose: Callable[[Sequence[SourceQuery]], Message],
        read: Callable[[Message, SourceQuery], A | None],
    ) -> None:
        self._context = context
        self._schedule_step = schedule_step
        self._compose = compose
        self._read = read
        self._waiting: dict[SourceBroker, list[_Waiting[A]]] = {}
        self._under_way: dict[SourceBroker, None] = {}

    def add(self, query: SourceQuery, on_response: OnResponse[A]) -> None:
        """Send `query` with the next request; the partition is busy until `on_response` is called.

        `on_response` is not called if the response is of no use any more: the partition is led elsewhere, is in another
        state, or the mirror has another source. In the last case a step of the partition is scheduled. A query without
        a state does not make the partition busy.
        """
        if query.state is not None:
            query.mp.is_busy = True
        broker = SourceBroker(query.source, query.endpoint)
        self._waiting.setdefault(broker, []).append(_Waiting(query, on_response))
        self._context.broker.defer(self.send_waiting)

    def send_waiting(self, now: Instant) -> None:
        """Send the waiting requests to brokers that have none under way."""
        for broker in [broker for broker in self._waiting if broker not in self._under_way]:
            self._send(now, broker)

    def _send(self, now: Instant, broker: SourceBroker) -> None:
        waiting = [each for each in self._waiting.pop(broker) if each.query.is_current()]
        if not waiting:
            return
        sent, rest = waiting[:PARTITIONS_MAX], waiting[PARTITIONS_MAX:]
        if rest:
            self._waiting[broker] = rest
        self._under_way[broker] = None

        def on_reply(latest: Instant, reply: Message | None) -> None:
            first = sent[0].query
            self._under_way.pop(broker, None)
            self._context.broker.defer(self.send_waiting)  # Requests that waited for this response may be sent.
            answered = sent
            if reply is None and not first.has_no_describe():
                # Requests queued behind an unanswered one fail with it.
                answered = sent + self._waiting.pop(broker, [])
            response = None if reply is None else self._read(reply, first)
            for each in answered:
                self._deliver(latest, each, response)

        broker.source.send(now, broker.endpoint, PURPOSE, self._compose([each.query for each in sent]), on_reply)

    def _deliver(self, now: Instant, waiting: _Waiting[A], response: A | None) -> None:
        query = waiting.query
        if not query.is_current():
            return
        if query.state is not None:
            query.mp.is_busy = False
        try:
            if query.has_current_source():
                waiting.on_response(now, query, response)
            else:
                self._schedule_step(now, query.mp)
        except Exception as error:  # The other partitions must still get the response.
            self._context.broker.failures.report(f"a response about {query.mp.tp}", error)
            self._context.retry_later(now, query.mp, "the source's response could not be processed")


class SourceRequests:
    """Requests of one broker's partitions to the brokers of their sources."""

    def __init__(self, context: MirrorContext, schedule_step: ScheduleStep) -> None:
        self._described = SharedRequest(context, schedule_step, _describe_request, _read_describe_result)
        self._listed = SharedRequest(context, schedule_step, _list_mirrors_request, _read_list_result)
        self._offsets = SharedRequest(context, schedule_step, _log_ends_request, _read_offsets)
        self._topic_ids = SharedRequest(context, schedule_step, _topic_ids_request, _read_topic_ids)
        self._epoch_ends = SharedRequest(context, schedule_step, _epoch_ends_request, _read_epoch_ends)
        self._log_starts = SharedRequest(context, schedule_step, _log_starts_request, _read_offsets)

    def describe(self, query: SourceQuery, on_response: OnResponse[DescribeResult]) -> None:
        """Request the source's mirror of the same name as ours, and the lineage of the log (D45).

        A broker without DescribeMirrors has reported that after this was requested (D32, D76).
        """
        self._described.add(query, on_response)

    def list_mirrors(self, query: SourceQuery, on_response: OnResponse[ListResult]) -> None:
        """Request the clusters that the source mirrors (D25)."""
        self._listed.add(query, on_response)

    def list_offsets(self, query: SourceQuery, on_response: OnResponse[OffsetsResult]) -> None:
        """Request the log end offset; a broker that does not lead in the known leader epoch responds with an error."""
        self._offsets.add(query, on_response)

    def topic_ids(self, query: SourceQuery, on_response: OnResponse[Mapping[str, Uuid]]) -> None:
        """Request the present topics by name, after other responses about them (D65)."""
        self._topic_ids.add(query, on_response)

    def epoch_ends(self, query: SourceQuery, on_response: OnResponse[Mapping[TopicPartition, EndOffset]]) -> None:
        """Request the end of the query's `kept` epoch in the source's log (D25)."""
        self._epoch_ends.add(query, on_response)

    def log_starts(self, query: SourceQuery, on_response: OnResponse[OffsetsResult]) -> None:
        """Request the log start with the known leader epoch."""
        self._log_starts.add(query, on_response)


def _describe_request(queries: Sequence[SourceQuery]) -> Message:
    topics: dict[str, LineageTopic] = {}
    for query in queries:
        topic, partition = query.mp.tp
        topics.setdefault(topic, LineageTopic(topic_name=topic)).partitions.append(partition)
    mirror = queries[0].mp.assignment.mirror
    return DescribeMirrorsRequest(mirror_names=[mirror], lineages=list(topics.values()), named_only=True)


def _read_describe_result(reply: Message, query: SourceQuery) -> DescribeResult | None:
    return DescribeResult(reply, query.mp.assignment.mirror) if isinstance(reply, DescribeMirrorsResponse) else None


def _list_mirrors_request(queries: Sequence[SourceQuery]) -> Message:
    return ListMirrorsRequest()


def _read_list_result(reply: Message, query: SourceQuery) -> ListResult | None:
    return ListResult(reply) if isinstance(reply, ListMirrorsResponse) else None


def _log_ends_request(queries: Sequence[SourceQuery]) -> Message:
    return list_offsets({query.mp.tp: query.leader.epoch for query in queries})


def _log_starts_request(queries: Sequence[SourceQuery]) -> Message:
    return list_offsets({query.mp.tp: query.leader.epoch for query in queries}, OffsetSpec.EARLIEST)


def _read_offsets(reply: Message, query: SourceQuery) -> OffsetsResult | None:
    return OffsetsResult(reply) if isinstance(reply, ListOffsetsResponse) else None


def _topic_ids_request(queries: Sequence[SourceQuery]) -> Message:
    return metadata_request(query.mp.tp.topic for query in queries)


def _read_topic_ids(reply: Message, query: SourceQuery) -> Mapping[str, Uuid] | None:
    return topic_ids_in(reply)


def _epoch_ends_request(queries: Sequence[SourceQuery]) -> Message:
    topics: dict[str, OffsetForLeaderTopic] = {}
    for query in queries:
        topic, number = query.mp.tp
        row = OffsetForLeaderPartition(
            partition=number, current_leader_epoch=query.leader.epoch, leader_epoch=query.kept.epoch
        )
        topics.setdefault(topic, OffsetForLeaderTopic(topic=topic)).partitions.append(row)
    return OffsetForLeaderEpochRequest(replica_id=CONSUMER_REPLICA_ID, topics=list(topics.values()))


def _read_epoch_ends(reply: Message, query: SourceQuery) -> Mapping[TopicPartition, EndOffset] | None:
    return epoch_ends_in(reply)
