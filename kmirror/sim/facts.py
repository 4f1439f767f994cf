"""Facts that a script can watch, each with time and place.

    simulation.on(NodeKilled, lambda seen: print(seen.at_ms, seen.node))
    simulation.on(StateEntered, lambda seen: print(seen.cluster, seen.fact.tp, seen.fact.state.name))
    [seen.fact.offset for seen in simulation.facts(LogCut)]

Nodes report their own actions, the world reports starts, kills and faults, and a cluster's client reports its admin
requests.
"""

from __future__ import annotations

from dataclasses import dataclass

from kmirror.cluster.controller.facts import BrokerFenced, BrokerUnfenced, LeaderElected
from kmirror.mirror.facts import LogCut, ProducersReset, ReasonChanged, StateEntered, UncleanSource
from kmirror.protocol.message import Message
from kmirror.sim.network import LineSettings
from kmirror.sim.watching import Seen
from kmirror.spec.error_codes import ErrorCode

__all__ = [
    "BrokerFenced",
    "BrokerUnfenced",
    "LeaderElected",
    "LineChanged",
    "LineDown",
    "LineUp",
    "LogCut",
    "NodeKilled",
    "NodeStarted",
    "NodeStopped",
    "OrderAnswered",
    "OrderSent",
    "PowerLost",
    "ProducersReset",
    "ReasonChanged",
    "Seen",
    "StateEntered",
    "UncleanSource",
]


Directions = tuple[tuple[str, str], ...]
"""(sender, receiver) of each direction: clusters or nodes."""


@dataclass(frozen=True, slots=True)
class NodeStarted:
    """A broker or controller process started."""


@dataclass(frozen=True, slots=True)
class NodeKilled:
    """A broker or controller process was killed; a broker's session at the controller continues."""


@dataclass(frozen=True, slots=True)
class PowerLost:
    """A node was killed by a power cut; `lost_bytes` unflushed bytes are not on its disk."""

    lost_bytes: int


@dataclass(frozen=True, slots=True)
class NodeStopped:
    """A broker or controller process was shut down cleanly."""


@dataclass(frozen=True, slots=True)
class LineDown:
    """Data from one cluster or node to another is lost from now on."""

    line: str
    """`a|b`, or `a>b` for one direction."""
    directions: Directions
    """Directions of the line that were not down before."""


@dataclass(frozen=True, slots=True)
class LineUp:
    """No more data is lost on this line."""

    line: str
    directions: Directions
    """Directions of the line that were down before."""


@dataclass(frozen=True, slots=True)
class LineChanged:
    """Properties of a line were changed; with empty settings, all were reset to the original ones."""

    line: str
    directions: Directions
    settings: LineSettings
    """Properties set by this change; the others keep their earlier values."""


@dataclass(frozen=True, slots=True)
class OrderSent:
    """A cluster's client sent an admin request, such as RemoveTopicsFromMirror; `number` counts its requests."""

    number: int
    request: Message


@dataclass(frozen=True, slots=True)
class OrderAnswered:
    """An admin request got its response, or an error code if no response arrived in time."""

    number: int
    answer: Message | ErrorCode
