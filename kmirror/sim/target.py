"""`Target`: what a producer or a consumer inside the simulation has to know of the cluster that it speaks to."""

from __future__ import annotations

from typing import Protocol

from kmirror.cluster.images import MetadataImage
from kmirror.errors import KafkaError, UsageError, did_you_mean
from kmirror.kernel.arguments import shown
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.sim.client import Client
from kmirror.sim.simulation import Simulation
from kmirror.spec.error_codes import ErrorCode


def check_target(cluster: Target) -> None:
    """Raise UsageError for what is no cluster."""
    if not hasattr(cluster, "broker_ids"):
        raise UsageError(f"a client speaks to a Cluster, not to {shown(cluster)}")


def unknown_partition(cluster: Target, tp: TopicPartition) -> KafkaError:
    """Return the error about a partition that a cluster does not have; it names those that are there."""
    topic = cluster.image.topics.get(tp.topic)
    if topic is not None:
        there = f"topic {tp.topic} of cluster {cluster.name} has the partitions {', '.join(map(str, topic.partitions))}"
    else:
        hint = did_you_mean(tp.topic, cluster.image.topics)
        there = f"cluster {cluster.name} has no topic {tp.topic!r}{hint and f': {hint}'}"
    code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return cluster.simulation.refusal(code, f"{tp}: {code.name}: {there}")


class Target(Protocol):
    """A cluster by its brokers' addresses. `Cluster` is one, and makes producers and consumers of itself."""

    simulation: Simulation
    name: str
    broker_ids: tuple[int, ...]

    @property
    def client(self) -> Client: ...

    @property
    def image(self) -> MetadataImage: ...

    def endpoint(self, node_id: int) -> Endpoint: ...

    def living(self) -> list[int]:
        """Return the ids of brokers whose process runs."""
