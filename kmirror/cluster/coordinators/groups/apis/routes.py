"""Which handler of a group coordinator answers which request."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from kmirror.cluster.broker.parts import BrokerParts
from kmirror.cluster.coordinators.groups.apis import offset_commit, offset_delete, offset_fetch, txn_offset_commit
from kmirror.cluster.coordinators.groups.coordinator import GroupCoordinator
from kmirror.cluster.server import Inbound, Routes
from kmirror.kernel.clock import Instant
from kmirror.protocol.gen.offset_commit_request import OffsetCommitRequest
from kmirror.protocol.gen.offset_delete_request import OffsetDeleteRequest
from kmirror.protocol.gen.offset_fetch_request import OffsetFetchRequest
from kmirror.protocol.gen.txn_offset_commit_request import TxnOffsetCommitRequest
from kmirror.protocol.message import Message

ROUTES: Mapping[type[Message], Callable[[GroupCoordinator, Instant, Inbound], None]] = {
    OffsetCommitRequest: offset_commit.handle,
    OffsetFetchRequest: offset_fetch.handle,
    OffsetDeleteRequest: offset_delete.handle,
}


def routes(parts: BrokerParts) -> Routes:
    """Return the handlers of the requests that the group coordinator of a broker answers."""
    found: dict[type[Message], Callable[[Instant, Inbound], None]] = {
        request: partial(handler, parts.groups) for request, handler in ROUTES.items()
    }
    found[TxnOffsetCommitRequest] = partial(txn_offset_commit.handle, parts)
    return found
