"""Which handler serves which mirror API: the one table. What the controller decides is forwarded."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kmirror.cluster.decisions import Decide
from kmirror.cluster.forwarding import forward
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant
from kmirror.mirror.handlers import (
    k44_alter_mirror_configs,
    k94_create_mirror,
    k95_add_topics_to_mirror,
    k96_remove_topics_from_mirror,
    k98_list_mirrors,
    k99_describe_mirrors,
    k100_read_mirror_states,
    k101_write_mirror_states,
    k105_bump_leader_epochs,
)

if TYPE_CHECKING:
    from kmirror.mirror.component import MirrorComponent


def _forward(component: MirrorComponent, now: Instant, inbound: Inbound) -> None:
    forward(component.broker, now, inbound)


BROKER_HANDLERS: dict[int, Callable[[MirrorComponent, Instant, Inbound], None]] = {
    94: _forward,
    95: k95_add_topics_to_mirror.handle,
    96: _forward,
    98: k98_list_mirrors.handle,
    99: k99_describe_mirrors.handle,
    100: k100_read_mirror_states.handle,
    101: k101_write_mirror_states.handle,
}

DECISIONS: dict[int, Decide] = {
    44: k44_alter_mirror_configs.decide,
    94: k94_create_mirror.decide,
    95: k95_add_topics_to_mirror.decide,
    96: k96_remove_topics_from_mirror.decide,
    105: k105_bump_leader_epochs.decide,
}
