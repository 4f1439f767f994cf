"""Plan of a history: clusters, clients and steps as data. The same plan always gives the same run.

A plan is drawn from a seed and a profile (draw.py) or read from a file. It converts to JSON and back without loss, so a
failing plan can be saved, shrunk and shared. Times are virtual milliseconds since the clusters were up.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from kmirror.errors import UsageError

Value = str | int | bool


@dataclass(frozen=True, slots=True)
class ClusterPlan:
    """One cluster of a history."""

    name: str
    """a, b, c, d."""
    brokers: int
    """Number of brokers; their ids start at 1."""
    replication_factor: int
    """Replication factor of the topics that the history creates."""
    configs: Mapping[str, str] = field(default_factory=dict)
    """Configs of all brokers and of the controller."""
    mirror_version: int = 1
    """Level of the feature `mirror.version`; 0 for a cluster that cannot mirror."""
    transaction_version: int = 2
    """Level of the feature `transaction.version`."""
    release: str = ""
    """Earlier Kafka release that the brokers imitate for clients and mirrors; empty for none."""
    log_dirs: int = 1
    """Number of log directories of each broker."""
    racks: int = 0
    """Number of racks, assigned round robin: broker 1 is in rack r1, broker 2 in r2; 0 for no racks."""
    eligible_version: int = 0
    """Level of `eligible.leader.replicas.version` (KIP-966)."""


@dataclass(frozen=True, slots=True)
class ClientPlan:
    """A producer or consumer that works during the whole history."""

    name: str
    """Any name that no other client has."""
    kind: str
    """Row of workloads.KINDS, such as plain, idempotent, overlapping, read_committed."""
    cluster: str
    """Cluster where it begins; steps may move it to another cluster."""
    topics: tuple[str, ...]
    """Topics that it writes or reads; a topic need not exist yet."""
    pause_ms: int
    """Average pause between two actions; each is random, from half to one and a half times that."""
    options: Mapping[str, Value] = field(default_factory=dict)
    """Options of its kind, such as `group` and `members`, `output`, `in_flight`, `timeout_ms`, `outages`."""


@dataclass(frozen=True, slots=True)
class Step:
    """An operator's order or a fault, carried out `at_ms`, or at the time of the previous step if that is later."""

    at_ms: int
    """Time since the clusters were up."""
    action: str
    """Row of actions.ACTIONS, such as add, remove, kill_broker, line_down."""
    args: Mapping[str, Value] = field(default_factory=dict)
    """Required and optional arguments of the action."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Complete description of a history; the same plan gives the same run."""

    seed: int
    """Seed of all random choices in the run."""
    profile: str
    """Profile from which it was drawn; any text in a plan written by hand."""
    clusters: tuple[ClusterPlan, ...]
    """Two to four."""
    network: Mapping[str, int]
    """Fields of sim.network.NetworkOptions."""
    clients: tuple[ClientPlan, ...]
    """Producers, consumers and groups."""
    steps: tuple[Step, ...]
    """Orders and faults, earliest first."""
    faults_end_ms: int
    """Time at which all faults end: nodes start, lines come up, clients end their transactions."""
    converge_ms: int
    """Time after `faults_end_ms` within which everything must settle."""
    topics: Mapping[str, str] = field(default_factory=dict)
    """Topics that exist from the start: name to partition count and cluster, such as `2@a`."""
    closes_rings: bool = True
    """Operators also give an order that lets clusters mirror a topic in a ring; see rings.py."""
    restart: Mapping[str, str] = field(default_factory=dict)
    """How each node ends before the final restart: node such as `a-1` to stop or kill. Empty for no restart."""

    def steps_that(self, *actions: str) -> list[Step]:
        """Return the steps with one of these actions, carried out directly or by a trap."""
        return [step for step in self.steps if step.action in actions or step.args.get("do") in actions]

    def to_json(self) -> str:
        """Return the plan as JSON text, indented, keys in the order of the fields."""
        return json.dumps(asdict(self), indent=1)

    @classmethod
    def from_json(cls, text: str) -> Plan:
        """Return the plan in `text`.

        Raise UsageError if it is not a plan. `plan_check.problem` checks whether the plan can be run.
        """
        try:
            return cls._from_raw(json.loads(text))
        except KeyError as error:
            raise UsageError(f"this is not a plan: it has no {error.args[0]!r}") from None
        except RecursionError:
            raise UsageError("this is not a plan: lists or objects are nested too deeply") from None
        except (ValueError, TypeError, AttributeError) as error:
            raise UsageError(f"this is not a plan: {' '.join(str(error).split())}") from None

    @classmethod
    def _from_raw(cls, raw: dict[str, Any]) -> Plan:
        return cls(
            seed=raw["seed"],
            profile=raw["profile"],
            clusters=tuple(ClusterPlan(**row) for row in raw["clusters"]),
            network=raw["network"],
            clients=tuple(ClientPlan(**{**row, "topics": tuple(row["topics"])}) for row in raw["clients"]),
            steps=tuple(Step(**row) for row in raw["steps"]),
            faults_end_ms=raw["faults_end_ms"],
            converge_ms=raw["converge_ms"],
            topics=raw["topics"],
            closes_rings=raw.get("closes_rings", True),
            restart=raw.get("restart", {}),
        )
