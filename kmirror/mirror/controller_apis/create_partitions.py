"""CreatePartitions: a topic that is mirrored has the partitions of its source (D7).

Only the metadata sync adds some (D17): a broker of this cluster, which does not pass on what somebody else wants.
"""

from __future__ import annotations

from kmirror.cluster.authorizer import CLUSTER, Rights
from kmirror.cluster.controller.apis import create_partitions as cluster
from kmirror.cluster.controller.context import ControllerContext
from kmirror.cluster.controller.decisions import Decision
from kmirror.kernel.clock import Instant
from kmirror.mirror.controller_apis.membership import check_may_change
from kmirror.protocol.message import Message
from kmirror.spec.wire_values import AclOperation


def decide(context: ControllerContext, now: Instant, request: Message, version: int, rights: Rights) -> Decision:
    """Return the decision of the cluster's own handler; READ_ONLY_TOPIC for a topic that is in a mirror."""
    if not rights.is_forwarded and rights.allow(AclOperation.CLUSTER_ACTION, CLUSTER):
        return cluster.decide(context, now, request, version, rights)
    return cluster.decide_with(check_may_change, context, request, rights)
