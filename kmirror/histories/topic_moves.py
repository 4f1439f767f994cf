"""Moves with topics: growth, configs, filters, deletion.

The table of all moves is in moves.py.
"""

from __future__ import annotations

from kmirror.histories.plan import Value
from kmirror.histories.plan_draft import ADDED, REMOVED, Line, Move, PlanDraft, move_on_line
from kmirror.spec.configs import Scope, config_keys, default_of
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
def _grow(draft: PlanDraft, line: Line) -> bool:
    """Add partitions to the source's topic; the source refuses if it mirrors the topic itself."""
    draft.step("grow_topic", cluster=line.source, topic=line.topic, partitions=draft.rng.between(2, 4))
    return True


@move_on_line(ADDED, REMOVED)
def _live_config(draft: PlanDraft, line: Line) -> bool:
    if draft.rng.chance(1, 2):
        draft.step(
            "alter_mirror",
            mirror=line.mirror,
            destination=line.destination,
            name="request.timeout.ms",
            value=str(draft.rng.between(800, 5_000)),
        )
    else:
        cluster = draft.rng.choice([line.source, line.destination])
        factor = draft.clusters[cluster].replication_factor
        draft.step(
            "alter_topic",
            cluster=cluster,
            topic=line.topic,
            name="min.insync.replicas",
            value=str(draft.rng.between(1, max(1, factor - 1))),
        )
    return True


@move_on_line(ADDED, REMOVED)
def _topic_config(draft: PlanDraft, line: Line) -> bool:
    """Set configs and sometimes reset them, at the source or at the destination, where the sync reverts them."""
    names = [draft.rng.choice(list(COPIED)) for _ in range(draft.rng.between(1, 2))]
    for name in names:
        cluster = draft.rng.choice([line.source, line.source, line.destination])
        value = draft.rng.choice(COPIED[name])
        draft.step("alter_topic", cluster=cluster, topic=line.topic, name=name, value=value)
        if draft.rng.chance(1, 2):
            draft.wait(100, 3_000)
            draft.step("reset_topic", cluster=cluster, topic=line.topic, name=name)
    return True


@move_on_line(ADDED, REMOVED)
def _retention(draft: PlanDraft, line: Line) -> bool:
    """Let the source keep records for a few seconds only; usually reset that later."""
    topic_args: dict[str, Value] = {"cluster": line.source, "topic": line.topic}
    draft.step("alter_topic", **topic_args, name="segment.ms", value=str(draft.rng.between(800, 2_000)))
    draft.step("alter_topic", **topic_args, name=RETENTION, value=str(draft.rng.between(2_000, 6_000)))
    if draft.rng.chance(2, 3):
        draft.wait(4_000, 8_000)
        draft.step("reset_topic", **topic_args, name=RETENTION)
    return True


@move_on_line(ADDED, REMOVED)
def _filters(draft: PlanDraft, line: Line) -> bool:
    """Alter a filter of the mirror while it runs, or the interval of its syncs."""
    mirror_args: dict[str, Value] = {"mirror": line.mirror, "destination": line.destination}
    match draft.rng.below(4):
        case 0:
            some = [name for name in COPIED if draft.rng.chance(1, 3)]
            text = ",".join([default_of(config_keys(Scope.MIRROR)[EXCLUDED]), *some])
            draft.step("alter_mirror", **mirror_args, name=EXCLUDED, value=text)
        case 1:
            value = draft.rng.choice((".*", "g0", "g[12]", "nobody"))
            draft.step("alter_mirror", **mirror_args, name="mirror.groups.include", value=value)
        case 2:
            value = str(draft.rng.chance(1, 2)).lower()
            draft.step("alter_mirror", **mirror_args, name="mirror.groups.clamp", value=value)
        case _:
            name, value = "mirror.metadata.refresh.interval.ms", str(draft.rng.between(500, 4_000))
            draft.step("alter_cluster", cluster=line.destination, name=name, value=value)
    return True


def flag(draft: PlanDraft, name: str, cluster: str, topic: str, *, is_enabled: bool) -> None:
    """Set a topic's config to true or false."""
    draft.step("alter_topic", cluster=cluster, topic=topic, name=name, value=str(is_enabled).lower())


@move_on_line(ADDED, REMOVED)
def _support_unclean(draft: PlanDraft, line: Line) -> bool:
    """Set or reset the option; as it acts only in PREPARING, often bring the topic there, with a broker down."""
    cluster = draft.rng.choice([line.source, line.destination, line.destination])
    is_enabled = draft.rng.chance(2, 3)
    flag(draft, "mirror.support.unclean.leader.election", cluster, line.topic, is_enabled=is_enabled)
    if is_enabled and cluster == line.destination and draft.clusters[cluster].brokers > 1:
        if line.phase == ADDED:
            draft.remove(line)
        draft.wait(500, 3_000)
        if draft.rng.chance(2, 3):
            for_ms = draft.rng.between(3_000, 8_000)
            draft.step("kill_broker", cluster=cluster, broker=draft.broker(cluster), for_ms=for_ms)
            draft.wait(100, 3_000)
        draft.add(line)
    return True


@move_on_line(ADDED, REMOVED)
def _allow_unclean(draft: PlanDraft, line: Line) -> bool:
    cluster = draft.rng.choice([line.source, line.destination])
    flag(draft, "unclean.leader.election.enable", cluster, line.topic, is_enabled=draft.rng.chance(2, 3))
    return True


# -- deletion ---------------------------------------------------------------------------------


@move_on_line(ADDED)
def _delete_at_source(draft: PlanDraft, line: Line) -> bool:
    """Delete the source's topic, and sometimes create it again, at once or after the mirror has noticed."""
    draft.step("delete_topic", cluster=line.source, topic=line.topic)
    if draft.rng.chance(1, 2):
        draft.wait(*((50, 1_500) if draft.rng.chance(1, 2) else (6_000, 9_000)))
        draft.step("create_topic", cluster=line.source, topic=line.topic, partitions=draft.rng.between(1, 2))
    if len(draft.lines) > 1 and draft.rng.chance(1, 2):
        draft.lines.remove(line)  # No later move uses the line, so the mirror is left in its state.
    return True


@move_on_line(ADDED, REMOVED)
def _delete_at_destination(draft: PlanDraft, line: Line) -> bool:
    """Delete a topic that was mirrored, usually once it is STOPPED; usually mirror it again (D49)."""
    if line.phase == ADDED:
        draft.remove(line)
        draft.wait(*((1_500, 5_000) if draft.rng.chance(3, 4) else (10, 500)))
    for topic in line.topics.split(","):
        draft.step("delete_topic", cluster=line.destination, topic=topic)
    draft.wait(50, 2_500)
    if draft.rng.chance(3, 4):
        draft.add(line)
    return True


@move_on_line(ADDED)
def _lose_states(draft: PlanDraft, line: Line) -> bool:
    """Delete the states of all mirrors of a cluster; then usually fail a topic over and write to it."""
    draft.step("delete_topic", cluster=line.destination, topic=MIRROR_STATE_TOPIC)
    draft.wait(0, 1_500)
    if draft.rng.chance(3, 4):
        draft.fail_over(line)
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
