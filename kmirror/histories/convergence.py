"""Check that everything has settled: each topic's expected state, and the reasons why it is not reached.

`expected_states` derives the expected state of each mirrored topic from orders and results alone: MIRRORING with all
records below the last stable offset of its source, or STOPPED. `ConvergenceCheck` compares the clusters with it. Some
waits are correct and count as settled.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from kmirror.cluster.images import MetadataImage
from kmirror.histories.account import LOG_END, OPEN_TRANSACTIONS, UNAWARE, Account, Order
from kmirror.histories.late_timeouts import may_be_open
from kmirror.histories.observer import Observer
from kmirror.histories.orders import NOBODY
from kmirror.histories.plan import Plan
from kmirror.histories.scene import Scene
from kmirror.histories.values import name_of
from kmirror.kernel.clock import SECOND, Duration, Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.log.partition_log import PartitionLog
from kmirror.sim.cluster import Cluster
from kmirror.spec.configs import Scope, config_keys, default_of
from kmirror.spec.releases import has_topic_ids
from kmirror.spec.wire_values import ResourceType

EXCLUDED_CONFIGS = "mirror.topic.properties.exclude"
INCLUDED_GROUPS = "mirror.groups.include"
CLAMP = "mirror.groups.clamp"
DONE = "NONE"
NO_ANSWER = ""
NOT_IN_A_MIRROR = "in no known mirror"
STATE_AFTER = {
    "add": "MIRRORING",
    "resume": "MIRRORING",
    "pause": "PAUSED",
    "remove": "STOPPED",
    "delete_mirror": NOT_IN_A_MIRROR,
    "delete_topic": NOT_IN_A_MIRROR,
}
"""Order to the final state of a partition after it."""
MIRRORED_BOTH_WAYS = "each of two clusters mirrors the topic from the other"
RING = "the topic would be mirrored in a ring"
SOURCE_UNREACHABLE = (
    "the source's mirror of the topic cannot reach its source, and cannot check whether that is this cluster"
)
MIRROR_OPEN = "requests for two mirrors got no response: either may have the topic"
ONLY_COPY = "the source's mirror of that name stopped without having mirrored anything: ours is the only copy"
NO_TOPIC = "the source has no such topic"
OTHER_ID = "the source's topic has another id"
RECREATED_WITHOUT_ID = "the source's topic was deleted and created again, and has no id"

SYNCED_WITHIN: Duration = 10 * SECOND
"""Time within which an offset is copied; a consumer that reads slowly commits its next one before that."""


@dataclass(frozen=True, slots=True)
class ExpectedState:
    """Expected state of a topic after its last orders."""

    cluster: str
    topic: str
    mirror: str
    source: str
    states: tuple[str, ...]
    """Allowed states; several if the last order was not answered, so that it may have been carried out or not."""
    excuse: str
    """Why the topic may wait forever; empty if it may not."""
    until_mirroring: bool = False
    """The excuse holds for PREPARING only: a topic that is MIRRORING despite it must catch up."""


def expected_states(plan: Plan, account: Account) -> list[ExpectedState]:
    """Return the expected state of every topic that was ever ordered into a mirror, in the order of its first order.

    A topic that was added may wait forever
    - while unanswered orders leave open which of two mirrors has it;
    - while its mirror points to no cluster, or has ever pointed to two clusters (D16: the first one counts);
    - while the source's mirror of the same name mirrors the topic from here (D25: each would cut the other);
    - while the source's mirror of the same name stopped without ever having mirrored it from here (D25: the only copy);
    - while the source has the topic from this cluster through any chain of mirrors, or through a mirror without a
      reachable source (D58);
    - while neither the source nor this cluster has such a topic (D26).
    Meanwhile its local transactions wait too: it is read-only, and takes no markers.
    A paused topic reaches PAUSED through MIRRORING, so it may wait for the same reasons. A removed topic must reach
    STOPPED, regardless of the source, and must be in no mirror once the mirror or the topic was deleted. The removal of
    a topic that did not exist has no effect on one that is created later (D34).

    A topic that exists here and not at the source must reach STOPPED, too, unless it is paused. If the source lacked it
    at times, STOPPED is allowed; if the source now has another topic of that name, FAILED is allowed (D16). If it had
    another one in between, partitions that failed meanwhile stay FAILED. A topic that was created again without an id
    may pass for the former one (D53).
    """
    wishes = _orders_by_topic(account)
    found = []
    for (cluster, topic), orders in wishes.items():
        last = max((n for n, order in enumerate(orders) if order.error == DONE), default=-1)
        if last < 0:
            continue  # The topic may be in a mirror or not, because the order was not answered.
        possible = _still_possible(orders)
        states = tuple(dict.fromkeys(STATE_AFTER[order.action] for order in possible))
        created = _changes(account, cluster, topic, exists=True)
        if "STOPPED" in states and any(at >= possible[0].sent_at for at in created):
            states = (*dict.fromkeys((*states, NOT_IN_A_MIRROR)),)
        row = ExpectedState(cluster, topic, possible[-1].mirror, "", states, "")
        if "MIRRORING" in states or "PAUSED" in states:
            sources = source_clusters(plan, account, cluster, row.mirror)
            source = sources[-1] if sources else NOBODY
            mirrors = dict.fromkeys(order.mirror for order in possible if order.action != "delete_topic")
            excuse = MIRROR_OPEN if len(mirrors) > 1 else _excuse(account, wishes, row, sources)
            excuse = excuse or _excuse_upstream(plan, account, wishes, row, sources)
            only_prepares = excuse in (MIRRORED_BOTH_WAYS, ONLY_COPY, RING, SOURCE_UNREACHABLE)
            row = ExpectedState(cluster, topic, row.mirror, source, states, excuse, only_prepares)
            added_at = max((o.sent_at for o in orders if o.action == "add"), default=0)
            row = _with_missing_source_topic(plan, account, row, added_at)
            if ("MIRRORING" in row.states or "PAUSED" in row.states) and _may_have_failed_for_other_topic(
                account, row, added_at
            ):
                row = replace(row, states=tuple(dict.fromkeys((*row.states, "FAILED"))))
        found.append(row)
    return found


def _orders_by_topic(account: Account) -> dict[tuple[str, str], list[Order]]:
    """Return the orders about each (cluster, topic) that were, or may have been, carried out.

    The deletion of a mirror counts for each topic that may have been in it; the deletion of a topic counts if the topic
    was ordered into a mirror before.
    """
    wishes: dict[tuple[str, str], list[Order]] = {}
    for order in account.orders:
        if order.error not in (DONE, NO_ANSWER) or order.action not in STATE_AFTER:
            continue
        if order.action == "delete_mirror":
            for (cluster, _), before in wishes.items():
                if cluster == order.destination and any(o.mirror == order.mirror for o in _still_possible(before)):
                    before.append(order)
        for topic in order.topics:
            if order.action == "delete_topic" and (order.destination, topic) not in wishes:
                continue
            wishes.setdefault((order.destination, topic), []).append(order)
    return wishes


def source_clusters(plan: Plan, account: Account, cluster: str, mirror: str) -> list[str]:
    """Return the clusters that a mirror's bootstrap.servers have pointed to since its creation, in order."""
    found: list[str] = []
    for order in account.orders:
        if (order.destination, order.mirror) != (cluster, mirror) or order.error not in (DONE, NO_ANSWER):
            continue
        if order.action == "create_mirror" or order.action == "point_mirror":
            args = plan.steps[order.number].args
            found.append(str(args.get("servers", args.get("source", ""))))
        elif order.action == "delete_mirror" and order.error == DONE:
            found.clear()
    return found


def _excuse(
    account: Account, wishes: dict[tuple[str, str], list[Order]], row: ExpectedState, sources: list[str]
) -> str:
    source = sources[-1] if sources else NOBODY
    if source == NOBODY:
        return "the mirror has no valid bootstrap.servers"
    if len(dict.fromkeys(name for name in sources if name != NOBODY)) > 1:
        return "the mirror had another source cluster before"
    ids = {(cluster, topic): topic_id for cluster, topic, topic_id in reversed(account.topic_ids)}
    if (source, row.topic) not in ids:
        return NO_TOPIC
    if (row.cluster, row.topic) in ids and ids[row.cluster, row.topic] != ids[source, row.topic]:
        return OTHER_ID
    source_orders = wishes.get((source, row.topic), ())
    reverse_orders = [order for order in source_orders if order.mirror == row.mirror or order.action == "delete_topic"]
    orders_from_here = [order for order in reverse_orders if order.source == row.cluster]
    later = source_orders[source_orders.index(reverse_orders[-1]) + 1 :] if reverse_orders else ()
    if any(order.action == "add" and order.error == DONE for order in later):
        return ""  # The topic went into another mirror of the source, which has no record of this cluster (D25).
    if orders_from_here and any(
        deleted_at > orders_from_here[-1].sent_at for deleted_at in _changes(account, source, row.topic, exists=False)
    ):
        return ""  # The deletion of the topic removed the source's record of a mirror from here.
    if orders_from_here and any(
        STATE_AFTER[order.action] in ("MIRRORING", "PAUSED") for order in _still_possible(reverse_orders)
    ):
        return MIRRORED_BOTH_WAYS
    # A mirror of the source that never found its own source's topic does not know that cluster: it may be this one. It
    # stopped because it was removed, or because that cluster had no such topic.
    may_be_from_here = orders_from_here or (
        reverse_orders
        and (reverse_orders[-1].action == "remove" or _source_lacked(account, reverse_orders[-1], row.topic))
    )
    if may_be_from_here and _never_mirrored(account, source, row):
        return ONLY_COPY
    return ""


def _excuse_upstream(
    plan: Plan, account: Account, wishes: dict[tuple[str, str], list[Order]], row: ExpectedState, sources: list[str]
) -> str:
    """Return why a topic waits because of its source's own mirrors, at any distance; empty if it need not."""
    clusters, is_unreachable = sources[-1:], False
    for cluster in clusters:
        for order in _still_possible(wishes.get((cluster, row.topic), [])):
            if STATE_AFTER[order.action] in ("MIRRORING", "PAUSED"):
                names = source_clusters(plan, account, cluster, order.mirror)
                is_unreachable = is_unreachable or NOBODY in names[-1:] or len(set(names) - {NOBODY}) > 1
                clusters += [name for name in dict.fromkeys(names) if name not in (NOBODY, *clusters)]
    if row.cluster in clusters:
        return RING
    return SOURCE_UNREACHABLE if is_unreachable else ""


def _changes(account: Account, cluster: str, topic: str, *, exists: bool) -> list[Instant]:
    """Return when a topic of this name was created in a cluster, or when it was deleted."""
    return [r.at for r in account.topics if (r.cluster, r.topic, r.exists) == (cluster, topic, exists)]


def _source_lacked(account: Account, order: Order, topic: str) -> bool:
    """Return whether the source in an order lacked the topic at some time since the order, or always."""
    created = _changes(account, order.source, topic, exists=True)
    existed = any(at <= order.sent_at for at in created)
    return not existed or bool(_changes(account, order.source, topic, exists=False))


def _with_missing_source_topic(plan: Plan, account: Account, row: ExpectedState, added_at: Instant) -> ExpectedState:
    """Return the expected state if the source lacks the topic, lacked it at times, or has another one of its name."""
    if row.excuse == OTHER_ID:
        states = tuple(dict.fromkeys(("FAILED" if state == "MIRRORING" else state) for state in row.states))
        return replace(row, states=(*states, *(s for s in ("FAILED", "STOPPED") if s not in states)), excuse="")
    if row.excuse == NO_TOPIC:
        if "PAUSED" in row.states:  # A partition that was not PAUSED yet stays in its current state.
            return replace(row, states=(*row.states, "STOPPED"), until_mirroring=True)
        has_topic = any((cluster, topic) == (row.cluster, row.topic) for cluster, topic, _ in account.topic_ids)
        states = tuple(dict.fromkeys(("STOPPED" if state == "MIRRORING" else state) for state in row.states))
        return replace(row, states=states, excuse="") if has_topic else row
    changes = [r for r in account.topics if (r.cluster, r.topic) == (row.source, row.topic) and r.at >= added_at]
    if not changes:
        return row
    release = next(cluster.release for cluster in plan.clusters if cluster.name == row.source)
    if has_topic_ids(release) or all(r.exists for r in changes):
        return replace(row, states=tuple(dict.fromkeys((*row.states, "STOPPED"))))
    return replace(row, excuse=RECREATED_WITHOUT_ID, until_mirroring=False)


def _may_have_failed_for_other_topic(account: Account, row: ExpectedState, added_at: Instant) -> bool:
    """Return whether a partition failed while the source had a topic of this name with another id than ours (D16).

    The source may have the known id again by now, if that topic was mirrored back (D49). The leader may learn of it
    later.
    """
    own_ids = {
        topic_id for cluster, topic, topic_id in account.topic_ids if (cluster, topic) == (row.cluster, row.topic)
    }
    source_changes = [
        observed for observed in account.topics if (observed.cluster, observed.topic) == (row.source, row.topic)
    ]
    other_periods = [
        (observed.at, after.at + UNAWARE)
        for observed, after in pairwise(source_changes)
        if own_ids and observed.exists and observed.at >= added_at and observed.topic_id not in own_ids
    ]
    return any(begin <= at <= end for at in _failures(account, row) for begin, end in other_periods)


def _failures(account: Account, row: ExpectedState) -> Iterator[Instant]:
    """Yield when a partition of the topic became FAILED in its mirror; UNKNOWN while a leader loads the state is
    ignored.
    """
    latest: dict[TopicPartition, str] = {}
    for observed in account.states:
        if (observed.cluster, observed.mirror, observed.tp.topic) == (row.cluster, row.mirror, row.topic):
            if observed.state == "FAILED" != latest.get(observed.tp):
                yield observed.at
            if observed.state != "UNKNOWN":
                latest[observed.tp] = observed.state


def _overlap(earlier: Order, later: Order) -> bool:
    """Return whether the later order was sent before the earlier one was answered: either may have come last."""
    return earlier.answered_at < 0 or earlier.answered_at > later.sent_at


def _still_possible(orders: list[Order]) -> list[Order]:
    """Return the orders that may have come last."""
    last = max((n for n, order in enumerate(orders) if order.error == DONE), default=0)
    while last > 0 and _overlap(orders[last - 1], orders[last]):
        last -= 1
    return orders[last:]


def _never_mirrored(account: Account, source: str, row: ExpectedState) -> bool:
    """Return whether a partition of the topic stopped at the source without a last mirrored epoch."""
    latest: dict[TopicPartition, tuple[str, int]] = {}
    for observed in account.states:
        if observed.cluster == source and observed.mirror == row.mirror and observed.tp.topic == row.topic:
            latest[observed.tp] = (observed.state, observed.last_mirror_epoch)
    return not latest or any(state == "STOPPED" and epoch < 0 for state, epoch in latest.values())


def waiting_topics(rows: list[ExpectedState]) -> dict[tuple[str, str], None]:
    """Return (cluster, topic) of each topic that waits with an excuse, is paused or failed, and of all mirrors of
    those.
    """
    settled_states = ("PAUSED", "FAILED")
    waiting = dict.fromkeys(
        (row.cluster, row.topic) for row in rows if row.excuse or any(state in settled_states for state in row.states)
    )
    for _ in rows:  # A chain is no longer than there are rows.
        mirrors = [(row.cluster, row.topic) for row in rows if (row.source, row.topic) in waiting]
        waiting.update(dict.fromkeys(mirrors))
    return waiting


class ConvergenceCheck:
    """Checks whether a scene has settled; each missing item is (cluster, partition, reason)."""

    def __init__(self, scene: Scene, observer: Observer) -> None:
        self._scene = scene
        self._observer = observer

    def missing(self, rows: list[ExpectedState], *, is_over: bool = False) -> list[tuple[str, TopicPartition, str]]:
        """Return every item that differs from its expected state; empty once everything has settled.

        With `is_over`, when time is up, offsets that groups committed in the last moments need not be equal in two
        clusters.
        """
        found: list[tuple[str, TopicPartition, str]] = []
        for name, cluster in self._scene.clusters.items():
            found += self._unreplicated(name, cluster)
        waiting, missing_at_source = waiting_topics(rows), self._partitions_missing_at_source(rows)
        for name in self._scene.clusters:
            for tp in self._scene.partitions(name):
                if (name, tp.topic) not in waiting or self._takes_markers(name, tp):
                    found += [] if (name, tp) in missing_at_source else self._hanging_transaction(name, tp, rows)
        for row in rows:
            if not row.excuse or row.until_mirroring:
                found += self._differences(row, missing_at_source, is_over=is_over)
        return found

    def _partitions_missing_at_source(self, rows: list[ExpectedState]) -> dict[tuple[str, TopicPartition], None]:
        """Return the partitions of mirrored topics that the source does not have, and mirrors of them that are
        PREPARING.

        They were added here while the topic was not mirrored. They stay read-only and take no markers. They cannot
        learn their source's upstream mirrors, so a mirror of them may wait for that (D58).
        """
        found: dict[tuple[str, TopicPartition], None] = {}
        for row in rows:
            topic = self._scene.image(row.cluster).topics.get(row.topic)
            source_topic = (
                self._scene.image(row.source).topics.get(row.topic) if row.source in self._scene.clusters else None
            )
            if topic is None or source_topic is None or row.states == ("STOPPED",):
                continue
            lacking = [index for index in topic.partitions if index not in source_topic.partitions]
            found.update({(row.cluster, TopicPartition(row.topic, index)): None for index in lacking})
        mirrored = [row for row in rows if row.states != ("STOPPED",)]
        for _ in mirrored:  # A chain is no longer than there are rows.
            behind = {
                (row.cluster, tp): None for row in mirrored for tp in _topic_partitions(found, row.source, row.topic)
            }
            found.update({place: None for place in behind if self._state(*place) == "PREPARING"})
        return found

    def _unreplicated(self, name: str, cluster: Cluster) -> list[tuple[str, TopicPartition, str]]:
        if cluster.is_settled():
            return []
        found = []
        for topic in cluster.image.topics.values():
            for index, image in topic.partitions.items():
                tp = TopicPartition(topic.name, index)
                leader = cluster.leader(tp)
                if leader is None:
                    found.append((name, tp, f"no leader serves it (leader {image.leader}, ISR {list(image.isr)})"))
                elif len(image.isr) != len(image.replicas):
                    found.append((name, tp, f"ISR {list(image.isr)} of replicas {list(image.replicas)}"))
                elif leader.log.high_watermark != leader.log.log_end_offset:
                    log = leader.log
                    found.append((name, tp, f"high watermark {log.high_watermark}, log end {log.log_end_offset}"))
        return found or [(name, TopicPartition("", -1), "a broker is fenced")]

    def _hanging_transaction(
        self, name: str, tp: TopicPartition, rows: list[ExpectedState]
    ) -> list[tuple[str, TopicPartition, str]]:
        """Return the partition if it has a hanging transaction whose marker no unclean election can have lost."""
        leader = self._scene.leader(name, tp)
        if leader is None or leader.log.last_stable_offset == leader.log.high_watermark:
            return []
        log = leader.log
        ongoing = {
            offset: pid for offset, pid in log.producers.ongoing.items() if not self._may_lack_marker(tp, log, offset)
        }
        plan, account = self._scene.plan, self._scene.account
        ongoing = {offset: pid for offset, pid in ongoing.items() if not may_be_open(plan, account, pid)}
        if not ongoing or account.was_stopped_without_state((name, tp)) or self._waits_for_markers(name, tp, rows):
            return []
        open_ones = ", ".join(f"{producer_id} from {offset}" for offset, producer_id in ongoing.items())
        where = f"last stable offset {log.last_stable_offset}, high watermark {log.high_watermark}"
        return [(name, tp, f"{OPEN_TRANSACTIONS} (producers {open_ones}): {where}")]

    def _waits_for_markers(self, name: str, tp: TopicPartition, rows: list[ExpectedState]) -> bool:
        """Return whether the partition waits for markers behind a transaction that hangs at its source.

        The transaction may hang because of an unclean election, or because the source itself mirrors the topic from a
        cluster without this partition.
        """
        leader, state = self._scene.leader(name, tp), self._state(name, tp)
        for row in rows:
            if (row.cluster, row.topic, state) != (
                name,
                tp.topic,
                "MIRRORING",
            ) or row.source not in self._scene.clusters:
                continue
            source_leader = self._scene.leader(row.source, tp)
            if (
                leader is None
                or source_leader is None
                or source_leader.log.last_stable_offset == source_leader.log.high_watermark
            ):
                continue
            if leader.log.log_end_offset == source_leader.log.last_stable_offset or self._has_hidden_records(
                tp, leader.log, source_leader.log
            ):
                others = [other for other in rows if other is not row]
                return (row.source, tp) in self._partitions_missing_at_source(others) or not self._hanging_transaction(
                    row.source, tp, others
                )
        return False

    def _may_lack_marker(self, tp: TopicPartition, log: PartitionLog, offset: int) -> bool:
        """Return whether an unclean election may have lost the marker of the transaction that is open at an offset.

        It may also have lost the coordinator's record of it; then no marker is written. A transaction that begins after
        the election times out.
        """
        account = self._scene.account
        batch = next(iter(log.batches(offset, offset + 1)), None)
        if batch is None:
            return False
        name = next((name_of(record.value, record.headers) for record in batch.records()), "")
        begin = account.writes[name].sent_at if name in account.writes else 0
        if any(batch.producer_id in row.producers and begin <= row.at for row in account.groups.transactions_lost):
            return True
        return account.may_have_lost_marker(tp, offset, batch.partition_leader_epoch, batch.producer_id, name)

    def _differences(
        self, row: ExpectedState, missing_at_source: Collection[tuple[str, TopicPartition]], *, is_over: bool
    ) -> list[tuple[str, TopicPartition, str]]:
        scene = self._scene
        topic = scene.image(row.cluster).topics.get(row.topic)
        if topic is None:
            if "STOPPED" in row.states or NOT_IN_A_MIRROR in row.states:
                return []
            return [] if row.excuse else [(row.cluster, TopicPartition(row.topic, 0), "the topic was not created")]
        found = [] if row.excuse or row.states != ("MIRRORING",) else self._metadata_behind(row)
        for index in topic.partitions:
            tp = TopicPartition(row.topic, index)
            if (row.cluster, tp) in missing_at_source:
                continue
            state = self._state(row.cluster, tp)
            if state == "PREPARING" and row.excuse:
                continue
            if state not in row.states:
                mp = self._observer.mirror_partition(row.cluster, tp)
                reason = "" if mp is None or not mp.reason else f": {mp.reason}"
                found.append((row.cluster, tp, f"{state}, but {' or '.join(row.states)} was requested{reason}"))
            elif state == "MIRRORING":
                found += self._behind(row, tp)
                found += [] if row.excuse else self._offsets_behind(row, tp, is_over=is_over)
        return found

    def _takes_markers(self, cluster: str, tp: TopicPartition) -> bool:
        """Return whether transactions end here: the partition is in no mirror, or stopped, regardless of the orders."""
        return self._observer.mirror_partition(cluster, tp) is None or self._state(cluster, tp) == "STOPPED"

    def _state(self, cluster: str, tp: TopicPartition) -> str:
        mp = self._observer.mirror_partition(cluster, tp)
        return NOT_IN_A_MIRROR if mp is None or mp.state is None else mp.state.name

    def _metadata_behind(self, row: ExpectedState) -> list[tuple[str, TopicPartition, str]]:
        """Return the missing results of the metadata sync: the source's partitions, and its topic configs (D17)."""
        destination_image, source_image = self._scene.image(row.cluster), self._scene.image(row.source)
        found = []
        for index in source_image.topics[row.topic].partitions if row.topic in source_image.topics else ():
            if index not in destination_image.topics[row.topic].partitions:
                found.append(
                    (row.cluster, TopicPartition(row.topic, index), "the source's partition does not exist here")
                )
        excluded = _excluded_configs(destination_image, row.mirror)
        source_configs, configs = (
            _copied_configs(image.configs.topic(row.topic), excluded) for image in (source_image, destination_image)
        )
        if source_configs != configs:
            text = f"the topic's configs are {configs}, but the source's are {source_configs}"
            found.append((row.cluster, TopicPartition(row.topic, 0), text))
        return found

    def _behind(self, row: ExpectedState, tp: TopicPartition) -> list[tuple[str, TopicPartition, str]]:
        source, destination = self._scene.leader(row.source, tp), self._scene.leader(row.cluster, tp)
        if source is None or destination is None:
            return [(row.cluster, tp, "there is no leader here or at the source")]
        expected_end, actual_end = source.log.last_stable_offset, destination.log.log_end_offset
        starts = destination.log.log_start_offset, source.log.log_start_offset
        if starts[0] < min(starts[1], actual_end):
            return [(row.cluster, tp, f"the log begins at {starts[0]}, but the source's at {starts[1]}")]
        if expected_end == actual_end == destination.log.high_watermark:
            return []
        if self._has_hidden_records(tp, destination.log, source.log):
            return []
        mp = self._observer.mirror_partition(row.cluster, tp)
        reason = "" if mp is None or not mp.reason else f": {mp.reason}"
        return [
            (row.cluster, tp, f"{LOG_END} {actual_end}, but the source's last stable offset is {expected_end}{reason}")
        ]

    def _has_hidden_records(self, tp: TopicPartition, log: PartitionLog, source_log: PartitionLog) -> bool:
        """Return whether a transaction with a marker lost at the source hides records that the mirror copied before."""
        expected_end, actual_end = source_log.last_stable_offset, log.log_end_offset
        is_same_epoch = source_log.epochs.epoch_for_offset(actual_end - 1) == log.latest_epoch
        return (
            expected_end < actual_end <= source_log.high_watermark
            and is_same_epoch
            and self._may_lack_marker(tp, source_log, expected_end)
        )

    def _offsets_behind(
        self, row: ExpectedState, tp: TopicPartition, *, is_over: bool
    ) -> list[tuple[str, TopicPartition, str]]:
        """Return offsets that groups committed at the source and not here, within the filters of the mirror."""
        scene, destination = self._scene, self._scene.leader(row.cluster, tp)
        configs = scene.image(row.cluster).configs.get((ResourceType.MIRROR, row.mirror), {})
        included, clamps = configs.get(INCLUDED_GROUPS, ".*").split(","), configs.get(CLAMP) == "true"
        source_offsets, offsets = scene.committed_offsets(row.source), scene.committed_offsets(row.cluster)
        found = []
        for (group, at), expected in source_offsets.items():
            if at != tp or destination is None or not _matches_any(group, included):
                continue
            if scene.has_members(row.cluster, group):
                continue  # The sync does not commit for a group that is active here (D17).
            if is_over and self._is_recent_commit(expected[2]):
                continue
            log = destination.log
            clamped = min(max(expected[0], log.log_start_offset), log.last_stable_offset)
            if clamps and clamped != expected[0]:
                expected = clamped, -1, expected[2]
            if expected[1] > destination.leader_epoch:  # A consumer brought it from another cluster.
                expected = expected[0], -1, expected[2]
            if offsets.get((group, tp)) != expected:
                text = f"group {group} has committed {expected} at the source, but {offsets.get((group, tp))} here"
                found.append((row.cluster, tp, text))
        return found

    def _is_recent_commit(self, token: str) -> bool:
        """Return whether the offset with this metadata was committed a moment ago, so that only the next sync copies
        it.
        """
        sent = self._scene.account.groups.sent_offsets.get(token)
        return sent is not None and self._scene.now - max(sent.sent_at, sent.answered_at) < SYNCED_WITHIN


def _topic_partitions(places: Collection[tuple[str, TopicPartition]], cluster: str, topic: str) -> list[TopicPartition]:
    """Return the partitions of a cluster's topic that are among `places`."""
    return [tp for name, tp in places if (name, tp.topic) == (cluster, topic)]


def _matches_any(name: str, patterns: Sequence[str]) -> bool:
    return any(re.fullmatch(pattern.strip(), name) for pattern in patterns)


def _excluded_configs(image: MetadataImage, mirror: str) -> list[str]:
    """Return the patterns of topic configs that a mirror does not copy, as currently configured."""
    set_here = image.configs.get((ResourceType.MIRROR, mirror), {}).get(EXCLUDED_CONFIGS)
    return (default_of(config_keys(Scope.MIRROR)[EXCLUDED_CONFIGS]) if set_here is None else set_here).split(",")


def _copied_configs(values: Mapping[str, str], excluded: Sequence[str]) -> dict[str, str]:
    """Return the topic configs that a mirror copies."""
    return {
        name: value
        for name, value in values.items()
        if not name.startswith("mirror.") and not _matches_any(name, excluded)
    }
