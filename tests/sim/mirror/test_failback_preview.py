"""The preview of a failback names exactly the records that the failback removes, after any history."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kmirror.assembly.mirrors import MirrorRow
from kmirror.kernel.ids import TopicPartition
from kmirror.log.partition_log import PartitionLog
from kmirror.mirror.component import MirrorComponent
from kmirror.mirror.failback import FailbackFacts, LogOutline, failback_cut, removal_of
from kmirror.mirror.lineage import Stretches, shared_epoch
from kmirror.sim.cluster import Cluster
from kmirror.sim.mirror import Mirror
from kmirror.sim.simulation import Simulation

TP = TopicPartition("t", 0)


def outline(log: PartitionLog) -> LogOutline:
    return LogOutline(log.epochs.entries, log.log_start_offset, log.log_end_offset)


def log_of(cluster: Cluster) -> PartitionLog:
    leader = cluster.leader(TP)
    assert leader is not None
    return leader.log


def batches_by_offset(log: PartitionLog) -> dict[int, bytes]:
    """Return the batches of a log by their base offset."""
    return {batch.base_offset: bytes(batch.view) for batch in log.any_batches(log.log_start_offset)}


def writers_of(cluster: Cluster) -> Stretches:
    """Return the clusters that wrote the leader's log."""
    leader = cluster.leader(TP)
    assert leader is not None
    components = cluster.broker(leader.broker_id).parts.components
    return next(c.context.writers_of(TP) for c in components if isinstance(c, MirrorComponent))


class Story:
    """Two clusters and one mirrored topic; writes, elections and failovers in any order, then the failback."""

    def __init__(self, seed: int) -> None:
        self.simulation = Simulation(seed)
        self.a, self.b = (Cluster(self.simulation, name, brokers=2, replication_factor=2) for name in "ab")
        self.a.start()
        self.b.start()
        self.a.create_topic("t")
        self.count = 0

    def mirror(self, source: Cluster, destination: Cluster) -> Mirror:
        return Mirror("m", source=source, destination=destination)

    def write(self, cluster: Cluster, batches: int) -> None:
        for _ in range(batches):
            self.count += 1
            cluster.produce("t", 0, [b"%d" % self.count] * (1 + self.count % 3))

    def elect(self, cluster: Cluster) -> None:
        """Move the partition to another leader epoch."""
        leader = cluster.leader(TP)
        assert leader is not None
        cluster.stop(leader.broker_id)
        cluster.restart(leader.broker_id)
        self.simulation.run_until(cluster.is_settled, within_s=60)

    def rows(self, source: Cluster, destination: Cluster) -> dict[TopicPartition, MirrorRow]:
        """Return the rows of the mirror in one direction, none if it was never created."""
        is_there = any(row.name == "m" for row in Mirror.list(destination))
        return {row.tp: row for row in self.mirror(source, destination).describe()} if is_there else {}

    def facts(self, source: Cluster, destination: Cluster) -> FailbackFacts:
        """Return the facts before `source` is mirrored to `destination`."""
        rows, own = self.rows(destination, source), self.rows(source, destination)
        writers = [writers_of(cluster) for cluster in (destination, source)]
        return FailbackFacts(
            outline(log_of(destination)),
            outline(log_of(source)),
            rows[TP].last_mirrored_epoch if TP in rows else None,
            own[TP].last_mirrored_epoch if TP in own else -1,
            shared_epoch(writers[0], writers[1]),
        )


def check_the_way_back(story: Story, source: Cluster, destination: Cluster) -> int:
    """Preview a failback from `source` to `destination`, run it, and return the number of batches it removed."""
    before, facts = batches_by_offset(log_of(destination)), story.facts(source, destination)
    said = removal_of(failback_cut(facts), log_of(destination).any_batches(log_of(destination).log_start_offset))
    back = story.mirror(source, destination)
    if not any(row.name == "m" for row in Mirror.list(destination)):
        back.create()
    back.add_topics(["t"])
    back.catch_up()
    back.assert_equal()
    after = batches_by_offset(log_of(destination))
    gone = {offset: data for offset, data in before.items() if after.get(offset) != data}
    assert said.batches == len(gone), f"{said.reason}: said from {said.offset}, gone are {sorted(gone)}; {facts}"
    assert said.size_in_bytes == sum(map(len, gone.values()))
    if gone:
        assert said.offset == min(gone)
    return len(gone)


@pytest.mark.parametrize("elections", [0, 1])
def test_unmirrored_records_are_reported(elections: int) -> None:
    story = Story(1)
    story.write(story.a, 3)
    there = story.mirror(story.a, story.b)
    there.create()
    there.add_topics(["t"])
    there.catch_up()
    there.pause(["t"])
    story.simulation.run_for(span_s=2)
    for _ in range(elections):
        story.elect(story.a)
    story.write(story.a, 2)
    there.fail_over()
    story.write(story.b, 4)
    assert check_the_way_back(story, story.b, story.a) == 2


def test_nothing_is_reported_if_nothing_is_removed() -> None:
    story = Story(2)
    story.write(story.a, 3)
    there = story.mirror(story.a, story.b)
    there.create()
    there.add_topics(["t"])
    there.catch_up()
    there.fail_over()
    story.write(story.b, 1)
    assert failback_cut(story.facts(story.b, story.a)).reason == ""
    assert check_the_way_back(story, story.b, story.a) == 0


STEP = st.sampled_from(["write a", "write b", "elect a", "elect b"])


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 1 << 16), before=st.lists(STEP, max_size=4), apart=st.lists(STEP, min_size=1, max_size=5))
def test_reported_records_equal_the_removed_ones(seed: int, before: list[str], apart: list[str]) -> None:
    story = Story(seed)
    clusters = {"a": story.a, "b": story.b}
    story.write(story.a, 1)
    there = story.mirror(story.a, story.b)
    there.create()
    there.add_topics(["t"])
    there.catch_up()
    for step in before:
        what, _, name = step.partition(" ")
        if what == "elect":
            story.elect(clusters[name])
        elif name == "a":
            story.write(story.a, 1)
            there.catch_up()
    there.pause(["t"])
    story.simulation.run_for(span_s=2)
    # Records that A writes now never reach B; records that B writes come after the failover.
    for step in apart:
        what, _, name = step.partition(" ")
        if what == "elect":
            story.elect(clusters[name])
        elif name == "a":
            story.write(story.a, 1)
    there.fail_over()
    for step in apart:
        if step == "write b":
            story.write(story.b, 1)
    check_the_way_back(story, story.b, story.a)
    # And in the other direction again: A fails over with its records, B continues alone.
    back = story.mirror(story.b, story.a)
    back.pause(["t"])
    story.simulation.run_for(span_s=2)
    story.write(story.b, len(apart) % 3)
    back.fail_over()
    story.write(story.a, 1)
    check_the_way_back(story, story.a, story.b)
