"""Facts that a controller reports to observers, as values beside the lines of the trace."""

from __future__ import annotations

from dataclasses import dataclass

from kmirror.cluster.images import NO_LEADER
from kmirror.kernel.ids import TopicPartition


@dataclass(frozen=True, slots=True)
class BrokerFenced:
    """A broker lost its leaderships and left every ISR; until then other brokers waited for it."""

    broker_id: int
    why: str


@dataclass(frozen=True, slots=True)
class BrokerUnfenced:
    """A broker has caught up with the metadata, and may lead and join ISRs."""

    broker_id: int


@dataclass(frozen=True, slots=True)
class BrokerRefused:
    """A registration was rejected because the broker belongs to another cluster."""

    broker_id: int
    cluster_id: str
    """Cluster id of the broker."""
    cluster_id_here: str

    def __str__(self) -> str:
        return f"broker {self.broker_id} is of cluster {self.cluster_id}, and this is cluster {self.cluster_id_here}"


@dataclass(frozen=True, slots=True)
class LeaderElected:
    """A partition has a leader in a new leader epoch; it may be the same broker as before."""

    tp: TopicPartition
    leader: int
    """Broker id; -1 if no live broker may lead."""
    leader_epoch: int
    isr: tuple[int, ...]
    unclean: bool = False
    """Whether the leader was neither in the ISR nor eligible (KIP-966)."""

    def __str__(self) -> str:
        if self.leader == NO_LEADER:
            return f"{self.tp} has no leader in epoch {self.leader_epoch}"
        return f"{self.tp} is led by {self.leader} in epoch {self.leader_epoch}{', uncleanly' * self.unclean}"
