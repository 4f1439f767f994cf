"""The group `engine`: every gate has cases, both sides do the same work, and the right work is timed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from benchmarks import engine, engine_idle, engine_long_runs, engine_scale, engine_sessions
from benchmarks.engine_sessions import CONSUMER, FOLLOWER, FollowedLeader, Session
from benchmarks.harness import Run
from benchmarks.lone_broker import LoneBroker, response_in
from kmirror.log.partition_log import PartitionLog
from kmirror.protocol.headers import peek_request
from kmirror.spec.wire_values import Acks


def test_every_gate_of_the_engine_has_a_floor_and_a_reach() -> None:
    gated = {case.id for case in engine.cases() if case.floor is not None and case.reach is not None}
    assert gated == {f"E{number}" for number in range(1, 11)}
    assert all(case.floor < case.reach for case in engine.cases() if case.floor and case.reach)


@pytest.mark.parametrize("acks", [Acks.LEADER, Acks.ALL])
@pytest.mark.parametrize("producer_id", [-1, engine.PRODUCER])
def test_both_logs_grow_alike_and_are_emptied_before_they_are_large(
    monkeypatch: pytest.MonkeyPatch, acks: Acks, producer_id: int
) -> None:
    monkeypatch.setattr(engine, "LOG_BYTES", 20_000)
    logs: list[PartitionLog] = []
    serve_repeatedly = engine.serve_repeatedly

    def record_events(log: PartitionLog, frames: list[bytes], serve: Callable[[bytes], object]) -> Run:
        logs.append(log)
        return serve_repeatedly(log, frames, serve)

    monkeypatch.setattr(engine, "serve_repeatedly", record_events)
    ours, theirs = engine.produce(10, acks=acks, producer_id=producer_id)()
    served, limit = logs
    ends = []
    for _ in range(60):
        ours(), theirs()
        assert served.log_end_offset == limit.log_end_offset
        assert served.size_in_bytes == limit.size_in_bytes < 40_000
        ends.append(served.log_end_offset)
    # No batch was treated as a duplicate, including the second round.
    round_of = ends.index(10, 1)
    assert ends == [10 * (1 + number % round_of) for number in range(60)] and round_of < 30


def test_a_limit_that_appends_nothing_serves_the_same_frames() -> None:
    ours, theirs = engine.produce(10, append=engine.minimal_append())()
    ours(), theirs()


@pytest.mark.parametrize("partitions", [1, 3])
def test_both_sides_of_a_fetch_return_the_same_bytes(partitions: int) -> None:
    ours, theirs = engine.fetch(partitions)()
    assert answered(ours) == joined(theirs)


def test_both_sides_of_a_produce_return_the_same_bytes() -> None:
    ours, theirs = engine.produce(3)()
    for _ in range(3):
        assert answered(ours) == joined(theirs)


def answered(run: Run) -> bytes:
    effects = run()
    assert isinstance(effects, list)
    return response_in(effects)


def joined(run: Run) -> bytes:
    chunks = run()
    assert isinstance(chunks, list)
    return b"".join(chunks)


def test_two_metadata_requests_have_the_same_response() -> None:
    assert len(engine.second_metadata(20)(2)) == 2


# -- E3 -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("replica_id", [CONSUMER, FOLLOWER])
def test_a_session_returns_new_records_and_waits_if_there_are_none(replica_id: int) -> None:
    session = Session(30, replica_id)
    for _ in range(40):
        assert session.fetch_new_record() > 0  # The step asserts that each response had exactly one record.
    assert sum(session.offsets) == 41
    session.fetch_nothing_new()
    epoch = session.epoch
    session.fetch_nothing_new()
    assert session.epoch == epoch + 1 and not session.changed


def test_a_follower_continues_after_the_received_records() -> None:
    followed = FollowedLeader(30)
    for _ in range(40):
        assert followed.fetch_new_record() > 0  # The step asserts that the next fetch names that partition alone.
    ends = [followed.broker.partition(engine_sessions.TOPIC, index).log.log_end_offset for index in range(30)]
    assert ends == followed.offsets and sum(ends) == 40


def test_a_cost_is_the_median_of_its_steps() -> None:
    spent = iter([10**8, 5, 7] * 200)
    assert engine_sessions.cost(lambda: next(spent)) == 7


# -- E4 -----------------------------------------------------------------------------------------


def test_an_idle_minute_has_frames_both_ways_and_timers() -> None:
    events = engine_idle.record_events(3.0)
    assert any(event.is_request for event in events)
    answers = [event for event in events if event.request_head is not None]
    assert answers and all(event.request_head for event in answers)
    assert any(event.request_head is None and not event.is_request for event in events)
    requests = {peek_request(event.data).api_key for event in events if event.is_request}
    assert requests == {1, 63}, "fetches and heartbeats"
    engine_idle.limit(events)
    assert len(engine_idle.idle_events(1.0)(2)) == 2


# -- E5 to E8, E10 ------------------------------------------------------------------------------


def test_a_run_in_a_separate_process_returns_its_costs() -> None:
    found = engine_scale.run_bring_up(2)
    assert found.partitions == 2 and min(found.creating_s, found.mirroring_s, found.idle_s) > 0
    assert engine_scale.run_failback(2).sent > 0
    assert engine_scale.run_failback(2) is engine_scale.run_failback(2), "rows share a run"


def test_lone_brokers_lead_or_follow_as_configured() -> None:
    leads, follows = LoneBroker({"t": 2}), LoneBroker({"t": 2}, node_id=2, replicas=(1, 2))
    assert leads.partition("t", 1).is_leader and not follows.partition("t", 1).is_leader
    assert leads.now_ms == leads.now // 1000


# -- Without a gate -----------------------------------------------------------------------------


def test_a_scale_run_reports_creation_mirroring_failover_and_failback(
    capsys: pytest.CaptureFixture[str],
) -> None:
    engine_long_runs.main(["scale", "--topics", "2", "--partitions", "2"])
    told = capsys.readouterr().out.splitlines()
    assert told[0].startswith("commit ") and told[1].split() == ["clock", "s", "CPU", "s", "GiB", "peak", "GiB"]
    assert [line[:44].rstrip() for line in told[2:6]] == [
        "4 partitions created on a",
        "b mirrors them: MIRRORING",
        "failover to b: STOPPED",
        "failback to a: MIRRORING",
    ]
    assert "B for each partition" in told[6]


def test_days_under_load_end_with_equal_replicas(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(engine_long_runs, "HOURS", 2)
    monkeypatch.setattr(engine_long_runs, "HOUR_S", 10)
    engine_long_runs.main(["week", "--days", "2", "--every-s", "5"])
    told = capsys.readouterr().out.splitlines()
    assert [line[:44].rstrip() for line in told[2:4]] == ["day 1", "day 2"]
    assert told[-1] == "equal byte for byte on every replica of b"


def test_a_compacted_month_shows_the_disk_use_of_both_sides(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(engine_long_runs, "HOURS", 2)
    monkeypatch.setattr(engine_long_runs, "HOUR_S", 60)
    engine_long_runs.main(["month", "--days", "2", "--keys", "10", "--every-s", "20"])
    head, *days, end = capsys.readouterr().out.splitlines()
    assert head.split() == ["day", "written", "MB", "on", "a", "MB", "on", "b", "MB", "b", "/", "a"]
    assert [row.split()[0] for row in days] == ["1", "2"]
    assert all(0.9 <= float(row.split()[-1]) <= 1.1 for row in days)
    assert end == "no record on one side only, but for those that a cleaner may take"
