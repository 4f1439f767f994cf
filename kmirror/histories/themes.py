"""Themes: sets of moves whose weights rise together, to reach states that single moves rarely reach.

For example, the election of a leader while its partition is PAUSING needs several pauses and nodes that die meanwhile.
With even weights that is one history in hundreds. So for a part of the seeds a theme multiplies the weights of some
moves and workloads of the profile. Moves that the profile does not have stay out. The theme is a function of seed and
profile, drawn from its own stream; nothing is kept between runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from kmirror.histories.profiles import Profile
from kmirror.kernel.rng import Rng


@dataclass(frozen=True, slots=True)
class Theme:
    name: str
    doc: str
    moves: Mapping[str, int]
    """Move to the factor of its weight."""
    workloads: Mapping[str, int] = field(default_factory=dict)


# fmt: off
THEMES: tuple[Theme, ...] = (
    Theme("pauses", "Pauses that end in a removal or a deletion, with leaders that fail at the start.",
          {"pause": 6, "pause_early": 6, "delete_mirror": 4, "kill_at": 3, "kill_some_leader": 2}),
    Theme("mistakes", "Orders that make no sense, in a row.",
          {"both_ways": 6, "back_to_nothing": 4, "wrong_servers": 4, "local_topic": 6, "no_such_thing": 8,
           "turn_some": 2}),
    Theme("topics", "Topics are created, extended and deleted on both sides.",
          {"grow": 5, "topic_config": 3, "filters": 3, "more_topics": 6, "delete_at_source": 6,
           "delete_at_destination": 6, "local_topic": 3}),
    Theme("replicas", "Replicas that are down for long, with clean and unclean elections.",
          {"away_during": 4, "two_histories": 4, "unclean_election": 6, "replica_unreachable": 4,
           "allow_unclean": 4, "broker_away": 3, "strike_at": 2}),
    Theme("control", "Controllers that are down while leaders change.",
          {"stale_leader": 5, "bounce_controller": 4, "controller_away": 4, "controller_unreachable": 4, "grow": 2,
           "delete_mirror": 2, "slow_controller": 4}),
    Theme("logs", "Logs lose their first records, or their directory, while replicas are down.",
          {"retention": 12, "delete_records": 5, "fail_log_dir": 4, "away_during": 3, "throttle": 4, "source_away": 2}),
    Theme("windows", "Failures at events of replication, one during the other.",
          {"strike_at": 5, "second_failure": 6, "isolated_leader": 10, "kill_at": 3}),
    Theme("there-and-back", "Failovers and failbacks in quick succession.",
          {"failover_unreachable": 4, "failover_dead": 4, "back_at_once": 6, "again": 3, "hasty": 3,
           "two_histories": 3}),
    Theme("cuts", "Failbacks that cut logs while replicas are down and transactions are open.",
          {"missed_cuts": 4, "dies_listed": 4, "short_of_replicas": 3, "cut_transactions": 4, "other_mirror": 3}),
    Theme("transactions", "Transactions that stay open, and producers that are fenced.",
          {"kill_some_leader": 2, "bounce_broker": 3, "back_at_once": 2},
          {"overlapping": 3, "long": 4, "abandoned": 5, "fenced": 6}),
)
# fmt: on


def apply_theme(row: Profile, rng: Rng) -> Profile:
    """Return the profile with the weights of a drawn theme, if any, and with stale sources if drawn."""
    if row.themes and rng.chance(row.themes, 100):
        theme = rng.choice(THEMES)
        row = replace(row, moves=_times(row.moves, theme.moves), workloads=_times(row.workloads, theme.workloads))
    if rng.split("stale").chance(row.stale, 100):
        row = replace(row, moves={**row.moves, "stale_source": sum(row.moves.values()) // 10})
    return row


def _times(weights: Mapping[str, int], factors: Mapping[str, int]) -> dict[str, int]:
    return {name: weight * factors.get(name, 1) for name, weight in weights.items()}
