"""`Target`: what a producer or a consumer inside the simulation has to know of the cluster that it speaks to."""

from __future__ import annotations

from typing import Protocol

from kmirror.cluster.images import MetadataImage
from kmirror.errors import KafkaError, UsageError
from kmirror.kernel.arguments import shown
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.sim.client import Client
from kmirror.sim.simulation import Simulation


def check_target(cluster: Target) -> None:
    """Raise UsageError for what is no cluster."""
    if not hasattr(cluster, "broker_ids"):
        raise UsageError(f"a client speaks to a Cluster, not to {shown(cluster)}")


class Target(Protocol):
    """A cluster by its brokers' addresses. `Cluster` is one, and makes producers and consumers of itself."""

    simulation: Simulation
    name: str
    broker_ids: tuple[int, ...]

    @property
    def client(self) -> Client: ...

    @property
    def image(self) -> MetadataImage: ...

    def unknown_partition(self, tp: TopicPartition) -> KafkaError: ...

    def endpoint(self, node_id: int) -> Endpoint: ...

    def living(self) -> list[int]:
        """Return the ids of brokers whose process runs."""
