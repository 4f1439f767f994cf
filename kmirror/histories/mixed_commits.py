"""Client that commits one group's offset in a transaction and also outside it, before the transaction ends.

The later of the two records counts, whenever the marker is written. No client reads with this group.
"""

from __future__ import annotations

from kmirror.histories.producing import Application
from kmirror.histories.scripts import Request, Script, Sleep
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.kernel.rng import Rng
from kmirror.protocol.gen.add_offsets_to_txn_request import AddOffsetsToTxnRequest
from kmirror.protocol.gen.end_txn_request import EndTxnRequest
from kmirror.protocol.gen.init_producer_id_request import InitProducerIdRequest
from kmirror.protocol.gen.init_producer_id_response import InitProducerIdResponse
from kmirror.protocol.gen.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kmirror.protocol.gen.txn_offset_commit_request import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from kmirror.protocol.message import Message
from kmirror.spec.version_limits import NAMED_TOPICS_LAST, TRANSACTIONS_V1_LAST
from kmirror.spec.wire_values import CoordinatorType

OPTION = "both_ways"
"""Option of an application that runs such a client beside it."""
PAUSE_MS = (500, 3_000)
TRANSACTION_MS = 3_000


def commit_mixed(application: Application, group: str) -> Script[None]:
    """Commit repeatedly while applications write; a commit that has begun is completed."""
    rng = application.scene.rng(f"both ways {application.plan.name}")
    yield Sleep(rng.between(*PAUSE_MS))
    while application.is_writing():
        application.scene.busy += 1
        yield from _commit_to_partition(application, f"{group}-both", rng)
        application.scene.busy -= 1
        yield Sleep(rng.between(*PAUSE_MS))


def _commit_to_partition(application: Application, name: str, rng: Rng) -> Script[None]:
    cluster, partitions = application.cluster, application.partitions()
    groups = yield from application.find_coordinator(cluster, CoordinatorType.GROUP, name)
    transactions = yield from application.find_coordinator(cluster, CoordinatorType.TRANSACTION, name)
    if not partitions or groups is None or transactions is None:
        return
    tp = rng.choice(partitions)
    commits = rng.chance(3, 4)
    plain = rng.below(2)  # Index of the commit outside the transaction, of the two.
    yield from _commit(cluster, name, tp, groups, transactions, plain=plain, commits=commits)


def _commit(
    cluster: str, name: str, tp: TopicPartition, groups: Endpoint, transactions: Endpoint, *, plain: int, commits: bool
) -> Script[None]:
    reply = yield Request(cluster, transactions, InitProducerIdRequest(name, TRANSACTION_MS))
    if not isinstance(reply, InitProducerIdResponse) or reply.error_code:
        return
    producer = reply.producer_id, reply.producer_epoch
    yield Request(cluster, transactions, AddOffsetsToTxnRequest(name, *producer, name))
    for number in range(2):
        request = _plain_commit(name, tp) if number == plain else _transactional_commit(name, tp, *producer)
        last = {**NAMED_TOPICS_LAST, **TRANSACTIONS_V1_LAST}[request.NAME]
        yield Request(cluster, groups, request, last)
    end = EndTxnRequest(name, *producer, committed=commits)
    yield Request(cluster, transactions, end, TRANSACTIONS_V1_LAST[end.NAME])


def _plain_commit(name: str, tp: TopicPartition) -> Message:
    row = OffsetCommitRequestPartition(partition_index=tp.partition, committed_offset=0, committed_metadata="plain")
    topic = OffsetCommitRequestTopic(name=tp.topic, partitions=[row])
    return OffsetCommitRequest(group_id=name, topics=[topic])


def _transactional_commit(name: str, tp: TopicPartition, producer_id: int, epoch: int) -> Message:
    row = TxnOffsetCommitRequestPartition(partition_index=tp.partition, committed_offset=0, committed_metadata="in one")
    return TxnOffsetCommitRequest(
        transactional_id=name,
        group_id=name,
        producer_id=producer_id,
        producer_epoch=epoch,
        topics=[TxnOffsetCommitRequestTopic(name=tp.topic, partitions=[row])],
    )
