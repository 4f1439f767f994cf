"""Eligible leader replicas (KIP-966): three replicas, at least two in sync, and stops of brokers (D71)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import pytest

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.cluster.images import NO_LEADER, PartitionImage
from kmirror.cluster.node import clean_shutdown
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.broker_registration_request import BrokerRegistrationRequest, Feature, Listener
from kmirror.protocol.gen.broker_registration_response import BrokerRegistrationResponse
from kmirror.protocol.gen.describe_topic_partitions_request import DescribeTopicPartitionsRequest, TopicRequest
from kmirror.protocol.gen.describe_topic_partitions_response import DescribeTopicPartitionsResponse
from kmirror.sim.simulation import Simulation
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.features import ELIGIBLE_VERSION, FEATURES
from kmirror.spec.wire_values import UpgradeType
from tests.sim.cluster.test_feature_levels import update
from tests.sim.stage import SMALL, TOPIC, StagedCluster, WrittenLogs, plain, values

BROKERS = (1, 2, 3)
ORDERS = list(permutations(BROKERS))
SESSION_S = 5
"""Longer than a broker's session."""

pytestmark = pytest.mark.decision("D71")


def make(*, eligible_version: int = 1, log_dirs: int = 1) -> StagedCluster:
    cluster = StagedCluster(Simulation(1), "a", configs=SMALL, eligible_version=eligible_version, log_dirs=log_dirs)
    cluster.start()
    cluster.place_topic()
    return cluster


def of(cluster: StagedCluster) -> PartitionImage:
    return cluster.image.topics[TOPIC].partitions[0]


def end(cluster: StagedCluster, broker_id: int, *, clean: bool, power_cut: bool = True) -> None:
    """Stop or kill a broker, and wait until the controller knows."""
    if clean:
        cluster.stop(broker_id)
    else:
        cluster.kill(broker_id, power_cut=power_cut)
        cluster.simulation.run_for(span_s=SESSION_S)
    assert not cluster.image.brokers.is_alive(broker_id)


def bring_back(cluster: StagedCluster, broker_id: int) -> None:
    """Start a broker, and wait until it is unfenced and has had time to lead."""
    cluster.restart(broker_id)
    cluster.simulation.run_until(
        lambda: cluster.image.brokers.is_alive(broker_id), what=f"broker {broker_id} to be unfenced"
    )
    cluster.simulation.run_for(span_s=1)


def end_all(cluster: StagedCluster, order: Sequence[int], *, clean: bool | Sequence[bool]) -> list[str]:
    """Stop all brokers in this order, with a record before each stop; return the acknowledged values."""
    written: list[str] = []
    for number, broker_id in enumerate(order):
        if len(of(cluster).isr) >= 2:
            cluster.write(f"r{number}")
            written.append(f"r{number}")
        end(cluster, broker_id, clean=clean if isinstance(clean, bool) else clean[number])
    return written


def records_of(cluster: StagedCluster) -> list[str]:
    return [value for _, value in values(cluster.log())]


def grow(cluster: StagedCluster) -> None:
    """Start the stopped brokers, and wait until all are in sync."""
    for broker_id in cluster.broker_ids:
        if not cluster.runs(broker_id):
            cluster.restart(broker_id)
    cluster.settle()
    assert (of(cluster).eligible, of(cluster).last_known) == ((), ())


@pytest.mark.parametrize("order", ORDERS)
def test_of_brokers_that_stopped_each_of_the_last_two_may_lead(order: tuple[int, int, int]) -> None:
    first, *last = order
    for back in last:
        cluster = make()
        written = end_all(cluster, order, clean=True)
        assert (of(cluster).leader, of(cluster).isr) == (NO_LEADER, ())
        assert set(of(cluster).eligible) == set(last) and of(cluster).last_known == (order[2],)
        bring_back(cluster, first)
        assert of(cluster).leader == NO_LEADER, f"broker {first} went before the others had all"
        bring_back(cluster, back)
        assert (of(cluster).leader, written) == (back, ["r0", "r1"])
        assert records_of(cluster)[:2] == written
        grow(cluster)
        assert records_of(cluster)[:2] == written


@pytest.mark.parametrize("order", ORDERS)
def test_after_a_power_loss_of_all_only_the_last_leader_may_lead(order: tuple[int, int, int]) -> None:
    cluster = make()
    end_all(cluster, order, clean=False)
    assert (of(cluster).leader, of(cluster).isr) == (NO_LEADER, ())
    for broker_id in order[:2]:
        bring_back(cluster, broker_id)
        assert of(cluster).leader == NO_LEADER and broker_id not in of(cluster).eligible
    bring_back(cluster, order[2])
    assert of(cluster).leader == order[2]
    grow(cluster)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("clean", [(False, False, True), (False, True, False), (True, False, True)])
def test_a_cleanly_stopped_member_of_the_last_two_leads_without_loss(
    order: tuple[int, int, int], clean: tuple[bool, bool, bool]
) -> None:
    cluster = make()
    written = end_all(cluster, order, clean=clean)
    able = order[2] if clean[2] else order[1]
    for broker_id in (b for b in order if b != able):
        bring_back(cluster, broker_id)
        assert of(cluster).leader == NO_LEADER, f"broker {broker_id} may lack what was acknowledged"
    bring_back(cluster, able)
    assert of(cluster).leader == able
    assert records_of(cluster)[: len(written)] == written == ["r0", "r1"]
    grow(cluster)
    assert records_of(cluster)[: len(written)] == written


@pytest.mark.parametrize("order", ORDERS)
def test_at_level_0_the_last_isr_member_leads_even_after_a_power_loss(order: tuple[int, int, int]) -> None:
    cluster = make(eligible_version=0)
    end_all(cluster, order, clean=(True, True, False))
    assert (of(cluster).isr, of(cluster).eligible) == ((order[2],), ())
    bring_back(cluster, order[1])
    assert of(cluster).leader == NO_LEADER
    bring_back(cluster, order[2])
    assert of(cluster).leader == order[2]


def test_a_killed_process_ended_uncleanly_even_if_its_disk_kept_everything() -> None:
    cluster = make()
    end(cluster, 3, clean=False, power_cut=False)
    end(cluster, 2, clean=False, power_cut=False)
    assert of(cluster).eligible == (2,)
    bring_back(cluster, 2)
    assert 2 not in of(cluster).eligible


def test_a_broker_without_a_clean_end_of_one_directory_is_not_eligible() -> None:
    cluster = make(log_dirs=2)
    end(cluster, 3, clean=True)
    end(cluster, 2, clean=True)
    end(cluster, 1, clean=True)
    assert of(cluster).eligible == (1, 2)
    cluster.log_dirs[2][1].delete_file(clean_shutdown.FILE)
    bring_back(cluster, 2)
    assert (of(cluster).leader, of(cluster).eligible) == (NO_LEADER, (1,))


def test_a_disconnected_broker_stays_eligible() -> None:
    cluster = make()
    end(cluster, 3, clean=True)
    lines = [cluster.simulation.line(cluster.process(2), cluster.process(other)) for other in (1, CONTROLLER_ID)]
    for line in lines:
        line.take_down()
    cluster.simulation.run_for(span_s=20)
    assert (of(cluster).leader, of(cluster).isr, of(cluster).eligible) == (1, (1,), (2,))
    for line in lines:
        line.bring_up()
    cluster.simulation.run_until(lambda: of(cluster).isr == (1, 2), what="broker 2 to be in sync again")
    assert of(cluster).eligible == ()


@pytest.mark.parametrize(
    ("previous", "version", "is_same", "eligible"),
    [
        ("its last", 4, False, True),
        ("another", 4, False, False),
        ("none", 4, False, False),
        ("its last", 2, False, False),
        ("another", 4, True, True),
    ],
)
def test_a_broker_ended_cleanly_if_it_names_its_last_registration_epoch(
    previous: str, version: int, is_same: bool, eligible: bool
) -> None:
    cluster = make()
    end(cluster, 3, clean=True)
    end(cluster, 2, clean=True)
    known = cluster.image.brokers[2]
    request = BrokerRegistrationRequest(
        broker_id=2,
        cluster_id=cluster.cluster_id,
        incarnation_id=known.incarnation if is_same else Uuid(b"a new process: 2"),
        listeners=[Listener(name="PLAINTEXT", host="elsewhere", port=9092)],
        features=[Feature(row.name, row.minimum, row.maximum) for row in FEATURES],
        log_dirs=list(known.directories),
        previous_broker_epoch={"its last": known.epoch, "another": known.epoch - 1, "none": -1}[previous],
    )
    reply = cluster.client.call(cluster.endpoint(CONTROLLER_ID), request, version)
    assert isinstance(reply, BrokerRegistrationResponse) and reply.error_code == ErrorCode.NONE
    assert of(cluster).eligible == ((2,) if eligible else ())


def test_below_the_minimum_nothing_is_committed() -> None:
    cluster = make()
    cluster.write("r0")
    end(cluster, 3, clean=True)
    end(cluster, 2, clean=False)
    assert cluster.try_write() is ErrorCode.NOT_ENOUGH_REPLICAS
    assert cluster.log().high_watermark == 1
    bring_back(cluster, 3)
    cluster.simulation.run_until(lambda: len(of(cluster).isr) == 2, what="the ISR to have two members")
    cluster.write("r1")
    assert of(cluster).eligible == ()


def test_describe_topic_partitions_has_eligible_replicas_and_the_last_leader() -> None:
    cluster = make()
    end(cluster, 1, clean=True)
    end(cluster, 2, clean=True)
    for eligible, last in (([2], []), ([2, 3], [3])):
        asked = DescribeTopicPartitionsRequest(topics=[TopicRequest(TOPIC)])
        if eligible == [2, 3]:
            end(cluster, 3, clean=True)
            cluster.restart(1)
            cluster.simulation.run_until(lambda: cluster.image.brokers.is_alive(1), what="broker 1 to be unfenced")
        reply = cluster.client.call(cluster.endpoints()[0], asked, 0)
        assert isinstance(reply, DescribeTopicPartitionsResponse)
        row = reply.topics[0].partitions[0]
        assert (row.eligible_leader_replicas, row.last_known_elr) == (eligible, last)


def test_the_level_is_raised_and_lowered_while_the_cluster_runs() -> None:
    cluster = make(eligible_version=0)
    end(cluster, 3, clean=True)
    end(cluster, 2, clean=True)
    assert of(cluster).eligible == ()
    assert update(cluster, (ELIGIBLE_VERSION, 1, UpgradeType.UPGRADE)).error_code == 0
    assert (of(cluster).isr, of(cluster).eligible) == ((1,), ()), "what was not noted before is not known"
    grow(cluster)
    end(cluster, 3, clean=True)
    end(cluster, 2, clean=True)
    assert of(cluster).eligible == (2,)
    assert update(cluster, (ELIGIBLE_VERSION, 0, UpgradeType.SAFE_DOWNGRADE)).error_code == 0
    grow(cluster)
    cluster.write("at level 0 again")


def test_provided_replicas_stay_in_the_isr_when_their_brokers_first_start() -> None:
    logs = WrittenLogs({TOPIC: [plain(0, 0, "r0")]})
    cluster = StagedCluster(Simulation(1), "a", logs=logs, configs=SMALL, eligible_version=1)
    cluster.start()
    assert (sorted(of(cluster).isr), of(cluster).eligible, records_of(cluster)) == ([1, 2, 3], (), ["r0"])


def test_the_whole_cluster_stops_and_starts_again() -> None:
    cluster = make()
    cluster.write("r0")
    cluster.stop()
    cluster.start()
    assert (sorted(of(cluster).isr), of(cluster).eligible) == ([1, 2, 3], ())
    assert records_of(cluster) == ["r0"]


def test_a_restarted_controller_knows_the_eligible_replicas() -> None:
    cluster = make()
    end_all(cluster, (1, 2, 3), clean=True)
    before = of(cluster)
    cluster.kill(CONTROLLER_ID, power_cut=True)
    cluster.restart(CONTROLLER_ID)
    cluster.simulation.run_for(span_s=1)
    assert of(cluster) == before
    bring_back(cluster, 2)
    assert of(cluster).leader == 2


def test_a_new_minimum_of_a_topic_ends_eligibility_and_counts_at_once() -> None:
    cluster = make()
    end(cluster, 3, clean=True)
    end(cluster, 2, clean=True)
    assert cluster.alter(TOPIC, {"min.insync.replicas": "1"}) is ErrorCode.NONE
    assert (of(cluster).isr, of(cluster).eligible) == ((1,), ())
    cluster.write("alone")
    grow(cluster)
    assert records_of(cluster) == ["alone"]
