"""Moves with topics: growth, configs, filters, deletion.

The table of all moves is in moves.py.
"""

from __future__ import annotations

from kmirror.histories.plan import Value
from kmirror.histories.step_drawing import ADDED, REMOVED, Line, Move, PlanDraft, move_on_line
from kmirror.spec.configs import Scope, default_of, known
from kmirror.spec.topics import MIRROR_STATE_TOPIC

RETENTION = "retention.ms"
EXCLUDED = "mirror.topic.properties.exclude"
COPIED: dict[str, tuple[str, ...]] = {
    "max.message.bytes": ("1000000", "1050000", "1100000"),
    RETENTION: ("3600000", "86400000", "-1"),
    "retention.bytes": ("1000000000", "-1"),
    "cleanup.policy": ("compact", "compact,delete", "delete"),
    "compression.type": ("gzip", "lz4", "snappy", "zstd", "uncompressed", "producer"),
    "segment.bytes": ("1048576", "16777216"),
    "segment.ms": ("600000", "3600000"),
    "message.timestamp.type": ("CreateTime", "LogAppendTime"),
    "min.cleanable.dirty.ratio": ("0.1", "0.9"),
}
"""Topic configs, mostly ones that a mirror copies, with values that every cluster accepts."""


# -- growth and configs -----------------------------------------------------------------------


@move_on_line(ADDED, REMOVED)
def _grow(story: PlanDraft, line: Line) -> bool:
    """Add partitions to the source's topic; the source refuses if it mirrors the topic itself."""
    story.step("grow_topic", cluster=line.source, topic=line.topic, partitions=story.rng.between(2, 4))
    return True


@move_on_line(ADDED, REMOVED)
def _live_config(story: PlanDraft, line: Line) -> bool:
    if story.rng.chance(1, 2):
        story.step(
            "alter_mirror",
            mirror=line.mirror,
            destination=line.destination,
            name="request.timeout.ms",
            value=str(story.rng.between(800, 5_000)),
        )
    else:
        cluster = story.rng.choice([line.source, line.destination])
        factor = story.clusters[cluster].replication_factor
        story.step(
            "alter_topic",
            cluster=cluster,
            topic=line.topic,
            name="min.insync.replicas",
            value=str(story.rng.between(1, max(1, factor - 1))),
        )
    return True


@move_on_line(ADDED, REMOVED)
def _topic_config(story: PlanDraft, line: Line) -> bool:
    """Set configs and sometimes reset them, at the source or at the destination, where the sync reverts them."""
    names = [story.rng.choice(list(COPIED)) for _ in range(story.rng.between(1, 2))]
    for name in names:
        cluster = story.rng.choice([line.source, line.source, line.destination])
        value = story.rng.choice(COPIED[name])
        story.step("alter_topic", cluster=cluster, topic=line.topic, name=name, value=value)
        if story.rng.chance(1, 2):
            story.wait(100, 3_000)
            story.step("reset_topic", cluster=cluster, topic=line.topic, name=name)
    return True


@move_on_line(ADDED, REMOVED)
def _retention(story: PlanDraft, line: Line) -> bool:
    """Let the source keep records for a few seconds only; usually reset that later."""
    where: dict[str, Value] = {"cluster": line.source, "topic": line.topic}
    story.step("alter_topic", **where, name="segment.ms", value=str(story.rng.between(800, 2_000)))
    story.step("alter_topic", **where, name=RETENTION, value=str(story.rng.between(2_000, 6_000)))
    if story.rng.chance(2, 3):
        story.wait(4_000, 8_000)
        story.step("reset_topic", **where, name=RETENTION)
    return True


@move_on_line(ADDED, REMOVED)
def _filters(story: PlanDraft, line: Line) -> bool:
    """Alter a filter of the mirror while it runs, or the interval of its syncs."""
    where: dict[str, Value] = {"mirror": line.mirror, "destination": line.destination}
    match story.rng.below(4):
        case 0:
            some = [name for name in COPIED if story.rng.chance(1, 3)]
            text = ",".join([default_of(known(Scope.MIRROR)[EXCLUDED]), *some])
            story.step("alter_mirror", **where, name=EXCLUDED, value=text)
        case 1:
            value = story.rng.choice((".*", "g0", "g[12]", "nobody"))
            story.step("alter_mirror", **where, name="mirror.groups.include", value=value)
        case 2:
            value = str(story.rng.chance(1, 2)).lower()
            story.step("alter_mirror", **where, name="mirror.groups.clamp", value=value)
        case _:
            name, value = "mirror.metadata.refresh.interval.ms", str(story.rng.between(500, 4_000))
            story.step("alter_cluster", cluster=line.destination, name=name, value=value)
    return True


def flag(story: PlanDraft, name: str, cluster: str, topic: str, *, on: bool) -> None:
    """Set a topic's config to true or false."""
    story.step("alter_topic", cluster=cluster, topic=topic, name=name, value=str(on).lower())


@move_on_line(ADDED, REMOVED)
def _support_unclean(story: PlanDraft, line: Line) -> bool:
    """Set or reset the option; as it acts only in PREPARING, often bring the topic there, with a broker down."""
    cluster = story.rng.choice([line.source, line.destination, line.destination])
    on = story.rng.chance(2, 3)
    flag(story, "mirror.support.unclean.leader.election", cluster, line.topic, on=on)
    if on and cluster == line.destination and story.clusters[cluster].brokers > 1:
        if line.phase == ADDED:
            story.remove(line)
        story.wait(500, 3_000)
        if story.rng.chance(2, 3):
            for_ms = story.rng.between(3_000, 8_000)
            story.step("kill_broker", cluster=cluster, broker=story.broker(cluster), for_ms=for_ms)
            story.wait(100, 3_000)
        story.add(line)
    return True


@move_on_line(ADDED, REMOVED)
def _allow_unclean(story: PlanDraft, line: Line) -> bool:
    cluster = story.rng.choice([line.source, line.destination])
    flag(story, "unclean.leader.election.enable", cluster, line.topic, on=story.rng.chance(2, 3))
    return True


# -- deletion ---------------------------------------------------------------------------------


@move_on_line(ADDED)
def _delete_at_source(story: PlanDraft, line: Line) -> bool:
    """Delete the source's topic, and sometimes create it again, at once or after the mirror has noticed."""
    story.step("delete_topic", cluster=line.source, topic=line.topic)
    if story.rng.chance(1, 2):
        story.wait(*((50, 1_500) if story.rng.chance(1, 2) else (6_000, 9_000)))
        story.step("create_topic", cluster=line.source, topic=line.topic, partitions=story.rng.between(1, 2))
    if len(story.lines) > 1 and story.rng.chance(1, 2):
        story.lines.remove(line)  # No later move uses the line, so the mirror is left in its state.
    return True


@move_on_line(ADDED, REMOVED)
def _delete_at_destination(story: PlanDraft, line: Line) -> bool:
    """Delete a topic that was mirrored, usually once it is STOPPED; usually mirror it again (D49)."""
    if line.phase == ADDED:
        story.remove(line)
        story.wait(*((1_500, 5_000) if story.rng.chance(3, 4) else (10, 500)))
    for topic in line.topics.split(","):
        story.step("delete_topic", cluster=line.destination, topic=topic)
    story.wait(50, 2_500)
    if story.rng.chance(3, 4):
        story.add(line)
    return True


@move_on_line(ADDED)
def _lose_states(story: PlanDraft, line: Line) -> bool:
    """Delete the states of all mirrors of a cluster; then usually fail a topic over and write to it."""
    story.step("delete_topic", cluster=line.destination, topic=MIRROR_STATE_TOPIC)
    story.wait(0, 1_500)
    if story.rng.chance(3, 4):
        story.fail_over(line)
    return True


TOPIC_MOVES: dict[str, Move] = {
    "live_config": _live_config,
    "topic_config": _topic_config,
    "grow": _grow,
    "retention": _retention,
    "filters": _filters,
    "support_unclean": _support_unclean,
    "allow_unclean": _allow_unclean,
    "delete_at_source": _delete_at_source,
    "delete_at_destination": _delete_at_destination,
    "lose_states": _lose_states,
}
