"""Links of clients to a node that a test runs directly."""

from __future__ import annotations

from collections.abc import Hashable

from kmirror.cluster.envelope import host_bytes, principal_bytes
from kmirror.errors import KmirrorError
from kmirror.kernel.clock import Instant
from kmirror.kernel.events import DiskDone, DiskWork, Effect, Event, InboundLink, LinkOpened, Node
from kmirror.kernel.ids import ANONYMOUS, Endpoint, Principal
from kmirror.protocol.gen.envelope_request import EnvelopeRequest


def link_opened(*name: Hashable) -> LinkOpened:
    """Return the event that opens the link `name`."""
    return LinkOpened(InboundLink(name), "PLAINTEXT", ANONYMOUS, Endpoint("127.0.0.1", 40000))


def handle_with_disk(node: Node, now: Instant, event: Event) -> list[Effect]:
    """Return the effects of `event`, with those of the requested disk work, which is executed immediately."""
    effects = []
    waiting = node.handle(now, event)
    while waiting:
        effect = waiting.pop(0)
        if isinstance(effect, DiskWork):
            try:
                done = DiskDone(effect.key, effect.job.run())
            except (OSError, KmirrorError) as error:
                done = DiskDone(effect.key, None, error)
            waiting += node.handle(now, done)
        else:
            effects.append(effect)
    return effects


def envelope_of(frame: bytes, principal: Principal = ANONYMOUS, host: str = "127.0.0.1") -> EnvelopeRequest:
    """Return the envelope in which a broker forwards a client's frame."""
    return EnvelopeRequest(
        request_data=frame, request_principal=principal_bytes(principal), client_host_address=host_bytes(host)
    )
