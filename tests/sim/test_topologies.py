"""Chains, fans, loops and single brokers."""

from __future__ import annotations

import pytest

from kmirror.kernel.ids import TopicPartition
from kmirror.sim.mirror import Mirror
from kmirror.spec.error_codes import ErrorCode
from tests.sim.stage import (
    TOPIC,
    TP,
    WrittenLogs,
    assert_equal,
    hold,
    log_of,
    mirrored,
    pair,
    plain,
    reason_of,
    resets,
    run_until,
    state_of,
    stopped,
    third,
    try_write,
    values,
    write,
)

LOGS = {TOPIC: [plain(0, 0, "r0", "r1"), plain(2, 2, "r2")]}
OTHER = TopicPartition("other", 0)


@pytest.mark.decision("D25")
def test_two_clusters_that_mirror_each_other_do_not_wipe_each_other() -> None:
    p = pair(logs=WrittenLogs(LOGS))
    p.begin()
    p.back.create()
    p.back.add_topics([TOPIC])
    run_until(p, lambda: state_of(p.a) == "PREPARING" and "still mirrors" in reason_of(p.a), "A to wait and say why")
    hold(p, 60, lambda: state_of(p.a) == "PREPARING" and log_of(p.a).log_end_offset == 3, "A keeps its log")
    assert values(log_of(p.b)) == values(log_of(p.a)) == [(0, "r0"), (1, "r1"), (2, "r2")]
    p.fail_over()  # The loop ends as soon as one side is stopped.
    assert_equal(p.back)
    assert [value for _, value in values(log_of(p.a))] == ["r0", "r1", "r2"]


@pytest.mark.decision("D25")
@pytest.mark.parametrize("name", ["m", "m2"], ids=["one name", "two names"])
def test_chain_of_three_clusters(name: str) -> None:
    p = pair(logs=WrittenLogs(LOGS))
    c = third(p)
    p.begin()
    second = Mirror(name, source=p.b, destination=c)
    second.create()
    second.add_topics([TOPIC])
    write(p.a, "through b")
    assert_equal(p.there)
    assert_equal(second)
    p.simulation.cut(p.a, p.b)
    p.fail_over()  # B's producer reset is a batch like any other for C.
    write(p.b, "from b")
    assert_equal(second)
    assert len(resets(log_of(c))) == 1
    assert try_write(c) is ErrorCode.READ_ONLY_TOPIC
    second.remove_topics([TOPIC])
    stopped(second)
    write(c, "from c")
    assert len(resets(log_of(c))) == 2, "the one of B, and its own"


def test_fan_out_to_two_clusters_that_stop_on_their_own() -> None:
    p = pair(logs=WrittenLogs(LOGS))
    c = third(p)
    p.begin()
    other = Mirror("m", source=p.a, destination=c)
    other.create()
    other.add_topics([TOPIC])
    assert_equal(other)
    p.fail_over()
    write(p.b, "on b")
    write(p.a, "on a")
    assert_equal(other)
    other.remove_topics([TOPIC])
    stopped(other)
    write(c, "on c")
    assert [value for _, value in values(log_of(p.b))][-1] == "on b"
    assert [value for _, value in values(log_of(c))][-2:] == ["on a", "on c"]


def test_fan_in_of_two_sources_with_different_topics() -> None:
    p = pair(logs=WrittenLogs(LOGS))
    c = third(p, logs=_OtherLogs({"other": [plain(0, 5, "o0")]}))
    p.begin()
    from_c = Mirror("m2", source=c, destination=p.b)
    from_c.create()
    from_c.add_topics(["other"])
    assert_equal(from_c, ["other"])
    p.fail_over()
    write(p.b, "on b")
    write(c, "o1", tp=OTHER)
    assert_equal(from_c, ["other"])
    assert try_write(p.b, OTHER) is ErrorCode.READ_ONLY_TOPIC


class _OtherLogs(WrittenLogs):
    """Logs whose topic ids differ from those of `WrittenLogs`."""

    def __init__(self, topics: dict[str, list[bytes]]) -> None:
        super().__init__({"": [], **topics})
        del self.partitions[TopicPartition("", 0)]


def test_bidirectional_mirroring_of_different_topics() -> None:
    p = pair(logs=WrittenLogs(LOGS), b_logs=_OtherLogs({"other": [plain(0, 1, "o0")]}))
    p.begin()
    p.back.create()
    p.back.add_topics(["other"])
    write(p.a, "on a")
    write(p.b, "on b", tp=OTHER)
    assert_equal(p.there)
    assert_equal(p.back, ["other"])


@pytest.mark.decision("D11")
def test_one_broker_on_each_side_goes_there_and_back() -> None:
    p = pair(logs=WrittenLogs(LOGS), brokers=1)
    p.begin()
    p.simulation.cut(p.a, p.b)
    write(p.a, "lost")
    p.fail_over()
    write(p.b, "kept")
    p.simulation.heal(p.a, p.b)
    p.fail_back()
    assert_equal(p.back)
    assert [value for _, value in values(log_of(p.a))] == ["r0", "r1", "r2", "kept"]


@pytest.mark.decision("D11")
def test_one_broker_restarts_in_every_state() -> None:
    p = pair(logs=WrittenLogs(LOGS), brokers=1)
    p.there.create()
    p.there.add_topics([TOPIC])
    for state in ("PREPARING", "MIRRORING"):
        run_until(p, lambda state=state: state_of(p.b) == state, state)  # type: ignore[misc]
        p.b.kill(1)
        p.b.restart(1)
    mirrored(p.there)
    p.there.remove_topics([TOPIC])
    p.b.kill(1)
    p.b.restart(1)
    rows = stopped(p.there)
    assert [row.last_mirrored_epoch for row in rows] == [2]
    assert len(resets(log_of(p.b))) == 1


@pytest.mark.decision("D6")
@pytest.mark.decision("D34")
def test_removal_of_a_topic_that_never_began_and_adding_it_again() -> None:
    p = pair(logs=WrittenLogs(LOGS))
    p.simulation.cut(p.a, p.b)
    p.there.create()
    p.there.add_topics([TOPIC])
    p.simulation.run_for(5)
    assert TOPIC not in p.b.image.topics
    p.there.remove_topics([TOPIC])
    assert p.there.topics() == [], "nothing is left for the next topic of this name"
    p.simulation.heal(p.a, p.b)
    p.simulation.run_for(20)
    assert TOPIC not in p.b.image.topics, "nobody wants it any more"
    p.there.add_topics([TOPIC])
    assert_equal(p.there)
    assert log_of(p.b).log_end_offset == 3
    p.fail_over()
    p.there.remove_topics([TOPIC])
    assert state_of(p.b) == "STOPPED"
    assert TP in p.b.partitions()
