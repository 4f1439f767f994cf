"""Request handlers of the transaction coordinator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from kmirror.cluster.component import Components
from kmirror.cluster.coordinators.transactions.apis import (
    add_offsets_to_txn,
    add_partitions_to_txn,
    describe_transactions,
    end_txn,
    init_producer_id,
    list_transactions,
)
from kmirror.cluster.coordinators.transactions.coordinator import TransactionCoordinator
from kmirror.cluster.server import Handler, Inbound, Routes
from kmirror.kernel.clock import Instant
from kmirror.protocol.gen.add_offsets_to_txn_request import AddOffsetsToTxnRequest
from kmirror.protocol.gen.add_partitions_to_txn_request import AddPartitionsToTxnRequest
from kmirror.protocol.gen.describe_transactions_request import DescribeTransactionsRequest
from kmirror.protocol.gen.end_txn_request import EndTxnRequest
from kmirror.protocol.gen.init_producer_id_request import InitProducerIdRequest
from kmirror.protocol.gen.list_transactions_request import ListTransactionsRequest
from kmirror.protocol.message import Message

ROUTES: Mapping[type[Message], Callable[[TransactionCoordinator, Instant, Inbound[Any]], None]] = {
    InitProducerIdRequest: init_producer_id.handle,
    AddPartitionsToTxnRequest: add_partitions_to_txn.handle,
    EndTxnRequest: end_txn.handle,
    DescribeTransactionsRequest: describe_transactions.handle,
    ListTransactionsRequest: list_transactions.handle,
}


def routes(coordinator: TransactionCoordinator, components: Components) -> Routes:
    """Return the handlers of the transaction coordinator."""
    found: dict[type[Message], Handler] = {
        request: partial(handler, coordinator) for request, handler in ROUTES.items()
    }
    found[AddOffsetsToTxnRequest] = partial(add_offsets_to_txn.handle, components, coordinator)
    return found
