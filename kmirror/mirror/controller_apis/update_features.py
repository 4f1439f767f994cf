"""UpdateFeatures: mirroring cannot be disabled while a mirror exists (D52)."""

from __future__ import annotations

from kmirror.cluster.authorizer import Rights
from kmirror.cluster.controller.apis import update_features as cluster
from kmirror.cluster.controller.context import ControllerContext
from kmirror.cluster.controller.decisions import Decision
from kmirror.kernel.clock import Instant
from kmirror.kernel.names import few
from kmirror.mirror.configs import mirror_names
from kmirror.protocol.gen.update_features_request import UpdateFeaturesRequest
from kmirror.spec.features import MIRROR_VERSION


def decide(
    context: ControllerContext, now: Instant, request: UpdateFeaturesRequest, version: int, rights: Rights
) -> Decision:
    """Return the decision of the cluster's own handler; INVALID_UPDATE_VERSION for level 0 while there are mirrors."""
    return cluster.decide_with(_level_error, context, request, version, rights)


def _level_error(context: ControllerContext, name: str, level: int) -> str | None:
    mirrors = mirror_names(context.image)
    if name != MIRROR_VERSION or level or not mirrors:
        return None
    return f"There are mirrors: {few(mirrors, 'mirrors')}. Remove their topics and delete them first."
