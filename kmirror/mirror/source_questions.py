"""Shared requests to brokers of a source: partitions with the same question to the same broker share a request.

Everything that one event needs is sent together at its end, for at most `PARTITIONS_MAX` partitions in a request. Of
each kind, one request at a time is under way to a broker of a mirror's source; later ones wait for the next request,
as a response may describe a state from before they were asked (D32).
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
from kmirror.mirror.inquiry import Inquiry
from kmirror.mirror.source_answers import Described, Listed, Offsets, epoch_ends_in, ids_in, metadata_request
from kmirror.mirror.state_writer import LookAt
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

OnAnswer = Callable[[Instant, Inquiry, A | None], None]
"""(now, inquiry, response); the response is None if there was none."""


class Addressee(NamedTuple):
    """A broker of the source of one mirror."""

    source: RemoteCluster
    endpoint: Endpoint


class _Asked(NamedTuple, Generic[A]):
    inquiry: Inquiry
    on_answer: OnAnswer[A]


class SharedQuestion(Generic[A]):
    """Requests of one kind; A is the type of a parsed response, shared by all partitions that requested it."""

    def __init__(
        self,
        context: MirrorContext,
        look_at: LookAt,
        compose: Callable[[Sequence[Inquiry]], Message],
        read: Callable[[Message, Inquiry], A | None],
    ) -> None:
        self._context = context
        self._look_at = look_at
        self._compose = compose
        self._read = read
        self._waiting: dict[Addressee, list[_Asked[A]]] = {}
        self._under_way: dict[Addressee, None] = {}

    def ask(self, inquiry: Inquiry, on_answer: OnAnswer[A]) -> None:
        """Ask with the next request; the partition is busy until `on_answer` is called.

        `on_answer` is not called if the response is of no use any more: the partition is led elsewhere, is in another
        state, or the mirror has another source. In the last case the partition is looked at again. An inquiry without a
        state does not make the partition busy.
        """
        if inquiry.state is not None:
            inquiry.mp.busy = True
        to = Addressee(inquiry.source, inquiry.endpoint)
        self._waiting.setdefault(to, []).append(_Asked(inquiry, on_answer))
        self._context.broker.at_end(self.send_waiting)

    def send_waiting(self, now: Instant) -> None:
        """Send the waiting requests to brokers that have none under way."""
        for to in [to for to in self._waiting if to not in self._under_way]:
            self._send(now, to)

    def _send(self, now: Instant, to: Addressee) -> None:
        waiting = [each for each in self._waiting.pop(to) if each.inquiry.is_current()]
        if not waiting:
            return
        asked, later = waiting[:PARTITIONS_MAX], waiting[PARTITIONS_MAX:]
        if later:
            self._waiting[to] = later
        self._under_way[to] = None

        def on_reply(then: Instant, reply: Message | None) -> None:
            first = asked[0].inquiry
            self._under_way.pop(to, None)
            self._context.broker.at_end(self.send_waiting)  # Requests that waited for this response may be sent.
            told = asked
            if reply is None and not first.has_no_describe():
                # Requests queued behind an unanswered one fail with it.
                told = asked + self._waiting.pop(to, [])
            answer = None if reply is None else self._read(reply, first)
            for each in told:
                self._tell(then, each, answer)

        to.source.send(now, to.endpoint, PURPOSE, self._compose([each.inquiry for each in asked]), on_reply)

    def _tell(self, now: Instant, asked: _Asked[A], answer: A | None) -> None:
        inquiry = asked.inquiry
        if not inquiry.is_current():
            return
        if inquiry.state is not None:
            inquiry.mp.busy = False
        try:
            if inquiry.is_of_the_source():
                asked.on_answer(now, inquiry, answer)
            else:
                self._look_at(now, inquiry.mp)
        except Exception as error:  # The other partitions must still get the response.
            self._context.broker.failures.caught(f"an answer about {inquiry.mp.tp}", error)
            self._context.retry_later(now, inquiry.mp, "the source's answer could not be worked on")


class SourceQuestions:
    """Requests of one broker's partitions to the brokers of their sources."""

    def __init__(self, context: MirrorContext, look_at: LookAt) -> None:
        self._described = SharedQuestion(context, look_at, _describe, _read_described)
        self._listed = SharedQuestion(context, look_at, _list_mirrors, _read_listed)
        self._offsets = SharedQuestion(context, look_at, _list_offsets, _read_offsets)
        self._topic_ids = SharedQuestion(context, look_at, _ask_topic_ids, _read_topic_ids)
        self._epoch_ends = SharedQuestion(context, look_at, _ask_epoch_ends, _read_epoch_ends)
        self._log_starts = SharedQuestion(context, look_at, _list_log_starts, _read_offsets)

    def describe(self, inquiry: Inquiry, on_answer: OnAnswer[Described]) -> None:
        """Request the source's mirror of the same name as ours, and the lineage of the log (D45).

        A broker without DescribeMirrors has reported that after this was requested (D32, D76).
        """
        self._described.ask(inquiry, on_answer)

    def list_mirrors(self, inquiry: Inquiry, on_answer: OnAnswer[Listed]) -> None:
        """Request the clusters that the source mirrors (D25)."""
        self._listed.ask(inquiry, on_answer)

    def list_offsets(self, inquiry: Inquiry, on_answer: OnAnswer[Offsets]) -> None:
        """Request the log end with the known leader epoch: only the leader in it responds without an error."""
        self._offsets.ask(inquiry, on_answer)

    def topic_ids(self, inquiry: Inquiry, on_answer: OnAnswer[Mapping[str, Uuid]]) -> None:
        """Request the present topics by name, after other responses about them (D65)."""
        self._topic_ids.ask(inquiry, on_answer)

    def epoch_ends(self, inquiry: Inquiry, on_answer: OnAnswer[Mapping[TopicPartition, EndOffset]]) -> None:
        """Request the end of the inquiry's `kept` epoch in the source's log (D25)."""
        self._epoch_ends.ask(inquiry, on_answer)

    def log_starts(self, inquiry: Inquiry, on_answer: OnAnswer[Offsets]) -> None:
        """Request the log start with the known leader epoch."""
        self._log_starts.ask(inquiry, on_answer)


def _describe(inquiries: Sequence[Inquiry]) -> Message:
    topics: dict[str, LineageTopic] = {}
    for inquiry in inquiries:
        topic, partition = inquiry.mp.tp
        topics.setdefault(topic, LineageTopic(topic_name=topic)).partitions.append(partition)
    mirror = inquiries[0].mp.assignment.mirror
    return DescribeMirrorsRequest(mirror_names=[mirror], lineages=list(topics.values()), named_only=True)


def _read_described(reply: Message, inquiry: Inquiry) -> Described | None:
    return Described(reply, inquiry.mp.assignment.mirror) if isinstance(reply, DescribeMirrorsResponse) else None


def _list_mirrors(inquiries: Sequence[Inquiry]) -> Message:
    return ListMirrorsRequest()


def _read_listed(reply: Message, inquiry: Inquiry) -> Listed | None:
    return Listed(reply) if isinstance(reply, ListMirrorsResponse) else None


def _list_offsets(inquiries: Sequence[Inquiry]) -> Message:
    return list_offsets({inquiry.mp.tp: inquiry.leader.epoch for inquiry in inquiries})


def _list_log_starts(inquiries: Sequence[Inquiry]) -> Message:
    return list_offsets({inquiry.mp.tp: inquiry.leader.epoch for inquiry in inquiries}, OffsetSpec.EARLIEST)


def _read_offsets(reply: Message, inquiry: Inquiry) -> Offsets | None:
    return Offsets(reply) if isinstance(reply, ListOffsetsResponse) else None


def _ask_topic_ids(inquiries: Sequence[Inquiry]) -> Message:
    return metadata_request(inquiry.mp.tp.topic for inquiry in inquiries)


def _read_topic_ids(reply: Message, inquiry: Inquiry) -> Mapping[str, Uuid] | None:
    return ids_in(reply)


def _ask_epoch_ends(inquiries: Sequence[Inquiry]) -> Message:
    topics: dict[str, OffsetForLeaderTopic] = {}
    for inquiry in inquiries:
        topic, number = inquiry.mp.tp
        row = OffsetForLeaderPartition(
            partition=number, current_leader_epoch=inquiry.leader.epoch, leader_epoch=inquiry.kept.epoch
        )
        topics.setdefault(topic, OffsetForLeaderTopic(topic=topic)).partitions.append(row)
    return OffsetForLeaderEpochRequest(replica_id=CONSUMER_REPLICA_ID, topics=list(topics.values()))


def _read_epoch_ends(reply: Message, inquiry: Inquiry) -> Mapping[TopicPartition, EndOffset] | None:
    return epoch_ends_in(reply)
