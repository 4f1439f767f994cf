"""The source moves its leaders, dies, restarts, changes its identity, or serves garbage."""

from __future__ import annotations

import pytest

from kmirror.errors import KafkaError
from kmirror.kernel.ids import TopicPartition
from kmirror.mirror.configs import mirror_configs
from kmirror.mirror.states import MirrorState
from kmirror.protocol.gen.add_topics_to_mirror_request import AddTopicsToMirrorRequest, TopicData
from kmirror.records.codecs import Compression
from kmirror.records.legacy import iter_any_batches
from kmirror.sim.mirror import Mirror
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import ResourceType
from tests.sim.stage import (
    SMALL,
    TOPIC,
    TP,
    Pair,
    StagedCluster,
    WrittenLogs,
    assert_equal,
    legacy,
    pair,
    plain,
    values,
    wait_until_mirrored,
    wait_until_stopped,
)

LOGS = {TOPIC: [plain(0, 0, "r0", "r1")]}
OTHER = TopicPartition("other", 0)


@pytest.mark.decision("D12")
def test_mirroring_follows_the_source_leader() -> None:
    p = pair(logs=WrittenLogs(LOGS))
    p.begin()
    for turn in range(3):
        victim = p.a.elect()
        p.a.write(f"turn {turn}")
        p.a.restart(victim)
        p.a.settle()
        p.a.write(f"turn {turn}, full ISR")
    assert_equal(p.there)
    assert [e.epoch for e in p.b.log().epochs.entries] == [e.epoch for e in p.a.log().epochs.entries]
    assert p.cuts_of(p.b) == []


@pytest.mark.decision("D12")
def test_an_error_of_the_former_leader_does_not_delay_the_next_fetch() -> None:
    """The former leader's error says so; otherwise nothing would check again before the next regular refresh."""
    slow = {"mirror.metadata.refresh.interval.ms": "600000", "replica.fetch.backoff.ms": "2000"}
    p = pair(logs=WrittenLogs(LOGS), b_configs=slow)
    p.begin()
    before = p.a.await_leader().broker_id
    to_controller = p.simulation.line(f"a-{before}", "a-controller")
    to_controller.take_down()

    def moved() -> bool:
        image = p.a.image.topics.partition(TP)
        return image is not None and image.leader not in (before, -1)

    p.run_until(moved, "another leader")
    to_controller.bring_up()
    p.a.settle()
    p.a.write("led by another")
    p.run_until(lambda: p.b.log().log_end_offset == p.a.log().log_end_offset, "B to follow", within_s=60)


@pytest.mark.decision("D14")
def test_a_source_epoch_far_above_ours_is_waited_for_not_appended() -> None:
    """`check_epochs` runs after every event: B never holds a batch with an epoch above its own leader epoch."""
    p = pair(logs=WrittenLogs(LOGS))
    p.begin()
    for epoch in (40, 41, 90):
        p.a.bump(epoch)
        p.a.write(f"in epoch {epoch}")
        p.run_until(lambda: p.b.log().log_end_offset == p.a.log().log_end_offset, "B to have it")
        assert p.b.await_leader().leader_epoch >= epoch
    assert_equal(p.there)


@pytest.mark.decision("D14")
def test_a_source_epoch_is_not_appended_while_the_controller_cannot_bump() -> None:
    p = pair(logs=WrittenLogs(LOGS))
    p.begin()
    before = p.b.await_leader().leader_epoch
    p.b.kill(100)
    p.a.bump(before + 1)
    p.a.write("too new")
    for broker_id in p.b.broker_ids:
        log = p.b.broker(broker_id).parts.replicas.partitions[TP].log
        p.hold(5, lambda log=log: log.log_end_offset == 2, "nothing above the local epoch is appended")  # type: ignore[misc]
    p.b.restart(100)
    assert_equal(p.there)


@pytest.mark.decision("D12")
def test_the_source_dies_and_restarts() -> None:
    p = pair(logs=WrittenLogs(LOGS))
    p.begin()
    for node in (1, 2, 3, 100):
        p.a.kill(node)
    p.simulation.run_for(span_s=60)
    assert p.b.state() == "MIRRORING", "a source that is away is no reason to give up"
    assert p.b.try_write() is ErrorCode.READ_ONLY_TOPIC
    for node in (1, 2, 3, 100):
        p.a.restart(node)
    p.a.settle()
    p.a.write("back again")
    assert_equal(p.there)


@pytest.mark.decision("D15")
def test_failover_needs_nothing_of_a_dead_source() -> None:
    p = pair(logs=WrittenLogs(LOGS))
    p.begin()
    for node in (1, 2, 3, 100):
        p.a.kill(node)
    p.fail_over()
    assert p.b.write("on b") == 3


@pytest.mark.decision("D12")
def test_a_source_log_truncated_below_ours_is_followed() -> None:
    """An unclean election at the source while mirroring: within one epoch history the second phase follows it."""
    p = pair(logs=WrittenLogs(LOGS), a_configs={"unclean.leader.election.enable": "true", "min.insync.replicas": "1"})
    p.begin()
    first = p.a.await_leader().broker_id
    others = [b for b in p.a.broker_ids if b != first]
    for other in others:
        p.a.kill(other)
    p.run_until(lambda: p.a.await_leader().isr == (first,), "the leader alone")
    p.a.write("seen by one replica")
    p.run_until(lambda: p.b.log().log_end_offset == 3, "B to have it")
    p.a.kill(first)
    p.a.restart(others[0])
    p.run_until(lambda: p.a.leader(TP) is not None, "an unclean leader")
    p.a.write("instead")
    for node in (first, others[1]):
        p.a.restart(node)
    p.a.settle()
    p.run_until(lambda: p.b.log().latest_epoch == p.a.log().latest_epoch, "B to follow")
    assert_equal(p.there)
    assert p.cuts_of(p.b) == [(2, 3)]


def corrupt(cluster: StagedCluster, tp: TopicPartition, offset: int) -> None:
    """Flip a byte in the payload of the batch that ends at `offset`, in the leader's store."""
    log = cluster.log(tp)
    store, base = log.store, log.segment_base_offsets[-1]
    size = store.size(base)
    data = bytearray(store.view(base, 0, size))
    for batch in iter_any_batches(bytes(data)):
        if batch.last_offset == offset:
            data[batch.position + batch.size_in_bytes - 1] ^= 0xFF
    store.truncate(base, 0)
    store.append(base, bytes(data))


FORMATS = {
    "batches": [plain(0, 0, "r0"), plain(1, 0, "r1")],
    "format 1": [legacy(0, 1, "r0", "r1")],
    "format 0": [legacy(0, 0, "r0", "r1")],
    "wrappers": [legacy(0, 1, "r0", codec=Compression.GZIP), legacy(1, 1, "r1", codec=Compression.GZIP)],
    "mixed": [plain(0, 0, "r0"), legacy(1, 1, "r1")],
}


@pytest.mark.parametrize("written", FORMATS.values(), ids=FORMATS)
@pytest.mark.decision("D21")
def test_a_malformed_batch_fails_only_its_partition_until_it_is_added_again(written: list[bytes]) -> None:
    p = pair(logs=WrittenLogs({TOPIC: written, "other": [plain(0, 0, "o")]}))
    corrupt(p.a, TP, 1)
    p.there.create()
    p.there.add_topics([TOPIC, "other"])
    p.there.wait_for_state(MirrorState.FAILED, [TP])
    wait_until_mirrored(p.there, ["other"])
    assert "checksum" in p.b.reason().lower() or "crc" in p.b.reason().lower(), p.b.reason()
    p.a.write("goes on", tp=OTHER)
    assert_equal(p.there, ["other"])
    assert p.b.state() == "FAILED"
    assert values(p.b.log()) in ([], [(0, "r0")]), "nothing of the bad batch"
    assert p.b.try_write() is ErrorCode.READ_ONLY_TOPIC
    corrupt(p.a, TP, 1)  # Flipping the same byte again repairs the batch.
    p.hold(20, lambda: p.b.state() == "FAILED", "FAILED is left by an operator only")
    elect_and_restart(p)
    p.fail_over()
    p.there.add_topics([TOPIC])
    assert_equal(p.there, [TOPIC, "other"])


def elect_and_restart(p: Pair) -> None:
    """The next leader keeps FAILED."""
    victim = p.b.elect()
    p.run_until(lambda: p.b.state() == "FAILED", "FAILED under the next leader")
    p.b.restart(victim)
    p.b.settle()


@pytest.mark.decision("D16")
def test_a_topic_of_the_same_name_and_another_id_fails_and_keeps_its_records() -> None:
    p = pair(logs=WrittenLogs(LOGS))
    p.b.place_topic()
    p.b.write("ours")
    p.there.create()
    with pytest.raises(KafkaError, match="INCONSISTENT_TOPIC_ID"):
        p.there.add_topics([TOPIC])
    add_without_id(p)
    p.there.wait_for_state(MirrorState.FAILED, [TP])
    assert "id" in p.b.reason()
    assert values(p.b.log()) == [(0, "ours")], "another topic's log is not cut"


def add_without_id(p: Pair) -> None:
    """Add the topic like a client that knows no ids."""
    request = AddTopicsToMirrorRequest(mirror_name="m", topics=[TopicData(topic_name=TOPIC)])
    p.b.client.call(p.b.endpoints()[0], request, 0)


@pytest.mark.decision("D16")
@pytest.mark.parametrize("when", ["mirroring", "preparing"])
def test_another_cluster_behind_the_servers_halts_the_mirror_until_it_is_corrected(when: str) -> None:
    p = pair(logs=WrittenLogs(LOGS))
    c = p.third("c", logs=WrittenLogs({TOPIC: [plain(0, 0, "c0"), plain(1, 3, "c1"), plain(2, 3, "c2")]}))
    assert p.a.image.topics[TOPIC].topic_id == c.image.topics[TOPIC].topic_id
    p.begin()
    if when == "preparing":
        p.fail_over()
        p.b.write("on b")
    assert p.b.alter("m", {"bootstrap.servers": c.bootstrap_servers}, kind=ResourceType.MIRROR) is ErrorCode.NONE
    if when == "preparing":
        p.there.add_topics([TOPIC])
    p.run_until(lambda: c.cluster_id in p.b.reason() and p.a.cluster_id in p.b.reason(), "the reason")
    state = p.b.state()
    p.hold(20, lambda: p.b.state() == state, "it waits")
    assert [row.reason for row in p.there.describe()] == [p.b.reason()]
    assert values(p.b.log())[:2] == [(0, "r0"), (1, "r1")], "nothing of the other cluster, nothing cut"
    configs = mirror_configs(p.b.image, "m")
    assert configs is not None and configs.text("source.cluster.id") == p.a.cluster_id, "not overwritten"
    servers = {"bootstrap.servers": p.a.bootstrap_servers}
    assert p.b.alter("m", servers, kind=ResourceType.MIRROR) is ErrorCode.NONE
    p.a.write("all goes on by itself")
    assert_equal(p.there)


@pytest.mark.decision("D12")
def test_bootstrap_servers_altered_live_to_other_brokers_of_the_same_cluster() -> None:
    p = pair(logs=WrittenLogs(LOGS))
    p.begin()
    servers = ",".join(str(p.a.endpoint(broker_id)) for broker_id in (3, 2))
    assert p.b.alter("m", {"bootstrap.servers": servers}, kind=ResourceType.MIRROR) is ErrorCode.NONE
    p.a.write("after the change")
    assert_equal(p.there)
    assert p.cuts_of(p.b) == []


@pytest.mark.decision("D12")
def test_bootstrap_servers_are_not_needed_once_the_brokers_are_known() -> None:
    p = pair(logs=WrittenLogs(LOGS))
    p.there.create({"bootstrap.servers": f"nowhere:9092,{p.a.endpoint(1)}"})
    p.there.add_topics([TOPIC])
    wait_until_mirrored(p.there)
    victim = 1
    p.a.kill(victim)
    p.run_until(lambda: (found := p.a.leader(TP)) is not None and found.broker_id != victim, "another leader")
    p.a.write("without the bootstrap broker")
    assert_equal_without(p, victim)


def assert_equal_without(p: Pair, victim: int) -> None:
    wait_until_mirrored(p.there)
    p.a.restart(victim)
    assert_equal(p.there)


@pytest.mark.decision("D11")
@pytest.mark.decision("D1")
def test_a_source_without_the_mirror_apis_is_mirrored_from_scratch() -> None:
    p = pair(start=False)
    old = StagedCluster(p.simulation, "old", logs=WrittenLogs(LOGS), configs=SMALL, mirror_version=0)
    old.start()
    p.b.start()
    mirror = Mirror("m", source=old, destination=p.b)
    mirror.create()
    mirror.add_topics([TOPIC])
    assert_equal(mirror)
    mirror.remove_topics([TOPIC])
    wait_until_stopped(mirror)
    assert any("no DescribeMirrors" in line for line in p.simulation.world.trace.lines)


@pytest.mark.decision("D12")
def test_a_raised_log_start_survives_a_restart_of_all_nodes() -> None:
    p = pair(logs=WrittenLogs({TOPIC: [plain(0, 0, *"abcde"), plain(5, 0, *"fghij"), plain(10, 0, "k")]}))
    p.begin()
    for partition in p.a.replicas(TP).values():
        partition.log.advance_log_start(7)
    p.a.write("l")
    wait_until_mirrored(p.there)
    p.fail_over()
    p.simulation.run_for(span_s=10)
    for broker_id in p.b.broker_ids:
        p.b.kill(broker_id)
    for broker_id in p.b.broker_ids:
        p.b.restart(broker_id)
    p.b.settle()
    assert p.b.log().log_start_offset == 7, "what the source had deleted does not come back"


@pytest.mark.decision("D12")
def test_the_log_start_of_an_empty_source_log_is_followed() -> None:
    """It is returned with the divergence, and not again: it is no news in the source's session any more."""
    p = pair()
    p.a.place_topic()
    p.a.write(*"abcdefgh")
    p.begin()
    p.simulation.line(p.a, p.b).take_down()
    for value in "never":
        p.a.write(value)
    p.fail_over()
    assert p.b.log().log_end_offset == 9, "the producer reset stands where the other log has a record"
    for partition in p.b.replicas(TP).values():
        partition.log.advance_log_start(9)
    p.simulation.line(p.a, p.b).bring_up()
    p.back.create()
    p.back.add_topics([TOPIC])
    p.simulation.run_for(span_s=20)
    assert {replica.log.log_start_offset for replica in p.a.replicas(TP).values()} == {9}
    assert p.back.describe()[0].lag == 0


@pytest.mark.decision("D12")
def test_retention_ahead_of_the_mirror_restarts_at_the_source_log_start() -> None:
    logs = WrittenLogs({TOPIC: [plain(0, 0, *"abcde"), plain(5, 0, *"fghij"), plain(10, 0, "k")]})
    p = pair(logs=logs)
    p.begin()
    p.simulation.line(p.a, p.b).take_down()
    for text in ("l", "m", "n"):
        p.a.write(text)
    for partition in p.a.replicas(TP).values():
        partition.log.advance_log_start(13)
    p.simulation.line(p.a, p.b).bring_up()
    assert_equal(p.there)
    assert p.b.log().log_start_offset == 13
    assert values(p.b.log()) == [(13, "n")]
    assert p.b.partitions([TOPIC]) == [TP]
