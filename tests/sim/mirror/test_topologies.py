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
    pair,
    plain,
    resets,
    values,
    wait_until_mirrored,
    wait_until_stopped,
)

LOGS = {TOPIC: [plain(0, 0, "r0", "r1"), plain(2, 2, "r2")]}
OTHER = TopicPartition("other", 0)


@pytest.mark.decision("D25")
def test_two_clusters_that_mirror_each_other_do_not_wipe_each_other() -> None:
    p = pair(logs=WrittenLogs(LOGS))
    p.begin()
    p.back.create()
    p.back.add_topics([TOPIC])
    p.run_until(lambda: p.a.state() == "PREPARING" and "in a ring" in p.a.reason(), "A to wait and say why")
    p.hold(60, lambda: p.a.state() == "PREPARING" and p.a.log().log_end_offset == 3, "A keeps its log")
    assert values(p.b.log()) == values(p.a.log()) == [(0, "r0"), (1, "r1"), (2, "r2")]
    p.fail_over()  # The loop ends when one side is stopped.
    assert_equal(p.back)
    assert [value for _, value in values(p.a.log())] == ["r0", "r1", "r2"]


@pytest.mark.decision("D25")
@pytest.mark.parametrize("name", ["m", "m2"], ids=["one name", "two names"])
def test_chain_of_three_clusters(name: str) -> None:
    p = pair(logs=WrittenLogs(LOGS))
    c = p.third()
    p.begin()
    second = Mirror(name, source=p.b, destination=c)
    second.create()
    second.add_topics([TOPIC])
    p.a.write("through b")
    assert_equal(p.there)
    assert_equal(second)
    p.simulation.line(p.a, p.b).take_down()
    p.fail_over()  # For C, B's producer reset is an ordinary batch.
    p.b.write("from b")
    assert_equal(second)
    assert len(resets(c.log())) == 1
    assert c.try_write() is ErrorCode.READ_ONLY_TOPIC
    second.remove_topics([TOPIC])
    wait_until_stopped(second)
    c.write("from c")
    assert len(resets(c.log())) == 2, "the one of B, and its own"


def test_fan_out_to_two_clusters_that_stop_on_their_own() -> None:
    p = pair(logs=WrittenLogs(LOGS))
    c = p.third()
    p.begin()
    other = Mirror("m", source=p.a, destination=c)
    other.create()
    other.add_topics([TOPIC])
    assert_equal(other)
    p.fail_over()
    p.b.write("on b")
    p.a.write("on a")
    assert_equal(other)
    other.remove_topics([TOPIC])
    wait_until_stopped(other)
    c.write("on c")
    assert [value for _, value in values(p.b.log())][-1] == "on b"
    assert [value for _, value in values(c.log())][-2:] == ["on a", "on c"]


def test_fan_in_of_two_sources_with_different_topics() -> None:
    p = pair(logs=WrittenLogs(LOGS))
    c = p.third(logs=_OtherLogs({"other": [plain(0, 5, "o0")]}))
    p.begin()
    from_c = Mirror("m2", source=c, destination=p.b)
    from_c.create()
    from_c.add_topics(["other"])
    assert_equal(from_c, ["other"])
    p.fail_over()
    p.b.write("on b")
    c.write("o1", tp=OTHER)
    assert_equal(from_c, ["other"])
    assert p.b.try_write(OTHER) is ErrorCode.READ_ONLY_TOPIC


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
    p.a.write("on a")
    p.b.write("on b", tp=OTHER)
    assert_equal(p.there)
    assert_equal(p.back, ["other"])


@pytest.mark.decision("D11")
def test_one_broker_on_each_side_fails_over_and_back() -> None:
    p = pair(logs=WrittenLogs(LOGS), brokers=1)
    p.begin()
    p.simulation.line(p.a, p.b).take_down()
    p.a.write("lost")
    p.fail_over()
    p.b.write("kept")
    p.simulation.line(p.a, p.b).bring_up()
    p.fail_back()
    assert_equal(p.back)
    assert [value for _, value in values(p.a.log())] == ["r0", "r1", "r2", "kept"]


@pytest.mark.decision("D11")
def test_one_broker_restarts_in_every_state() -> None:
    p = pair(logs=WrittenLogs(LOGS), brokers=1)
    p.there.create()
    p.there.add_topics([TOPIC])
    for state in ("PREPARING", "MIRRORING"):
        p.run_until(lambda state=state: p.b.state() == state, state)  # type: ignore[misc]
        p.b.kill(1)
        p.b.restart(1)
    wait_until_mirrored(p.there)
    p.there.remove_topics([TOPIC])
    p.b.kill(1)
    p.b.restart(1)
    rows = wait_until_stopped(p.there)
    assert [row.last_mirrored_epoch for row in rows] == [2]
    assert len(resets(p.b.log())) == 1


@pytest.mark.decision("D6")
@pytest.mark.decision("D34")
def test_removal_of_a_topic_that_never_began_and_adding_it_again() -> None:
    p = pair(logs=WrittenLogs(LOGS))
    p.simulation.line(p.a, p.b).take_down()
    p.there.create()
    p.there.add_topics([TOPIC])
    p.simulation.run_for(span_s=5)
    assert TOPIC not in p.b.image.topics
    p.there.remove_topics([TOPIC])
    assert p.there.topics() == [], "nothing is left for the next topic of this name"
    p.simulation.line(p.a, p.b).bring_up()
    p.simulation.run_for(span_s=20)
    assert TOPIC not in p.b.image.topics, "the topic was removed from the mirror before it was created"
    p.there.add_topics([TOPIC])
    assert_equal(p.there)
    assert p.b.log().log_end_offset == 3
    p.fail_over()
    p.there.remove_topics([TOPIC])
    assert p.b.state() == "STOPPED"
    assert TP in p.b.partitions()
