"""Gates that a request must pass before its handler or a shortcut answers it.

A gate has the link and the header of a request, but not its body, so that requests answered from their bytes pass the
same gates. Rights on named resources are checked by the handler, and by its shortcut. The principal is known since the
link was opened; unserved requests are rejected (`unserved.py`) before any gate.
"""

from __future__ import annotations

from collections.abc import Callable

from kmirror.cluster.authorizer import kafka_error_response, may_send
from kmirror.cluster.server.inbound import Handler, Inbound
from kmirror.cluster.server.links import ServedLink
from kmirror.kernel.clock import Instant
from kmirror.protocol.headers import RequestHead
from kmirror.protocol.message import Message
from kmirror.spec.acls import CLUSTER_ACLS_BY_KEY
from kmirror.spec.error_codes import ErrorCode

Gate = Callable[[Instant, ServedLink, RequestHead, int], Handler | None]
"""(now, link, header, size of the frame) -> None if the request passes, else a handler to use instead.

A gate is called once for each request that passes the previous gates. The correlation id in the header may be that of
an earlier, similar request.
"""


def authorize(now: Instant, link: ServedLink, head: RequestHead, size: int) -> Handler | None:
    """Stop a request if its sender lacks a required right on the cluster."""
    if head.api_key not in CLUSTER_ACLS_BY_KEY or may_send(link.rights, head.api_key, head.api_version):
        return None
    return reject


def reject(now: Instant, inbound: Inbound[Message]) -> None:
    """Reject a request that its sender may not send at all."""
    inbound.reply(kafka_error_response(inbound.body, inbound.version, ErrorCode.CLUSTER_AUTHORIZATION_FAILED))


GATES: tuple[Gate, ...] = (authorize,)
"""Gates in the order of their calls; a gate for quotas must come before `authorize`."""
