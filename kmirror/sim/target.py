"""`Target`: what a producer or a consumer inside the simulation has to know of the cluster that it speaks to."""

from __future__ import annotations

from typing import Protocol

from kmirror.cluster.images import MetadataImage
from kmirror.kernel.ids import Endpoint
from kmirror.sim.client import Client
from kmirror.sim.simulation import Simulation


class Target(Protocol):
    """A cluster by its brokers' addresses. `Cluster` is one, and makes producers and consumers of itself."""

    simulation: Simulation
    name: str
    broker_ids: tuple[int, ...]
    client: Client

    @property
    def image(self) -> MetadataImage: ...

    def endpoint(self, node_id: int) -> Endpoint: ...

    def living(self) -> list[int]:
        """Return the ids of brokers whose process runs."""
