"""Which handler serves which API on a controller: the one table."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kmirror.cluster.decisions import Decide
from kmirror.cluster.handlers import (
    controller_fetch,
    k19_create_topics,
    k44_incremental_alter_configs,
    k56_alter_partition,
    k58_envelope,
    k62_broker_registration,
    k63_broker_heartbeat,
    k67_allocate_producer_ids,
)
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant

if TYPE_CHECKING:
    from kmirror.cluster.controller import Controller

CONTROLLER_HANDLERS: dict[int, Callable[[Controller, Instant, Inbound], None]] = {
    1: controller_fetch.handle,
    18: controller_fetch.handle_api_versions,
    58: k58_envelope.handle,
    62: k62_broker_registration.handle,
    63: k63_broker_heartbeat.handle,
}

DECISIONS: dict[int, Decide] = {
    19: k19_create_topics.decide,
    44: k44_incremental_alter_configs.decide,
    56: k56_alter_partition.decide,
    67: k67_allocate_producer_ids.decide,
}
