"""Rules of metrics and of DescribeMirrors: their values equal those computed from logs and images."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.assembly.mirrors import parse_rows
from kmirror.cluster.broker.broker import Broker
from kmirror.cluster.controller.controller import Controller
from kmirror.cluster.images import NO_LEADER, MetadataImage
from kmirror.cluster.metrics import VALUE, Sample
from kmirror.histories.describing import describe_all
from kmirror.histories.monitors.rules import NO_PARTITION, Rules
from kmirror.histories.scene import Scene
from kmirror.kernel.ids import TopicPartition
from kmirror.mirror.naming import MIRROR_NAME, parse
from kmirror.mirror.states import MirrorState
from kmirror.protocol.gen.describe_mirrors_response import DescribedMirror
from kmirror.spec.wire_values import ResourceType

NO_ANSWER = "the source's broker "
"""Prefix of the reason for a partition whose leader at the source does not respond."""
Violations = Iterator[tuple[TopicPartition, str, str]]
"""Partition, rule and text of each violation."""


class MetricsMonitor:
    """Judges metrics and DescribeMirrors, only at some events, because reading them costs more than an event."""

    def __init__(self, scene: Scene, rules: Rules) -> None:
        self._scene = scene
        self._rules = rules

    def check_mirrors(self, cluster: str, broker: Broker) -> None:
        """Check the descriptions and metrics of a broker's mirrors."""
        if not broker.parts.lifecycle.recovered:
            return
        component = self._scene.mirror_component(cluster, broker.context.node_id)
        if component is None:
            return
        now = self._scene.local_time(cluster, broker.context.node_id)
        answer = describe_all(component.context, now)
        samples = list(component.metrics(now, self._scene.process(cluster, broker.context.node_id).runner_metrics))
        self._report(cluster, broker, _description_violations(broker, answer.mirrors))
        self._report(cluster, broker, _mirror_metric_violations(samples, answer.mirrors))

    def check_nodes(self, cluster: str, broker: Broker) -> None:
        """Check the metrics of a broker and of the controller."""
        found = self._scene.clusters[cluster]
        self._report(
            cluster, broker, _broker_violations(broker, self._samples(cluster, broker.context.node_id, broker))
        )
        if found.runs(CONTROLLER_ID) and found.controller.is_open:
            samples = self._samples(cluster, CONTROLLER_ID, found.controller)
            for tp, rule, text in _controller_violations(found.controller.image, samples):
                self._rules.report(cluster, CONTROLLER_ID, tp, rule, text)

    def _samples(self, cluster: str, node_id: int, node: Broker | Controller) -> list[Sample]:
        runner_metrics = self._scene.process(cluster, node_id).runner_metrics
        return node.metrics(self._scene.local_time(cluster, node_id), runner_metrics)

    def _report(self, cluster: str, broker: Broker, violations: Violations) -> None:
        for tp, rule, text in violations:
            self._rules.report(cluster, broker.context.node_id, tp, rule, text)


def _values(samples: list[Sample]) -> dict[tuple[str, ...], float]:
    """Return the value of each gauge by its name and tags."""
    return {(s.row.name, *s.tags): s.attributes[VALUE] for s in samples if VALUE in s.attributes}


def _compare(samples: list[Sample], expected: dict[tuple[str, ...], float]) -> Violations:
    values = _values(samples)
    for key, value in expected.items():
        if values.get(key) != value:
            yield NO_PARTITION, "metric-count", f"{'/'.join(key)} is {values.get(key)}, expected {value}"


def _broker_violations(broker: Broker, samples: list[Sample]) -> Violations:
    broker_id, partitions = broker.context.node_id, broker.parts.replicas.partitions
    led = [partition.image for partition in partitions.values() if partition.image.leader == broker_id]
    lacking = sum(any(replica not in image.isr for replica in image.replicas) for image in led)
    expected: dict[tuple[str, ...], float] = {
        ("LeaderCount",): len(led),
        ("PartitionCount",): len(partitions),
        ("UnderReplicatedPartitions",): lacking,
    }
    yield from _compare(samples, expected)


def _controller_violations(image: MetadataImage, samples: list[Sample]) -> Violations:
    partitions = [partition for topic in image.topics.values() for partition in topic.partitions.values()]
    fenced = sum(broker.fenced for broker in image.brokers.values())
    expected: dict[tuple[str, ...], float] = {
        ("ActiveControllerCount",): 1,
        ("ActiveBrokerCount",): len(image.brokers) - fenced,
        ("FencedBrokerCount",): fenced,
        ("GlobalTopicCount",): len(image.topics),
        ("GlobalPartitionCount",): len(partitions),
        ("OfflinePartitionsCount",): sum(partition.leader == NO_LEADER for partition in partitions),
    }
    yield from _compare(samples, expected)


def _description_violations(broker: Broker, mirrors: list[DescribedMirror]) -> Violations:
    """Yield rows that DescribeMirrors lacks, has in excess, or returns with other values than the log has."""
    image, partitions = broker.context.image, broker.parts.replicas.partitions
    named = {mirror.mirror_name: mirror for mirror in mirrors}
    if sorted(named) != sorted(image.configs.names(ResourceType.MIRROR)):
        yield NO_PARTITION, "described-mirrors", f"described mirrors are {', '.join(sorted(named))}"
    expected: dict[str, dict[str, None]] = {}
    led: dict[str, dict[TopicPartition, None]] = {}
    for topic in image.configs.names(ResourceType.TOPIC):
        assignment = parse(image.configs.topic(topic).get(MIRROR_NAME, ""))
        if assignment is None or assignment.mirror not in named:
            continue
        known = image.topics.get(topic)
        if known is None or all(partition.leader == NO_LEADER for partition in known.partitions.values()):
            expected.setdefault(assignment.mirror, {})[topic] = None
        for index in () if known is None else known.partitions:
            tp = TopicPartition(topic, index)
            if tp in partitions and partitions[tp].is_leader:
                led.setdefault(assignment.mirror, {})[tp] = None
    for name, mirror in named.items():
        rows = {row.tp: row for row in parse_rows(mirror)}
        topics = [topic.topic_name for topic in mirror.topics]
        lacking = [topic for topic in expected.get(name, {}) if topic not in topics]
        if lacking:
            yield NO_PARTITION, "described-topics", f"mirror {name} is described without topics {', '.join(lacking)}"
        if rows.keys() != led.get(name, {}).keys():
            text = f"described for mirror {name} are {_join(rows)}, but led are {_join(led.get(name, {}))}"
            yield NO_PARTITION, "described-partitions", text
        for tp, row in rows.items():
            end = partitions[tp].log.high_watermark if tp in partitions else row.destination_offset
            if row.destination_offset != end:
                yield (
                    tp,
                    "described-offset",
                    f"{row.destination_offset} is described, but the high watermark is {end}",
                )
            if row.lag >= 0 and row.lag != max(0, row.source_offset - end):
                yield tp, "described-lag", f"lag {row.lag} is described between {row.source_offset} and {end}"
            if row.state is MirrorState.FAILED and not row.reason:
                yield tp, "described-reason", "FAILED is described without a reason"


def _mirror_metric_violations(samples: list[Sample], mirrors: list[DescribedMirror]) -> Violations:
    """Yield the metrics that differ from those computed from a description of the mirrors."""
    rows = [(mirror.mirror_name, row) for mirror in mirrors for row in parse_rows(mirror)]
    counts = Counter((name, row.state.name) for name, row in rows)
    totals = Counter(row.state.name for _, row in rows)
    lags = {row.tp: row.lag for _, row in rows if row.state is MirrorState.MIRRORING}
    expected: dict[tuple[str, ...], float] = {}
    for state in [state.name for state in MirrorState if state is not MirrorState.UNKNOWN]:
        expected[f"{state.capitalize()}PartitionState",] = totals[state]
        for mirror in mirrors:
            expected["MirrorPartitionCount", mirror.mirror_name, state] = counts[mirror.mirror_name, state]
    yield from _compare(samples, expected)
    values = _values(samples)
    highest = -1 if -1 in lags.values() else max(lags.values(), default=0)
    max_lag = next((value for key, value in values.items() if key[0] == "MaxLag"), 0)
    if max_lag != highest:
        yield NO_PARTITION, "metric-max-lag", f"MaxLag is {max_lag}, but the greatest described lag is {highest}"
    for (name, *tags), value in values.items():
        tp = TopicPartition(tags[-2], int(tags[-1])) if name == "ConsumerLag" else None
        if tp in lags and value != lags[tp]:
            yield tp, "metric-consumer-lag", f"ConsumerLag is {value}, but the described lag is {lags[tp]}"
    failed = sum(row.state is MirrorState.FAILED or _is_lost(row.state, row.reason) for _, row in rows)
    counted = next((value for key, value in values.items() if key[0] == "FailedPartitionsCount"), 0)
    if counted < failed:
        yield NO_PARTITION, "metric-failed", f"FailedPartitionsCount is {counted}, but {failed} are described"


def _is_lost(state: MirrorState, reason: str) -> bool:
    is_fetched = state in (MirrorState.MIRRORING, MirrorState.PREPARING)
    return is_fetched and reason.startswith(NO_ANSWER) and "does not respond" in reason


def _join(partitions: object) -> str:
    return ", ".join(sorted(map(str, partitions))) or "none"  # type: ignore[call-overload]
