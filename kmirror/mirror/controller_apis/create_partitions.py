"""CreatePartitions: a mirrored topic has its source's partitions, which only the metadata sync adds (D7, D17).

The sync is recognised as a broker of this cluster that does not forward another client's request.
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

    def check_change(known: ControllerContext, topic: str) -> None:
        try:
            check_may_change(known, topic)
        except ApiError:  # Only then does it matter who sent the request.
            if rights.is_forwarded or not rights.allow(AclOperation.CLUSTER_ACTION, CLUSTER):
                raise

    return cluster.decide_with(check_change, context, request, rights)
