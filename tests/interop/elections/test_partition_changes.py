"""ISR, eligible replicas and leader after a change: Kafka's PartitionChangeBuilder and kmirror's controller (D71)."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from kmirror.cluster.controller import elections
from kmirror.cluster.images import LEADER_UNCHANGED, NO_LEADER, BrokerImage, Delta, MetadataImage
from kmirror.kernel.ids import Endpoint
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.feature_level_record import FeatureLevelRecord
from kmirror.protocol.gen.partition_change_record import PartitionChangeRecord
from kmirror.protocol.gen.partition_record import PartitionRecord
from kmirror.protocol.gen.topic_record import TopicRecord
from kmirror.protocol.message import Message
from kmirror.spec.configs import broker_configs
from kmirror.spec.features import ELIGIBLE_VERSION
from tests.interop.jvm import java

PROGRAM = Path(__file__).with_name("PartitionChanges.java")
TOPIC_ID = Uuid.from_ints(0, 5)
COUNT = 20_000
NOTHING = "= = = = ="
KINDS = ("fence", "unclean", "unfence", "isr")


@dataclass(frozen=True)
class Case:
    replicas: Sequence[int]
    isr: Sequence[int]
    eligible: Sequence[int]
    last_known: Sequence[int]
    leader: int
    alive: Sequence[int]
    """Before the change; a broker to be fenced is included, one to be unfenced is not."""
    min_isr: int
    unclean: bool
    kind: str
    broker: int
    proposed: Sequence[int] = ()
    recovering: bool = False

    @property
    def line(self) -> str:
        """Return the case in the form of Kafka's controller (ReplicationControlManager)."""
        left = [b for b in self.isr if b != self.broker] if self.kind in ("fence", "unclean") else self.isr
        able = {*self.alive, self.broker} if self.kind == "unfence" else set(self.alive)
        if self.kind in ("fence", "unclean"):
            able.discard(self.broker)
        fields = (
            _text(self.replicas),
            _text(self.isr),
            _text(self.eligible),
            _text(self.last_known),
            str(self.leader),
            _text(self.proposed if self.kind == "isr" else left),
            _text(sorted(able)),
            str(self.broker) if self.kind == "unclean" else "-",
            str(min(self.min_isr, len(self.replicas))),
            str(self.unclean).lower(),
            str(self.recovering).lower(),
            str(self.kind == "isr").lower(),
        )
        return " ".join(fields)


def _text(members: Sequence[int] | None) -> str:
    if members is None:
        return "="
    return ",".join(map(str, members)) or "-"


def draw_case(rng: random.Random) -> Case:
    """Return a possible partition of a controller, and an event."""
    replicas = rng.sample(range(1, 6), rng.randint(1, 4))
    some = [b for b in replicas if rng.random() < 0.5]
    isr = [b for b in some if rng.random() < 0.5]
    eligible = sorted(b for b in some if b not in isr)
    alive = [b for b in replicas if rng.random() < 0.6]
    able = [b for b in alive if b in isr]
    leader, last_known = NO_LEADER, [rng.choice(replicas)] if rng.random() < 0.8 else []
    if able:
        leader, last_known = rng.choice(able), []
    else:  # Without a leader no replica that may lead is alive.
        alive = [b for b in alive if b not in (isr or eligible)]
    case = Case(replicas, isr, eligible, last_known, leader, alive, rng.randint(1, 4), rng.random() < 0.2, "isr", 0)
    case = replace(case, recovering=rng.random() < 0.2)
    kind = rng.choice(KINDS)
    if kind == "isr" and leader != NO_LEADER:
        joining = [b for b in alive if b != leader and rng.random() < 0.5]
        return replace(case, broker=leader, proposed=rng.sample([leader, *joining], len(joining) + 1))
    if kind == "fence" and isr:
        return replace(case, kind=kind, broker=rng.choice(isr))
    if kind == "unclean" and [b for b in some if b != leader]:
        gone = rng.choice([b for b in some if b != leader])
        return replace(case, kind=kind, broker=gone, alive=[b for b in alive if b != gone])
    if leader == NO_LEADER and (dead := [b for b in replicas if b not in alive]):
        return replace(case, kind="unfence", broker=rng.choice(dead))
    return draw_case(rng)


def kmirrors_change(case: Case) -> str:
    """Return the change that kmirror's controller writes."""
    image = MetadataImage()
    partition = PartitionRecord(
        partition_id=0,
        topic_id=TOPIC_ID,
        replicas=list(case.replicas),
        isr=list(case.isr),
        leader=case.leader,
        leader_epoch=7,
        partition_epoch=2,
        eligible_leader_replicas=list(case.eligible),
        last_known_elr=list(case.last_known),
        leader_recovery_state=int(case.recovering),
    )
    level = FeatureLevelRecord(name=ELIGIBLE_VERSION, feature_level=1)
    for record in (level, TopicRecord(name="t", topic_id=TOPIC_ID), partition):
        image.apply(record, Delta())
    for broker_id in case.replicas:
        fenced = broker_id not in case.alive
        image.brokers[broker_id] = BrokerImage(
            broker_id, 1, Uuid.from_ints(9, broker_id), {"PLAINTEXT": Endpoint("b", 1)}, fenced
        )
    unclean = str(case.unclean).lower()
    configs = broker_configs({"min.insync.replicas": str(case.min_isr), "unclean.leader.election.enable": unclean}, {})
    records: Sequence[Message | None]
    match case.kind:
        case "fence":
            records = elections.fence_records(image, configs, case.broker)
        case "unclean":
            records = elections.unclean_records(image, configs, case.broker)
        case "unfence":
            records = elections.elect_leaderless(image, configs, case.broker)
        case _:
            records = [elections.with_isr(image, configs, image.topics["t"], 0, case.proposed, recovered=True)]
    assert len(records) <= 1
    change = records[0] if records else None
    if change is None:
        return NOTHING
    assert isinstance(change, PartitionChangeRecord)
    leader = "=" if change.leader == LEADER_UNCHANGED else str(change.leader)
    members = change.isr, change.eligible_leader_replicas, change.last_known_elr
    recovery = "=" if change.leader_recovery_state < 0 else str(change.leader_recovery_state)
    return " ".join((leader, *map(_text, members), recovery))


@pytest.mark.decision("D71")
def test_kafkas_controller_decides_the_same(kafka_class_path: str) -> None:
    rng = random.Random(966)
    cases = [draw_case(rng) for _ in range(COUNT)]
    done = subprocess.run(
        java(kafka_class_path, PROGRAM),
        input="".join(f"{case.line}\n" for case in cases),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answers = done.stdout.splitlines()
    assert len(answers) == COUNT
    differences = [
        (case, f"Kafka: {theirs}", f"here: {ours}")
        for case, theirs in zip(cases, answers, strict=True)
        if theirs != (ours := kmirrors_change(case))
    ]
    assert differences == []
    assert {case.kind for case, answer in zip(cases, answers, strict=True) if answer != NOTHING} == set(KINDS)
