"""Responses of a source, indexed once for all partitions that requested them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kmirror.client.remote_cluster import RemoteCluster
from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.log.epochs import EndOffset
from kmirror.mirror.lineage import Stretch, Stretches
from kmirror.mirror.upstream import Upstream
from kmirror.protocol.gen.describe_mirrors_response import DescribeMirrorsResponse, PartitionDetail, PartitionLineage
from kmirror.protocol.gen.list_mirrors_response import ListMirrorsResponse
from kmirror.protocol.gen.list_offsets_response import ListOffsetsResponse
from kmirror.protocol.gen.metadata_request import MetadataRequest, MetadataRequestTopic
from kmirror.protocol.gen.metadata_response import MetadataResponse
from kmirror.protocol.gen.offset_for_leader_epoch_response import OffsetForLeaderEpochResponse
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode


def no_response_text(source: RemoteCluster, subject: str = "") -> str:
    """Return the message that a source does not respond, with the cause if known, or that it has not had the time to.

    `subject` begins with a space if it is not empty.
    """
    servers = ",".join(map(str, source.servers))
    if source.awaits_first_answer:
        return f"no response from the source at {servers} yet"
    return f"no response from the source at {servers}{subject}{source.connection_error_suffix()}"


def untrusted_text(topic: str, reason: str) -> str:
    """Return the message that the source's metadata of a topic is not trusted, with the cause (D60)."""
    return f"the source's metadata of topic {topic} is not trusted: {reason}"


class DescribeResult:
    """A DescribeMirrors response: the source's mirror with our mirror's name, and the lineages of logs."""

    def __init__(self, reply: DescribeMirrorsResponse, mirror: str) -> None:
        self.error_code = reply.error_code
        """Error code of the whole response, 0 for none."""
        self.mirror_error = 0
        """Error code of our mirror's row; UNKNOWN_MIRROR does not count as an error."""
        self._details: dict[tuple[str, int], PartitionDetail] = {}
        self._lineages = {(t.topic_name, row.partition_index): row for t in reply.lineages for row in t.partitions}
        self._topic_ids = {topic.topic_name: topic.topic_id for topic in reply.lineages}
        self._cluster_ids = reply.cluster_ids
        self._shared: dict[tuple[tuple[int, int], ...], Stretches] = {}
        for mirror_row in reply.mirrors:
            if mirror_row.mirror_name != mirror or mirror_row.error_code == ErrorCode.UNKNOWN_MIRROR:
                continue
            self.mirror_error = self.mirror_error or mirror_row.error_code
            for topic in mirror_row.topics:
                for row in topic.partitions:
                    self._details.setdefault((topic.topic_name, row.partition_index), row)

    def detail(self, tp: TopicPartition) -> PartitionDetail | None:
        """Return the row of a partition under our mirror's name, or None."""
        return self._details.get(tp)

    def is_silent(self, tp: TopicPartition) -> bool:
        """Return whether the source responded without an error and knows nothing of the partition."""
        return not self.error_code and not self.mirror_error and tp not in self._details

    @property
    def has_lineages(self) -> bool:
        """Whether the response has lineages at all: a source that knows them returns each requested one."""
        return bool(self._lineages)

    def topic_id(self, topic: str) -> Uuid:
        """Return the id of a topic whose lineage was requested, zeros if the response does not have it."""
        return self._topic_ids.get(topic, Uuid.ZERO)

    def lineage(self, tp: TopicPartition) -> PartitionLineage | None:
        """Return the row with the lineage of a partition's log, or None."""
        return self._lineages.get(tp)

    def stretches(self, row: PartitionLineage) -> Stretches | None:
        """Return the lineage in a row of this response; None if the response lacks the id of one of its clusters."""
        key = tuple((stretch.first_epoch, stretch.cluster) for stretch in row.stretches)
        if any(not 0 <= cluster < len(self._cluster_ids) for _, cluster in key):
            return None
        # Most logs of a source have the same lineage: they share one tuple.
        shared = self._shared.get(key)
        if shared is None:
            shared = tuple(sorted(Stretch(epoch, self._cluster_ids[cluster]) for epoch, cluster in key))
            self._shared[key] = shared
        return shared

    def upstream(self, row: PartitionLineage, asked_at: Instant) -> Upstream | None:
        """Return where a log is mirrored from, by a row of this response; None if it lacks the id of a cluster."""
        if any(not 0 <= link.cluster < len(self._cluster_ids) for link in row.upstream):
            return None
        return Upstream(
            clusters=tuple(self._cluster_ids[link.cluster] for link in row.upstream),
            reported_at=tuple(asked_at - max(0, link.age_ms) * MILLISECOND for link in row.upstream),
            ended_at=asked_at - max(0, row.upstream_age_ms) * MILLISECOND,
            is_complete=not row.upstream_incomplete,
            waits=row.upstream_waits,
            asked_at=asked_at,
        )


class ListResult:
    """A ListMirrors response."""

    def __init__(self, reply: ListMirrorsResponse) -> None:
        self.error_code = reply.error_code
        self.sources = {row.mirror_name: row.source_cluster_id for row in reply.mirrors}
        """Name of each visible mirror to the id of its source cluster; the id is empty while unknown."""


class OffsetsResult:
    """A response to ListOffsets with leader epochs."""

    def __init__(self, reply: ListOffsetsResponse) -> None:
        self._rows = {(t.name, row.partition_index): row for t in reply.topics for row in t.partitions}

    def proves_leader(self, tp: TopicPartition) -> bool:
        """Return whether `tp` has no error in the response: the broker leads it in the requested epoch."""
        row = self._rows.get(tp)
        return row is not None and not row.error_code

    def offset(self, tp: TopicPartition) -> int | None:
        """Return the requested offset, or None."""
        row = self._rows.get(tp)
        return None if row is None or row.error_code or row.offset < 0 else row.offset


def epoch_ends_in(reply: Message | None) -> Mapping[TopicPartition, EndOffset] | None:
    """Return the ends of the requested epochs, for the partitions without an error; None without a response."""
    if not isinstance(reply, OffsetForLeaderEpochResponse):
        return None
    return {
        TopicPartition(topic.topic, row.partition): EndOffset(row.leader_epoch, row.end_offset)
        for topic in reply.topics
        for row in topic.partitions
        if not row.error_code
    }


def metadata_request(topics: Iterable[str]) -> MetadataRequest:
    """Return the request for the ids and leaders of `topics` (D65, D77)."""
    names = dict.fromkeys(topics)
    return MetadataRequest(topics=[MetadataRequestTopic(name=name) for name in names], allow_auto_topic_creation=False)


def topic_ids_in(reply: Message | None) -> Mapping[str, Uuid] | None:
    """Return the ids of the topics without an error in a response, zeros if it has no ids; None without a response."""
    if not isinstance(reply, MetadataResponse):
        return None
    return {topic.name or "": topic.topic_id for topic in reply.topics if not topic.error_code}
