"""Rules of metadata syncs: the times of requests, the actions on their responses, and the reported problems."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.client.remote_cluster import RemoteCluster
from kmirror.cluster.broker.broker import Broker
from kmirror.cluster.images import MetadataImage
from kmirror.histories.monitors.rules import NO_PARTITION, Monitor, Rules
from kmirror.histories.scene import Scene
from kmirror.kernel.clock import SECOND, Duration, Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.mirror.configs import SOURCE_CLUSTER_ID
from kmirror.mirror.context import MirrorContext
from kmirror.mirror.naming import MIRROR_NAME, Assignment, parse
from kmirror.mirror.states import Wish
from kmirror.mirror.syncs.report import LINES_MAX, SyncProblem
from kmirror.spec.configs import Scope, config_keys, default_of
from kmirror.spec.wire_values import ResourceType

EXCLUDED_CONFIGS = "mirror.topic.properties.exclude"
UNCHANGED: Duration = 15 * SECOND
"""Age from which a config of the source may not be removed by a mirror: older responses have been processed by then."""
REMOVALS = 2
"""Number of such removals that are allowed: a controller may process requests that were sent long ago."""
MISSED_MIN = 2
"""Number of consecutive cycles that must miss a topic before the topic is stopped (D16)."""


@dataclass(slots=True)
class _KnownBroker:
    """A broker while it runs, with its state of mirrors."""

    broker: Broker
    context: MirrorContext | None
    image_offset: int = -1
    """Offset of the image for which its assignments were checked."""
    cycles: dict[str, Instant] = field(default_factory=dict)
    """Mirror to the time of its next request about all topics."""


class SyncMonitor(Monitor):
    """Judges the requests of a cluster's brokers to the sources of its mirrors."""

    def __init__(self, scene: Scene, rules: Rules) -> None:
        self._scene = scene
        self._rules = rules
        self._places: dict[tuple[str, int], _KnownBroker] = {}
        """Brokers by (cluster, id)."""
        self._missing: dict[tuple[str, int, str], dict[str, int]] = {}
        """(cluster, broker, mirror) to the topics missing at the source, with the number of consecutive cycles."""
        self._problems: dict[tuple[str, int, str, str], int] = {}
        """Number of reported problems that may not be over, by (cluster, broker, mirror, subject). Several syncs may
        have one subject, such as the offsets of several groups for a partition.
        """
        self._lines: dict[tuple[str, int, str], tuple[Instant, int]] = {}
        """Number of lines that syncs reported at one instant, by (cluster, broker, mirror); it stays at LINES_MAX."""
        self._removals: dict[tuple[str, str, str], int] = {}
        """(cluster, topic, config) to the number of its removals."""
        self._set_since: dict[tuple[str, str, str], tuple[str, Instant]] = {}
        """(cluster, topic, config) to its value, and the time since when it has that value."""

    # -- brokers ------------------------------------------------------------------------------

    def broker_handled(self, cluster: str, broker: Broker) -> None:
        broker_id = broker.context.node_id
        place = self._places.get((cluster, broker_id))
        if place is None or place.broker is not broker:
            context = self._scene.mirror_context(cluster, broker_id)
            place = self._places[cluster, broker_id] = _KnownBroker(broker, context)
        context = place.context
        if context is None:
            return
        for mirror, plan in context.refreshes.items():
            source = context.sources.get(mirror)
            if source is not None and not source.refreshing and (plan.full_requested or plan.requested):
                now = self._scene.local_time(cluster, broker_id)
                if plan.timer_at is None or plan.timer_at > max(plan.not_before, now):
                    text = f"mirror {mirror} needs data from its source, but does not send the request when it may"
                    self._report(cluster, broker_id, "refresh-late", text)
            cycle = place.cycles.get(mirror)
            if cycle != plan.next_full_at:
                place.cycles[mirror] = plan.next_full_at
                self._count_missing((cluster, broker_id, mirror), source, is_first=cycle is None)
        offset = broker.context.image.offset
        if place.image_offset != offset and broker.parts.lifecycle.recovered:
            place.image_offset = offset
            self._check_assignments(cluster, broker, context)

    def _count_missing(self, key: tuple[str, int, str], source: RemoteCluster | None, *, is_first: bool) -> None:
        """Count the consecutive cycles in which a source lacked each topic, when a cycle of a broker begins."""
        before = {} if is_first else self._missing.get(key, {})
        missing = () if source is None else source.missing_topics
        self._missing[key] = {topic: before.get(topic, 0) + 1 for topic in missing}

    def on_stop_ordered(self, cluster: str, broker_id: int, mirror: str, topics: list[str]) -> None:
        """Check whether a broker that stops topics has seen that their source does not have them (D16)."""
        missing = self._missing.get((cluster, broker_id, mirror), {})
        for topic in topics:
            times = missing.get(topic, 0)
            if times < MISSED_MIN:
                text = (
                    f"topic {topic} of mirror {mirror} is stopped, but its source lacked it only {times} times in a row"
                )
                self._report(cluster, broker_id, "stopped-early", text)

    def on_problem_reported(self, cluster: str, broker_id: int, fact: SyncProblem) -> None:
        """Check whether a sync that reports its recovery had reported a problem, unless too many were reported."""
        key = cluster, broker_id, fact.mirror, fact.subject
        last_at, lines = self._lines.get(key[:3], (-1, 0))
        lines = lines + 1 if last_at == self._scene.now or lines >= LINES_MAX else 1
        self._lines[key[:3]] = self._scene.now, lines
        if fact.reason:
            self._problems[key] = self._problems.get(key, 0) + 1
        elif lines >= LINES_MAX:
            return
        elif not self._problems.get(key):
            text = f"mirror {fact.mirror}: {fact.subject} is synced again, but no problem was reported"
            self._report(cluster, broker_id, "synced-again", text)
        else:
            self._problems[key] -= 1

    def _check_assignments(self, cluster: str, broker: Broker, context: MirrorContext) -> None:
        image = broker.context.image
        configured = {}
        for topic in image.configs.names(ResourceType.TOPIC):
            value = image.configs.topic(topic).get(MIRROR_NAME, "")
            if value:
                configured[topic] = parse(value)
        if configured != context.assignments:
            names = [name for name in {**configured, **context.assignments}
                     if configured.get(name) != context.assignments.get(name)]  # fmt: skip
            text = f"the broker does not follow {MIRROR_NAME} of topics {', '.join(sorted(names))}"
            self._report(cluster, broker.context.node_id, "mirror-assignments", text)

    # -- controllers --------------------------------------------------------------------------

    def controller_handled(self, cluster: str, before: MetadataImage, after: MetadataImage) -> None:
        now = self._scene.now
        for topic, name, value in _changes(before, after):
            key = cluster, topic, name
            if not name.startswith("mirror."):
                self._check_unmirrored(cluster, topic, name, value, before, after)
            if value is not None:
                self._set_since[key] = value, now
                continue
            previous, _ = self._set_since.pop(key, ("", 0))
            source = self._source_cluster(cluster, topic, after)
            if source is None or topic not in after.topics or topic not in before.topics:
                continue
            at_source = self._set_since.get((source, topic, name))
            if (
                at_source is None
                or at_source[0] != previous
                or now - at_source[1] < UNCHANGED
                or self._is_own(after, topic, name)
            ):
                continue
            count = self._removals[key] = self._removals.get(key, 0) + 1
            if count > REMOVALS + self._times_ordered(cluster, topic, name):
                text = f"config {name} of topic {topic} is removed again, although {source} had it all the time"
                self._rules.report(cluster, CONTROLLER_ID, TopicPartition(topic, 0), "config-flaps", text)

    def _check_unmirrored(
        self, cluster: str, topic: str, name: str, value: str | None, before: MetadataImage, after: MetadataImage
    ) -> None:
        """Check that no existing topic without a mirror is altered without a step for it (D75)."""
        is_there = topic in before.topics and topic in after.topics
        if not is_there or any(_is_mirrored(image, topic) for image in (before, after)):
            return
        step_args = {"cluster": cluster, "topic": topic, "name": name}
        actions = "alter_topic", "reset_topic"
        if not any(
            step.action in actions and step_args.items() <= step.args.items() for step in self._scene.plan.steps
        ):
            text = f"topic {topic} got config {name}={value}, but was not mirrored at the time"
            self._rules.report(cluster, CONTROLLER_ID, TopicPartition(topic, 0), "synced-unmirrored", text)

    def _source_cluster(self, cluster: str, topic: str, image: MetadataImage) -> str | None:
        """Return the cluster from which a topic is mirrored; None if it is not, or its mirror does not know its source
        yet.
        """
        assignment = _assignment(image, topic)
        if assignment is None or assignment.wish is not Wish.MIRROR:
            return None
        source_id = image.configs.get((ResourceType.MIRROR, assignment.mirror), {}).get(SOURCE_CLUSTER_ID)
        return next((name for name, found in self._scene.clusters.items() if found.cluster_id == source_id), None)

    def _is_own(self, image: MetadataImage, topic: str, name: str) -> bool:
        """Return whether a config is never copied to the topic, or is currently excluded."""
        assignment = _assignment(image, topic)
        mirror = "" if assignment is None else assignment.mirror
        configs = image.configs.get((ResourceType.MIRROR, mirror), {})
        excluded = configs.get(EXCLUDED_CONFIGS, default_of(config_keys(Scope.MIRROR)[EXCLUDED_CONFIGS]) or "")
        return name.startswith("mirror.") or any(re.fullmatch(each.strip(), name) for each in excluded.split(","))

    def _times_ordered(self, cluster: str, topic: str, name: str) -> int:
        """Return the number of steps that alter a config of this topic."""
        step_args = {"topic": topic, "name": name}
        return sum(
            all(step.args.get(key) == value for key, value in step_args.items()) for step in self._scene.plan.steps
        )

    def _report(self, cluster: str, broker_id: int, rule: str, text: str) -> None:
        self._rules.report(cluster, broker_id, NO_PARTITION, rule, text)


def _assignment(image: MetadataImage, topic: str) -> Assignment | None:
    return parse(image.configs.topic(topic).get(MIRROR_NAME, ""))


def _is_mirrored(image: MetadataImage, topic: str) -> bool:
    """Return whether a topic is in a mirror, neither paused nor removed."""
    assignment = _assignment(image, topic)
    return assignment is not None and assignment.wish is Wish.MIRROR


def _changes(before: MetadataImage, after: MetadataImage) -> Iterator[tuple[str, str, str | None]]:
    """Yield topic, config and value of each change, with None for a removed config."""
    for resource in {**before.configs, **after.configs}:
        previous, now = before.configs.get(resource, {}), after.configs.get(resource, {})
        if resource[0] != ResourceType.TOPIC or previous == now:
            continue
        for name in {**previous, **now}:
            if previous.get(name) != now.get(name):
                yield resource[1], name, now.get(name)
