"""Which handler serves which mirror API: the one table. What the controller decides is forwarded."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kmirror.cluster.decisions import Decide
from kmirror.cluster.forwarding import forward
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant
from kmirror.mirror.broker_apis import (
    add_topics_to_mirror,
    describe_mirrors,
    list_mirrors,
    read_mirror_states,
    write_mirror_states,
)
from kmirror.mirror.controller_apis import (
    alter_mirror_configs,
    bump_leader_epochs,
    create_mirror,
    remove_topics_from_mirror,
)

if TYPE_CHECKING:
    from kmirror.mirror.component import MirrorComponent


def _forward(component: MirrorComponent, now: Instant, inbound: Inbound) -> None:
    forward(component.broker, now, inbound)


BROKER_HANDLERS: dict[int, Callable[[MirrorComponent, Instant, Inbound], None]] = {
    94: _forward,
    95: add_topics_to_mirror.handle,
    96: _forward,
    98: list_mirrors.handle,
    99: describe_mirrors.handle,
    100: read_mirror_states.handle,
    101: write_mirror_states.handle,
}

DECISIONS: dict[int, Decide] = {
    44: alter_mirror_configs.decide,
    94: create_mirror.decide,
    95: add_topics_to_mirror.decide,
    96: remove_topics_from_mirror.decide,
    105: bump_leader_epochs.decide,
}
