"""DescribeMirrors at one moment, as an operator would get it from all running brokers.

A broker that was deposed without knowing it describes the partition, too. The row that counts is chosen as in kmirror's
admin client (D62) and judged as the leader's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import cast

from kmirror.assembly.mirrors import MirrorRow, keep_newest, parse_rows
from kmirror.cluster.authorizer import ALLOW_ALL, Rights
from kmirror.cluster.server import Inbound
from kmirror.histories.account import DescribedPartition
from kmirror.histories.scene import Scene
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import Principal, TopicPartition
from kmirror.mirror.broker_apis import describe_mirrors
from kmirror.mirror.context import MirrorContext
from kmirror.mirror.lag import proof_age_max
from kmirror.mirror.state_records import MirrorShard, PartitionState, StateKey
from kmirror.protocol.gen.describe_mirrors_request import DescribeMirrorsRequest
from kmirror.protocol.gen.describe_mirrors_response import DescribedMirror, DescribeMirrorsResponse
from kmirror.spec.topics import MIRROR_STATE_TOPIC


@dataclass(slots=True)
class _LocalRequest:
    """A DescribeMirrors request that is answered in the same event, outside the network."""

    body: DescribeMirrorsRequest = field(default_factory=DescribeMirrorsRequest)
    rights: Rights = field(default_factory=lambda: Rights(ALLOW_ALL, Principal("User", "ANONYMOUS"), ""))
    answer: DescribeMirrorsResponse = field(default_factory=DescribeMirrorsResponse)

    def reply(self, body: DescribeMirrorsResponse) -> None:
        self.answer = body


def describe_all(context: MirrorContext, now: Instant) -> DescribeMirrorsResponse:
    """Return a broker's response to DescribeMirrors of all mirrors."""
    request = _LocalRequest()
    describe_mirrors.handle(context, now, cast(Inbound[DescribeMirrorsRequest], request))
    return request.answer


def described(scene: Scene, cluster: str, partitions: Iterable[TopicPartition]) -> Iterator[DescribedPartition]:
    """Yield the rows of partitions that have leaders."""
    leaders = {tp: leader.broker_id for tp in partitions if (leader := scene.leader(cluster, tp)) is not None}
    if not leaders:
        return
    persisted, newest = _persisted(scene, cluster), dict[str, dict[TopicPartition, MirrorRow]]()
    led: list[tuple[DescribedMirror, TopicPartition]] = []
    for broker_id in scene.clusters[cluster].living():
        context = scene.mirror_context(cluster, broker_id)
        for mirror in (
            describe_all(context, scene.local_time(cluster, broker_id)).mirrors if context is not None else ()
        ):
            keep_newest(newest.setdefault(mirror.mirror_name, {}), mirror)
            led += [(mirror, row.tp) for row in parse_rows(mirror) if leaders.get(row.tp) == broker_id]
    for mirror, tp in led:
        row, context = newest[mirror.mirror_name][tp], scene.mirror_context(cluster, leaders[tp])
        source = None if context is None else context.sources.get(mirror.mirror_name)
        yield DescribedPartition(
            cluster,
            mirror.mirror_name,
            tp,
            leaders[tp],
            row.state.name,
            row.source_offset,
            row.destination_offset,
            row.lag,
            row.last_mirrored_epoch,
            row.reason or mirror.reason,
            scene.now,
            persisted.get((mirror.mirror_name, tp), ""),
            0 if context is None or source is None else proof_age_max(context, source),
        )


def _persisted(scene: Scene, cluster: str) -> dict[tuple[str, TopicPartition], str]:
    """Return the persisted states by mirror and partition, from the coordinators of a cluster."""
    names = {topic.topic_id: topic.name for topic in scene.image(cluster).topics.values()}
    return {
        (key.mirror, TopicPartition(names[key.topic_id], key.partition)): state.state.name
        for key, state in persisted_states(scene, cluster)
        if key.topic_id in names
    }


def persisted_states(scene: Scene, cluster: str) -> Iterator[tuple[StateKey, PartitionState]]:
    """Yield the persisted states, from the coordinators of a cluster.

    If two brokers believe to lead a shard, the one with the later leader epoch counts.
    """
    found: dict[int, tuple[int, MirrorShard]] = {}
    for broker_id in scene.clusters[cluster].living():
        context = scene.mirror_context(cluster, broker_id)
        replicas = scene.clusters[cluster].broker(broker_id).parts.replicas
        for number, shard in context.coordinator.runtime.states().items() if context is not None else ():
            led = replicas.partitions.find_led(TopicPartition(MIRROR_STATE_TOPIC, number))
            epoch = -1 if led is None else led.leader_epoch
            if number not in found or found[number][0] < epoch:
                found[number] = epoch, shard
    for _, shard in found.values():
        yield from shard.all_committed().items()
