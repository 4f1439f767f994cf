"""Histories that once lost data, each with the decision that fixed it; every test failed before."""

from __future__ import annotations

import pytest

from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.mirror.states import MirrorState, Wish
from kmirror.sim.mirror import Mirror
from kmirror.sim.producer import Producer
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import ResourceType
from tests.builders import marker
from tests.sim.mirror.test_exactly_once import read_committed, stop_after
from tests.sim.stage import (
    ONE_BATCH,
    TOPIC,
    TP,
    Pair,
    WrittenLogs,
    assert_equal,
    pair,
    plain,
    records,
    resets,
    settle,
    transactional,
    values,
    wait_until_mirrored,
    wait_until_stopped,
)

ONE, TWO = 4001, 4002
OVERLAPPING = [
    transactional(0, 0, ONE, "one a"),
    transactional(1, 0, TWO, "two a"),
    marker(offset=2, epoch=0, pid=ONE, commit=True),
    transactional(3, 0, ONE, "one b", sequence=1),
    marker(offset=4, epoch=0, pid=TWO, commit=True),
    transactional(5, 0, TWO, "two b", sequence=1),
    marker(offset=6, epoch=0, pid=ONE, commit=True),
    transactional(7, 0, ONE, "one c", sequence=2),
]
"""Two producers whose transactions overlap all the time; the records decided below the source's LSO are 0 to 4."""


@pytest.mark.decision("D29")
def test_a_stop_with_overlapping_transactions_keeps_decided_records() -> None:
    p = pair(logs=WrittenLogs({TOPIC: OVERLAPPING}))
    p.begin()
    assert read_committed(p.b) == [(0, "one a"), (1, "two a")]
    p.simulation.line(p.a, p.b).take_down()
    p.fail_over()
    assert p.cuts_of(p.b) == [(3, 5)], "one cut, to the last stable offset"
    assert read_committed(p.b) == [(0, "one a"), (1, "two a")]
    p.simulation.line(p.a, p.b).bring_up()
    p.fail_back()
    assert_equal(p.back)
    assert read_committed(p.a) == [(0, "one a"), (1, "two a")], "the failback empties nothing"


@pytest.mark.decision("D29")
def test_a_transaction_with_records_in_the_truncated_tail_is_aborted_completely() -> None:
    log = [
        transactional(0, 0, ONE, "one a"),
        transactional(1, 0, TWO, "open"),
        transactional(2, 0, ONE, "one b", sequence=1),
        marker(offset=3, epoch=0, pid=ONE, commit=True),
        plain(4, 0, "above"),
    ]
    log.append(marker(offset=5, epoch=0, pid=TWO, commit=True))
    p = pair(logs=WrittenLogs({TOPIC: log}), b_configs=ONE_BATCH)
    p.there.create()
    p.there.add_topics([TOPIC])
    p.run_until(lambda: p.b.leader(TP) is not None and p.b.log().high_watermark == 5, "all but the last marker")
    p.simulation.line(p.a, p.b).take_down()
    p.fail_over()
    assert p.cuts_of(p.b) == [(1, 5)]
    assert values(p.b.log()) == [(0, "one a")]
    assert read_committed(p.b) == [], "half a transaction is none"


@pytest.mark.decision("D43")
@pytest.mark.parametrize("cut", [False, True], ids=["decided", "cut on the whole ISR"])
def test_the_next_leader_of_a_stop_knows_the_reopened_transactions(cut: bool) -> None:
    """The outcome of the truncated marker is persisted before the leader truncates, or it would die with the leader."""
    p = pair(logs=WrittenLogs({TOPIC: OVERLAPPING}))
    p.begin()
    p.simulation.line(p.a, p.b).take_down()
    p.there.remove_topics([TOPIC])

    def reached() -> bool:
        ends = {replica.log.log_end_offset for replica in p.b.replicas(TP).values()}
        return ends == {3} if cut else p.b.persisted().stop is not None

    p.run_until(reached, "the step")
    victim = p.b.elect()
    wait_until_stopped(p.there)
    p.b.restart(victim)
    p.b.settle()
    assert read_committed(p.b) == [(0, "one a"), (1, "two a")]
    assert p.b.log().last_stable_offset == p.b.log().log_end_offset


@pytest.mark.decision("D42")
@pytest.mark.parametrize("left", [2, 1], ids=["cut to the epoch", "cut to where the logs part"])
def test_a_stopped_failback_keeps_a_transaction_whose_marker_was_not_fetched_again(left: int) -> None:
    """Both clusters have the transaction, A its own marker in an epoch that the failback removes, B one of its stop."""
    log = [
        transactional(0, 0, ONE, "both have it"),
        transactional(1, 0, TWO, "a alone"),
        marker(offset=2, epoch=1, pid=ONE, commit=True),
        plain(3, 1, "above"),
        marker(offset=4, epoch=1, pid=TWO, commit=True),
    ]
    p = stop_after(4, log)
    assert read_committed(p.b) == [(0, "both have it")]
    p.simulation.line(p.a, p.b).bring_up()
    p.back.create()
    p.back.add_topics([TOPIC])
    p.run_until(lambda: p.a.log().log_end_offset == left, "the cut")
    p.simulation.line(p.a, p.b).take_down()
    p.fail_over(p.back)
    assert read_committed(p.a) == [(0, "both have it"), (1, "a alone")][:left], "both were committed"
    assert p.a.log().last_stable_offset == p.a.log().log_end_offset, "nothing hangs"


def away(p: Pair) -> int:
    """Create the mirror, kill a follower of B's and wait until it is out of the ISR; return the broker."""
    p.there.create()
    p.b.settle()
    victim = next(b for b in p.b.broker_ids if b != p.b.await_leader().broker_id)
    p.b.kill(victim)
    p.run_until(lambda: victim not in p.b.await_leader().isr, "the ISR to shrink")
    return victim


def mirrored_without_one(p: Pair) -> int:
    """Mirror the topic while a follower of B's is down; return the broker."""
    victim = away(p)
    p.there.add_topics([TOPIC])
    wait_until_mirrored(p.there)
    return victim


def with_a_foreign_log(count: int) -> Pair:
    """Return a pair in which A's topic has `count` records and B's has nine others of the same epoch."""
    theirs = WrittenLogs({TOPIC: [plain(n, 0, f"a{n}") for n in range(count)]})
    ours = WrittenLogs({TOPIC: [plain(n, 0, f"b{n}") for n in range(9)]})
    return pair(logs=theirs, b_logs=ours)


@pytest.mark.decision("D30")
def test_a_returning_replica_is_clean_after_a_truncation_from_scratch() -> None:
    """Both histories have only epoch 0, so no epoch shows the replica that its bytes are foreign."""
    p = with_a_foreign_log(20)
    victim = mirrored_without_one(p)
    assert dict(p.b.persisted().uncut)[victim] == -1
    p.b.restart(victim)
    assert_equal(p.there)
    assert victim not in p.b.persisted().uncut, "struck off, persistently"
    while p.b.await_leader().broker_id != victim:
        p.b.restart(p.b.elect())
        p.b.settle()
    assert_equal(p.there)


@pytest.mark.decision("D30")
def test_a_removal_does_not_overtake_the_persisted_truncation() -> None:
    """It arrives while the list is written. Without the leader's truncation, ISR members would go below its HW."""
    p = with_a_foreign_log(6)
    p.there.create()
    p.b.settle()
    leader = p.b.await_leader()
    others = [broker for broker in p.b.broker_ids if broker != leader.broker_id]
    short: list[tuple[int, int, int]] = []

    def check_isr(now: Instant) -> None:
        ends = {broker: replica.log.log_end_offset for broker, replica in p.b.replicas(TP).items()}
        mark = leader.log.high_watermark
        short.extend((broker, ends[broker], mark) for broker in leader.isr if ends[broker] < mark)

    p.simulation.world.after_event.append(check_isr)
    p.there.add_topics([TOPIC])

    def is_listing() -> bool:
        mp = p.b.mirror_partition()
        return mp is not None and mp.is_busy and mp.cut_epoch is not None and not mp.uncut

    p.run_until(is_listing, "the list to be written")
    for broker in others:  # The response takes its time, with any coordinator of the mirror.
        p.simulation.line(p.b.process(leader.broker_id), p.b.process(broker)).set(latency_ms=300)
    p.there.remove_topics([TOPIC])
    p.run_until(
        lambda: (mp := p.b.mirror_partition()) is not None and mp.assignment.wish is Wish.REMOVE,
        "the leader to hear of the removal",
    )
    assert is_listing()
    wait_until_stopped(p.there)
    settle(p.b)
    assert short == [], "a member of the ISR was below the high watermark: (broker, log end, high watermark)"
    assert {replica.log.log_end_offset for replica in p.b.replicas(TP).values()} == {1}, "the reset of the stop alone"


@pytest.mark.decision("D30")
@pytest.mark.parametrize("when", ["mirroring", "stopped", "preparing again"])
def test_an_unclean_leader_that_must_truncate_does_so_before_it_serves(when: str) -> None:
    p = with_a_foreign_log(6)
    assert p.b.alter(TOPIC, {"unclean.leader.election.enable": "true"}) is ErrorCode.NONE
    victim = mirrored_without_one(p)
    if when != "mirroring":
        p.fail_over()
    if when == "preparing again":
        p.simulation.line(p.a, p.b).take_down()
        p.there.add_topics([TOPIC])
        p.run_until(lambda: p.b.state() == "PREPARING", "PREPARING")
    others = [b for b in p.b.broker_ids if b != victim]
    for broker_id in others:
        p.b.kill(broker_id)
    p.b.restart(victim)
    p.run_until(lambda: (found := p.b.leader(TP)) is not None and found.broker_id == victim, "the unclean leader")
    for broker_id in others:
        p.b.restart(broker_id)
    p.b.settle()
    p.simulation.run_for(span_s=5)
    assert not [value for _, value in values(p.b.log()) if value.startswith("b")], "not one foreign record"
    if when == "stopped":
        p.b.write("on b")
        p.fail_back()
        assert_equal(p.back)
    else:
        p.simulation.line(p.a, p.b).bring_up()
        assert_equal(p.there)


@pytest.mark.decision("D32")
def test_a_former_leader_that_is_truthfully_silent_proves_nothing() -> None:
    """Brokers that lost their controller still name it as the leader, in repeated responses too."""
    for seed in range(200):
        p = pair(seed, brokers=4, logs=WrittenLogs({TOPIC: [plain(0, 0, "r0", "r1")]}))
        p.begin()
        stale = list(p.b.image.brokers)[:2]  # The ones to which A sends its first requests.
        replicas = p.b.image.topics[TOPIC].partitions[0].replicas
        if p.b.await_leader().broker_id not in stale and len({*replicas} - {*stale}) > 1:
            break  # Another replica with current metadata can lead then.
    p.fail_over()
    p.b.write("on b")
    p.b.settle()
    former = p.b.await_leader().broker_id
    to_controller = [p.simulation.line(f"b-{broker_id}", "b-controller") for broker_id in stale]
    for line in to_controller:
        line.take_down()
    elect_among_the_informed(p, former, stale)
    informed = p.b.image.topics.partition(TP)
    assert informed is not None
    to_informed = p.simulation.line(p.a, f"b-{informed.leader}")
    to_informed.take_down()  # The one broker that could contradict them is unreachable for a while.
    p.back.create({"bootstrap.servers": str(p.b.endpoint(stale[0])), "request.timeout.ms": "2000"})
    p.back.add_topics([TOPIC])
    p.hold(20, lambda: len(values(p.a.log())) >= 2, "what both have is not cut on a rumour")
    for line in (to_informed, *to_controller):
        line.bring_up()
    wait_until_mirrored(p.back)
    assert p.cuts_of(p.a) == [], "the source has the epoch, and nothing is above it"


@pytest.mark.decision("D32")
def test_a_leader_that_does_not_know_that_it_was_deposed_proves_nothing() -> None:
    """It believes that it leads, before and after, and does not know of a mirror that was created since."""
    p = pair(logs=WrittenLogs({TOPIC: [plain(0, 0, "r0", "r1")]}))
    p.begin()
    p.fail_over()
    p.there.delete()
    p.a.write("the only copy")
    stale = p.b.await_leader().broker_id
    to_controller = p.simulation.line(f"b-{stale}", "b-controller")
    to_controller.take_down()
    p.run_until(
        lambda: (found := p.b.image.topics.partition(TP)) is not None and found.leader != stale, "another leader"
    )
    informed = [broker_id for broker_id in p.b.broker_ids if broker_id != stale]
    lines = [p.simulation.line(p.a, f"b-{broker_id}") for broker_id in informed]
    for line in lines:
        line.take_down()
    p.there.create()
    p.there.add_topics([TOPIC])
    p.there.remove_topics([TOPIC])
    p.run_until(
        lambda: p.b.persisted().state is MirrorState.STOPPED, "a mirror that was stopped before it had anything"
    )
    p.back.create({"bootstrap.servers": str(p.b.endpoint(stale)), "request.timeout.ms": "2000"})
    p.back.add_topics([TOPIC])
    p.hold(20, lambda: "the only copy" in [value for _, value in values(p.a.log())], "it is cut for no rumour")
    for line in (*lines, to_controller):
        line.bring_up()
    p.run_until(lambda: "our log may be the only copy" in p.a.reason(), "the reason to wait (D25)")
    assert p.cuts_of(p.a) == []


def elect_among_the_informed(p: Pair, former: int, stale: list[int]) -> None:
    """Move B's leadership while some brokers get no metadata; the former leader returns and knows."""
    p.b.kill(former)

    def led_by_somebody_informed() -> bool:
        image = p.b.image.topics.partition(TP)
        return image is not None and image.leader not in (former, -1, *stale)

    p.run_until(led_by_somebody_informed, "a leader that the stale do not know")
    p.b.restart(former)
    p.run_until(lambda: p.b.image.brokers.is_alive(former), "the former leader")


@pytest.mark.decision("D25")
def test_the_only_copy_is_not_truncated_for_a_mirror_that_never_mirrored() -> None:
    log = [
        transactional(0, 0, ONE, "open"),
        plain(1, 0, "a1"),
        plain(2, 0, "a2"),
        marker(offset=3, epoch=0, pid=ONE, commit=True),
    ]
    p = pair(logs=WrittenLogs({TOPIC: log[:3]}))
    p.begin()
    assert p.b.log().log_end_offset == 0, "the source's LSO is 0"
    rows = p.fail_over()
    assert [row.last_mirrored_epoch for row in rows] == [-1]
    p.back.create()
    p.back.add_topics([TOPIC])
    p.run_until(lambda: "only copy" in p.a.reason(), "PREPARING to wait")
    p.hold(30, lambda: p.a.log().log_end_offset == 3, "ours is the only copy")
    assert [row.state for row in p.back.describe()] == [MirrorState.PREPARING]


@pytest.mark.decision("D33")
@pytest.mark.decision("D41")
def test_adding_and_removing_with_an_unreachable_source_leaves_the_log_unchanged() -> None:
    p = pair(logs=WrittenLogs({"else": [plain(0, 0, "x")]}))
    p.b.place_topic()
    p.b.write("b0")
    open_here = Producer(p.b, transactional_id="t")
    open_here.begin_transaction()
    open_here.send(records("in a transaction"))
    ended_meanwhile = Producer(p.b, transactional_id="u")
    ended_meanwhile.begin_transaction()
    ended_meanwhile.send(records("ended while preparing"))
    p.b.write("b3")
    p.simulation.line(p.a, p.b).take_down()
    p.there.create()
    p.there.add_topics([TOPIC])
    p.run_until(lambda: p.b.state() == "PREPARING", "PREPARING")
    ended_meanwhile.commit_transaction()
    victim = p.b.elect()
    p.fail_over()
    p.b.restart(victim)
    open_here.commit_transaction()
    p.b.settle()
    assert resets(p.b.log()) == []
    p.run_until(lambda: p.b.log().last_stable_offset == p.b.log().log_end_offset, "the marker")
    assert [value for _, value in read_committed(p.b)] == [
        "b0",
        "in a transaction",
        "ended while preparing",
        "b3",
    ]


@pytest.mark.decision("D37")
def test_a_stop_out_of_preparing_after_the_cut_settles_nothing_and_leaves_nothing_open() -> None:
    """A truncates to B's epoch, which removes the marker of a transaction of A's; then the operator stops it."""
    log = [plain(0, 0, "a0"), transactional(1, 0, ONE, "open")]
    p = pair(logs=WrittenLogs({TOPIC: log}), a_configs={"min.insync.replicas": "2"})
    p.begin()
    p.fail_over()
    p.b.write("on b")
    p.a.write("a, never mirrored")
    p.back.create()
    p.a.settle()
    assert p.a.alter("__mirror_state", {"min.insync.replicas": "1"}) is ErrorCode.NONE
    for follower in [b for b in p.a.broker_ids if b != p.a.await_leader().broker_id][:2]:
        p.a.kill(follower)
    p.run_until(lambda: len(p.a.await_leader().isr) == 1, "an ISR below min.insync.replicas")
    p.back.add_topics([TOPIC])
    p.run_until(lambda: p.a.state() == "PREPARING" and bool(p.cuts_of(p.a)), "the cut")
    p.back.remove_topics([TOPIC])
    for broker_id in p.a.broker_ids:
        if not p.a.runs(broker_id):
            p.a.restart(broker_id)
    rows = wait_until_stopped(p.back)
    assert [row.last_mirrored_epoch for row in rows] == [-1]
    p.a.settle()
    assert p.a.log().last_stable_offset == p.a.log().log_end_offset, "nothing hangs"
    assert [value for _, value in read_committed(p.a)] == ["a0"]
    assert p.a.write("on a") > 1


@pytest.mark.decision("D34")
def test_a_topic_removed_before_its_creation_leaves_nothing_to_the_next_one() -> None:
    p = pair(logs=WrittenLogs({"else": [plain(0, 0, "x")]}))
    p.there.create()
    p.there.add_topics(["ghost"])
    p.simulation.run_for(span_s=2)
    p.there.fail_over()
    assert p.there.topics() == []
    p.b.place_topic("ghost")
    tp = TopicPartition("ghost", 0)
    p.b.write("first", tp=tp)
    p.simulation.run_for(span_s=5)
    assert resets(p.b.log(tp)) == []
    assert values(p.b.log(tp)) == [(0, "first")]


@pytest.mark.decision("D15")
def test_failover_needs_nothing_but_the_destination() -> None:
    """The disaster: every node of the source is dead, and one topic of the mirror was never created."""
    p = pair(logs=WrittenLogs({TOPIC: [plain(0, 0, "r0")]}))
    p.begin()
    p.there.add_topics(["never there"[:5]])
    for node_id in (*p.a.broker_ids, 100):
        p.a.kill(node_id)
    rows = p.there.fail_over()
    assert [(row.tp, row.state) for row in rows] == [(TP, MirrorState.STOPPED)]
    assert p.b.write("on b") == 2


@pytest.mark.decision("D22")
def test_lag_counts_records_that_a_failover_would_lose() -> None:
    p = pair()
    p.a.place_topic()
    p.a.write("before")
    producer = Producer(p.a, transactional_id="t")
    producer.begin_transaction()
    producer.send(records("open"))
    for n in range(100):
        p.a.write(f"acknowledged {n}")
    p.begin()
    p.run_until(lambda: p.there.describe()[0].lag == 101, "lag")


@pytest.mark.decision("D16")
def test_a_wrong_source_address_waits_until_it_is_corrected() -> None:
    p = pair(logs=WrittenLogs({TOPIC: [plain(0, 0, "r0")]}))
    c = p.third("c", logs=WrittenLogs({"else": [plain(0, 0, "c0")]}))
    p.there.create({"bootstrap.servers": c.bootstrap_servers})
    p.there.add_topics([TOPIC])
    p.simulation.run_for(span_s=20)
    assert TOPIC not in p.b.image.topics
    right = {"bootstrap.servers": p.a.bootstrap_servers}
    assert p.b.alter("m", right, kind=ResourceType.MIRROR) is ErrorCode.NONE
    wait_until_mirrored(p.there)
    wrong = {"bootstrap.servers": c.bootstrap_servers}
    assert p.b.alter("m", wrong, kind=ResourceType.MIRROR) is ErrorCode.NONE
    p.run_until(lambda: c.cluster_id in p.b.reason(), "the reason")
    p.hold(20, lambda: p.b.state() == "MIRRORING", "it waits")
    assert p.b.alter("m", right, kind=ResourceType.MIRROR) is ErrorCode.NONE
    p.a.write("after")
    assert_equal(p.there)


@pytest.mark.decision("D16")
@pytest.mark.decision("D38")
def test_a_missing_or_grown_source_topic_is_described_and_not_requested_forever() -> None:
    p = pair(logs=WrittenLogs({TOPIC: [plain(0, 0, "r0")]}), b_configs={"mirror.metadata.refresh.interval.ms": "20000"})
    p.begin()
    asked = [0]
    p.simulation.world.trace.listeners.append(
        lambda now, who, what: asked.__setitem__(0, asked[0] + (who.startswith("a-") and "request from b-" in what))
    )
    forget(p)
    p.run_until(lambda: p.there.describe()[0].reason == f"the source has no topic {TOPIC}", "the reason", within_s=90)
    p.simulation.run_for(span_s=5)
    before = asked[0]
    p.simulation.run_for(span_s=60)
    assert asked[0] - before <= 2 * 3 * 4, "a refresh for each broker and interval and its proof, no more"


def forget(p: Pair) -> None:
    """Delete the topic at the source by the record of its controller (DeleteTopics is not served yet)."""
    from kmirror.protocol.gen.remove_topic_record import RemoveTopicRecord

    topic_id = p.a.image.topics[TOPIC].topic_id
    p.a.controller.commit(p.simulation.world.now, [RemoveTopicRecord(topic_id=topic_id)])
    p.simulation.world.perform(p.a.process(100), p.a.controller.outbox.drain())


@pytest.mark.decision("D31")
def test_adding_again_in_the_same_direction_copies_only_new_records() -> None:
    p = pair(logs=WrittenLogs({TOPIC: [plain(n, 0, f"r{n}") for n in range(10)]}))
    p.begin()
    p.fail_over()
    p.b.write("on b")
    p.a.write("more on a")
    settle(p.a, p.b)
    p.there.add_topics([TOPIC])
    assert_equal(p.there)
    assert [offset for offset, _ in p.cuts_of(p.b)] == [10], "our own records go, what both have stays"


@pytest.mark.decision("D39")
def test_a_second_failback_keeps_the_records_of_the_first() -> None:
    """B settled an epoch before A mirrored B's own records; A's statement is the newer one."""
    p = pair(logs=WrittenLogs({TOPIC: [plain(0, 0, "from a")]}))
    p.begin()
    p.fail_over()
    p.b.write("from b")
    p.b.settle()
    p.fail_back()
    p.fail_over(p.back)
    p.simulation.run_for(span_s=1)
    before = values(p.a.log())
    p.fail_back(create=False)
    assert p.cuts_of(p.a) == [(3, 4)], "our own reset, nothing of what both have"
    assert values(p.a.log()) == before == [(0, "from a"), (2, "from b")]
    assert_equal(p.back)


@pytest.mark.decision("D40")
def test_pending_truncations_follow_a_topic_into_another_mirror() -> None:
    p = with_a_foreign_log(20)
    victim = mirrored_without_one(p)
    p.fail_over()
    p.simulation.line(p.a, p.b).take_down()
    other = Mirror("n", source=p.a, destination=p.b)
    other.create()
    other.add_topics([TOPIC])
    p.run_until(lambda: p.b.state() == "PREPARING", "PREPARING")
    p.b.restart(victim)
    p.b.settle()
    for replica in p.b.replicas(TP).values():
        assert values(replica.log) == [(n, f"a{n}") for n in range(20)]
    other.remove_topics([TOPIC])
    wait_until_stopped(other)
    while p.b.await_leader().broker_id != victim:
        p.b.restart(p.b.elect())
        p.b.settle()
    assert values(p.b.log()) == [(n, f"a{n}") for n in range(20)], (
        "it is on no list of uncut replicas any more, under neither name"
    )
