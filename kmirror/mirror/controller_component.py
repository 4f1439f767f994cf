"""The mirror APIs that a controller decides."""

from __future__ import annotations

from collections.abc import Mapping

from kmirror.cluster.controller.decisions import Decide
from kmirror.mirror.controller_apis.routes import DECISIONS
from kmirror.protocol.message import Message


class MirrorControllerComponent:
    """Plugs the decisions of the mirror APIs into a controller."""

    def decisions(self) -> Mapping[type[Message], Decide]:
        return DECISIONS
