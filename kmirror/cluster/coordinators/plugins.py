"""The coordinators of every broker. A new coordinator is added here, without a change in `cluster/broker`."""

from __future__ import annotations

from collections.abc import Callable

from kmirror.cluster.broker.parts import BrokerParts
from kmirror.cluster.component import BrokerComponent
from kmirror.cluster.coordinators.groups.component import GroupComponent
from kmirror.cluster.coordinators.groups.offset_expiry import OffsetExpiry
from kmirror.cluster.coordinators.transactions.component import TransactionComponent

COORDINATORS: tuple[Callable[[BrokerParts], BrokerComponent], ...] = (
    TransactionComponent,
    GroupComponent,
    OffsetExpiry,
)
"""In the order in which they are registered."""
