"""CreatePartitions: a topic that is mirrored has the partitions of its source (D7).

Only the metadata sync adds some (D17): a broker of this cluster, which does not pass on what somebody else wants, and
only while the topic is mirrored (D75).
"""

from __future__ import annotations

from kmirror.cluster.authorizer import CLUSTER, Rights
from kmirror.cluster.controller.apis import create_partitions as cluster
from kmirror.cluster.controller.context import ControllerContext
from kmirror.cluster.controller.decisions import Decision
from kmirror.kernel.clock import Instant
from kmirror.mirror.controller_apis.membership import check_may_change, check_mirrored
from kmirror.protocol.gen.create_partitions_request import CreatePartitionsRequest, CreatePartitionsTopic
from kmirror.spec.wire_values import AclOperation


def decide(
    context: ControllerContext, now: Instant, request: CreatePartitionsRequest, version: int, rights: Rights
) -> Decision:
    """Return the decision of the cluster's own handler; READ_ONLY_TOPIC for a topic that is in a mirror."""

    def may_change(known: ControllerContext, topic: CreatePartitionsTopic) -> None:
        if topic.mirror_name and not rights.is_forwarded and rights.allow(AclOperation.CLUSTER_ACTION, CLUSTER):
            check_mirrored(known, topic.mirror_name, topic.name, topic.topic_id)
        else:
            check_may_change(known, topic.name)

    return cluster.decide_with(may_change, context, request, rights)
