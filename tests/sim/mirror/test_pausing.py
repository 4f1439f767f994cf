"""A topic is paused and resumed: nothing is truncated, nothing is lost, nothing is fetched in between (D5, D7, D50)."""

from __future__ import annotations

import pytest

from kmirror.errors import KafkaError
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.states import MirrorState
from kmirror.protocol.gen.pause_mirror_topics_request import PauseMirrorTopicsRequest
from kmirror.protocol.gen.pause_mirror_topics_request import TopicData as PausedTopic
from kmirror.protocol.gen.pause_mirror_topics_response import PauseMirrorTopicsResponse
from kmirror.protocol.gen.remove_topics_from_mirror_request import RemoveTopicsFromMirrorRequest
from kmirror.protocol.gen.remove_topics_from_mirror_request import TopicData as RemovedTopic
from kmirror.protocol.gen.remove_topics_from_mirror_response import RemoveTopicsFromMirrorResponse
from kmirror.protocol.gen.resume_mirror_topics_request import ResumeMirrorTopicsRequest
from kmirror.protocol.gen.resume_mirror_topics_request import TopicData as ResumedTopic
from kmirror.protocol.gen.resume_mirror_topics_response import ResumeMirrorTopicsResponse
from kmirror.sim.mirror import Mirror
from kmirror.spec.error_codes import ErrorCode as E
from tests.sim.stage import TOPIC, TP, Pair, WrittenLogs, assert_equal, pair, plain

LOGS = {TOPIC: [plain(0, 0, "r0", "r1")]}


def start_mirror() -> Pair:
    p = pair(logs=WrittenLogs(LOGS))
    p.begin()
    return p


def pause_topic(p: Pair) -> None:
    p.there.pause([TOPIC])
    p.there.wait_for_state(MirrorState.PAUSED, [TP])


@pytest.mark.decision("D50")
@pytest.mark.decision("D7")
def test_a_paused_topic_is_read_only_and_grows_no_more_until_it_is_resumed() -> None:
    p = start_mirror()
    pause_topic(p)
    end = p.b.log().log_end_offset
    p.a.write("while paused")
    p.hold(12, lambda: p.b.log().log_end_offset == end, "a paused topic is not fetched")
    assert p.b.try_write() is E.READ_ONLY_TOPIC
    assert p.b.persisted().state is MirrorState.PAUSED
    p.there.resume([TOPIC])
    assert_equal(p.there)
    assert p.b.log().log_end_offset == end + 1
    assert p.cuts_of(p.b) == []


@pytest.mark.decision("D50")
def test_a_topic_that_prepares_is_paused_before_anything_is_fetched() -> None:
    p = pair(logs=WrittenLogs(LOGS))
    states: list[str] = []
    p.simulation.world.after_event.append(lambda now: states.append(p.b.state()))
    p.there.create()
    p.there.add_topics([TOPIC])
    p.run_until(lambda: p.b.state() == "PREPARING", "PREPARING")
    p.there.pause([TOPIC])
    p.there.wait_for_state(MirrorState.PAUSED, [TP])
    entered = list(dict.fromkeys(states))
    assert entered == ["NONE", "UNKNOWN", "PREPARING", "MIRRORING", "PAUSING", "PAUSED"]
    p.hold(12, lambda: p.b.log().log_end_offset == 0, "nothing is fetched")
    p.there.resume([TOPIC])
    assert_equal(p.there)


@pytest.mark.decision("D50")
@pytest.mark.decision("D17")
def test_a_topic_that_is_paused_before_it_exists_here_is_created_when_it_is_resumed() -> None:
    p = pair()
    p.there.create()
    p.there.add_topics([TOPIC])
    p.there.pause([TOPIC])
    p.a.place_topic()
    p.simulation.run_for(span_s=12)
    assert TOPIC not in p.b.image.topics
    p.there.resume([TOPIC])
    p.a.write("x")
    assert_equal(p.there)


@pytest.mark.decision("D9")
@pytest.mark.decision("D50")
@pytest.mark.parametrize("pausing", [True, False])
def test_a_new_leader_continues_pausing_and_stays_paused(pausing: bool) -> None:
    p = start_mirror()
    p.b.settle()
    if pausing:
        p.there.begin_pause([TOPIC])
        p.run_until(lambda: p.b.state() == "PAUSING", "PAUSING")
    else:
        pause_topic(p)
    down = p.b.elect()
    p.a.write("while paused")
    p.there.wait_for_state(MirrorState.PAUSED, [TP])
    end = p.b.log().log_end_offset
    p.hold(12, lambda: p.b.state() == "PAUSED" and p.b.log().log_end_offset == end, "it stays paused")
    p.b.restart(down)
    p.there.resume([TOPIC])
    assert_equal(p.there)
    assert p.cuts_of(p.b) == []


@pytest.mark.decision("D50")
def test_a_resume_before_the_pause_passes_through_paused() -> None:
    p = start_mirror()
    states: list[str] = []
    p.simulation.world.after_event.append(lambda now: states.append(p.b.state()))
    p.there.begin_pause([TOPIC])
    p.run_until(lambda: p.b.state() == "PAUSING", "PAUSING")
    p.there.begin_resume([TOPIC])
    p.a.write("x")
    assert_equal(p.there)
    assert list(dict.fromkeys(states)) == ["MIRRORING", "PAUSING", "PAUSED"] and states[-1] == "MIRRORING"
    assert p.cuts_of(p.b) == []


@pytest.mark.decision("D6")
@pytest.mark.decision("D50")
@pytest.mark.parametrize("state", ["PAUSING", "PAUSED"])
def test_a_paused_topic_is_removed_with_its_records_at_the_pause(state: str) -> None:
    p = start_mirror()
    p.there.begin_pause([TOPIC])
    p.run_until(lambda: p.b.state() == state, state)
    end = p.b.log().log_end_offset
    p.a.write("after the pause")
    p.fail_over()
    assert p.b.write("local") == end + 1, "the producer reset alone came in between"


@pytest.mark.decision("D50")
def test_the_source_elects_and_truncates_while_a_topic_is_paused() -> None:
    p = start_mirror()
    pause_topic(p)
    p.a.settle()
    down = p.a.elect()
    p.a.write("in the next epoch")
    p.a.restart(down)
    p.there.resume([TOPIC])
    assert_equal(p.there)


@pytest.mark.decision("D50")
def test_a_failed_partition_stays_failed_when_its_topic_is_paused() -> None:
    p = start_mirror()
    p.a.delete(TOPIC)
    p.a.place_topic()
    p.run_until(lambda: p.b.state() == "FAILED", "FAILED")
    p.there.pause([TOPIC])
    p.hold(6, lambda: p.b.state() == "FAILED", "FAILED is left by removal alone")


def ask(p: Pair, what: str, topic: str = TOPIC, topic_id: Uuid = Uuid.ZERO, mirror: str = "m") -> E:
    """Request that one topic be paused, resumed or removed; return its error, or that of the whole request."""
    if what == "pause":
        request = PauseMirrorTopicsRequest(mirror_name=mirror, topics=[PausedTopic(topic_id, topic)])
    elif what == "resume":
        request = ResumeMirrorTopicsRequest(mirror_name=mirror, topics=[ResumedTopic(topic_id, topic)])  # type: ignore[assignment]
    else:
        request = RemoveTopicsFromMirrorRequest(mirror_name=mirror, topics=[RemovedTopic(topic_id, topic)])  # type: ignore[assignment]
    reply = p.b.order(request)
    assert isinstance(reply, PauseMirrorTopicsResponse | ResumeMirrorTopicsResponse | RemoveTopicsFromMirrorResponse)
    assert reply.mirror_name == mirror
    return E(reply.error_code or reply.topics[0].error_code)


@pytest.mark.decision("D2")
@pytest.mark.decision("D50")
def test_repeated_and_impossible_requests_to_pause_have_their_own_errors() -> None:
    p = start_mirror()
    p.b.place_topic("other")
    answers = {
        "none of the mirror": (ask(p, "pause", "other"), ask(p, "resume", "other")),
        "no such topic": (ask(p, "pause", "nowhere"), ask(p, "resume", "nowhere")),
        "no such mirror": (ask(p, "pause", mirror="x"), ask(p, "resume", mirror="x")),
        "mirrored": (ask(p, "resume"), ask(p, "pause")),
        "paused": (ask(p, "pause"), ask(p, "resume")),
        "removed": (ask(p, "remove"), ask(p, "pause"), ask(p, "resume")),
    }
    assert answers == {
        "none of the mirror": (E.UNKNOWN_MIRROR, E.UNKNOWN_MIRROR),
        "no such topic": (E.UNKNOWN_TOPIC_OR_PARTITION, E.UNKNOWN_TOPIC_OR_PARTITION),
        "no such mirror": (E.UNKNOWN_MIRROR, E.UNKNOWN_MIRROR),
        "mirrored": (E.MIRROR_TOPIC_NOT_PAUSED, E.NONE),
        "paused": (E.MIRROR_TOPIC_ALREADY_PAUSED, E.NONE),
        "removed": (E.NONE, E.MIRROR_TOPIC_BEING_REMOVED, E.MIRROR_TOPIC_BEING_REMOVED),
    }


def test_a_topic_of_another_mirror_is_not_paused_under_this_ones_name() -> None:
    p = start_mirror()
    Mirror("n", source=p.a, destination=p.b).create()
    assert ask(p, "pause", mirror="n") is E.TOPIC_NOT_IN_MIRROR


@pytest.mark.parametrize("what", ["pause", "resume", "remove"])
def test_a_topic_that_is_named_by_an_id_must_have_it(what: str) -> None:
    """Another topic has the name by now: it is not the one the operator means."""
    p = start_mirror()
    if what == "resume":
        p.there.pause([TOPIC])
    topic_id = p.b.image.topics[TOPIC].topic_id
    assert ask(p, what, topic_id=Uuid.from_ints(9, 9)) is E.INCONSISTENT_TOPIC_ID
    assert ask(p, what, topic_id=topic_id) is E.NONE


def test_a_mirror_reports_denied_topics_with_the_reason() -> None:
    p = start_mirror()
    with pytest.raises(KafkaError, match=r"cannot resume topic orders of mirror m: MIRROR_TOPIC_NOT_PAUSED"):
        p.there.resume([TOPIC])
    with pytest.raises(KafkaError, match=r"cannot pause topic nowhere of mirror m: UNKNOWN_TOPIC_OR_PARTITION"):
        p.there.pause(["nowhere"])


@pytest.mark.decision("D36")
def test_clients_of_the_source_accept_this_cluster_after_a_failover_from_a_pause() -> None:
    """A client that is not restarted accepts no leader epoch below one that it has seen at the source."""
    p = start_mirror()
    pause_topic(p)
    p.a.bump(7)
    p.simulation.run_for(span_s=6)  # The regular refresh fetches it.
    p.fail_over()
    leader = p.b.leader(TP)
    assert leader is not None and leader.leader_epoch > 7
