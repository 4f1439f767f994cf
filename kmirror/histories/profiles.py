"""Profiles: the steps and faults of a history with their weights, one row for each profile.

A weight is the share of a move among all moves of the row; moves that are not named do not occur. Moves are rows of
moves.MOVES; each draws one or a few steps that belong together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kmirror.errors import UsageError, did_you_mean
from kmirror.histories.shapes import ALL_SHAPES, CHAINS, THREE_CLUSTER_SHAPES
from kmirror.kernel.arguments import text


@dataclass(frozen=True, slots=True)
class Profile:
    name: str
    doc: str
    steps: tuple[int, int]
    """Approximate minimum and maximum number of steps."""
    moves: Mapping[str, int]
    workloads: Mapping[str, int]
    """Weights of the producers, by row of workloads.KINDS."""
    producers: tuple[int, int] = (2, 4)
    pause_ms: tuple[int, int] = (250, 800)
    gap_ms: tuple[int, int] = (200, 2_400)
    """Pause between two moves."""
    third_cluster: int = 30
    """Percent of histories with more than two clusters."""
    shapes: Mapping[str, int] = field(default_factory=lambda: THREE_CLUSTER_SHAPES)
    """Weights of the shapes with a third and fourth cluster: rows of shapes.SHAPES."""
    rings: int = 0
    """Percent of histories of three or four clusters with a shape of RINGS; their operators may close a ring."""
    single_broker: int = 12
    """Percent of clusters with one broker."""
    mirrored_at_end: int = 0
    """Percent of histories in which, at the end, every line that is not mirrored is added or failed back."""
    groups: int = 0
    """Percent of consumers that commit their offsets, each for its own group."""
    keyed: int = 0
    """Percent of histories with a compacted topic that is in no mirror, and clients that write to few keys of it."""
    compacted: int = 0
    """Percent of histories whose mirrored topics are compacted, and have few keys."""
    old_source: int = 4
    """Percent of histories in which the first source imitates an earlier release of Kafka."""
    group_apps: int = 0
    """Percent of histories with groups whose members come and go, or transform their input."""
    arbitrary_requests: int = 0
    """Percent of histories with clients that send arbitrary requests, and with rare kinds of batches."""
    library: int = 0
    """Percent of clients that use `kmirror.client` or fetch sessions, where their kind has such a variant."""
    racks: int = 0
    """Percent of histories whose brokers and most consumers are in racks, so that followers serve them."""
    eligible: int = 0
    """Percent of clusters that keep eligible leader replicas (KIP-966)."""
    eligible_losses: int = 0
    """Percent of histories at whose end such clusters lose power while other brokers are down."""
    slow_sites: int = 0
    """Percent of histories in which frames inside a site take many milliseconds."""
    unflushed: int = 0
    """Percent of topics that exist from the start and have `flush.messages` above 1."""
    starts_above_0: int = 0
    """Percent of histories with a source log that begins above 0 when it is added, and flushes after some records."""
    created_early: int = 0
    """Percent of histories in which a topic is created at the destination right after it was added to a mirror."""
    stale: int = 0
    """Percent of histories in which source brokers lose their controller, and give outdated metadata to the mirror."""
    themes: int = 0
    """Percent of histories with a theme of themes.THEMES, which draws some moves and workloads more often."""


# fmt: off
STORY: dict[str, int] = {
    "go_on": 20, "failover_unreachable": 4, "failover_dead": 4, "back_at_once": 3, "again": 6, "hasty": 4,
}
ODD: dict[str, int] = {
    "both_ways": 3, "back_to_nothing": 3, "wrong_servers": 3, "local_topic": 2, "no_such_thing": 2, "more_topics": 2,
    "turn_some": 3,
}
CONFIGS: dict[str, int] = {"live_config": 4, "support_unclean": 3, "allow_unclean": 3}
NODES: dict[str, int] = {
    "bounce_broker": 5, "broker_away": 5, "bounce_controller": 3, "controller_away": 4, "kill_some_leader": 5,
    "kill_at": 8, "source_away": 3,
}
LINKS: dict[str, int] = {
    "line_down": 4, "one_way_down": 3, "slow": 2, "lossy": 2, "controller_unreachable": 4, "replica_unreachable": 4,
}
REPLICAS: dict[str, int] = {"away_during": 6, "two_histories": 8, "unclean_election": 4}
CONTROL: dict[str, int] = {"stale_leader": 4}
SYNCS: dict[str, int] = {"grow": 5, "topic_config": 6, "filters": 4, "retention": 4}
DELETIONS: dict[str, int] = {"delete_at_source": 3, "delete_at_destination": 3}
LATE: dict[str, int] = {"slow_controller": 12}
TRAPS: dict[str, int] = {"strike_at": 5, "second_failure": 3, "isolated_leader": 1}
CLOCKS: dict[str, int] = {"wrong_clock": 3}
DISKS: dict[str, int] = {"fail_log_dir": 4, "delete_records": 3, "throttle": 2}
REQUESTS: dict[str, int] = {
    "stop_broker": 6, "slow_disk": 4, "slow_replica": 6, "few_replicas": 6, "broker_config": 2,
}
MIRRORS: dict[str, int] = {"pause": 5, "pause_early": 3, "delete_mirror": 4}
TOPOLOGY: dict[str, int] = {
    "middle_fails_back": 3, "take_over": 3, "second_mirror": 2, "move_on": 4, "recreate_both": 2, "wrong_order": 3,
    "look_at_mirror": 1, "long_pause": 1,
}
CUTS: dict[str, int] = {
    "missed_cuts": 16, "dies_listed": 14, "short_of_replicas": 14, "cut_transactions": 14, "other_mirror": 8,
}
ALL: dict[str, int] = {**STORY, **ODD, **CONFIGS, **NODES, **LINKS, **REPLICAS, **CONTROL, **MIRRORS}

MIX: dict[str, int] = {
    "plain": 4, "idempotent": 3, "short": 4, "overlapping": 3, "long": 2, "abandoned": 2, "fenced": 2,
}
# fmt: on


def _more(rows: Mapping[str, int], times: int) -> dict[str, int]:
    return {name: weight * times for name, weight in rows.items()}


# fmt: off
ROWS: tuple[Profile, ...] = (
    Profile(
        "full", "Everything, in any order; at least twenty steps.", (20, 28),
        {**ALL, **SYNCS, **DELETIONS, **TRAPS, **DISKS, **CLOCKS, **TOPOLOGY, **CUTS, **LATE}, MIX,
        old_source=20, groups=50, mirrored_at_end=50, keyed=35, group_apps=35, library=30, shapes=ALL_SHAPES,
        themes=70, racks=15, arbitrary_requests=8, slow_sites=40, eligible=40, compacted=15, rings=25, stale=20,
        starts_above_0=10, created_early=10,
    ),
    Profile(
        "smoke", "A short history: mirror, fail over and fail back, with a few "
                 "faults.", (8, 12), {**STORY, **NODES}, MIX,
        producers=(1, 2), third_cluster=0,
    ),
    Profile(
        "transactions", "Transactions that overlap all the time, through failovers and back.", (20, 28),
        {**_more(STORY, 3), **NODES, **LINKS},
        {"overlapping": 6, "long": 2, "abandoned": 2, "fenced": 2, "short": 2}, pause_ms=(150, 500), third_cluster=10,
    ),
    Profile(
        "control", "Controllers that are down, and brokers that cannot reach them and serve old metadata.", (20, 28),
        {**_more(STORY, 3), **_more(CONTROL, 6), "bounce_controller": 6, "controller_away": 8,
         "controller_unreachable": 12, "kill_some_leader": 6, "kill_at": 6}, MIX, third_cluster=10, single_broker=0,
    ),
    Profile(
        "replicas", "Replicas that are down for longer than the ISR allows, with clean and unclean "
                    "elections.", (20, 28),
        {**_more(STORY, 3), **_more(REPLICAS, 4), "broker_away": 8, "replica_unreachable": 8, "kill_some_leader": 8,
         "support_unclean": 3, "allow_unclean": 4}, MIX, third_cluster=0, single_broker=0, eligible=50,
    ),
    Profile(
        "power", "One broker at a time loses power and its unflushed data; no other node fails.", (20, 28),
        {**{name: 3 * weight for name, weight in STORY.items() if name != "failover_dead"}, "lose_power": 30,
         "power_at": 10, "line_down": 4, "slow": 4}, MIX, third_cluster=10, single_broker=0, eligible=50,
        eligible_losses=100,
    ),
    Profile(
        "operators", "Steps in the wrong order, wrong servers, both directions, local topics.", (20, 28),
        {**STORY, **_more(ODD, 3), **CONFIGS, "bounce_broker": 4, "line_down": 4}, MIX, created_early=40,
    ),
    Profile(
        "sources", "The source imitates an earlier release; its leaders change by clean and unclean "
                   "elections.", (20, 28),
        {**_more(STORY, 2), **_more(REPLICAS, 4), **_more(NODES, 2), "allow_unclean": 8, "line_down": 4}, MIX,
        old_source=100, third_cluster=0, single_broker=0,
    ),
    Profile(
        "mirrors", "Topics paused and resumed, mirrors deleted and created again, with nodes that fail meanwhile.",
        (20, 28),
        {**_more(STORY, 2), **_more(MIRRORS, 6), **NODES, "away_during": 6, "line_down": 4, "lose_states": 10}, MIX,
    ),
    Profile(
        "syncs", "Topics grow, are deleted, and their configs change, with nodes that fail meanwhile.", (20, 28),
        {**STORY, **NODES, **_more(SYNCS, 3), **_more(DELETIONS, 2), "pause": 5, "line_down": 4}, MIX, old_source=15,
        groups=100, mirrored_at_end=50,
    ),
    Profile(
        "compacted", "Mirrored topics are compacted, and keys repeat.", (12, 20),
        {**_more(STORY, 3), **MIRRORS, "bounce_broker": 5, "kill_some_leader": 5, "line_down": 6}, MIX,
        compacted=100, keyed=50, mirrored_at_end=80, third_cluster=40, shapes=CHAINS, old_source=0,
    ),
    Profile(
        "topologies", "Three or four clusters: chains, fans, meshes, topics that are moved from mirror to mirror.",
        (20, 28), {**ALL, **_more(TOPOLOGY, 4)}, MIX, third_cluster=100, shapes=ALL_SHAPES,
    ),
    Profile(
        "rings", "Rings of three and four clusters that should mirror one topic.",
        (20, 28), {**STORY, **_more(TOPOLOGY, 4)}, MIX, third_cluster=100, rings=100,
    ),
    Profile(
        "disks", "Log directories that fail, records that are deleted, mirrors that are throttled.", (20, 28),
        {**_more(STORY, 2), **_more(DISKS, 8), "bounce_broker": 4, "kill_some_leader": 4}, MIX, starts_above_0=40,
    ),
    Profile(
        "stale", "Source brokers that have lost their controller, and serve the metadata sync.",
        (20, 28), {**_more(STORY, 2), "stale_source": 20, "stale_for_long": 14, "kill_some_leader": 4}, MIX,
        single_broker=0, third_cluster=10, groups=100,
    ),
    Profile(
        "clocks", "Clocks that are wrong, drift and jump, differently on each node.", (20, 28),
        {**_more(STORY, 2), "wrong_clock": 24, "retention": 4, "bounce_broker": 4, "kill_some_leader": 6}, MIX,
        groups=50,
    ),
    Profile(
        "site_power", "Whole sites lose power; every record is flushed before it is acknowledged, so none may be lost.",
        (20, 28), {**_more(STORY, 2), "lose_site_power": 20, "line_down": 4}, MIX, third_cluster=10,
    ),
    Profile(
        "site_power_unflushed", "As `site_power`, but most topics flush later: unflushed records may be lost.",
        (20, 28), {**_more(STORY, 2), "lose_site_power": 20, "line_down": 4}, MIX, third_cluster=10, groups=50,
        unflushed=75,
    ),
    Profile(
        "windows", "Failures at events of replication, and a second failure while the first is being handled.",
        (20, 28), {**_more(STORY, 2), **_more(TRAPS, 8), "allow_unclean": 2}, MIX, single_broker=0, third_cluster=10,
    ),
    Profile(
        "requests", "Clients that send every kind of request, valid and invalid, while nodes are slow, down, or "
                    "stopping.",
        (10, 16), {**STORY, **REQUESTS, **MIRRORS, "bounce_broker": 3}, MIX, producers=(1, 3), third_cluster=10,
        arbitrary_requests=100, groups=30, group_apps=30,
    ),
    Profile(
        "groups", "Groups whose members join and leave, and consume, transform and produce.", (20, 28),
        {**_more(STORY, 2), **NODES, **LINKS, **REPLICAS, "grow": 8, "turn_some": 8, "filters": 3}, MIX,
        producers=(1, 2), groups=50, group_apps=100, library=50, old_source=10,
    ),
    Profile(
        "followers", "Consumers that read from followers that lag, are unreachable, or are elected.", (20, 28),
        {**_more(STORY, 2), **_more(REPLICAS, 2), "kill_some_leader": 8, "kill_at": 6, "bounce_broker": 4,
         "replica_unreachable": 8, "slow": 4, "line_down": 4}, MIX, single_broker=0, third_cluster=10, library=50,
        racks=100,
    ),
)
# fmt: on
PROFILES: dict[str, Profile] = {row.name: row for row in ROWS}


def checked_profile(name: str) -> Profile:
    """Return the profile of this name; raise UsageError if there is none."""
    found = PROFILES.get(text("profile", name))
    if found is None:
        hint = did_you_mean(name, PROFILES) or f"known: {', '.join(PROFILES)}"
        raise UsageError(f"unknown profile {name!r}: {hint}")
    return found
