"""What happens in a history? A plan: clusters, clients and steps, all of it data; the same plan is the same run.

A plan is drawn from a seed and a profile (draw.py), or read from a file. It goes to JSON and back without loss, so that
a failing one can be kept, shrunk and sent on. Times are virtual milliseconds since the clusters were up.
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
    """Their number; their ids are 1 and up."""
    replication_factor: int
    """Of the topics that the history creates."""
    configs: Mapping[str, str] = field(default_factory=dict)
    """Configs of all brokers and of the controller."""
    mirror_version: int = 1
    """Level of the feature; 0 for a cluster that cannot mirror."""
    transaction_version: int = 2
    """Level of the feature."""
    release: str = ""
    """The earlier release of Kafka that its brokers play for clients and mirrors; empty for none."""
    log_dirs: int = 1
    """Log directories of each broker."""
    racks: int = 0
    """Broker 1 is in rack r1, broker 2 in r2 and so on, and after the last rack in r1 again; 0 for no racks."""
    eligible_version: int = 0
    """Level of `eligible.leader.replicas.version` (KIP-966)."""


@dataclass(frozen=True, slots=True)
class ClientPlan:
    """One producer or consumer that works through the whole history."""

    name: str
    """Any, each once."""
    kind: str
    """A row of workloads.KINDS, such as plain, idempotent, overlapping, read_committed."""
    cluster: str
    """Where it begins; steps may send it to another cluster."""
    topics: tuple[str, ...]
    """What it writes or reads; a topic need not exist yet."""
    pause_ms: int
    """How long it may rest between two things that it does."""
    options: Mapping[str, Value] = field(default_factory=dict)
    """What some kinds take, such as `group` and `members`, `output`, `in_flight`, `timeout_ms`, `outages`."""


@dataclass(frozen=True, slots=True)
class Step:
    """One order of an operator, or one fault; carried out `at_ms`, or as soon as the step before it was begun."""

    at_ms: int
    """When, since the clusters were up."""
    action: str
    """A row of actions.ACTIONS, such as add, remove, kill_broker, line_down."""
    args: Mapping[str, Value] = field(default_factory=dict)
    """What the action needs and takes."""


@dataclass(frozen=True, slots=True)
class Plan:
    """All that a history is made of: the same plan gives the same run."""

    seed: int
    """All chance in the run follows from it."""
    profile: str
    """The profile that it was drawn from; any word in a plan that was written by hand."""
    clusters: tuple[ClusterPlan, ...]
    """Two to four."""
    network: Mapping[str, int]
    """Fields of sim.network.NetworkOptions."""
    clients: tuple[ClientPlan, ...]
    """Producers, consumers and groups."""
    steps: tuple[Step, ...]
    """Orders and faults, the earliest first."""
    faults_end_ms: int
    """Here all faults end: nodes are started, lines come up, clients end their transactions."""
    converge_ms: int
    """So long everything may take after that to come to rest."""
    topics: Mapping[str, str] = field(default_factory=dict)
    """Topics that exist from the start: name to the cluster that has it, with `partitions` in front, such as `2@a`."""
    closes_rings: bool = True
    """Operators also give an order that lets clusters mirror a topic in a ring; see rings.py."""
    restart: Mapping[str, str] = field(default_factory=dict)
    """How each node ends before it starts again when all is over: `a-1` to stop or kill. Empty for no restart."""

    def steps_that(self, *actions: str) -> list[Step]:
        """Return the steps that do one of these actions, at once or when their trap springs."""
        return [step for step in self.steps if step.action in actions or step.args.get("do") in actions]

    def to_json(self) -> str:
        """Return the plan as JSON text, indented, keys in the order of the fields."""
        return json.dumps(asdict(self), indent=1)

    @classmethod
    def from_json(cls, text: str) -> Plan:
        """Return the plan that `text` holds; UsageError if it holds none. Whether it can be run is not asked here."""
        try:
            return cls._from_raw(json.loads(text))
        except KeyError as error:
            raise UsageError(f"this is not a plan: it has no {error.args[0]!r}") from None
        except RecursionError:
            raise UsageError("this is not a plan: too many lists or objects in each other") from None
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
