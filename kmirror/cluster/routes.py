"""Which handler serves which API: the one table. What the controller decides is forwarded."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kmirror.cluster.forwarding import forward
from kmirror.cluster.handlers import (
    k00_produce,
    k01_fetch,
    k02_list_offsets,
    k03_metadata,
    k10_find_coordinator,
    k18_api_versions,
    k23_offset_for_leader_epoch,
    k27_write_txn_markers,
)
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant

if TYPE_CHECKING:
    from kmirror.cluster.broker import Broker

BROKER_HANDLERS: dict[int, Callable[[Broker, Instant, Inbound], None]] = {
    0: k00_produce.handle,
    1: k01_fetch.handle,
    2: k02_list_offsets.handle,
    3: k03_metadata.handle,
    10: k10_find_coordinator.handle,
    18: k18_api_versions.handle,
    19: forward,
    23: k23_offset_for_leader_epoch.handle,
    27: k27_write_txn_markers.handle,
    44: forward,
}
