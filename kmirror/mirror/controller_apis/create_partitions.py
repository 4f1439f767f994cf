"""CreatePartitions: a topic that is mirrored has the partitions of its source (D7).

Only the metadata sync adds some (D17): a broker of this cluster, which does not pass on what somebody else wants.
"""

from __future__ import annotations

from kmirror.cluster.authorizer import CLUSTER, Rights
from kmirror.cluster.controller.apis import create_partitions as cluster
from kmirror.cluster.controller.context import ControllerContext
from kmirror.cluster.controller.decisions import ApiError, Decision
from kmirror.kernel.clock import Instant
from kmirror.mirror.controller_apis.membership import check_may_change
from kmirror.protocol.gen.create_partitions_request import CreatePartitionsRequest
from kmirror.spec.wire_values import AclOperation


def decide(
    context: ControllerContext, now: Instant, request: CreatePartitionsRequest, version: int, rights: Rights
) -> Decision:
    """Return the decision of the cluster's own handler; READ_ONLY_TOPIC for a topic that is in a mirror."""

    def may_change(known: ControllerContext, topic: str) -> None:
        try:
            check_may_change(known, topic)
        except ApiError:  # Only then does it matter who asks.
            if rights.is_forwarded or not rights.allow(AclOperation.CLUSTER_ACTION, CLUSTER):
                raise

    return cluster.decide_with(may_change, context, request, rights)
