"""DescribeMirrors: state, offsets and last mirrored epoch of the partitions that *this* broker leads.

A client that wants the whole mirror sends the request to every broker and joins the responses, as Kafka's admin client
does, so no partition is reported twice. A topic that does not exist, or that has no leader, is in every response,
without partitions: otherwise a client could not name it (D38). The source offset is the source's high watermark: a
failover loses the records above the last stable offset, which no mirror can read (D22). Reason says why a partition
waits or failed, why the source cannot be reached, or why a topic is not created (D38).

On request the response has the lineage of a log, mirrored or not, and describes only the partitions whose lineages are
requested, so that its cost depends on the request and not on the size of the mirror (D45). Such a partition may be in
another mirror by now: the epoch that the stop in this mirror settled is described as well (D10).

A mirror that the client may not describe gets an error if it was named, and is left out if all were requested: a denied
request must not look like a source that knows nothing (D18, D32). The same holds for a broker that was deposed without
knowing it: a broker that may have been fenced returns no lineage.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter

from kmirror.cluster.authorizer import Resource
from kmirror.cluster.images import NO_LEADER
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import SECOND, Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.names import few
from kmirror.mirror.access import withholds_log
from kmirror.mirror.configs import mirror_configs, mirror_names
from kmirror.mirror.context import MirrorContext
from kmirror.mirror.lag import lag_of, response_time_max, unproved_reason
from kmirror.mirror.lineage import Stretches, reported_stretches
from kmirror.mirror.partition import MirrorPartition
from kmirror.mirror.source_responses import no_response_text
from kmirror.mirror.state_loader import keys_of
from kmirror.mirror.states import MirrorState
from kmirror.mirror.upstream import reported_age_ms
from kmirror.mirror.upstream_check import upstream_here
from kmirror.mirror.warnings import warnings_of
from kmirror.protocol.gen.describe_mirrors_request import DescribeMirrorsRequest, LineageTopic
from kmirror.protocol.gen.describe_mirrors_response import (
    DescribedMirror,
    DescribeMirrorsResponse,
    LineageStretch,
    PartitionDetail,
    PartitionLineage,
    TopicLineage,
    TopicPartitions,
    UpstreamCluster,
)
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import AclOperation


def handle(context: MirrorContext, now: Instant, inbound: Inbound[DescribeMirrorsRequest]) -> None:
    """Respond with the named mirrors, or all; UNKNOWN_MIRROR for a name that does not exist."""
    request = inbound.body
    response = DescribeMirrorsResponse()
    for mirror in request.mirror_names or mirror_names(context.broker.image):
        denied = inbound.rights.error(AclOperation.DESCRIBE, Resource.mirror(mirror))
        if denied and not request.mirror_names:
            continue
        description = DescribedMirror(mirror_name=mirror)
        response.mirrors.append(description)
        if denied or mirror_configs(context.broker.image, mirror) is None:
            description.error_code = denied or ErrorCode.UNKNOWN_MIRROR
            continue
        if request.include_authorized_operations:
            description.authorized_operations = inbound.rights.operations(Resource.mirror(mirror))
        description.reason = _reason_of_mirror(context, mirror)
        description.warning = warnings_of(context, mirror)
        topics: dict[str, TopicPartitions] = {}
        for tp, detail in sorted(_details(context, now, request, mirror), key=itemgetter(0)):
            topic = topics.setdefault(tp.topic, TopicPartitions(topic_name=tp.topic))
            topic.partitions.append(detail)
        if not request.named_only:
            for name in _without_leader(context, mirror):
                topics.setdefault(name, TopicPartitions(topic_name=name))
        description.topics = [topics[name] for name in sorted(topics)]
    denied_topics = inbound.rights.denied_topics(
        AclOperation.DESCRIBE, [topic.topic_name for topic in request.lineages]
    )
    clusters: dict[str, int] = {}
    response.lineages = [
        _lineages(context, now, topic, denied_topics.get(topic.topic_name), clusters) for topic in request.lineages
    ]
    response.cluster_ids = list(clusters)
    inbound.reply(response)


def _details(
    context: MirrorContext, now: Instant, request: DescribeMirrorsRequest, mirror: str
) -> Iterator[tuple[TopicPartition, PartitionDetail]]:
    """Yield the partitions of a mirror that this broker leads and the request asks for."""
    if not request.named_only:
        yield from ((mp.tp, _detail(context, now, mp)) for mp in context.partitions_of(mirror))
        return
    requested_tps = {
        TopicPartition(topic.topic_name, index): None for topic in request.lineages for index in topic.partitions
    }
    for tp in requested_tps:
        mp = context.partitions.get(tp)
        if mp is not None and mp.assignment.mirror == mirror:
            yield tp, _detail(context, now, mp)
        elif mp is not None and mirror in mp.settled_epochs:
            detail = PartitionDetail(
                partition_index=tp.partition,
                state=MirrorState.STOPPED.name,
                last_mirror_epoch=mp.settled_epochs[mirror],
            )
            partition = context.replicas.partitions.find_led(tp)
            if partition is not None:
                detail.leader_epoch = partition.leader_epoch
            yield tp, detail


def _without_leader(context: MirrorContext, mirror: str) -> Iterator[str]:
    """Yield the topics of a mirror that do not exist, or that have no partition with a leader."""
    topics = context.broker.image.topics
    for name in context.topics_of(mirror):
        topic = topics.get(name)
        if topic is None or not any(partition.leader != NO_LEADER for partition in topic.partitions.values()):
            yield name


def _lineages(
    context: MirrorContext, now: Instant, requested: LineageTopic, denied: ErrorCode | None, clusters: dict[str, int]
) -> TopicLineage:
    """Return the lineages of a topic's partitions; `clusters` has the index of each cluster that was named so far."""
    topic = TopicLineage(topic_name=requested.topic_name)
    topic_image = context.broker.image.topics.get(requested.topic_name)
    if topic_image is not None and denied is None:
        topic.topic_id = topic_image.topic_id
    for partition in requested.partitions:
        if denied is not None:
            topic.partitions.append(PartitionLineage(partition_index=partition, error_code=denied, leader_epoch=-1))
            continue
        error, leader_epoch, stretches = _writers(context, now, TopicPartition(requested.topic_name, partition))
        row = PartitionLineage(partition_index=partition, error_code=error, leader_epoch=leader_epoch)
        topic.partitions.append(row)
        if error:
            continue
        row.stretches = [
            LineageStretch(first_epoch=epoch, cluster=clusters.setdefault(cluster, len(clusters)))
            for epoch, cluster in stretches
        ]
        upstream = upstream_here(context, now, TopicPartition(requested.topic_name, partition))
        row.upstream = [
            UpstreamCluster(
                cluster=clusters.setdefault(cluster, len(clusters)), age_ms=reported_age_ms(now, reported_at)
            )
            for cluster, reported_at in zip(upstream.clusters, upstream.reported_at, strict=True)
        ]
        row.upstream_incomplete, row.upstream_waits = not upstream.is_complete, upstream.waits
        row.upstream_age_ms = reported_age_ms(now, upstream.ended_at)
    return topic


def _detail(context: MirrorContext, now: Instant, mp: MirrorPartition) -> PartitionDetail:
    state = MirrorState.UNKNOWN if mp.state is None else mp.state
    detail = PartitionDetail(
        partition_index=mp.tp.partition,
        state=state.name,
        last_mirror_epoch=max(-1, mp.last_mirrored_epoch),
        reason=_reason(context, now, mp),
    )
    partition = context.replicas.partitions.find_led(mp.tp)
    if partition is not None:
        detail.destination_offset = partition.log.high_watermark
        detail.leader_epoch = partition.leader_epoch
    if mp.source_offset >= 0:
        detail.source_offset = mp.source_offset
        detail.lag = lag_of(context, now, mp)
    return detail


def _writers(context: MirrorContext, now: Instant, tp: TopicPartition) -> tuple[ErrorCode, int, Stretches]:
    """Return an error, the leader epoch, and the clusters that wrote a partition's log in that epoch (D45).

    The error is set if this broker may no longer lead the partition, or does not know its lineage yet.
    """
    partition, mp = context.replicas.partitions.find_led(tp), context.partitions.get(tp)
    if partition is None or now >= context.broker.in_session_until:
        is_known = context.broker.image.topics.partition(tp) is not None
        return ErrorCode.NOT_LEADER_OR_FOLLOWER if is_known else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1, ()
    if withholds_log(context, partition) or (mp is not None and partition.leader_epoch < mp.lineage.valid_from_epoch):
        return ErrorCode.OFFSET_NOT_AVAILABLE, -1, ()
    return ErrorCode.NONE, partition.leader_epoch, reported_stretches(context.writers_of(tp), context.broker.cluster_id)


def _reason_of_mirror(context: MirrorContext, mirror: str) -> str:
    """Return why this broker cannot reach the source or get topics created; empty if it can do both."""
    source = context.sources.get(mirror)
    if mirror in context.source_errors:
        return context.source_errors[mirror]
    if source is not None and source.is_unresponsive:
        return no_response_text(source)
    missing = [
        f"topic {name} is not created: {reason}" for name, reason in sorted(context.missing_topics(mirror).items())
    ]
    return few(missing, "topics") if missing else ""


def _reason(context: MirrorContext, now: Instant, mp: MirrorPartition) -> str:
    """Return why a partition waits or failed, or why a MIRRORING one lacks records or partitions; else empty (D38)."""
    if mp.state is None or (mp.reason and mp.state is not MirrorState.FAILED):
        keys = keys_of(context, mp) if mp.state is None else [mp.key]
        unwritable = context.coordinator.unwritable(map(context.coordinator.shard_of, keys))
        if unwritable:
            return "; ".join(text for text in (mp.reason, *unwritable) if text)
        if not mp.reason:
            return "waiting for the state from the mirror's coordinator"
    if mp.reason or mp.state is not MirrorState.MIRRORING:
        return mp.reason
    fetcher = mp.fetcher
    if fetcher is not None and (fetcher.in_flight or fetcher.held or mp.is_failing):
        since = fetcher.answered_at if mp.is_failing else fetcher.asked_at
        if now - since > response_time_max(context):
            duration_text = f"for {(now - since) // SECOND} s" if since else "yet"
            return f"the source's broker {fetcher.key[1]} at {fetcher.endpoint} has not responded {duration_text}"
    unproved = unproved_reason(context, now, mp)
    if unproved:
        return unproved
    partition = context.replicas.partitions.find_led(mp.tp)
    if partition is not None and partition.log.high_watermark < partition.log.log_end_offset:
        isr_reason = partition.short_isr_reason()
        if isr_reason:
            return isr_reason
    source, local_topic = context.sources.get(mp.assignment.mirror), context.broker.image.topics.get(mp.tp.topic)
    source_topic = None if source is None else source.topics.get(mp.tp.topic)
    if source_topic is None or local_topic is None or source_topic.partitions <= len(local_topic.partitions):
        return ""
    return f"the source's topic has {source_topic.partitions} partitions, ours has {len(local_topic.partitions)} so far"
