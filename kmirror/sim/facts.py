"""What can a script watch for? The kinds of facts that a simulation tells, each with when and where it was seen.

    simulation.on(NodeKilled, lambda seen: print(seen.at_ms, seen.node))
    simulation.on(StateEntered, lambda seen: print(seen.cluster, seen.fact.tp, seen.fact.state.name))
    [seen.fact.offset for seen in simulation.facts(LogCut)]

Nodes tell what they did, the world tells what was done to them, and a cluster's client tells which orders it gave.
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
"""(sender, receiver) of each direction, clusters or nodes."""


@dataclass(frozen=True, slots=True)
class NodeStarted:
    """A node's process began: a broker's or a controller's."""


@dataclass(frozen=True, slots=True)
class NodeKilled:
    """A broker's or a controller's process ended without warning; a broker's session at the controller lasts on."""


@dataclass(frozen=True, slots=True)
class PowerLost:
    """A node was killed by a power cut: so many bytes that it had not flushed are not on its disk."""

    lost_bytes: int


@dataclass(frozen=True, slots=True)
class NodeStopped:
    """A broker's or a controller's process ended in order."""


@dataclass(frozen=True, slots=True)
class LineDown:
    """What one cluster or node sends to another is lost from now on."""

    line: str
    """`a|b`, or one way `a>b`."""
    directions: Directions
    """Those of the line that were not down before."""


@dataclass(frozen=True, slots=True)
class LineUp:
    """Nothing is lost on this line any more."""

    line: str
    directions: Directions
    """Those of the line that were down before."""


@dataclass(frozen=True, slots=True)
class LineChanged:
    """A line was given other properties, or with empty settings all those back that it was built with."""

    line: str
    directions: Directions
    settings: LineSettings
    """What was set now; what was set before and is not named here stays as it was."""


@dataclass(frozen=True, slots=True)
class OrderSent:
    """A cluster's client sent an order, such as RemoveTopicsFromMirror; `number` counts those of its client."""

    number: int
    request: Message


@dataclass(frozen=True, slots=True)
class OrderAnswered:
    """The answer to an order came, or an error code in its place: nobody answered in time."""

    number: int
    answer: Message | ErrorCode
