"""Which handler serves which API: the one table. What the controller decides is forwarded."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kmirror.cluster.broker_apis import (
    api_versions,
    fetch,
    find_coordinator,
    list_offsets,
    metadata,
    offset_for_leader_epoch,
    produce,
    write_txn_markers,
)
from kmirror.cluster.forwarding import forward
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant

if TYPE_CHECKING:
    from kmirror.cluster.broker import Broker

BROKER_HANDLERS: dict[int, Callable[[Broker, Instant, Inbound], None]] = {
    0: produce.handle,
    1: fetch.handle,
    2: list_offsets.handle,
    3: metadata.handle,
    10: find_coordinator.handle,
    18: api_versions.handle,
    19: forward,
    23: offset_for_leader_epoch.handle,
    27: write_txn_markers.handle,
    44: forward,
}
