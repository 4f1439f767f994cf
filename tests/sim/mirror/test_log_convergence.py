"""KIP-1279, Log Convergence: examples A and B, and similar cases with elections."""

from __future__ import annotations

import pytest

from tests.sim.stage import TOPIC, TP, WrittenLogs, assert_equal, epochs, pair, plain, resets, values


@pytest.mark.kip("1279", "Log Convergence, example A")
@pytest.mark.decision("D11")
def test_first_mirroring_truncates_everything_and_copies_from_scratch() -> None:
    logs = WrittenLogs({"orders": [plain(0, 0, "a0", "a1"), plain(2, 1, "a2")]})
    ours = WrittenLogs({"orders": [plain(0, 0, "b0"), plain(1, 1, "b1", "b2", "b3"), plain(4, 5, "b4")]})
    p = pair(logs=logs, b_logs=ours)
    assert values(p.b.log())[0] == (0, "b0")
    rows = p.begin()
    assert p.cuts_of(p.b) == [(0, 5)]
    assert values(p.b.log()) == [(0, "a0"), (1, "a1"), (2, "a2")]
    assert epochs(p.b.log()) == [(0, 0), (1, 2)]
    assert [row.last_mirrored_epoch for row in rows] == [-1]
    assert_equal(p.there)


@pytest.mark.kip("1279", "Log Convergence, example B")
@pytest.mark.decision("D10")
def test_failback_truncates_the_record_of_the_unmirrored_epoch() -> None:
    logs = WrittenLogs({"orders": [plain(0, 0, "r0"), plain(1, 0, "r1")]})
    p = pair(logs=logs, brokers=1)
    assert p.a.await_leader().leader_epoch == 1
    p.a.write("r2")
    p.begin()
    rows = p.fail_over()
    assert [row.last_mirrored_epoch for row in rows] == [1], "B stores LME=1"
    assert p.b.await_leader().leader_epoch == 2, "B bumps to epoch 2"
    p.a.kill(1)
    p.a.restart(1)
    p.a.settle()
    while p.a.await_leader().leader_epoch < 2:  # A bumps to epoch 2 as well ...
        p.simulation.run_for(span_s=0.5)
    assert p.a.write("only on a") == 3  # ... and gets a new record.
    assert p.b.write("only on b") == 4  # Offset 3 is B's producer reset.
    p.fail_back()
    assert p.cuts_of(p.a) == [(3, 4)], "A truncates the new record, and no more"
    assert values(p.a.log()) == [(0, "r0"), (1, "r1"), (2, "r2"), (4, "only on b")]
    assert epochs(p.a.log()) == [(0, 0), (1, 2), (2, 3)]
    assert_equal(p.back)


@pytest.mark.kip("1279", "Log Convergence, two phases")
@pytest.mark.decision("D12")
def test_the_second_phase_truncates_inside_the_last_mirrored_epoch() -> None:
    p = pair(logs=WrittenLogs({"orders": [plain(0, 0, "r0")]}))
    p.a.write("r1")
    p.begin()
    p.simulation.line(p.a, p.b).take_down()
    p.a.write("lost 1")  # In the epoch that B has: the first phase keeps it, the second finds it.
    p.a.write("lost 2")
    rows = p.fail_over()
    p.b.write("kept")
    p.simulation.line(p.a, p.b).bring_up()
    p.fail_back()
    assert [row.last_mirrored_epoch for row in rows] == [1]
    assert p.cuts_of(p.a) == [(2, 4)]
    assert values(p.a.log()) == [(0, "r0"), (1, "r1"), (3, "kept")]
    assert_equal(p.back)


@pytest.mark.kip("1279", "Log Convergence, two phases")
def test_both_phases_truncate_the_leftovers_of_two_elections() -> None:
    p = pair(3, logs=WrittenLogs({"orders": [plain(0, 0, "r0")]}))
    p.a.write("r1")
    p.begin()
    p.simulation.line(p.a, p.b).take_down()
    p.a.write("lost in the same epoch")
    victim = p.a.elect()
    p.a.write("lost in the next epoch")
    p.a.restart(victim)
    p.a.settle()
    p.fail_over()
    p.b.write("kept")
    p.simulation.line(p.a, p.b).bring_up()
    p.fail_back()
    assert p.cuts_of(p.a) == [(3, 4), (2, 3)], "first the epoch above the last mirrored one, then inside it"
    assert values(p.a.log()) == [(0, "r0"), (1, "r1"), (3, "kept")]
    assert_equal(p.back)


@pytest.mark.decision("D10")
def test_failover_and_failback_again_and_again_lose_nothing_that_was_mirrored() -> None:
    p = pair(5, logs=WrittenLogs({"orders": [plain(0, 0, "r0")]}))
    p.begin()
    expected = ["r0"]
    sides = [(p.there, p.b), (p.back, p.a)]
    for turn in range(4):
        mirror, destination = sides[turn % 2]
        source = mirror.source
        source.write(f"before {turn}")
        expected.append(f"before {turn}")
        assert_equal(mirror)
        p.simulation.line(p.a, p.b).take_down()
        source.write(f"lost {turn}")
        p.fail_over(mirror)
        destination.write(f"after {turn}")
        expected.append(f"after {turn}")
        p.simulation.line(p.a, p.b).bring_up()
        reverse = sides[(turn + 1) % 2][0]
        if turn == 0:
            reverse.create()
        reverse.add_topics(["orders"])
        assert_equal(reverse)
        assert [value for _, value in values(destination.log())] == expected
        assert [value for _, value in values(source.log())] == expected
        assert len(resets(source.log())) == turn + 1


@pytest.mark.decision("D10")
def test_the_last_mirrored_epoch_survives_a_restart_of_all_nodes() -> None:
    p = pair(logs=WrittenLogs({"orders": [plain(0, 4, "r0")]}))
    p.begin()
    p.a.write("r1")
    assert_equal(p.there)
    p.fail_over()
    before = p.b.persisted()
    assert before.last_mirrored_epoch == 5
    for node in (100, 1, 2, 3):
        p.b.kill(node)
    for node in (100, 1, 2, 3):
        p.b.restart(node)
    p.b.settle()
    assert p.b.persisted().last_mirrored_epoch == 5
    assert [row.last_mirrored_epoch for row in p.there.describe()] == [5]


def test_no_replica_of_a_mirrored_log_deletes_segments_by_its_own_retention() -> None:
    """The source alone decides while the topic is mirrored; the destination's `log.retention.ms` applies afterwards."""
    p = pair(b_configs={"log.retention.ms": "60000", "log.retention.check.interval.ms": "5000"})
    p.a.create_topic(TOPIC, configs={"internal.segment.bytes": "150"})
    for number in range(6):
        p.a.write(f"r{number}")
    p.begin()
    p.simulation.run_for(span_s=120)
    logs = [replica.log for replica in p.b.replicas(TP).values()]
    assert [log.log_start_offset for log in logs] == [0, 0, 0]
    p.fail_over()
    p.simulation.run_for(span_s=120)
    assert all(log.log_start_offset > 0 for log in logs)
