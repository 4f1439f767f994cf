"""The component that adds the mirror APIs to a controller."""

from __future__ import annotations

from collections.abc import Mapping

from kmirror.cluster.controller.decisions import Decide
from kmirror.mirror.controller_apis.routes import DECISIONS
from kmirror.protocol.message import Message


class MirrorControllerComponent:
    """Adds the decisions of the mirror APIs to a controller."""

    def decisions(self) -> Mapping[type[Message], Decide]:
        return DECISIONS
