"""Drawing of plans: `draw` maps a seed and a profile to clusters, clients and steps.

Each part is drawn from its own random stream. The same seed and profile give the same plan on every Python. Timeouts
are short, so that a history with expired sessions and transactions takes about a virtual minute.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kmirror.histories.draw_groups import group_clients, with_groups
from kmirror.histories.draw_keys import with_keys
from kmirror.histories.draw_power import with_eligible_losses
from kmirror.histories.draw_racks import with_racks
from kmirror.histories.draw_requests import with_requests
from kmirror.histories.draw_starts import with_starts
from kmirror.histories.fault_actions import FLUSH
from kmirror.histories.moves import MOVES
from kmirror.histories.outages import OPTION
from kmirror.histories.plan import ClientPlan, ClusterPlan, Plan, Step, Value
from kmirror.histories.plan_draft import ADDED, NEW, Line, PlanDraft
from kmirror.histories.profiles import Profile, checked_profile
from kmirror.histories.restarting import draw_restart
from kmirror.histories.shapes import RINGS, SHAPES, Shape, make_lines
from kmirror.histories.themes import apply_theme
from kmirror.histories.workloads import KINDS
from kmirror.kernel.arguments import whole_number
from kmirror.kernel.clock import MILLISECOND
from kmirror.kernel.rng import SEED_MAX, Rng
from kmirror.spec.configs import LONG_MAX
from kmirror.spec.releases import RELEASES

CONVERGE_MS = 45_000
SHORT_LIVED = {
    "producer.id.expiration.ms": "30000",
    "producer.id.expiration.check.interval.ms": "1000",
}
"""Short enough to expire in a pause of a minute, long enough to outlast the retries of a batch."""
TRIES_MAX = 1_000
LIBRARY: Mapping[str, tuple[str, ...]] = {
    "idempotent": ("library",),
    "short": ("library_transactions",),
    "read_committed": ("library_read", "session_read"),
}
"""Kinds of clients with the same behaviour, implemented in another way."""


def draw(seed: int, profile: str = "full") -> Plan:
    """Return the plan that `seed` gives in `profile`.

    Raise UsageError if there is no such profile, or the seed is out of range.
    """
    whole_number("seed", seed, 0, SEED_MAX)
    rng = Rng(seed).split(f"draw {profile}")
    row = apply_theme(checked_profile(profile), rng.split("theme"))
    is_ring = rng.split("rings").chance(row.rings, 100)
    shape = _shape(rng.split("shape"), row, RINGS if is_ring else row.shapes)
    clusters = _clusters(rng.split("clusters"), row, shape)
    topics, lines, spare = _lines(rng.split("lines"), shape)
    clients = _clients(rng.split("clients"), row, clusters, lines, spare)
    own_rng = rng.split("groups")
    if own_rng.chance(row.group_apps, 100):
        clusters = with_groups(own_rng, clusters)
        clients += tuple(group_clients(own_rng, clusters, lines, topics))
    draft = _draft(rng.split("story"), row, clusters, lines, clients, spare)
    plan = Plan(
        seed,
        profile,
        clusters,
        {**_network(rng.split("network")), **_local_network(rng.split("local network"), row)},
        clients,
        tuple(draft.steps),
        draft.at_ms + 800,
        CONVERGE_MS,
        topics,
        is_ring and shape is not None,
        draw_restart(rng.split("restart"), clusters),
    )
    plan = with_racks(rng.split("racks"), row, with_keys(rng.split("keys"), row, plan))
    plan = with_eligible_losses(rng.split("eligible losses"), row, _with_unflushed(rng.split("flush"), row, plan))
    return with_starts(rng.split("starts"), row, with_requests(rng.split("requests"), row, plan))


def _with_unflushed(rng: Rng, row: Profile, plan: Plan) -> Plan:
    """Return the plan with topics that flush after some records, or not by record count; mirrors copy that."""
    steps = [
        Step(
            0,
            "alter_topic",
            {"cluster": at.partition("@")[2], "topic": topic, "name": "flush.messages", "value": value},
        )
        for topic, at in plan.topics.items()
        if rng.chance(row.unflushed, 100) and (value := rng.choice(("4", "20", "100", str(LONG_MAX))))
    ]
    return replace(plan, steps=(*steps, *plan.steps)) if steps else plan


def weighted(rng: Rng, weights: Mapping[str, int]) -> str:
    """Return a random name, in proportion to the weights."""
    left = rng.below(sum(weights.values()))
    for name, weight in weights.items():
        left -= weight
        if left < 0:
            return name
    raise AssertionError("the weights must add up to their sum")


def _shape(rng: Rng, row: Profile, shapes: Mapping[str, int]) -> Shape | None:
    """Return the shape of three or four clusters; None if there are only two."""
    return SHAPES[weighted(rng, shapes)] if rng.chance(row.third_cluster, 100) else None


def _clusters(rng: Rng, row: Profile, shape: Shape | None) -> tuple[ClusterPlan, ...]:
    count = 2 if shape is None else shape.clusters
    found = []
    for name in "abcd"[:count]:
        # Four clusters of three brokers would cost as much as two histories.
        choices = (2, 3, 3) if count < 4 else (1, 2, 2)
        brokers = 1 if rng.chance(row.single_broker, 100) else rng.choice(choices)
        factor = brokers if rng.chance(9, 10) else max(1, brokers - 1)
        # An old source has no mirrors, so a cluster that mirrors something itself must be new.
        is_old = name == "a" and rng.chance(4, 100)
        configs, levels = _configs(rng.split(name), factor), (0, 0) if is_old else (1, 2)
        if "retention" in row.moves:
            configs["log.initial.task.delay.ms"] = "1000"
            # Each replica compacts at its own times, so the replicas' bytes would differ and could not be compared.
            configs["log.cleaner.min.compaction.lag.ms"] = "3600000"
            configs["log.retention.check.interval.ms"] = str(rng.split(f"retention {name}").between(1_000, 4_000))
        configs.update(_segments(rng.split(f"segments {name}")))
        # Kafka's default of 50 would add most of the partitions of a history, and reach nothing that three do not
        # reach.
        configs["offsets.topic.num.partitions"] = str(rng.split(f"group partitions {name}").between(1, 3))
        own_rng = rng.split(f"snapshots {name}")
        if "strike_at" in row.moves and own_rng.chance(1, 2):
            configs["metadata.log.max.record.bytes.between.snapshots"] = str(own_rng.between(2_000, 12_000))
        if "long_pause" in row.moves and rng.split(f"long pause {name}").chance(1, 2):
            configs |= SHORT_LIVED
        if "lose_site_power" in row.moves:
            configs[FLUSH] = "1"
        own_rng = rng.split(f"log dirs {name}")
        log_dirs = own_rng.between(2, 3) if "fail_log_dir" in row.moves and own_rng.chance(1, 3) else 1
        eligible = int(rng.split(f"eligible {name}").chance(row.eligible, 100) and not is_old)
        found.append(ClusterPlan(name, brokers, factor, configs, *levels, log_dirs=log_dirs, eligible_version=eligible))
    own_rng = rng.split("release")
    if own_rng.chance(row.old_source, 100):
        found[0] = _old(own_rng, found[0])
    return tuple(found)


def _old(rng: Rng, plan: ClusterPlan) -> ClusterPlan:
    """Return the plan of a cluster of a release before 4.0; half of them have elections that lose records."""
    release = rng.choice(("2.1", "2.1", *RELEASES[:-1]))
    unclean = {"unclean.leader.election.enable": "true", "min.insync.replicas": "1"} if rng.chance(1, 2) else {}
    configs = {**plan.configs, **unclean}
    return replace(plan, configs=configs, mirror_version=0, transaction_version=0, eligible_version=0, release=release)


def _configs(rng: Rng, factor: int) -> dict[str, str]:
    def ms(least: int, most: int) -> str:
        return str(rng.between(least, most))

    return {
        "broker.heartbeat.interval.ms": ms(300, 500),
        "broker.session.timeout.ms": ms(1_500, 2_500),
        "replica.lag.time.max.ms": ms(1_500, 2_500),
        "replica.fetch.backoff.ms": ms(150, 500),
        "replica.high.watermark.checkpoint.interval.ms": ms(1_000, 5_000),
        "request.timeout.ms": ms(2_000, 3_500),
        "min.insync.replicas": "2" if factor == 3 and rng.chance(2, 3) else "1",
        "transaction.state.log.num.partitions": "1",
        "transaction.state.log.min.isr": "2" if factor == 3 and rng.chance(1, 2) else "1",
        "transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000",
        "mirror.topic.num.partitions": str(rng.between(1, 2)),
        "mirror.metadata.refresh.interval.ms": ms(1_000, 3_000),
        "mirror.num.replica.fetchers": str(rng.between(1, 2)),
    }


def _segments(rng: Rng) -> dict[str, str]:
    """Return configs with segments of a few batches for half of the clusters, so that cuts cross segment boundaries."""
    if rng.chance(1, 2):
        return {}
    interval = rng.choice((0, 200, 4_096))
    return {"log.roll.ms": str(rng.between(300, 2_500)), "log.index.interval.bytes": str(interval)}


def _delivery(rng: Rng) -> dict[str, Value]:
    """Return options of a client: the number of batches in flight, and the rate of lost responses."""
    found: dict[str, Value] = {}
    if rng.chance(1, 2):
        found["in_flight"] = rng.between(1, 5)
    if rng.chance(1, 3):
        found["answers_lost_ppm"] = rng.choice((20_000, 50_000, 150_000))
    return found


def _network(rng: Rng) -> dict[str, int]:
    least = rng.between(2, 40)
    return {
        "remote_min_us": least * MILLISECOND,
        "remote_max_us": (least + rng.between(0, 30)) * MILLISECOND,
        "loss_ppm": rng.choice((0, 0, 2_000, 20_000)),
        "reorder_ppm": rng.choice((0, 0, 10_000)),
    }


def _local_network(rng: Rng, row: Profile) -> dict[str, int]:
    """Return delays inside a site that widen the time between request and response, for some histories."""
    if not rng.chance(row.slow_sites, 100):
        return {}
    most = rng.between(8, 60)
    return {"local_min_us": rng.between(1, most) * MILLISECOND, "local_max_us": most * MILLISECOND}


def _lines(rng: Rng, shape: Shape | None) -> tuple[dict[str, str], list[Line], list[str]]:
    """Return the topics that exist from the start, the topics of each mirror, and names of topics to create later."""
    topics = {"t0": f"{rng.between(1, 2)}@a"}
    lines = [Line("m", "t0", "a", "b")]
    if rng.chance(1, 2):
        topics["t1"] = "1@a"
        if rng.chance(1, 3):
            lines[0].topics = "t0,t1"
        else:
            lines.append(Line(rng.choice(("m", "m1")), "t1", "a", "b"))
    if shape is not None:
        lines += make_lines(shape, rng.split("shape"), lines[0], topics)
    return topics, lines, ["t2"]


def _clients(
    rng: Rng, row: Profile, clusters: tuple[ClusterPlan, ...], lines: list[Line], spare: list[str]
) -> tuple[ClientPlan, ...]:
    found = []
    all_topics = list(dict.fromkeys(topic for line in lines for topic in line.topics.split(",")))
    homes = {topic: line.source for line in reversed(lines) for topic in line.topics.split(",")}
    for n in range(rng.between(*row.producers)):
        own_rng = rng.split(f"producer {n}")
        kind = weighted(own_rng, row.workloads)
        first = "t0" if n == 0 else own_rng.choice(all_topics)
        own_topics = [t for t in all_topics if homes[t] == homes[first] and (t == first or own_rng.chance(1, 3))]
        if own_rng.chance(1, 4):
            own_topics += spare
        options: dict[str, Value] = {"timeout_ms": own_rng.between(2_500, 6_000)}
        if kind == "long":
            options["timeout_ms"] = own_rng.between(7_000, 10_000)
        if kind == "overlapping":
            options["partition"] = own_rng.below(2)
        if KINDS[kind].transactional and own_rng.split("transactions").chance(1, 2):
            options["transaction_version"] = 2
        options.update(_delivery(own_rng.split("delivery")))
        kind = _with_library(own_rng.split("library"), row, kind)
        options.update(_outages(own_rng.split("outages"), kind))
        found.append(
            ClientPlan(f"p{n}", kind, homes[first], tuple(own_topics), own_rng.between(*row.pause_ms), options)
        )
    for n, kind in enumerate(("read_committed", "read_uncommitted", "read_committed")):
        own_rng = rng.split(f"consumer {n}")
        start_cluster = clusters[1].name if n == 0 else own_rng.choice(clusters).name
        pause_ms = own_rng.between(250, 600)
        commits: dict[str, Value] = {"group": f"g{n}"} if row.groups and own_rng.chance(row.groups, 100) else {}
        if commits and own_rng.split("delivery").chance(1, 3):
            commits["answers_lost_ppm"] = 150_000
        if commits and own_rng.split("rests").chance(1, 3):
            commits["rests"] = True
        if not commits:
            kind = _with_library(own_rng.split("library"), row, kind)
        commits.update(_outages(own_rng.split("outages"), kind))
        found.append(ClientPlan(f"c{n}", kind, start_cluster, tuple(all_topics + spare), pause_ms, commits))
    return tuple(found)


def _with_library(rng: Rng, row: Profile, kind: str) -> str:
    """Return the kind of an equivalent client that uses `kmirror.client` or fetch sessions, for some of the clients."""
    others = LIBRARY.get(kind, ())
    return rng.choice(others) if others and rng.chance(row.library, 100) else kind


def _outages(rng: Rng, kind: str) -> dict[str, Value]:
    """Return the option of outages for half of the clients of `kmirror.client`."""
    return {OPTION: True} if kind.startswith("library") and rng.chance(1, 2) else {}


def _draft(
    rng: Rng,
    row: Profile,
    clusters: tuple[ClusterPlan, ...],
    lines: list[Line],
    clients: tuple[ClientPlan, ...],
    spare: list[str],
) -> PlanDraft:
    writers: dict[str, list[str]] = {}
    for client in clients:
        if KINDS[client.kind].writes:
            for topic in client.topics:
                writers.setdefault(topic, []).append(client.name)
    readers = [client.name for client in clients if not KINDS[client.kind].writes]
    draft = PlanDraft(
        rng, {cluster.name: cluster for cluster in clusters}, lines, writers, readers, spare_topics=list(spare)
    )
    draft.wait(300, 2_500)
    steps_min = rng.between(*row.steps)
    if rng.chance(9, 10):  # Otherwise nothing might ever be mirrored.
        draft.next_order(lines[0])
        draft.wait(800, 3_500)
    begins = rng.split("shape")
    for line in lines[1:] if len(clusters) > 2 else ():
        if line.phase == NEW and begins.chance(2, 3):
            draft.next_order(line)
            draft.wait(*row.gap_ms)
    for _ in range(TRIES_MAX):
        if len(draft.steps) >= steps_min:
            break
        if MOVES[weighted(rng, row.moves)](draft):
            draft.wait(*row.gap_ms)
    if row.mirrored_at_end and rng.chance(row.mirrored_at_end, 100):
        for line in draft.lines:
            if line.phase != ADDED:
                draft.next_order(line)
                draft.wait(*row.gap_ms)
    return draft
