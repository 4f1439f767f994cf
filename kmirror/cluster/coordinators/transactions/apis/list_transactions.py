"""ListTransactions, versions 0-2: this coordinator's transactional ids by state, producer, age and name (KIP-664).

The pattern of version 2 is a Python regular expression, which differs from a Java one only in rare cases.
"""

from __future__ import annotations

import re

from kmirror.cluster.authorizer import Resource
from kmirror.cluster.coordinators.transactions.coordinator import TransactionCoordinator
from kmirror.cluster.coordinators.transactions.state import Status, Transaction
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant, to_ms
from kmirror.protocol.gen.list_transactions_request import ListTransactionsRequest
from kmirror.protocol.gen.list_transactions_response import ListTransactionsResponse, TransactionState
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import AclOperation

STATUSES = {status.display_name: status for status in Status}


def handle(coordinator: TransactionCoordinator, now: Instant, inbound: Inbound[ListTransactionsRequest]) -> None:
    """Respond with the ids whose committed state matches all filters and that the client may describe."""
    request = inbound.body
    if coordinator.runtime.is_loading:
        inbound.reply(ListTransactionsResponse(error_code=ErrorCode.COORDINATOR_LOAD_IN_PROGRESS))
        return
    response = ListTransactionsResponse(
        unknown_state_filters=[name for name in request.state_filters if name not in STATUSES], transaction_states=[]
    )
    try:
        pattern = re.compile(request.transactional_id_pattern) if request.transactional_id_pattern else None
    except (re.error, OverflowError, RecursionError):
        inbound.reply(ListTransactionsResponse(error_code=ErrorCode.INVALID_REGULAR_EXPRESSION))
        return
    statuses = {STATUSES[name] for name in request.state_filters if name in STATUSES}

    def matches(found: Transaction) -> bool:
        age_ms = to_ms(now) - found.started_ms
        return (
            found.status is not Status.DEAD
            and (not request.producer_id_filters or found.producer_id in request.producer_id_filters)
            and (not request.state_filters or found.status in statuses)
            and (request.duration_filter < 0 or age_ms > request.duration_filter)
            and (pattern is None or pattern.fullmatch(found.transactional_id) is not None)
        )

    for state in coordinator.runtime.states().values():
        for found in state.all_committed().values():
            resource = Resource.transactional_id(found.transactional_id)
            if matches(found) and inbound.rights.allow(AclOperation.DESCRIBE, resource):
                response.transaction_states.append(
                    TransactionState(found.transactional_id, found.producer_id, found.status.display_name)
                )
    inbound.reply(response)
