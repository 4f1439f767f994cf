"""The gates that a request passes before its handler, or a shortcut, answers it.

A gate knows the link and the header of a request, but not its body, so that a request which is answered from its bytes
passes the same gates. Rights on what a request names are asked by its handler, and by its shortcut. Who has sent it is
known since its link was opened; what is not served is refused (`unserved.py`) before any gate.
"""

from __future__ import annotations

from collections.abc import Callable

from kmirror.cluster.authorizer import may_send, refused
from kmirror.cluster.server.inbound import Handler, Inbound
from kmirror.cluster.server.links import ServedLink
from kmirror.kernel.clock import Instant
from kmirror.protocol.headers import RequestHead
from kmirror.protocol.message import Message
from kmirror.spec.acls import CLUSTER_ACLS_BY_KEY
from kmirror.spec.error_codes import ErrorCode

Gate = Callable[[Instant, ServedLink, RequestHead, int], Handler | None]
"""(now, link, header, size of the frame) -> None if the request passes, or what handles it instead of its handler.

A gate is asked once for each request that passes the gates before it. The correlation id in the header may be that of
an earlier request that this one is like.
"""


def authorize(now: Instant, link: ServedLink, head: RequestHead, size: int) -> Handler | None:
    """Stop a request for which its sender lacks a right on the whole cluster."""
    if head.api_key not in CLUSTER_ACLS_BY_KEY or may_send(link.rights, head.api_key, head.api_version):
        return None
    return deny


def deny(now: Instant, inbound: Inbound[Message]) -> None:
    """Answer a request that its sender may not send at all."""
    inbound.reply(refused(inbound.body, inbound.version, ErrorCode.CLUSTER_AUTHORIZATION_FAILED))


GATES: tuple[Gate, ...] = (authorize,)
"""In the order in which they are asked; a gate for quotas belongs before `authorize`."""
