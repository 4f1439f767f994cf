"""Requests about transactions, with transactional ids of this client only; some break the protocol."""

from __future__ import annotations

from kmirror.histories.arbitrary_group_requests import join_twice
from kmirror.histories.request_client import NO_PARTITION, RequestClient, RequestKind
from kmirror.histories.scripts import Script, Sleep
from kmirror.kernel.ids import Endpoint
from kmirror.protocol.gen.add_offsets_to_txn_request import AddOffsetsToTxnRequest
from kmirror.protocol.gen.add_partitions_to_txn_request import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from kmirror.protocol.gen.describe_transactions_request import DescribeTransactionsRequest
from kmirror.protocol.gen.end_txn_request import EndTxnRequest
from kmirror.protocol.gen.init_producer_id_request import InitProducerIdRequest
from kmirror.protocol.gen.init_producer_id_response import InitProducerIdResponse
from kmirror.protocol.gen.list_transactions_request import ListTransactionsRequest
from kmirror.protocol.gen.txn_offset_commit_request import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from kmirror.protocol.message import Message
from kmirror.spec.topics import GROUP_TOPIC, TRANSACTION_TOPIC
from kmirror.spec.version_limits import TRANSACTIONS_V1_LAST

TRANSACTION_MS = 3_000
STAY_MS = 3_000
BEFORE_FENCED = {"InitProducerId": 3, "AddPartitionsToTxn": 1, "AddOffsetsToTxn": 1}
"""Last versions without PRODUCER_FENCED."""
PRODUCER_ID_MIN_VERSION = 3
"""First version of InitProducerId in which a producer keeps its id."""
BATCHES_MIN_VERSION = 4
"""First version of AddPartitionsToTxn for brokers, which has `verify_only`."""
MEMBERS_MIN_VERSION = 3
"""First version of TxnOffsetCommit that names a member."""

Producer = tuple[int, int]
"""Producer id and epoch."""


def _coordinator(client: RequestClient, name: str) -> Endpoint:
    return client.coordinator(TRANSACTION_TOPIC, name)


def _random_version(client: RequestClient, api: str) -> int | None:
    """Return a version of an API: sometimes one without PRODUCER_FENCED, else the last for clients."""
    return BEFORE_FENCED[api] if client.rng.chance(1, 4) else TRANSACTIONS_V1_LAST.get(f"{api}Request")


def _describe(client: RequestClient) -> Script[None]:
    name = client.own_name("id")
    yield from client.send(DescribeTransactionsRequest([name]), _coordinator(client, name))


def _list(client: RequestClient) -> Script[None]:
    yield from client.send(ListTransactionsRequest())


def _add_request(client: RequestClient, name: str, producer: Producer, *, exists: bool) -> AddPartitionsToTxnRequest:
    tp = client.partition()
    topics = [AddPartitionsToTxnTopic(tp.topic, [tp.partition])]
    if not exists:
        topics.append(AddPartitionsToTxnTopic(tp.topic, [NO_PARTITION]))
    return AddPartitionsToTxnRequest(
        v3_and_below_transactional_id=name,
        v3_and_below_producer_id=producer[0],
        v3_and_below_producer_epoch=producer[1],
        v3_and_below_topics=topics,
    )


def _verify_request(client: RequestClient, name: str, producer: Producer) -> AddPartitionsToTxnRequest:
    """Return the request by which a leader verifies a transaction before it appends a batch."""
    tp = client.partition()
    row = AddPartitionsToTxnTransaction(
        name, producer[0], producer[1], verify_only=True, topics=[AddPartitionsToTxnTopic(tp.topic, [tp.partition])]
    )
    return AddPartitionsToTxnRequest(transactions=[row])


def _stranger(client: RequestClient) -> Script[None]:
    """Send a producer id and an epoch that the transactional id does not have."""
    name, rng = client.own_name("id"), client.rng
    unknown_producer = rng.below(3) - 1, rng.below(3)
    init = InitProducerIdRequest(
        transactional_id=name, transaction_timeout_ms=TRANSACTION_MS, producer_id=10**9, producer_epoch=0
    )
    requests: tuple[tuple[Message, int | None], ...] = (
        (
            _add_request(client, name, unknown_producer, exists=rng.chance(1, 2)),
            _random_version(client, "AddPartitionsToTxn"),
        ),
        (
            AddOffsetsToTxnRequest(name, *unknown_producer, client.own_name("group")),
            _random_version(client, "AddOffsetsToTxn"),
        ),
        (EndTxnRequest(name, *unknown_producer, committed=True), TRANSACTIONS_V1_LAST["EndTxnRequest"]),
        (init, _random_version(client, "InitProducerId")),
    )
    request, version = rng.choice(requests)
    if (
        request is init
        and client.application.scene.last_version(client.cluster, "InitProducerId") < PRODUCER_ID_MIN_VERSION
    ):
        return
    yield from client.send(request, _coordinator(client, name), version)


def _producer(client: RequestClient) -> Script[None]:
    """Act as a producer that starts twice, and send requests as the first and as the second.

    Its transactions have no records: they add a group's offsets, and nothing is committed.
    """
    name, rng = client.own_name("id"), client.rng
    endpoint, group = _coordinator(client, name), client.own_name("group")
    first = yield from _begin(client, name, endpoint)
    second = yield from _begin(client, name, endpoint)
    if first is None or second is None:
        return
    if rng.chance(1, 3):
        yield Sleep(rng.between(0, STAY_MS))
    for producer in (first, (second[0], second[1] + 5)):
        yield from client.send(
            _add_request(client, name, producer, exists=True), endpoint, _random_version(client, "AddPartitionsToTxn")
        )
        yield from client.send(
            AddOffsetsToTxnRequest(name, *producer, group), endpoint, _random_version(client, "AddOffsetsToTxn")
        )
        yield from client.send(
            EndTxnRequest(name, *producer, committed=True), endpoint, TRANSACTIONS_V1_LAST["EndTxnRequest"]
        )
    last = client.application.scene.last_version(client.cluster, "InitProducerId")
    if last >= PRODUCER_ID_MIN_VERSION:
        for producer in ((first[0] + 1, first[1]), second):
            init = InitProducerIdRequest(name, TRANSACTION_MS, producer[0], producer[1])
            reply = yield from client.send(init, endpoint, _random_version(client, "InitProducerId"))
            if isinstance(reply, InitProducerIdResponse) and not reply.error_code:
                second = reply.producer_id, reply.producer_epoch
    yield from client.send(
        _add_request(client, name, second, exists=False), endpoint, TRANSACTIONS_V1_LAST["AddPartitionsToTxnRequest"]
    )
    if client.application.scene.last_version(client.cluster, "AddPartitionsToTxn") >= BATCHES_MIN_VERSION:
        yield from client.send(_verify_request(client, name, second), endpoint)
    yield from _commit_offsets(client, name, second)
    yield from client.send(
        EndTxnRequest(name, *second, committed=False), endpoint, TRANSACTIONS_V1_LAST["EndTxnRequest"]
    )
    # The markers of the transaction are being written.
    yield from client.send(AddOffsetsToTxnRequest(name, *second, group), endpoint)
    yield from client.send(
        _add_request(client, name, second, exists=True), endpoint, TRANSACTIONS_V1_LAST["AddPartitionsToTxnRequest"]
    )
    yield Sleep(rng.between(0, 500))
    yield from client.send(
        EndTxnRequest(name, *second, committed=False), endpoint, TRANSACTIONS_V1_LAST["EndTxnRequest"]
    )


def _begin(client: RequestClient, name: str, endpoint: Endpoint) -> Script[Producer | None]:
    reply = yield from client.send(InitProducerIdRequest(name, TRANSACTION_MS), endpoint)
    if not isinstance(reply, InitProducerIdResponse) or reply.error_code:
        return None
    return reply.producer_id, reply.producer_epoch


def _commit_offsets(client: RequestClient, name: str, producer: Producer) -> Script[None]:
    """Commit offsets with wrong members of a group, before and after the group is added to the transaction."""
    group, rng = client.own_name("group"), client.rng
    endpoint, known = client.coordinator(GROUP_TOPIC, group), TRANSACTIONS_V1_LAST["TxnOffsetCommitRequest"]
    yield from client.send(
        _commit_request(client, group, name, producer), endpoint, rng.choice((MEMBERS_MIN_VERSION, known))
    )
    twice = yield from join_twice(client, group, endpoint)
    yield from client.send(AddOffsetsToTxnRequest(name, *producer, group), _coordinator(client, name))
    request = _commit_request(client, group, name, producer)
    request.generation_id, request.member_id = 3, "a-stranger"
    yield from client.send(request, endpoint, known)
    if twice is None:
        return
    first, second, instance = twice
    for member, generation in ((first.member_id, first.generation_id), (second.member_id, second.generation_id - 1)):
        request = _commit_request(client, group, name, producer)
        request.generation_id, request.member_id, request.group_instance_id = generation, member, instance
        yield from client.send(request, endpoint, known)


def _commit_request(client: RequestClient, group: str, name: str, producer: Producer) -> TxnOffsetCommitRequest:
    tp = client.partition()
    row = TxnOffsetCommitRequestPartition(
        partition_index=tp.partition, committed_offset=0, committed_metadata=client.application.plan.name
    )
    return TxnOffsetCommitRequest(
        transactional_id=name,
        group_id=group,
        producer_id=producer[0],
        producer_epoch=producer[1],
        generation_id=-1,
        member_id="",
        topics=[TxnOffsetCommitRequestTopic(name=tp.topic, partitions=[row])],
    )


REQUEST_KINDS: tuple[RequestKind, ...] = (
    RequestKind("describe transactions", "transactions", _describe, 1),
    RequestKind("list transactions", "transactions", _list, 1),
    RequestKind("stranger", "transactions", _stranger, 6),
    RequestKind("producer", "transactions", _producer, 4),
)
