"""Request handlers of the group coordinator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from kmirror.cluster.broker.parts import BrokerParts
from kmirror.cluster.coordinators.groups.apis import (
    delete_groups,
    describe_groups,
    list_groups,
    offset_commit,
    offset_delete,
    offset_fetch,
    txn_offset_commit,
)
from kmirror.cluster.coordinators.groups.coordinator import GroupCoordinator
from kmirror.cluster.coordinators.groups.kinds import kinds
from kmirror.cluster.server import Handler, Inbound, Routes
from kmirror.kernel.clock import Instant
from kmirror.protocol.gen.delete_groups_request import DeleteGroupsRequest
from kmirror.protocol.gen.describe_groups_request import DescribeGroupsRequest
from kmirror.protocol.gen.list_groups_request import ListGroupsRequest
from kmirror.protocol.gen.offset_commit_request import OffsetCommitRequest
from kmirror.protocol.gen.offset_delete_request import OffsetDeleteRequest
from kmirror.protocol.gen.offset_fetch_request import OffsetFetchRequest
from kmirror.protocol.gen.txn_offset_commit_request import TxnOffsetCommitRequest
from kmirror.protocol.message import Message

ROUTES: Mapping[type[Message], Callable[[GroupCoordinator, Instant, Inbound[Any]], None]] = {
    DescribeGroupsRequest: describe_groups.handle,
    ListGroupsRequest: list_groups.handle,
    DeleteGroupsRequest: delete_groups.handle,
    OffsetFetchRequest: offset_fetch.handle,
    OffsetDeleteRequest: offset_delete.handle,
}


def routes(coordinator: GroupCoordinator, parts: BrokerParts) -> Routes:
    """Return the handlers of the group coordinator, including those of each kind of groups."""
    found: dict[type[Message], Handler] = {
        request: partial(handler, coordinator)
        for table in (ROUTES, *(kind.routes for kind in kinds()))
        for request, handler in table.items()
    }
    found[OffsetCommitRequest] = partial(offset_commit.handle, coordinator, parts)
    found[TxnOffsetCommitRequest] = partial(txn_offset_commit.handle, coordinator, parts)
    return found
