"""Sources of earlier releases: no divergence in fetches, no topic ids, no DescribeMirrors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pytest

from kmirror.assembly.mirrors import ADDED, add_topics_request
from kmirror.hooks.hooks import Hooks
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.facts import LogCut
from kmirror.mirror.states import MirrorState
from kmirror.mirror.topic_ids import generated_topic_id
from kmirror.protocol.gen.offset_for_leader_epoch_request import OffsetForLeaderEpochRequest
from kmirror.sim.mirror import Mirror
from kmirror.sim.simulation import Simulation
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.releases import RELEASES
from tests.sim.stage import (
    SMALL,
    TOPIC,
    TP,
    Pair,
    StagedCluster,
    WrittenLogs,
    assert_equal,
    check_epochs,
    legacy,
    plain,
    values,
    wait_until_mirrored,
)

BATCHES = [plain(0, 0, "r0", "r1"), plain(2, 3, "r2"), plain(3, 4, "r3")]


UNCLEAN = {"unclean.leader.election.enable": "true", "min.insync.replicas": "1"}


class OldMirror(Mirror):
    """Sends no topic ids, which an operator cannot know."""

    def add_topics(self, topics: Iterable[str]) -> None:
        request = add_topics_request(self.name, dict.fromkeys(topics, Uuid.ZERO))
        self._run(ADDED, lambda mirror: mirror._change(request))


class OldPair(Pair):
    """A source that emulates an earlier release."""

    hooks: Hooks

    @property
    def there(self) -> Mirror:
        return OldMirror("m", source=self.a, destination=self.b)


def old_pair(
    release: str = "2.1",
    *,
    logs: WrittenLogs | None = None,
    a_configs: Mapping[str, str] | None = None,
    seed: int = 0,
) -> OldPair:
    simulation = Simulation(seed)
    hooks = Hooks()
    hooks.play(release)
    found = WrittenLogs({TOPIC: BATCHES}) if logs is None else logs
    a = StagedCluster(simulation, "a", logs=found, configs={**SMALL, **(a_configs or {})}, interpose=hooks)
    b = StagedCluster(simulation, "b", configs=SMALL)
    made = OldPair(simulation, a, b)
    made.hooks = hooks
    simulation.on(LogCut, lambda seen: made.cuts.append((seen.node, seen.fact)))
    simulation.world.after_event.append(lambda now: check_epochs(b))
    a.start()
    b.start()
    return made


def unclean(p: Pair, *, keeps: int) -> None:
    """Let the source lose records that only its leader has: a replica that was down leads, with `keeps` records."""
    first = p.a.await_leader().broker_id
    others = [b for b in p.a.broker_ids if b != first]
    for broker_id in others:
        p.a.kill(broker_id)
    p.run_until(lambda: p.a.await_leader().isr == (first,), "an ISR of one")
    while p.a.await_leader().log.log_end_offset < keeps + 3:
        p.a.write("lost")
    wait_until_mirrored(p.there)
    p.a.kill(first)
    p.a.restart(others[0])
    p.run_until(lambda: (led := p.a.leader(TP)) is not None and led.broker_id == others[0], "an unclean leader")


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.decision("D12")
def test_every_release_is_mirrored(release: str) -> None:
    p = old_pair(release)
    p.begin()
    p.a.write("new")
    assert_equal(p.there)


@pytest.mark.decision("D12")
def test_records_lost_by_an_old_source_are_found_by_its_epoch_ends() -> None:
    p = old_pair(a_configs=UNCLEAN)
    asked: list[int] = []
    p.hooks.on(OffsetForLeaderEpochRequest).watch(lambda seen: asked.append(seen.version))
    p.begin()
    first = p.a.await_leader().log.log_end_offset
    unclean(p, keeps=first)
    p.a.write("kept instead")
    p.a.write("and more", "than was lost", "there", "before")
    p.run_until(lambda: (4, "kept instead") in values(p.b.await_leader().log), "the logs to be equal")
    for broker_id in p.a.broker_ids:
        if not p.a.runs(broker_id):
            p.a.restart(broker_id)
    assert_equal(p.there)
    assert set(asked) == {2}


@pytest.mark.decision("D12")
def test_a_new_destination_leader_requests_epochs_before_it_fetches() -> None:
    p = old_pair(a_configs=UNCLEAN)
    p.begin()
    end = p.a.await_leader().log.log_end_offset
    line = p.simulation.line(p.a, p.b)
    first = p.b.elect()
    unclean(p, keeps=end)
    line.take_down()
    p.b.restart(first)
    p.b.settle()
    p.b.elect()
    line.bring_up()
    p.a.write("kept instead", "and more", "than was lost", "there", "before")
    p.run_until(lambda: (4, "kept instead") in values(p.b.await_leader().log), "the logs to be equal")


# -- messages without leader epochs ----------------------------------------------------------------


@pytest.mark.decision("D28")
def test_messages_of_old_formats_are_compared_by_their_range() -> None:
    old = [legacy(0, 0, "m0", "m1"), legacy(2, 1, "m2", "m3")]
    p = old_pair(logs=WrittenLogs({TOPIC: old}))
    p.begin()
    first = p.a.elect()
    assert_equal_but(p, first)
    p.a.write("with an epoch")
    assert_equal(p.there)


def assert_equal_but(p: OldPair, broker_id: int) -> None:
    """Compare both logs while a broker of the source is down, then start it."""
    wait_until_mirrored(p.there)
    p.a.restart(broker_id)
    assert_equal(p.there)


# -- topics without ids ----------------------------------------------------------------------------


def recreate(p: OldPair, *values_of_it: str, bumped_to: int = 0) -> None:
    """Delete the source's topic and create it again; its leader is in epoch `bumped_to`."""
    p.hooks.clear()  # The requests have current versions.
    assert p.a.delete(TOPIC) == [ErrorCode.NONE]
    p.a.place_topic()
    if bumped_to:
        p.a.bump(bumped_to)
    p.hooks.play("2.1")
    if values_of_it:
        p.a.write(*values_of_it)


@pytest.mark.decision("D53")
def test_a_topic_with_an_id_made_here_is_the_same_at_all_mirrors() -> None:
    p = old_pair()
    p.begin()
    made = generated_topic_id(p.a.cluster_id, TOPIC)
    assert p.b.image.topics[TOPIC].topic_id == made not in (Uuid.ZERO, p.a.image.topics[TOPIC].topic_id)
    c = p.third()
    other = OldMirror("o", source=p.a, destination=c)
    other.create()
    other.add_topics([TOPIC])
    wait_until_mirrored(other)
    assert c.image.topics[TOPIC].topic_id == made
    p.fail_over()
    other.remove_topics([TOPIC])
    p.run_until(lambda: c.state() == "STOPPED", "c to be writable")
    p.b.write("from b")
    again = Mirror("p", source=p.b, destination=c)
    again.create()
    again.add_topics([TOPIC])
    assert_equal(again)


@pytest.mark.parametrize("restarted", [False, True])
@pytest.mark.decision("D53")
def test_an_upgraded_source_has_the_same_topic_under_its_own_id(restarted: bool) -> None:
    p = old_pair()
    p.begin()
    p.hooks.play("3.9")
    for broker_id in p.a.broker_ids:
        p.a.kill(broker_id)
        p.a.restart(broker_id)
        p.a.settle()
    if restarted:
        p.b.elect()
    p.a.write("after the upgrade")
    p.run_until(lambda: p.b.log().high_watermark == p.a.log().log_end_offset, "what was written then")
    p.run_until(lambda: (mp := p.b.mirror_partition()) is not None and any(mp.source_topic_id), "fetches by id")
    recreate(p, "of another topic")
    p.hooks.play("3.9")
    p.run_until(lambda: p.b.state() == "FAILED", "the other topic to be noticed")
    assert "it had" in p.b.reason()


@pytest.mark.decision("D53")
def test_a_failback_to_an_upgraded_source_copies_everything_once() -> None:
    """No id shows whether the topic there is the one that was copied before topics had ids."""
    p = old_pair()
    p.begin()
    p.fail_over()
    p.b.write("at the new place")
    p.hooks.clear()
    p.a.write("never mirrored")
    p.a.settle()
    p.fail_back()
    assert_equal(p.back)
    assert p.cuts_of(p.a)[0][0] == 0
    p.fail_over(p.back)
    p.a.write("at the old one")
    p.there.add_topics([TOPIC])
    assert_equal(p.there)
    p.fail_over()
    p.b.write("and back again")
    before = len(p.cuts_of(p.a))
    p.fail_back(create=False)
    assert_equal(p.back)
    assert all(offset > 0 for offset, _ in p.cuts_of(p.a)[before:]), "what was copied from there once is not again"


@pytest.mark.decision("D53")
def test_a_topic_that_was_created_again_and_is_shorter_fails_the_partition() -> None:
    p = old_pair(logs=WrittenLogs({TOPIC: [plain(0, 0, "r0", "r1", "r2")]}))
    p.begin()
    end, epoch = p.b.log().log_end_offset, p.a.await_leader().leader_epoch
    p.a.write("r3")
    wait_until_mirrored(p.there)
    recreate(p, "new", bumped_to=epoch)
    p.run_until(lambda: p.b.state() == "FAILED", "the other topic to be noticed")
    assert "deleted and created again" in p.b.reason()
    assert p.b.log().log_end_offset == end + 1, "nothing of ours was cut"


@pytest.mark.parametrize("restarted", [False, True])
@pytest.mark.decision("D53")
def test_a_topic_whose_leader_epoch_falls_is_not_followed(restarted: bool) -> None:
    p = old_pair()
    p.begin()
    p.hooks.clear()
    p.a.bump(7)
    p.hooks.play("2.1")
    p.a.write("in epoch 7")
    wait_until_mirrored(p.there)
    kept = values(p.b.log())
    recreate(p, "another", "topic", "with more", "than there was", "in the", "former one")
    if restarted:
        for broker_id in p.b.broker_ids:
            p.b.kill(broker_id)
            p.b.restart(broker_id)
    p.run_until(lambda: "created again" in p.b.reason(), "the epoch to be noticed")
    p.simulation.run_for(span_s=30)
    assert p.b.state() == "MIRRORING"
    assert values(p.b.log()) == kept

    p.fail_over()
    p.there.add_topics([TOPIC])
    assert_equal(p.there)
    assert values(p.b.log())[0] == (0, "another")


@pytest.mark.decision("D53")
def test_earlier_mirroring_is_no_proof_without_an_id() -> None:
    """Both topics have epoch 0, and equally many records: only an id could distinguish them."""
    p = old_pair(logs=WrittenLogs({TOPIC: [plain(0, 0, "r0", "r1", "r2")]}))
    p.begin()
    p.fail_over()
    recreate(p, "o0", "o1", "o2", "o3")
    p.there.add_topics([TOPIC])
    assert_equal(p.there)
    assert values(p.b.log())[0] == (0, "o0")


def test_states_outlive_a_restart_of_the_destination() -> None:
    p = old_pair()
    p.begin()
    for broker_id in p.b.broker_ids:
        p.b.kill(broker_id)
    for broker_id in p.b.broker_ids:
        p.b.restart(broker_id)
    p.a.write("more")
    assert_equal(p.there)
    assert p.cuts_of(p.b, TopicPartition(TOPIC, 0)) == []
    assert p.b.persisted().state is MirrorState.MIRRORING
