"""EndTxn, versions 0-5: commit or abort.

The response is sent when PREPARE_* is persisted; the markers follow. From version 5 on EndTxn raises the producer epoch
(KIP-890 part 2), and the response has the producer id and epoch for the client's next transaction. The client chooses
the version by the cluster's transaction.version; a broker follows the version of the request.

A repeated request with the same outcome succeeds. Up to version 4 it has the transaction's epoch, which is also that of
the next transaction. From version 5 on a repeated request has the previous epoch, and the current epoch belongs to the
next transaction. That one may be aborted even if the coordinator does not know it, as a batch that the client has given
up may still be in flight.
"""

from __future__ import annotations

from kmirror.cluster.authorizer import Resource
from kmirror.cluster.coordinators.transactions.apis.add_partitions_to_txn import producer_error
from kmirror.cluster.coordinators.transactions.coordinator import TransactionCoordinator
from kmirror.cluster.coordinators.transactions.state import EPOCH_MAX, Status, Transaction
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant
from kmirror.protocol.gen.end_txn_request import EndTxnRequest
from kmirror.protocol.gen.end_txn_response import EndTxnResponse
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.features import EPOCH_BUMPS_FROM
from kmirror.spec.wire_values import AclOperation

BUMPS_FROM = 5
"""First version that raises the producer epoch."""
END_TRANSACTION = None
"""The request ends the transaction. Any other result of a check is the error of the response, or NONE."""


def handle(coordinator: TransactionCoordinator, now: Instant, inbound: Inbound[EndTxnRequest]) -> None:
    """End the transaction; CONCURRENT_TRANSACTIONS while it is ending, INVALID_TXN_STATE if none is open."""
    request = inbound.body
    bumps = inbound.version >= BUMPS_FROM

    @inbound.guard
    def respond(_: Instant, error: ErrorCode, after: Transaction | None = None) -> None:
        response = EndTxnResponse(error_code=error)
        if bumps and after is not None and not error:
            response.producer_id, response.producer_epoch = after.producer_id, after.producer_epoch
        inbound.reply(response)

    denied = inbound.rights.error(AclOperation.WRITE, Resource.transactional_id(request.transactional_id))
    if denied:
        respond(now, denied)
        return
    if not request.transactional_id:
        respond(now, ErrorCode.INVALID_REQUEST)
        return
    unavailable = coordinator.error(request.transactional_id)
    if unavailable:
        respond(now, unavailable)
        return
    known = coordinator.find(request.transactional_id)
    if known is None:
        respond(now, ErrorCode.INVALID_PRODUCER_ID_MAPPING)
        return
    found = _check_with_bumps(known, request) if bumps else _check(known, request, inbound.version)
    if found is END_TRANSACTION:
        client_version = EPOCH_BUMPS_FROM if bumps else 0
        coordinator.end(now, known, commit=request.committed, client_version=client_version, on_done=respond)
    else:
        respond(now, found, known)


def _check(known: Transaction, request: EndTxnRequest, version: int) -> ErrorCode | None:
    """Return the error for a client whose epoch does not change, or END_TRANSACTION."""
    error = producer_error(known, request.producer_id, request.producer_epoch, version)
    if error or known.status is Status.ONGOING:
        return error or END_TRANSACTION
    if known.status is _completed_status(request):
        return ErrorCode.NONE
    return ErrorCode.CONCURRENT_TRANSACTIONS if known.status is _preparing(request) else ErrorCode.INVALID_TXN_STATE


def _check_with_bumps(known: Transaction, request: EndTxnRequest) -> ErrorCode | None:
    """Return the error for a client whose epoch is raised, or END_TRANSACTION."""
    has_wrapped = (
        known.previous_producer_id == request.producer_id
        and request.producer_epoch == EPOCH_MAX - 1
        and known.producer_epoch == 0
    )
    is_repeated = has_wrapped or known.producer_epoch == request.producer_epoch + 1
    is_current = known.producer_epoch == request.producer_epoch
    if known.producer_id != request.producer_id and not has_wrapped:
        return ErrorCode.INVALID_PRODUCER_ID_MAPPING
    match known.status:
        case Status.PREPARE_COMMIT | Status.PREPARE_ABORT:
            if not is_repeated or has_wrapped:
                return ErrorCode.PRODUCER_FENCED
            is_same = known.status is _preparing(request)
            return ErrorCode.CONCURRENT_TRANSACTIONS if is_same else ErrorCode.INVALID_TXN_STATE
        case Status.COMPLETE_COMMIT | Status.COMPLETE_ABORT if is_repeated:
            return ErrorCode.NONE if known.status is _completed_status(request) else ErrorCode.INVALID_TXN_STATE
        case _ if not is_current:
            return ErrorCode.PRODUCER_FENCED
        case Status.ONGOING:
            return END_TRANSACTION
        case _:  # Empty or complete: no partition has been added.
            return ErrorCode.INVALID_TXN_STATE if request.committed else END_TRANSACTION


def _preparing(request: EndTxnRequest) -> Status:
    return Status.PREPARE_COMMIT if request.committed else Status.PREPARE_ABORT


def _completed_status(request: EndTxnRequest) -> Status:
    return Status.COMPLETE_COMMIT if request.committed else Status.COMPLETE_ABORT
