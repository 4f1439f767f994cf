"""`Target`: the interface of a cluster that producers and consumers in the simulation need."""

from __future__ import annotations

from typing import Protocol

from kmirror.cluster.images import MetadataImage
from kmirror.errors import KafkaError, UsageError
from kmirror.kernel.arguments import shown
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.sim.client import Client
from kmirror.sim.simulation import Simulation


def check_target(cluster: Target) -> None:
    """Raise UsageError if `cluster` is not a cluster."""
    if not hasattr(cluster, "broker_ids"):
        raise UsageError(f"a client needs a Cluster, not {shown(cluster)}")


class Target(Protocol):
    """Cluster with the addresses of its brokers; implemented by `Cluster`."""

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
        """Return the ids of the running brokers."""
