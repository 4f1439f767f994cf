"""Which broker of the source is a partition to be asked about, and what does an answer teach of its lineage?"""

from __future__ import annotations

from dataclasses import dataclass

from kmirror.client.remote_cluster import RemoteCluster, RemoteLeader, code_of
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import Endpoint
from kmirror.mirror.context import MirrorContext
from kmirror.mirror.lineage import written_by
from kmirror.mirror.partition import MirrorPartition
from kmirror.mirror.source_answers import Described
from kmirror.mirror.states import MirrorState
from kmirror.protocol.gen.describe_mirrors_request import DescribeMirrorsRequest


@dataclass(frozen=True, slots=True)
class Inquiry:
    """What one partition wants to know of the broker that led it at the source when the inquiry began."""

    context: MirrorContext
    mp: MirrorPartition
    state: MirrorState
    """The state in which an answer is of use."""
    source: RemoteCluster
    leader: RemoteLeader
    endpoint: Endpoint

    def is_current(self) -> bool:
        """Return whether this broker still leads the partition, in the same leader epoch, mirror and state."""
        return self.context.is_current(self.mp, self.state)

    def is_of_the_source(self) -> bool:
        """Return whether the mirror still has the servers that are asked."""
        return self.context.sources.get(self.mp.assignment.mirror) is self.source

    def has_no_describe(self) -> bool:
        """Return whether the broker's versions are known and DescribeMirrors is not among them."""
        source, endpoint = self.source, self.endpoint
        return source.knows_versions(endpoint) and not source.supports(endpoint, DescribeMirrorsRequest)

    def learn_lineage(self, described: Described | None) -> str:
        """Take over the lineage of the source's log; return why that is not possible, empty if it is (D45).

        A source that answers without lineages does not know mirroring: its own cluster wrote the whole log.
        """
        mp = self.mp
        if described is None or not described.tells_lineages:
            mp.source_lineage, mp.source_lineage_epoch = written_by(self.source.cluster_id or ""), self.leader.epoch
            return ""
        row = described.lineage(mp.tp)
        if row is None:
            return "the source tells who wrote other logs, and not who wrote this one"
        if row.error_code:
            return f"the source does not tell who wrote the log: {code_of(row.error_code).name}"
        if row.leader_epoch < self.leader.epoch:
            return f"the source's broker {self.leader.broker_id} does not know of leader epoch {self.leader.epoch} yet"
        stretches = described.stretches(row)
        if stretches is None:
            return "the source names a writer of the log without its cluster id"
        mp.source_lineage, mp.source_lineage_epoch = stretches, row.leader_epoch
        self.source.learn_leader(mp.tp, self.leader.broker_id, row.leader_epoch)
        return ""


def begin_inquiry(context: MirrorContext, now: Instant, mp: MirrorPartition, state: MirrorState) -> Inquiry | None:
    """Return an inquiry to the source's leader; None, with the reason set at `mp`, if the leader is not known."""
    source = context.sources.get(mp.assignment.mirror)
    leader = None if source is None else source.leader(mp.tp)
    endpoint = None if source is None else source.leader_endpoint(mp.tp)
    if source is None or leader is None or endpoint is None:
        mp.reason = "the source's leader is not known"
        context.refresh_soon(now, mp.assignment.mirror, mp.tp.topic)
        return None
    return Inquiry(context, mp, state, source, leader, endpoint)


def error_suffix(error_code: int) -> str:
    """Return an error as the end of a sentence (": NAME"), empty if there is none."""
    return f": {code_of(error_code).name}" if error_code else ""
