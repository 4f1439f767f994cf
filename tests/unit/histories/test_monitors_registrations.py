"""The rule of registrations: a broker after an unclean shutdown is in no ISR, and not eligible (D71)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.histories.coordinator_observer import is_unclean
from kmirror.histories.monitors.frames import PendingRequest
from kmirror.histories.monitors.registrations import RegistrationMonitor
from kmirror.histories.monitors.rules import Rules
from kmirror.histories.monitors.views import view_of
from kmirror.histories.plan import ClusterPlan, Plan
from kmirror.histories.scene import Scene
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.broker_registration_request import BrokerRegistrationRequest
from kmirror.sim.cluster import Cluster
from kmirror.sim.simulation import Simulation
from kmirror.spec.features import ELIGIBLE_VERSION
from tests.unit.histories.monitors import Link

pytestmark = pytest.mark.decision("D71")
T = TopicPartition("t", 0)
AGAIN = Uuid(b"a second process")


@pytest.mark.parametrize("level", [0, 1])
@pytest.mark.parametrize("ended", ["in its last epoch", "before", "uncleanly"])
@pytest.mark.parametrize("place", ["isr", "eligible", ""])
def test_an_unclean_shutdown_ends_isr_membership_and_eligibility(level: int, ended: str, place: str) -> None:
    simulation = Simulation(1)
    scene = Scene(Plan(1, "by hand", (ClusterPlan("a", 3, 3),), {}, (), (), 1, 1, {}), simulation)
    cluster = scene.clusters["a"] = Cluster(simulation, "a", brokers=3)
    cluster.start()
    cluster.create_topic("t", 1)
    before, after = view_of(cluster.image, None), view_of(cluster.image, None)
    for view in (before, after):
        view.features[ELIGIBLE_VERSION] = level
    known = before.brokers[2]
    epoch = {"in its last epoch": known.epoch, "before": known.epoch - 1, "uncleanly": -1}[ended]
    monitor, request = RegistrationMonitor(scene, Rules(scene)), BrokerRegistrationRequest(2, "a", AGAIN)
    request.previous_broker_epoch = epoch
    link = Link("a-2", "a-controller")
    monitor.on_request(PendingRequest("a", CONTROLLER_ID, link, request.API_KEY, 4, request, 0))  # type: ignore[arg-type]
    after.brokers[2] = replace(known, incarnation=AGAIN, epoch=known.epoch + 10, fenced=True)
    partition, others = before.topics["t"].partitions[0], {"isr": (1, 3), "eligible": ()}
    changed = replace(partition, **{**others, **({place: (2,)} if place else {})})  # type: ignore[arg-type]
    after.topics["t"].partitions[0] = changed
    monitor.controller_handled("a", before, after)
    is_wrong = bool(level and place and ended != "in its last epoch")
    assert [rule for _, _, rule in scene.account.broken_rules] == (["eligible-unclean"] if is_wrong else [])


def test_a_leader_out_of_the_eligible_replicas_is_elected_cleanly() -> None:
    cluster = Cluster(Simulation(1), "a", brokers=3)
    cluster.start()
    cluster.create_topic("t", 1)
    before = replace(cluster.image.topics["t"].partitions[0], leader=-1, isr=(), eligible=(1, 2))
    for leader in (1, 2, 3):
        assert is_unclean(before, replace(before, leader=leader, isr=(leader,), eligible=())) is (leader == 3)
    in_sync = replace(before, leader=1, isr=(1,), eligible=(2,))
    assert not is_unclean(in_sync, replace(in_sync, leader=-1, isr=(), eligible=(1, 2)))
    assert is_unclean(in_sync, replace(in_sync, leader=-1, isr=(), eligible=(3,)))
