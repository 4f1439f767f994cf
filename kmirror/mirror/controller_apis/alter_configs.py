"""AlterConfigs with mirrors: the request replaces a mirror's configs; other resources are the cluster's.

The source cluster id that a mirror remembers stays (D16).
"""

from __future__ import annotations

from kmirror.cluster.authorizer import Rights
from kmirror.cluster.controller.apis import alter_configs as cluster
from kmirror.cluster.controller.context import ControllerContext
from kmirror.cluster.controller.decisions import Decision
from kmirror.kernel.clock import Instant
from kmirror.mirror.controller_apis.incremental_alter_configs import ALTERS
from kmirror.protocol.gen.alter_configs_request import AlterConfigsRequest


def decide(
    context: ControllerContext, now: Instant, request: AlterConfigsRequest, version: int, rights: Rights
) -> Decision:
    """Return the decision of the cluster's own handler, with mirrors as an additional resource type if enabled.

    No version of AlterConfigs belongs to mirroring: with mirroring disabled, a mirror is an unknown resource.
    """
    if not context.mirror_enabled:
        return cluster.decide(context, now, request, version, rights)
    return cluster.decide_with(ALTERS, context, request, rights)
