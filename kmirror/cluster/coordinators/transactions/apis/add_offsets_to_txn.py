"""AddOffsetsToTxn, versions 0-4: announce that a transaction will commit offsets of a group.

It adds the group's partition of `__consumer_offsets`, which gets a marker when the transaction ends. The topic need not
exist yet.
"""

from __future__ import annotations

from kmirror.cluster.authorizer import Resource
from kmirror.cluster.component import Components
from kmirror.cluster.coordinators.transactions.apis.add_partitions_to_txn import Errors, add
from kmirror.cluster.coordinators.transactions.coordinator import TransactionCoordinator
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant
from kmirror.protocol.gen.add_offsets_to_txn_request import AddOffsetsToTxnRequest
from kmirror.protocol.gen.add_offsets_to_txn_response import AddOffsetsToTxnResponse
from kmirror.protocol.gen.add_partitions_to_txn_request import AddPartitionsToTxnTopic, AddPartitionsToTxnTransaction
from kmirror.spec.wire_values import AclOperation, CoordinatorType


def handle(
    components: Components, coordinator: TransactionCoordinator, now: Instant, inbound: Inbound[AddOffsetsToTxnRequest]
) -> None:
    """Add the partition, and respond once the transaction is persisted."""
    request = inbound.body
    denied = inbound.rights.error(AclOperation.WRITE, Resource.transactional_id(request.transactional_id))
    denied = denied or inbound.rights.error(AclOperation.READ, Resource.group(request.group_id))
    if denied:
        inbound.reply(AddOffsetsToTxnResponse(error_code=denied))
        return
    tp = components.coordinator_for(CoordinatorType.GROUP, request.group_id)
    assert tp is not None, "every broker has a group coordinator"
    requested = AddPartitionsToTxnTransaction(
        transactional_id=request.transactional_id,
        producer_id=request.producer_id,
        producer_epoch=request.producer_epoch,
        topics=[AddPartitionsToTxnTopic(name=tp.topic, partitions=[tp.partition])],
    )

    @inbound.guard
    def on_done(errors: Errors) -> None:
        inbound.reply(AddOffsetsToTxnResponse(error_code=errors[tp]))

    add(coordinator, now, requested, inbound.version, on_done)
