"""InitProducerId, versions 0-5: a producer id for an idempotent or transactional producer.

Each request with a transactional id raises the epoch, which fences older producers. An ongoing transaction is aborted
first, and the client must retry (CONCURRENT_TRANSACTIONS). A client that sends its producer id and epoch (KIP-360) gets
the next epoch, or the same response again if it missed the first one; it must send both or neither. When the epochs are
exhausted, it gets a new producer id. Not implemented: two-phase commit (v6, KIP-939).
"""

from __future__ import annotations

from kmirror.cluster.authorizer import CLUSTER, Resource, Rights
from kmirror.cluster.coordinators.transactions import transitions
from kmirror.cluster.coordinators.transactions.coordinator import TransactionCoordinator
from kmirror.cluster.coordinators.transactions.state import PREPARING, Status, Transaction, is_exhausted
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant, to_ms
from kmirror.protocol.gen.init_producer_id_request import InitProducerIdRequest
from kmirror.protocol.gen.init_producer_id_response import InitProducerIdResponse
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import AclOperation, AclResourceType


def handle(coordinator: TransactionCoordinator, now: Instant, inbound: Inbound[InitProducerIdRequest]) -> None:
    """Respond with a producer id and epoch, or an error with -1 for both."""
    request = inbound.body
    name = request.transactional_id
    denied = _denied(inbound.rights, name)
    if denied:
        _reject(inbound, denied)
        return
    if (request.producer_id == -1) != (request.producer_epoch == -1):
        _reject(inbound, ErrorCode.INVALID_REQUEST)
        return
    if name is None:
        _new_producer_id(coordinator, now, inbound, None, None)
        return
    limit = coordinator.context.configs.integer("transaction.max.timeout.ms")
    if name == "":
        _reject(inbound, ErrorCode.INVALID_REQUEST)
    elif not 0 < request.transaction_timeout_ms <= limit:
        _reject(inbound, ErrorCode.INVALID_TRANSACTION_TIMEOUT)
    elif unavailable := coordinator.error(name):
        _reject(inbound, unavailable)
    elif (known := coordinator.find(name)) is None:
        _new_producer_id(coordinator, now, inbound, name, None)
    elif request.producer_id != -1 and not _has_producer_id(known, request):
        _reject_fenced(inbound)
    elif known.status in PREPARING:
        _reject(inbound, ErrorCode.CONCURRENT_TRANSACTIONS)
    elif known.status is Status.ONGOING:
        coordinator.abort_and_fence(now, known)
        _reject(inbound, ErrorCode.CONCURRENT_TRANSACTIONS)
    else:
        _next_epoch(coordinator, now, inbound, known)


def _next_epoch(
    coordinator: TransactionCoordinator, now: Instant, inbound: Inbound[InitProducerIdRequest], known: Transaction
) -> None:
    """Respond with the next epoch, or with the current one if the client missed the response with it."""
    request = inbound.body
    is_current = request.producer_id == -1 or request.producer_epoch == known.producer_epoch
    if is_current and known.is_epoch_exhausted:
        _new_producer_id(coordinator, now, inbound, known.transactional_id, known)
    elif is_current or request.producer_epoch == coordinator.retried_epoch(known):
        after = transitions.initialise(
            known,
            producer_id=known.producer_id,
            producer_epoch=known.producer_epoch + 1 if is_current else known.producer_epoch,
            timeout_ms=request.transaction_timeout_ms,
            now_ms=to_ms(now),
        )
        _persist(coordinator, inbound, known, after)
    else:
        _reject_fenced(inbound)


def _denied(rights: Rights, name: str | None) -> ErrorCode:
    """Return NONE if the client may have a producer id, else the error.

    Without a transactional id it needs IDEMPOTENT_WRITE on the cluster or WRITE on any topic.
    """
    if name is not None:
        return rights.error(AclOperation.WRITE, Resource.transactional_id(name))
    error = rights.error(AclOperation.IDEMPOTENT_WRITE, CLUSTER)
    return ErrorCode.NONE if error and rights.allow_any(AclOperation.WRITE, AclResourceType.TOPIC) else error


def _has_producer_id(known: Transaction, request: InitProducerIdRequest) -> bool:
    """Return whether the request has the current producer id, or the previous one with an exhausted epoch."""
    was_previous = request.producer_id == known.previous_producer_id and is_exhausted(request.producer_epoch)
    return request.producer_id == known.producer_id or was_previous


def _reject_fenced(inbound: Inbound[Message]) -> None:
    _reject(inbound, ErrorCode.PRODUCER_FENCED if inbound.version >= 4 else ErrorCode.INVALID_PRODUCER_EPOCH)


def _reject(inbound: Inbound[Message], error: ErrorCode) -> None:
    inbound.reply(InitProducerIdResponse(error_code=error, producer_id=-1, producer_epoch=-1))


def _new_producer_id(
    coordinator: TransactionCoordinator,
    now: Instant,
    inbound: Inbound[InitProducerIdRequest],
    name: str | None,
    known: Transaction | None,
) -> None:
    """Respond with a new producer id in epoch 0; `known` is the state that it replaces."""
    request = inbound.body

    @inbound.guard
    def on_producer_id(later: Instant, producer_id: int | None) -> None:
        if producer_id is None:
            _reject(inbound, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        elif name is None:
            inbound.reply(InitProducerIdResponse(producer_id=producer_id, producer_epoch=0))
        else:
            timeout_ms, now_ms = request.transaction_timeout_ms, to_ms(later)
            if known is None:
                after = transitions.create(name, producer_id, timeout_ms=timeout_ms, now_ms=now_ms)
            else:
                after = transitions.initialise(
                    known, producer_id=producer_id, producer_epoch=0, timeout_ms=timeout_ms, now_ms=now_ms
                )
            _persist(coordinator, inbound, known, after)

    coordinator.producer_ids.request_id(now, on_producer_id)


def _persist(
    coordinator: TransactionCoordinator,
    inbound: Inbound[InitProducerIdRequest],
    before: Transaction | None,
    transaction: Transaction,
) -> None:
    @inbound.guard
    def on_done(_: Instant, error: ErrorCode) -> None:
        if error:
            _reject(inbound, error)
        else:
            request = inbound.body
            if request.producer_id != -1:
                coordinator.returned_epochs[transaction.transactional_id] = transaction, request.producer_epoch
            inbound.reply(
                InitProducerIdResponse(producer_id=transaction.producer_id, producer_epoch=transaction.producer_epoch)
            )

    coordinator.write(before, transaction, on_done)
