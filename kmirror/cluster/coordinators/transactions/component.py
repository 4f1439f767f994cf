"""The transaction coordinator as a component of a broker."""

from __future__ import annotations

from kmirror.cluster.broker.parts import BrokerParts
from kmirror.cluster.coordinators.transactions.apis.routes import routes
from kmirror.cluster.coordinators.transactions.coordinator import TransactionCoordinator
from kmirror.cluster.server import Routes


class TransactionComponent(TransactionCoordinator):
    """A transaction coordinator with the routes of its requests."""

    def __init__(self, parts: BrokerParts) -> None:
        super().__init__(parts.context, parts.lifecycle, parts.replicas)
        self._components = parts.components

    def routes(self) -> Routes:
        return routes(self, self._components)
