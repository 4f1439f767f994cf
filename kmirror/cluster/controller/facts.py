"""What does a controller tell those who watch it? Values beside the lines of the trace."""

from __future__ import annotations

from dataclasses import dataclass

from kmirror.cluster.images import NO_LEADER
from kmirror.kernel.ids import TopicPartition


@dataclass(frozen=True, slots=True)
class BrokerFenced:
    """A broker lost its leaderships and left every ISR; until this moment others waited for it."""

    broker_id: int
    why: str


@dataclass(frozen=True, slots=True)
class BrokerUnfenced:
    """A broker has caught up with the metadata, and may lead and join ISRs."""

    broker_id: int


@dataclass(frozen=True, slots=True)
class BrokerRefused:
    """A broker that belongs to another cluster wanted to register, and was told so."""

    broker_id: int
    cluster_id: str
    """The broker's."""
    cluster_id_here: str

    def __str__(self) -> str:
        return f"broker {self.broker_id} is of cluster {self.cluster_id}, and this is cluster {self.cluster_id_here}"


@dataclass(frozen=True, slots=True)
class LeaderElected:
    """A partition has a leader in a new leader epoch: another broker, or the same one after a bump of the epoch."""

    tp: TopicPartition
    leader: int
    """The broker's id, or -1: nobody who may lead is alive."""
    leader_epoch: int
    isr: tuple[int, ...]
    unclean: bool = False
    """The leader was neither in the ISR nor eligible (KIP-966)."""

    def __str__(self) -> str:
        if self.leader == NO_LEADER:
            return f"{self.tp} has no leader in epoch {self.leader_epoch}"
        return f"{self.tp} is led by {self.leader} in epoch {self.leader_epoch}{', uncleanly' * self.unclean}"
