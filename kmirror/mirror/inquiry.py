"""What a destination leader asks the leader of a partition at the source, and how it reads the answers."""

from __future__ import annotations

from dataclasses import dataclass

from kmirror.client.remote_cluster import RemoteCluster, RemoteLeader, code_of
from kmirror.client.requester import OnReply
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.mirror.context import MirrorContext
from kmirror.mirror.lineage import stretches_from, written_by
from kmirror.mirror.partition import MirrorPartition
from kmirror.mirror.states import MirrorState
from kmirror.protocol.gen.describe_mirrors_request import DescribeMirrorsRequest, LineageTopic
from kmirror.protocol.gen.describe_mirrors_response import DescribeMirrorsResponse, PartitionDetail, PartitionLineage
from kmirror.protocol.gen.list_offsets_request import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import OffsetSpec


@dataclass(frozen=True, slots=True)
class Inquiry:
    """Questions about one partition to the broker that led it at the source when the first one was asked."""

    context: MirrorContext
    mp: MirrorPartition
    source: RemoteCluster
    leader: RemoteLeader
    endpoint: Endpoint

    def resumes(self, state: MirrorState) -> bool:
        """Return whether the answer that was awaited is still of use in `state`; ends the partition's wait."""
        if not self.context.is_current(self.mp, state):
            return False
        self.mp.busy = False
        return self.context.sources.get(self.mp.assignment.mirror) is self.source

    def ask(self, now: Instant, request: Message, on_reply: OnReply) -> None:
        """Send `request` to the broker; `on_reply` gets None if there is no answer."""
        self.source.send(now, self.endpoint, "describe", request, on_reply)

    def describe(self, now: Instant, on_reply: OnReply) -> None:
        """Ask for the source's mirror of the same name as ours, and for the lineage of the log (D45)."""
        lineage = LineageTopic(topic_name=self.mp.tp.topic, partitions=[self.mp.tp.partition])
        self.ask(now, DescribeMirrorsRequest(mirror_names=[self.mp.assignment.mirror], lineages=[lineage]), on_reply)

    def list_offsets(self, now: Instant, on_reply: OnReply) -> None:
        """Ask for the log end, naming the known leader epoch: only the leader in it answers without an error."""
        row = ListOffsetsPartition(
            partition_index=self.mp.tp.partition, current_leader_epoch=self.leader.epoch, timestamp=OffsetSpec.LATEST
        )
        topic = ListOffsetsTopic(name=self.mp.tp.topic, partitions=[row])
        self.ask(now, ListOffsetsRequest(replica_id=-1, topics=[topic]), on_reply)

    def has_no_describe(self) -> bool:
        """Return whether the broker's versions are known and DescribeMirrors is not among them."""
        source, endpoint = self.source, self.endpoint
        return source.knows_versions(endpoint) and not source.supports(endpoint, DescribeMirrorsRequest)

    def learn_lineage(self, reply: DescribeMirrorsResponse | None) -> str:
        """Take over the lineage of the source's log; return why that is not possible, empty if it is (D45).

        A source that answers without a lineage does not know mirroring: its own cluster wrote the whole log.
        """
        mp, row = self.mp, None if reply is None else _lineage_in(reply, self.mp.tp)
        if row is None:
            mp.source_lineage, mp.source_lineage_epoch = written_by(self.source.cluster_id or ""), self.leader.epoch
            return ""
        if row.error_code:
            return f"the source does not tell who wrote the log: {code_of(row.error_code).name}"
        if row.leader_epoch < self.leader.epoch:
            return f"the source's broker {self.leader.broker_id} does not know of leader epoch {self.leader.epoch} yet"
        mp.source_lineage, mp.source_lineage_epoch = stretches_from(row.stretches), row.leader_epoch
        self.source.learn_leader(mp.tp, self.leader.broker_id, row.leader_epoch)
        return ""


def begin_inquiry(context: MirrorContext, now: Instant, mp: MirrorPartition) -> Inquiry | None:
    """Return an inquiry to the source's leader; None, with the reason set at `mp`, if the leader is not known.

    The partition is busy until `Inquiry.resumes`.
    """
    source = context.sources.get(mp.assignment.mirror)
    leader = None if source is None else source.leader(mp.tp)
    endpoint = None if source is None else source.leader_endpoint(mp.tp)
    if source is None or leader is None or endpoint is None:
        mp.reason = "the source's leader is not known"
        context.refresh_soon(now, mp.assignment.mirror)
        return None
    mp.busy = True
    return Inquiry(context, mp, source, leader, endpoint)


def detail_in(reply: DescribeMirrorsResponse, mp: MirrorPartition) -> PartitionDetail | None:
    """Return the row of the partition under our mirror's name, or None."""
    for mirror in reply.mirrors:
        if mirror.mirror_name != mp.assignment.mirror or mirror.error_code == ErrorCode.UNKNOWN_MIRROR:
            continue
        for topic in mirror.topics:
            if topic.topic_name != mp.tp.topic:
                continue
            for detail in topic.partitions:
                if detail.partition_index == mp.tp.partition:
                    return detail
    return None


def refusal_in(reply: DescribeMirrorsResponse, mp: MirrorPartition) -> int:
    """Return the error code of our mirror's row, 0 if there is none; UNKNOWN_MIRROR is an answer, not an error."""
    for mirror in reply.mirrors:
        if mirror.mirror_name == mp.assignment.mirror and mirror.error_code != ErrorCode.UNKNOWN_MIRROR:
            return mirror.error_code
    return 0


def is_silent(reply: DescribeMirrorsResponse, mp: MirrorPartition) -> bool:
    """Return whether the source answered without an error and knows nothing of the partition."""
    return not reply.error_code and not refusal_in(reply, mp) and detail_in(reply, mp) is None


def error_suffix(reply: Message | None) -> str:
    """Return the error of an answer as the end of a sentence (": NAME"), empty if it has none."""
    code = getattr(reply, "error_code", 0)
    return f": {code_of(code).name}" if code else ""


def _lineage_in(reply: DescribeMirrorsResponse, tp: TopicPartition) -> PartitionLineage | None:
    for topic in reply.lineages:
        for row in topic.partitions:
            if (topic.topic_name, row.partition_index) == (tp.topic, tp.partition):
                return row
    return None
