"""Each request is routed to a handler with its class as argument: type checkers do not check the route tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, get_args, get_type_hints

import pytest

from kmirror.cluster.broker.apis.routes import ROUTES as BROKER
from kmirror.cluster.controller.apis.routes import DECISIONS
from kmirror.cluster.coordinators.groups.apis.routes import ROUTES as GROUPS
from kmirror.cluster.coordinators.groups.kinds import kinds
from kmirror.cluster.coordinators.transactions.apis.routes import ROUTES as TRANSACTIONS
from kmirror.mirror.broker_apis.routes import ROUTES as MIRRORS
from kmirror.mirror.controller_apis.routes import DECISIONS as MIRROR_DECISIONS
from kmirror.protocol.message import Message

TABLES: list[Mapping[type[Message], Callable[..., Any]]] = [
    BROKER,
    DECISIONS,
    GROUPS,
    *(kind.routes for kind in kinds()),
    TRANSACTIONS,
    MIRRORS,
    MIRROR_DECISIONS,
]


@pytest.mark.parametrize("table", TABLES)
def test_a_handler_accepts_the_request_that_is_routed_to_it(table: Mapping[type[Message], Callable[..., Any]]) -> None:
    for request, handler in table.items():
        hints = get_type_hints(handler)
        taken = hints["request"] if "request" in hints else get_args(hints["inbound"])[0]
        assert taken is Message or request in (get_args(taken) or (taken,)), f"{handler.__module__} takes {taken}"
