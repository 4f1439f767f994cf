"""The group coordinator as a component of a broker."""

from __future__ import annotations

from kmirror.cluster.broker.parts import BrokerParts
from kmirror.cluster.coordinators.groups.apis.routes import routes
from kmirror.cluster.coordinators.groups.coordinator import GroupCoordinator
from kmirror.cluster.server import Routes


class GroupComponent(GroupCoordinator):
    """A group coordinator with the routes of its requests."""

    def __init__(self, parts: BrokerParts) -> None:
        super().__init__(parts.context, parts.replicas)
        self._parts = parts

    def routes(self) -> Routes:
        return routes(self, self._parts)
