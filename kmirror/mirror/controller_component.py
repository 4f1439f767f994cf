"""The mirror APIs that a controller decides."""

from __future__ import annotations

from collections.abc import Mapping

from kmirror.cluster.decisions import Decide
from kmirror.mirror.broker_apis.routes import DECISIONS


class MirrorControllerComponent:
    """Plugs the decisions of the mirror APIs into a controller."""

    def decisions(self) -> Mapping[int, Decide]:
        return DECISIONS
