"""Which handler serves which API on a controller: the one table."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kmirror.cluster.controller_apis import (
    allocate_producer_ids,
    alter_partition,
    broker_heartbeat,
    broker_registration,
    create_topics,
    envelope,
    fetch,
    incremental_alter_configs,
)
from kmirror.cluster.decisions import Decide
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant

if TYPE_CHECKING:
    from kmirror.cluster.controller import Controller

CONTROLLER_HANDLERS: dict[int, Callable[[Controller, Instant, Inbound], None]] = {
    1: fetch.handle,
    18: fetch.handle_api_versions,
    58: envelope.handle,
    62: broker_registration.handle,
    63: broker_heartbeat.handle,
}

DECISIONS: dict[int, Decide] = {
    19: create_topics.decide,
    44: incremental_alter_configs.decide,
    56: alter_partition.decide,
    67: allocate_producer_ids.decide,
}
