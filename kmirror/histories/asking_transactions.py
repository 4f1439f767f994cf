"""Requests about transactions, with transactional ids of this client only; some break the protocol."""

from __future__ import annotations

from kmirror.histories.asker import NO_PARTITION, RequestClient, RequestKind
from kmirror.histories.asking_groups import joined_twice
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
WITH_PRODUCER_FROM = 3
"""First version of InitProducerId in which a producer keeps its id."""
BATCHED_FROM = 4
"""First version of AddPartitionsToTxn for brokers, which has `verify_only`."""
STATIC = 3
"""First version of TxnOffsetCommit that names a member."""

Producer = tuple[int, int]
"""Producer id and epoch."""


def _at(asker: RequestClient, name: str) -> Endpoint:
    return asker.coordinator(TRANSACTION_TOPIC, name)


def _last(asker: RequestClient, api: str) -> int | None:
    """Return a version of an API: sometimes one without PRODUCER_FENCED, else the last for clients."""
    return BEFORE_FENCED[api] if asker.rng.chance(1, 4) else TRANSACTIONS_V1_LAST.get(f"{api}Request")


def _describe(asker: RequestClient) -> Script[None]:
    name = asker.own("id")
    yield from asker.ask(DescribeTransactionsRequest([name]), _at(asker, name))


def _list(asker: RequestClient) -> Script[None]:
    yield from asker.ask(ListTransactionsRequest())


def _adding(asker: RequestClient, name: str, producer: Producer, *, exists: bool) -> AddPartitionsToTxnRequest:
    tp = asker.partition()
    topics = [AddPartitionsToTxnTopic(tp.topic, [tp.partition])]
    if not exists:
        topics.append(AddPartitionsToTxnTopic(tp.topic, [NO_PARTITION]))
    return AddPartitionsToTxnRequest(
        v3_and_below_transactional_id=name,
        v3_and_below_producer_id=producer[0],
        v3_and_below_producer_epoch=producer[1],
        v3_and_below_topics=topics,
    )


def _verifying(asker: RequestClient, name: str, producer: Producer) -> AddPartitionsToTxnRequest:
    """Return the request by which a leader verifies a transaction before it appends a batch."""
    tp = asker.partition()
    row = AddPartitionsToTxnTransaction(
        name, producer[0], producer[1], verify_only=True, topics=[AddPartitionsToTxnTopic(tp.topic, [tp.partition])]
    )
    return AddPartitionsToTxnRequest(transactions=[row])


def _stranger(asker: RequestClient) -> Script[None]:
    """Send a producer id and an epoch that the transactional id does not have."""
    name, rng = asker.own("id"), asker.rng
    nobody = rng.below(3) - 1, rng.below(3)
    init = InitProducerIdRequest(
        transactional_id=name, transaction_timeout_ms=TRANSACTION_MS, producer_id=10**9, producer_epoch=0
    )
    asked: tuple[tuple[Message, int | None], ...] = (
        (_adding(asker, name, nobody, exists=rng.chance(1, 2)), _last(asker, "AddPartitionsToTxn")),
        (AddOffsetsToTxnRequest(name, *nobody, asker.own("group")), _last(asker, "AddOffsetsToTxn")),
        (EndTxnRequest(name, *nobody, committed=True), TRANSACTIONS_V1_LAST["EndTxnRequest"]),
        (init, _last(asker, "InitProducerId")),
    )
    request, version = rng.choice(asked)
    if request is init and asker.application.scene.last_version(asker.cluster, "InitProducerId") < WITH_PRODUCER_FROM:
        return
    yield from asker.ask(request, _at(asker, name), version)


def _producer(asker: RequestClient) -> Script[None]:
    """Act as a producer that starts twice, and send requests as the first and as the second.

    Its transactions have no records: they add a group's offsets, and nothing is committed.
    """
    name, rng = asker.own("id"), asker.rng
    at, group = _at(asker, name), asker.own("group")
    first = yield from _begin(asker, name, at)
    second = yield from _begin(asker, name, at)
    if first is None or second is None:
        return
    if rng.chance(1, 3):
        yield Sleep(rng.between(0, STAY_MS))
    for producer in (first, (second[0], second[1] + 5)):
        yield from asker.ask(_adding(asker, name, producer, exists=True), at, _last(asker, "AddPartitionsToTxn"))
        yield from asker.ask(AddOffsetsToTxnRequest(name, *producer, group), at, _last(asker, "AddOffsetsToTxn"))
        yield from asker.ask(EndTxnRequest(name, *producer, committed=True), at, TRANSACTIONS_V1_LAST["EndTxnRequest"])
    last = asker.application.scene.last_version(asker.cluster, "InitProducerId")
    if last >= WITH_PRODUCER_FROM:
        for producer in ((first[0] + 1, first[1]), second):
            init = InitProducerIdRequest(name, TRANSACTION_MS, producer[0], producer[1])
            reply = yield from asker.ask(init, at, _last(asker, "InitProducerId"))
            if isinstance(reply, InitProducerIdResponse) and not reply.error_code:
                second = reply.producer_id, reply.producer_epoch
    yield from asker.ask(
        _adding(asker, name, second, exists=False), at, TRANSACTIONS_V1_LAST["AddPartitionsToTxnRequest"]
    )
    if asker.application.scene.last_version(asker.cluster, "AddPartitionsToTxn") >= BATCHED_FROM:
        yield from asker.ask(_verifying(asker, name, second), at)
    yield from _commit_offsets(asker, name, second)
    yield from asker.ask(EndTxnRequest(name, *second, committed=False), at, TRANSACTIONS_V1_LAST["EndTxnRequest"])
    # The markers of the transaction are being written.
    yield from asker.ask(AddOffsetsToTxnRequest(name, *second, group), at)
    yield from asker.ask(
        _adding(asker, name, second, exists=True), at, TRANSACTIONS_V1_LAST["AddPartitionsToTxnRequest"]
    )
    yield Sleep(rng.between(0, 500))
    yield from asker.ask(EndTxnRequest(name, *second, committed=False), at, TRANSACTIONS_V1_LAST["EndTxnRequest"])


def _begin(asker: RequestClient, name: str, at: Endpoint) -> Script[Producer | None]:
    reply = yield from asker.ask(InitProducerIdRequest(name, TRANSACTION_MS), at)
    if not isinstance(reply, InitProducerIdResponse) or reply.error_code:
        return None
    return reply.producer_id, reply.producer_epoch


def _commit_offsets(asker: RequestClient, name: str, producer: Producer) -> Script[None]:
    """Commit offsets with wrong members of a group, before and after the group is added to the transaction."""
    group, rng = asker.own("group"), asker.rng
    at, known = asker.coordinator(GROUP_TOPIC, group), TRANSACTIONS_V1_LAST["TxnOffsetCommitRequest"]
    yield from asker.ask(_committing(asker, group, name, producer), at, rng.choice((STATIC, known)))
    twice = yield from joined_twice(asker, group, at)
    yield from asker.ask(AddOffsetsToTxnRequest(name, *producer, group), _at(asker, name))
    request = _committing(asker, group, name, producer)
    request.generation_id, request.member_id = 3, "a-stranger"
    yield from asker.ask(request, at, known)
    if twice is None:
        return
    first, second, instance = twice
    for member, generation in ((first.member_id, first.generation_id), (second.member_id, second.generation_id - 1)):
        request = _committing(asker, group, name, producer)
        request.generation_id, request.member_id, request.group_instance_id = generation, member, instance
        yield from asker.ask(request, at, known)


def _committing(asker: RequestClient, group: str, name: str, producer: Producer) -> TxnOffsetCommitRequest:
    tp = asker.partition()
    row = TxnOffsetCommitRequestPartition(
        partition_index=tp.partition, committed_offset=0, committed_metadata=asker.application.plan.name
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
