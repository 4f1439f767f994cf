"""EndTxn, versions 0-4: commit or abort.

The answer is sent when PREPARE_* is persisted; the markers follow. A repeated request with the same
outcome succeeds. Left out: the epoch bump of v5 (KIP-890).
"""

from __future__ import annotations

from kmirror.cluster.authorizer import Resource
from kmirror.cluster.coordinators.transactions.apis.add_partitions_to_txn import producer_error
from kmirror.cluster.coordinators.transactions.coordinator import TransactionCoordinator
from kmirror.cluster.coordinators.transactions.state import Status
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant
from kmirror.protocol.gen.end_txn_request import EndTxnRequest
from kmirror.protocol.gen.end_txn_response import EndTxnResponse
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import AclOperation


def handle(coordinator: TransactionCoordinator, now: Instant, inbound: Inbound) -> None:
    """End the transaction; CONCURRENT_TRANSACTIONS while it is ending, INVALID_TXN_STATE if none is open."""
    request = inbound.body
    assert isinstance(request, EndTxnRequest)

    @inbound.guard
    def answer(_: Instant, error: ErrorCode) -> None:
        inbound.reply(EndTxnResponse(error_code=error))

    denied = inbound.rights.error(AclOperation.WRITE, Resource.transactional_id(request.transactional_id))
    if denied:
        answer(now, denied)
        return
    not_now = coordinator.error(request.transactional_id)
    if not_now:
        answer(now, not_now)
        return
    known = coordinator.find(request.transactional_id)
    error = producer_error(known, request.producer_id, request.producer_epoch, inbound.version)
    if error or known is None:
        answer(now, error)
        return
    done = Status.COMPLETE_COMMIT if request.committed else Status.COMPLETE_ABORT
    doing = Status.PREPARE_COMMIT if request.committed else Status.PREPARE_ABORT
    if known.status is Status.ONGOING:
        coordinator.end(now, known, producer_epoch=known.producer_epoch, commit=request.committed, on_done=answer)
    elif known.status is done:
        answer(now, ErrorCode.NONE)
    elif known.status is doing:
        answer(now, ErrorCode.CONCURRENT_TRANSACTIONS)
    else:
        answer(now, ErrorCode.INVALID_TXN_STATE)
