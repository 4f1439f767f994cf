"""Rows of requests and responses: one for each API, and rows for special contents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from kmirror.cluster.broker.broker import Broker
from kmirror.cluster.coordinators.groups.coordinator import GroupCoordinator
from kmirror.cluster.node.partition import Partition
from kmirror.histories.coverage.row import Origin, Row
from kmirror.kernel.clock import Instant
from kmirror.kernel.events import Node
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.log.producer_entry import DataBatch
from kmirror.protocol.gen.fetch_request import FetchRequest
from kmirror.records.batch import Batch, iter_batches
from kmirror.spec import apis
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import Acks

CLIENT, MIRROR, PEER = "client", "mirror", "peer"
"""Sender of a request: a client, a broker of another cluster, a node of the same cluster."""


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """A request on arrival."""

    body: Any
    role: str
    server: Node
    """Node that receives it."""
    in_flight: tuple[Any, ...]
    """Requests of the same API on the same link without a response, oldest first."""
    now: Instant = 0

    def led(self, tp: TopicPartition) -> Partition | None:
        """Return the partition if the server leads it."""
        return self.server.parts.replicas.partitions.find_led(tp) if isinstance(self.server, Broker) else None

    def topic(self, row: Any) -> str:
        """Return the name of a topic in a request, by its name or its id; empty for an unknown id."""
        topic_id: Uuid = getattr(row, "topic_id", Uuid.ZERO)
        if topic_id == Uuid.ZERO or not isinstance(self.server, Broker):
            return str(getattr(row, "topic", "") or getattr(row, "name", ""))
        return self.server.context.image.topics.names.get(topic_id, "")


@dataclass(frozen=True, slots=True)
class ReceivedResponse:
    """A response on arrival at its client."""

    body: Any
    role: str


# -- Produce --------------------------------------------------------------------------------------


def _batches(request: ReceivedRequest) -> Iterator[tuple[TopicPartition, Batch]]:
    for topic in request.body.topic_data:
        for row in topic.partition_data:
            if row.records:
                for batch in iter_batches(memoryview(row.records)):
                    yield TopicPartition(request.topic(topic), row.index), batch


def _count_duplicates(request: ReceivedRequest) -> int:
    """Return the number of batches that are already in the leader's log."""
    found = 0
    for tp, batch in _batches(request):
        led = request.led(tp)
        if led is not None and batch.producer_id >= 0:
            data = DataBatch(
                batch.producer_id, batch.producer_epoch, batch.base_sequence, batch.base_offset, batch.last_offset,
                batch.max_timestamp, batch.is_transactional,
            )  # fmt: skip
            found += led.log.producers.find_duplicate(data) is not None
    return found


def _base_sequences(request: ReceivedRequest) -> dict[tuple[TopicPartition, int], int]:
    return {(tp, batch.producer_id): batch.base_sequence for tp, batch in _batches(request) if batch.producer_id >= 0}


def _batches_in_flight(request: ReceivedRequest) -> int:
    """Return the largest number of earlier unanswered batches of one producer and partition of this request."""
    own_sequences = _base_sequences(request)
    counts = dict.fromkeys(own_sequences, 0)
    for body in request.in_flight:
        before = _base_sequences(ReceivedRequest(body, request.role, request.server, ()))
        for key in own_sequences:
            counts[key] += key in before and before[key] != own_sequences[key]
    return max(counts.values(), default=0)


def _count_records(test: Callable[[Any], bool]) -> Callable[[ReceivedRequest], int]:
    return lambda request: sum(test(record) for _, batch in _batches(request) for record in batch.records())


def _count_batches(test: Callable[[Batch], bool]) -> Callable[[ReceivedRequest], int]:
    return lambda request: sum(test(batch) for _, batch in _batches(request))


_PRODUCE: tuple[tuple[str, str, Callable[[ReceivedRequest], int]], ...] = (
    ("repeated-batch", "A batch arrives that is already in the log, and is acknowledged as a duplicate.",
     _count_duplicates),
    ("two-in-flight", "A producer has two batches of a partition in flight.",
     lambda request: _batches_in_flight(request) >= 1),
    ("five-in-flight", "A producer has five batches of a partition in flight.",
     lambda request: _batches_in_flight(request) >= 4),
    ("acks-all", "A producer waits for all replicas.", lambda request: request.body.acks == Acks.ALL),
    ("acks-leader", "A producer waits only for the leader.", lambda request: request.body.acks == Acks.LEADER),
    ("acks-none", "A producer requests no response.", lambda request: request.body.acks == Acks.NONE),
    ("plain", "A batch without a producer id.", _count_batches(lambda batch: batch.producer_id < 0)),
    ("idempotent", "A batch of an idempotent producer.",
     _count_batches(lambda batch: batch.producer_id >= 0 and not batch.is_transactional)),
    ("transactional", "A batch of a transaction.", _count_batches(lambda batch: batch.is_transactional)),
    ("compressed", "A batch that is compressed.", _count_batches(lambda batch: batch.attributes & 7 != 0)),
    ("many-records", "A batch with several records.", _count_batches(lambda batch: batch.last_offset_delta > 0)),
    ("epoch-above-0", "A batch of a producer whose epoch was raised.",
     _count_batches(lambda batch: batch.producer_epoch > 0)),
    ("key", "A record with a key.", _count_records(lambda record: record.key is not None)),
    ("tombstone", "A record with a key and no value.",
     _count_records(lambda record: record.key is not None and record.value is None)),
    ("no-value", "A record with neither key nor value.",
     _count_records(lambda record: record.key is None and record.value is None)),
    ("header", "A record with a header.", _count_records(lambda record: bool(record.headers))),
)  # fmt: skip


# -- Fetch ----------------------------------------------------------------------------------------


def _client_fetch(test: Callable[[FetchRequest, ReceivedRequest], bool]) -> Callable[[ReceivedRequest], int]:
    return lambda request: request.role == CLIENT and test(request.body, request)


def _mirror_fetch(test: Callable[[FetchRequest], bool]) -> Callable[[ReceivedRequest], int]:
    return lambda request: request.role == MIRROR and test(request.body)


def _is_served_by_follower(body: FetchRequest, request: ReceivedRequest) -> bool:
    if not isinstance(request.server, Broker):
        return False
    partitions = request.server.parts.replicas.partitions
    requested = [
        TopicPartition(request.topic(topic), row.partition) for topic in body.topics for row in topic.partitions
    ]
    return any(tp in partitions and request.led(tp) is None for tp in requested)


_FETCH: tuple[tuple[str, str, Callable[[ReceivedRequest], int]], ...] = (
    ("client-plain", "A consumer fetches without a session.",
     _client_fetch(lambda body, _: body.session_id == 0 and body.session_epoch == -1)),
    ("client-session", "A consumer begins a fetch session.",
     _client_fetch(lambda body, _: body.session_id == 0 and body.session_epoch == 0)),
    ("client-incremental", "A consumer continues its fetch session.",
     _client_fetch(lambda body, _: body.session_id != 0 and body.session_epoch > 0)),
    ("client-incremental-empty", "A consumer continues its fetch session without changes.",
     _client_fetch(lambda body, _: body.session_id != 0 and body.session_epoch > 0 and not body.topics)),
    ("client-forgets", "A consumer removes partitions from its fetch session.",
     _client_fetch(lambda body, _: bool(body.forgotten_topics_data))),
    ("client-session-ends", "A consumer ends its fetch session.",
     _client_fetch(lambda body, _: body.session_id != 0 and body.session_epoch == -1)),
    ("client-follower", "A consumer fetches from a follower.", _client_fetch(_is_served_by_follower)),
    ("client-rack", "A consumer names its rack.", _client_fetch(lambda body, _: bool(body.rack_id))),
    ("client-committed", "A consumer reads with read_committed.",
     _client_fetch(lambda body, _: body.isolation_level == 1)),
    ("client-uncommitted", "A consumer reads with "
                           "read_uncommitted.", _client_fetch(lambda body, _: body.isolation_level == 0)),
    ("mirror-session", "A mirror begins a fetch session at its source.",
     _mirror_fetch(lambda body: body.session_epoch == 0)),
    ("mirror-incremental", "A mirror continues its fetch session.", _mirror_fetch(lambda body: body.session_epoch > 0)),
    ("mirror-forgets", "A mirror removes partitions from its fetch session.",
     _mirror_fetch(lambda body: bool(body.forgotten_topics_data))),
    ("mirror-no-epoch", "A mirror fetches without a leader epoch of its log.",
     _mirror_fetch(lambda body: any(p.last_fetched_epoch < 0 for t in body.topics for p in t.partitions))),
)  # fmt: skip


# -- groups and others ----------------------------------------------------------------------------


def _is_sent_to_stale_broker(request: ReceivedRequest) -> int:
    """Return whether a mirror sends a request to a broker that may be fenced, because its session has expired."""
    server = request.server
    return request.role == MIRROR and isinstance(server, Broker) and server.context.in_session_until < request.now


def _count_lower_commits(request: ReceivedRequest) -> int:
    """Return the number of offsets below those that the group has committed."""
    if not isinstance(request.server, Broker):
        return 0
    found = 0
    for shard in request.server.parts.components.get(GroupCoordinator).runtime.states().values():
        for name in shard.offsets.keys(request.body.group_id):
            committed = shard.offsets.committed(name)
            for topic in request.body.topics:
                if request.topic(topic) == name.tp.topic and committed is not None:
                    found += sum(
                        row.partition_index == name.tp.partition and row.committed_offset < committed.offset
                        for row in topic.partitions
                    )
    return found


_OTHERS: tuple[tuple[str, str, str, Callable[[ReceivedRequest], int]], ...] = (
    ("OffsetCommit", "group.commit-simple", "An offset is committed by a client that is not a member.",
     lambda request: not request.body.member_id),
    ("OffsetCommit", "group.commit-member", "A member of a group commits an offset.",
     lambda request: bool(request.body.member_id)),
    ("OffsetCommit", "group.commit-back", "A group commits an offset below its last one.", _count_lower_commits),
    ("JoinGroup", "group.join-new", "A member joins without a member id.", lambda request: not request.body.member_id),
    ("JoinGroup", "group.join-again", "A member joins with its member id.",
     lambda request: bool(request.body.member_id)),
    ("JoinGroup", "group.join-static", "A static member joins.", lambda request: bool(request.body.group_instance_id)),
    ("SyncGroup", "group.sync-leader", "The leader of a group sends the assignment.",
     lambda request: bool(request.body.assignments)),
    ("SyncGroup", "group.sync-follower", "A member requests its assignment.",
     lambda request: not request.body.assignments),
    ("TxnOffsetCommit", "group.commit-transaction", "Offsets are committed in a transaction.", lambda _: 1),
    ("EndTxn", "transaction.asked-commit", "A producer commits.", lambda request: request.body.committed),
    ("EndTxn", "transaction.asked-abort", "A producer aborts.", lambda request: not request.body.committed),
    ("InitProducerId", "transaction.init", "A transactional producer initialises.",
     lambda request: bool(request.body.transactional_id)),
    ("InitProducerId", "transaction.init-known", "A transactional producer initialises again with its producer id.",
     lambda request: bool(request.body.transactional_id) and request.body.producer_id >= 0),
    ("InitProducerId", "produce.init-idempotent", "An idempotent producer initialises.",
     lambda request: not request.body.transactional_id),
    ("WriteTxnMarkers", "transaction.markers-commit", "Markers of a commit are sent.",
     lambda request: any(row.transaction_result for row in request.body.markers)),
    ("WriteTxnMarkers", "transaction.markers-abort", "Markers of an abort are sent.",
     lambda request: any(not row.transaction_result for row in request.body.markers)),
    ("ListOffsets", "consume.list-earliest", "A client lists the earliest offset.",
     lambda request: any(p.timestamp == -2 for t in request.body.topics for p in t.partitions)),
    ("ListOffsets", "consume.list-latest", "A client lists the latest offset.",
     lambda request: any(p.timestamp == -1 for t in request.body.topics for p in t.partitions)),
    ("ListOffsets", "consume.list-time", "A client lists the offset for a timestamp.",
     lambda request: any(p.timestamp >= 0 for t in request.body.topics for p in t.partitions)),
    ("Metadata", "sync.stale-broker", "A mirror sends a request to a source broker that may be "
                                      "fenced.", _is_sent_to_stale_broker),
    ("DescribeConfigs", "sync.stale-configs", "A mirror requests configs from such a broker.",
     _is_sent_to_stale_broker),
    ("ListGroups", "sync.stale-groups", "A mirror requests the groups of such a broker.", _is_sent_to_stale_broker),
    ("AlterPartition", "isr.asked-shrink-or-grow", "A leader proposes an ISR.", lambda _: 1),
)  # fmt: skip


# -- responses ------------------------------------------------------------------------------------


def _partition_rows(response: ReceivedResponse) -> Iterator[Any]:
    return (row for topic in response.body.responses for row in topic.partitions)


_RESPONSES: tuple[tuple[str, str, str, Callable[[ReceivedResponse], int]], ...] = (
    ("Fetch", "fetch.diverging-peer", "A leader returns a diverging epoch to a follower.",
     lambda a: a.role == PEER and any(row.diverging_epoch.end_offset >= 0 for row in _partition_rows(a))),
    ("Fetch", "fetch.diverging-mirror", "A source returns a diverging epoch to a mirror.",
     lambda a: a.role == MIRROR and any(row.diverging_epoch.end_offset >= 0 for row in _partition_rows(a))),
    ("Fetch", "fetch.new-leader", "A fetch response names the new leader.",
     lambda a: any(row.current_leader.leader_id >= 0 for row in _partition_rows(a))),
    ("Fetch", "fetch.preferred-replica", "A consumer is directed to a follower.",
     lambda a: any(row.preferred_read_replica >= 0 for row in _partition_rows(a))),
    ("Fetch", "fetch.aborted", "A read_committed consumer receives aborted transactions.",
     lambda a: a.role == CLIENT and any(row.aborted_transactions for row in _partition_rows(a))),
    ("Fetch", "fetch.start-above-0", "A fetch response has a log start offset above 0.",
     lambda a: any(row.log_start_offset > 0 for row in _partition_rows(a))),
    ("OffsetForLeaderEpoch", "fetch.epoch-unknown", "A request names an epoch that the log does not have.",
     lambda a: any(row.error_code == ErrorCode.NONE and row.end_offset < 0
                   for topic in a.body.topics for row in topic.partitions)),
    ("Metadata", "consume.metadata-no-leader", "A client learns that a partition has no leader.",
     lambda a: a.role == CLIENT and any(row.leader_id < 0 for topic in a.body.topics for row in topic.partitions)),
    ("BrokerHeartbeat", "node.told-fenced", "A broker learns that it is fenced.", lambda a: a.body.is_fenced),
    ("BrokerHeartbeat", "node.told-to-stop", "A broker may end its controlled shutdown.",
     lambda a: a.body.should_shut_down),
)  # fmt: skip

ROWS: tuple[Row, ...] = (
    *(Row(f"answered.{row.name}", f"{row.name} gets a response, which its client receives.", Origin.ANSWER)
      for row in apis.ROWS),
    *(Row(f"produce.{name}", doc, Origin.REQUEST, test, "Produce") for name, doc, test in _PRODUCE),
    *(Row(f"fetch.{name}", doc, Origin.REQUEST, test, "Fetch") for name, doc, test in _FETCH),
    *(Row(name, doc, Origin.REQUEST, test, api) for api, name, doc, test in _OTHERS),
    *(Row(name, doc, Origin.ANSWER, test, api) for api, name, doc, test in _RESPONSES),
    Row("link.answer-lost", "A request is executed, but its response is lost.", Origin.ANSWER),
    Row("link.answer-too-late", "A request is executed, but its client is gone.", Origin.ANSWER),
    Row(
        "quota.throttled", "A response has a throttle time because of a quota.", Origin.ANSWER,
        unreachable="there are no client quotas, and responses do not show throttling between brokers",
    ),
)  # fmt: skip
