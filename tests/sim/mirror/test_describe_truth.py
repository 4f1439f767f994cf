"""DescribeMirrors is correct: an unknown lag is not 0, and of two leaders the later one is right (D62)."""

from __future__ import annotations

import pytest

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.assembly.mirrors import MirrorRow, keep_newest
from kmirror.errors import KafkaError
from kmirror.hooks.hooks import Hooks
from kmirror.kernel.ids import TopicPartition
from kmirror.mirror.states import MirrorState
from kmirror.protocol.gen.describe_mirrors_response import DescribedMirror, PartitionDetail, TopicPartitions
from kmirror.protocol.gen.metadata_request import MetadataRequest
from kmirror.sim.simulation import Simulation
from kmirror.spec.wire_values import ResourceType
from tests.sim.mirror.test_throttles import HELD_MAX, RATE, loaded
from tests.sim.stage import ONE_BROKER, TP, Pair, StagedCluster, pair, wait_until_mirrored

pytestmark = pytest.mark.decision("D62")


def row(p: Pair, tp: TopicPartition = TP) -> MirrorRow:
    return next(row for row in p.there.describe() if row.tp == tp)


def start_mirror() -> Pair:
    """Return a pair whose mirror has all of the source's records."""
    p = pair(3, brokers=1)
    p.a.create_topic(TP.topic)
    p.begin()
    p.a.write("one")
    wait_until_mirrored(p.there)
    p.run_until(lambda: row(p).lag == 0, "the source's leader to prove that it leads", within_s=1.5)
    assert row(p).reason == ""
    return p


@pytest.mark.decision("D38")
@pytest.mark.parametrize("brokers", [1, 3])
def test_a_new_mirror_is_described_although_all_brokers_lag_behind(brokers: int) -> None:
    p = pair(3, brokers=brokers)
    p.b.kill(CONTROLLER_ID)
    p.b.restart(CONTROLLER_ID)
    p.there.create()
    assert not any(
        (ResourceType.MIRROR, "m") in p.b.broker(broker_id).context.image.configs for broker_id in p.b.broker_ids
    )
    assert p.there.describe() == []
    with pytest.raises(KafkaError, match="cannot describe mirror m: UNKNOWN_MIRROR"):
        p.back.describe()


def test_the_lag_stays_known_while_nothing_is_written() -> None:
    p = start_mirror()
    p.simulation.run_for(span_s=60)
    assert (row(p).source_offset, row(p).lag, row(p).reason) == (1, 0, "")


def lags_counted(p: Pair) -> tuple[list[float], float]:
    """Return the leader's metrics of the partition's lag, and of the maximum one."""
    leader = p.b.await_leader(TP).broker_id
    told = p.b.metrics()
    lags = [reading.value for reading in told.find("ConsumerLag", topic=TP.topic, node_id=leader)]
    (greatest,) = told.find("MaxLag", node_id=leader)
    return lags, greatest.value


def test_the_lag_is_unknown_soon_after_the_line_fails_and_the_reason_names_the_broker() -> None:
    p = start_mirror()
    p.simulation.line(p.a, p.b).take_down()
    p.a.write("not mirrored")
    p.simulation.run_for(span_s=4)
    found = row(p)
    assert (found.state, found.lag, found.source_offset) == (MirrorState.MIRRORING, -1, 1)
    assert found.reason.startswith("the source's broker 1 at ") and "has not responded for " in found.reason
    assert lags_counted(p) == ([-1], -1)
    p.simulation.line(p.a, p.b).bring_up()
    p.run_until(lambda: (row(p).lag, row(p).reason) == (0, ""), "the lag to be known again")
    assert lags_counted(p) == ([0], 0)


def test_the_lag_of_a_paused_partition_is_unknown() -> None:
    p = start_mirror()
    p.there.pause([TP.topic])
    p.there.wait_for_state(MirrorState.PAUSED, [TP])
    p.a.write("not mirrored")
    assert (row(p).lag, row(p).source_offset) == (-1, 1)
    assert lags_counted(p) == ([], 0), "it is in no fetch"
    p.there.resume([TP.topic])
    wait_until_mirrored(p.there)
    assert (row(p).lag, row(p).source_offset) == (0, 2)


def test_the_lag_after_a_pause_is_unknown_until_the_partition_has_a_response() -> None:
    """Responses about other partitions of the fetcher do not count for it."""
    p = pair(3, brokers=1)
    topics = (TP.topic, "o0", "o1", "o2")
    for topic in topics:
        p.a.create_topic(topic)
    p.begin(topics)
    p.a.write("one")
    wait_until_mirrored(p.there)
    p.there.pause([TP.topic])
    p.there.wait_for_state(MirrorState.PAUSED, [TP])
    p.simulation.run_for(span_s=10)
    p.a.write(*["not mirrored"] * 500)
    p.there.resume([TP.topic])
    lags = []
    while 0 not in lags:
        found = row(p)
        lags.append(found.lag)
        assert found.lag != 0 or found.destination_offset == 501, f"it lacks records, after {lags}"
        p.simulation.run_for(span_s=0.01)
    assert lags[0] == -1


def test_records_that_too_few_replicas_have_count_as_lag() -> None:
    p = pair(3)
    p.a.create_topic(TP.topic)
    p.begin()
    p.b.alter(TP.topic, {"min.insync.replicas": "2"})
    leader = p.b.await_leader().broker_id
    followers = [broker for broker in p.b.broker_ids if broker != leader]
    for broker in followers:
        p.b.kill(broker)
    p.run_until(lambda: p.b.await_leader().isr == (leader,), "the ISR to shrink")
    p.a.write("one")
    p.run_until(lambda: p.b.log().log_end_offset == p.a.log().log_end_offset, "the copy")
    p.simulation.run_for(span_s=10)
    found = row(p)
    assert (found.state, found.lag) == (MirrorState.MIRRORING, 1)
    assert found.reason == (
        f"ISR [{leader}] is smaller than min.insync.replicas, which is 2: brokers {followers} are not in it"
    )
    p.b.restart(followers[0])
    wait_until_mirrored(p.there)
    assert (row(p).lag, row(p).reason) == (0, "")


def test_the_lag_of_a_throttled_partition_is_unknown_without_fetches() -> None:
    p = loaded(rate=1_000)
    p.simulation.run_for(span_s=10)
    found = row(p, HELD_MAX)
    assert (found.lag, found.reason) == (-1, f"throttled: {RATE} is 1000 bytes a second")
    others = [each.lag for each in p.there.describe() if each.tp != HELD_MAX]
    assert others and min(others) >= 0
    assert p.b.metrics().find("MaxLag")[0].value == -1, "the greatest of those that are known would understate it"
    p.b.alter("", {RATE: str(1 << 30)}, kind=ResourceType.BROKER)
    p.run_until(lambda: row(p, HELD_MAX).lag == 0, "the throttled one is there")


def test_the_lag_is_unknown_until_a_new_leader_here_was_answered() -> None:
    p = pair(4)
    p.a.create_topic(TP.topic)
    p.begin()
    p.a.write("one")
    wait_until_mirrored(p.there)
    p.simulation.line(p.a, p.b).take_down()
    leader = p.b.leader(TP)
    assert leader is not None
    p.b.kill(leader.broker_id)
    p.run_until(lambda: p.b.leader(TP) is not None and p.b.state(TP) == "MIRRORING", "another leader")
    assert row(p).lag == -1
    p.simulation.line(p.a, p.b).bring_up()
    p.run_until(lambda: row(p).lag == 0, "its fetches are answered")


def test_a_deposed_leader_that_does_not_know_it_is_not_believed() -> None:
    p = pair(5)
    p.a.create_topic(TP.topic)
    p.begin()
    p.a.write("one")
    wait_until_mirrored(p.there)
    deposed = p.b.leader(TP)
    assert deposed is not None
    old = deposed.broker_id
    for other in (CONTROLLER_ID, *(broker for broker in p.b.broker_ids if broker != old)):
        p.simulation.line(p.b.process(old), p.b.process(other)).take_down()
    p.run_until(lambda: p.b.image.topics.partition(TP).leader not in (-1, old), "another leader")  # type: ignore[union-attr]
    assert p.b.broker(old).parts.replicas.partitions.find_led(TP) is not None, "it believes that it leads"
    p.fail_over()
    assert row(p).state is MirrorState.STOPPED


def detail(epoch: int, state: str) -> DescribedMirror:
    one = PartitionDetail(partition_index=0, state=state, leader_epoch=epoch)
    return DescribedMirror(mirror_name="m", topics=[TopicPartitions(topic_name=TP.topic, partitions=[one])])


@pytest.mark.parametrize("answers", [((5, "MIRRORING"), (7, "STOPPED")), ((7, "STOPPED"), (5, "MIRRORING"))])
def test_of_two_rows_the_one_of_the_later_leader_epoch_is_kept(answers: tuple[tuple[int, str], ...]) -> None:
    rows: dict[TopicPartition, MirrorRow] = {}
    for answer in answers:
        keep_newest(rows, detail(*answer))
    assert (rows[TP].state, rows[TP].leader_epoch) == (MirrorState.STOPPED, 7)


def test_of_rows_without_leader_epochs_the_last_one_counts() -> None:
    rows: dict[TopicPartition, MirrorRow] = {}
    for state in ("MIRRORING", "STOPPED"):
        keep_newest(rows, detail(-1, state))
    assert rows[TP].state is MirrorState.STOPPED


@pytest.mark.decision("D38")
def test_a_new_leader_does_not_say_that_a_source_is_silent_which_it_has_just_asked() -> None:
    hooks, simulation = Hooks(), Simulation(0)
    a = StagedCluster(simulation, "a", brokers=1, configs=ONE_BROKER, interpose=hooks)
    b = StagedCluster(simulation, "b", brokers=1, configs=ONE_BROKER)
    a.start()
    b.start()
    p = Pair(simulation, a, b)
    p.a.create_topic(TP.topic)
    p.begin()
    asked = hooks.on(MetadataRequest, from_nodes=True).hold()
    p.b.kill(1)
    p.b.restart(1)
    p.run_until(lambda: bool(asked.requests) and p.b.state() == "MIRRORING", "the question")
    assert row(p).reason == f"no response from the source at {p.a.bootstrap_servers} yet"
    p.simulation.run_for(span_s=10)
    assert row(p).reason.startswith("no response from the source at")
    asked.remove()
    asked.release()
    wait_until_mirrored(p.there)
