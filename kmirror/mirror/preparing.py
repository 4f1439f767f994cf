"""PREPARING: get the last mirrored epoch from the source, cut to it, wait until every replica is cut (D11).

DescribeMirrors goes to the source's leader of the partition, under the same mirror name. A broker reports only the
partitions that it leads, so the response of a former leader looks like "nothing is known". A log that is not empty is
therefore cut from scratch only on proof (D32).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from functools import partial

from kmirror.client.remote_cluster import code_of
from kmirror.cluster.node.partition import Partition
from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.context import MirrorContext
from kmirror.mirror.cut_rules import FROM_SCRATCH, SESSION, Uncut, cut_offset, with_all_replicas
from kmirror.mirror.log_cuts import cut, effective_cut_epoch, restart
from kmirror.mirror.only_copy import OnlyCopyCheck
from kmirror.mirror.partition import MirrorPartition
from kmirror.mirror.source_lineage import LineageCheck
from kmirror.mirror.source_query import SourceQuery, begin_query
from kmirror.mirror.source_requests import SourceRequests
from kmirror.mirror.source_responses import DescribeResult, ListResult, OffsetsResult
from kmirror.mirror.state_records import NEVER_MIRRORED, NOT_SETTLED
from kmirror.mirror.state_writer import ScheduleStep, StateWriter
from kmirror.mirror.states import MirrorState
from kmirror.mirror.topic_check import NOT_CONFIRMED, is_confirmed
from kmirror.mirror.upstream import ring_reason, unknown_upstream_reason
from kmirror.mirror.upstream_check import ring_of
from kmirror.protocol.gen.describe_mirrors_response import PartitionDetail
from kmirror.spec.configs import Configs, Scope

EMPTY_WAITS_MS = 10_000
"""How long an empty log waits for a source that does not know its upstream clusters (D58)."""


class PrepareStep(Enum):
    """The next step of a leader in PREPARING."""

    ASK = auto()
    """Ask the source; its response decides the cut."""
    LIST = auto()
    """Persist the list of replicas that must be cut."""
    CUT = auto()
    WAIT = auto()
    """Some replica has not confirmed the cut."""
    FINISH = auto()
    """Go to MIRRORING."""


@dataclass(frozen=True, slots=True)
class PrepareFacts:
    """The facts that decide the next step; they are derived again before every step."""

    is_decided: bool
    is_listed: bool
    """The list of replicas that must be cut is persisted, or there is nothing to cut here."""
    is_cut: bool
    is_confirmed: bool
    """Every replica that must be cut has confirmed it to this leader."""


def next_step(facts: PrepareFacts) -> PrepareStep:
    """Return the first step that is not done yet."""
    if not facts.is_decided:
        return PrepareStep.ASK
    if not facts.is_cut:
        return PrepareStep.CUT if facts.is_listed else PrepareStep.LIST
    return PrepareStep.FINISH if facts.is_confirmed else PrepareStep.WAIT


class Preparing:
    """Takes one broker's partitions through PREPARING; every step may be repeated."""

    def __init__(
        self,
        context: MirrorContext,
        writer: StateWriter,
        source_requests: SourceRequests,
        lineage_check: LineageCheck,
        schedule_step: ScheduleStep,
    ) -> None:
        self._context = context
        self._source_requests = source_requests
        self._writer = writer
        self._lineage_check = lineage_check
        self._schedule_step = schedule_step
        self._only_copy = OnlyCopyCheck(context, source_requests, self._confirm)

    def act(self, now: Instant, mp: MirrorPartition, partition: Partition) -> None:
        """Do the first step that is not done yet."""
        match next_step(self._facts(mp, partition)):
            case PrepareStep.ASK:
                self._request_epoch(now, mp)
            case PrepareStep.LIST:
                self._persist_uncut(now, mp, partition)
            case PrepareStep.CUT:
                self.cut(now, mp, partition)
            case PrepareStep.WAIT:
                mp.reason = self._unconfirmed_reason(mp, partition)
            case PrepareStep.FINISH:
                lineage = self._lineage_check.lineage_to_adopt(mp, partition, mp.uncut.get(SESSION, 0))
                self._writer.write_state(now, mp, MirrorState.MIRRORING, NOT_SETTLED, lineage=lineage)

    def _facts(self, mp: MirrorPartition, partition: Partition) -> PrepareFacts:
        return facts_of(mp, partition, "" if mp.cut_at is None else self._unconfirmed_reason(mp, partition))

    # -- the source's record of us --------------------------------------------------------------

    def _request_epoch(self, now: Instant, mp: MirrorPartition) -> None:
        if mp.reported_since is None:
            mp.reported_since = now
        query = begin_query(self._context, now, mp, MirrorState.PREPARING)
        if query is not None:
            self._source_requests.describe(query, self._on_first_answer)

    def _on_first_answer(self, now: Instant, query: SourceQuery, result: DescribeResult | None) -> None:
        mp = query.mp
        if result is None and query.has_no_describe():
            epoch = self._own_cut_epoch(mp)
            cut_text = f"to our own last mirrored epoch {epoch}" if epoch >= 0 else "from scratch, no delta failback"
            self._context.note(mp, f"the source has no DescribeMirrors: cut {cut_text}")
            query.record_lineage(None)
            self._confirm(now, query, epoch)
        else:
            self._on_described(now, query, result)

    def _on_described(self, now: Instant, query: SourceQuery, result: DescribeResult | None) -> None:
        mp = query.mp
        reason = query.response_error(result) or query.record_lineage(result)
        if reason or result is None:
            self._context.refresh_soon(now, mp.assignment.mirror, mp.tp.topic)
            self._context.retry_later(now, mp, reason)
            return
        ring_text = self._ring_reason(now, mp)
        if ring_text:
            self._context.retry_later(now, mp, ring_text)
            return
        detail = result.detail(mp.tp)
        if result.mirror_error:
            name = code_of(result.mirror_error).name
            self._context.retry_later(now, mp, f"the source returned {name} for its mirror {mp.assignment.mirror}")
        elif detail is not None:
            self._on_found(now, query, detail)
        elif _is_empty(self._context.replicas.partitions.find_led(mp.tp)):
            self._decide(now, mp, FROM_SCRATCH)  # The log is empty, so no proof is needed.
        else:
            self._prove_silence(now, query)

    def _ring_reason(self, now: Instant, mp: MirrorPartition) -> str:
        """Return why nothing may be cut for this source: this cluster feeds it, or may feed it; else empty (D58)."""
        clusters, upstream = ring_of(self._context, mp), mp.upstream
        if clusters:
            return ring_reason(clusters)
        assert upstream is not None, "learned with the lineage"
        assert mp.reported_since is not None, "set before a request to the source"
        if _is_empty(self._context.replicas.partitions.find_led(mp.tp)):  # A ring can lose nothing here.
            if upstream.is_complete or now >= mp.reported_since + EMPTY_WAITS_MS * MILLISECOND:
                return ""
        elif upstream.is_complete and upstream.true_at >= mp.reported_since:
            return ""
        return unknown_upstream_reason(upstream)

    def _on_found(self, now: Instant, query: SourceQuery, detail: PartitionDetail) -> None:
        """Use the epoch that the source reported, but only if its mirror of that name mirrors this cluster (D25)."""
        if detail.state == MirrorState.UNKNOWN.name:
            self._context.retry_later(now, query.mp, "the source has not loaded its own state yet")
        else:
            self._source_requests.list_mirrors(query, partial(self._on_listed, detail))

    def _on_listed(self, detail: PartitionDetail, now: Instant, query: SourceQuery, result: ListResult | None) -> None:
        mp = query.mp
        mirror = mp.assignment.mirror
        if result is None:
            self._context.retry_later(now, mp, "the source did not respond to ListMirrors")
        elif result.error_code:
            self._context.retry_later(now, mp, f"the source returned {code_of(result.error_code).name} for ListMirrors")
        elif mirror not in result.sources:
            # It was deleted, or we may not see it: the epoch may be for another cluster.
            self._context.retry_later(now, mp, "the source described its mirror, but does not list it")
        elif result.sources[mirror] not in ("", self._context.broker.cluster_id):
            # A chain of mirrors of the same name: the source mirrors a third cluster, so its epoch is not for us.
            self._confirm(now, query, self._own_cut_epoch(mp))
        elif detail.state != MirrorState.STOPPED.name:
            # Two clusters that mirror each other would each cut records that only the other one has.
            reason = f"the source still mirrors this topic from us ({detail.state}): remove it there first"
            self._context.retry_later(now, mp, reason)
        elif detail.last_mirror_epoch < 0 and not _is_empty(self._context.replicas.partitions.find_led(mp.tp)):
            epoch = self._lineage_check.limit_by_lineage(mp, self._own_cut_epoch(mp))
            self._only_copy.check(now, query, epoch)
        else:
            # If our own epoch is greater, we mirrored from the source after it had settled its epoch (D39).
            self._confirm(now, query, max(detail.last_mirror_epoch, self._own_cut_epoch(mp)))

    def _prove_silence(self, now: Instant, query: SourceQuery) -> None:
        """Prove that the source's leader knows nothing of us: ListOffsets, DescribeMirrors, ListOffsets (D32).

        A former leader does not report the partition, and brokers without a controller still name it as the leader. A
        broker that responds to ListOffsets with our leader epoch, both before and after DescribeMirrors, was the leader
        throughout.
        """
        self._source_requests.list_offsets(query, self._on_leading_before)

    def _on_leading_before(self, now: Instant, query: SourceQuery, offsets: OffsetsResult | None) -> None:
        if self._leads(now, query, offsets):
            self._source_requests.describe(query, self._on_described_again)

    def _on_described_again(self, now: Instant, query: SourceQuery, result: DescribeResult | None) -> None:
        silent = result is not None and result.is_silent(query.mp.tp)
        if silent and not query.record_lineage(result) and not self._ring_reason(now, query.mp):
            self._source_requests.list_offsets(query, self._on_leading_after)
        else:
            self._on_described(now, query, result)

    def _on_leading_after(self, now: Instant, query: SourceQuery, offsets: OffsetsResult | None) -> None:
        if self._leads(now, query, offsets):
            self._confirm(now, query, self._own_cut_epoch(query.mp))

    def _leads(self, now: Instant, query: SourceQuery, offsets: OffsetsResult | None) -> bool:
        """Return whether the broker has just proved that it leads the partition; if not, retry later."""
        if offsets is not None and offsets.proves_leader(query.mp.tp):
            return True
        self._context.refresh_soon(now, query.mp.assignment.mirror, query.mp.tp.topic)
        self._context.retry_later(now, query.mp, "no broker of the source has proved that it leads this partition")
        return False

    def _own_cut_epoch(self, mp: MirrorPartition) -> int:
        """Return the cut epoch if the source knows nothing of us: our own last mirrored epoch, or FROM_SCRATCH (D31).

        `_is_same_source` of the driver has checked that this is the cluster that we mirrored before. Only equal topic
        ids prove that it is the same topic (D53).
        """
        source = self._context.sources.get(mp.assignment.mirror)
        topic = None if source is None else source.topics.get(mp.tp.topic)
        is_same = topic is not None and topic.topic_id == mp.topic_id
        return mp.last_mirrored_epoch if is_same and mp.last_mirrored_epoch >= 0 else FROM_SCRATCH

    # -- the cut --------------------------------------------------------------------------------

    def _confirm(self, now: Instant, query: SourceQuery, cut_epoch: int) -> None:
        """Decide on the cut, if the response is about our topic; else once the broker confirms the topic's id (D65)."""
        if query.is_about_our_topic or _is_empty(self._context.replicas.partitions.find_led(query.mp.tp)):
            self._decide(now, query.mp, cut_epoch)
        else:
            self._source_requests.topic_ids(query, partial(self._on_topic_ids, cut_epoch))

    def _on_topic_ids(self, cut_epoch: int, now: Instant, query: SourceQuery, ids: Mapping[str, Uuid] | None) -> None:
        mp = query.mp
        if is_confirmed(query, ids):
            self._decide(now, mp, cut_epoch)
        else:
            self._context.refresh_soon(now, mp.assignment.mirror, mp.tp.topic)
            self._context.retry_later(now, mp, NOT_CONFIRMED)

    def _decide(self, now: Instant, mp: MirrorPartition, cut_epoch: int) -> None:
        epoch = self._lineage_check.limit_by_lineage(mp, cut_epoch)
        partition = self._context.replicas.partitions.find_led(mp.tp)
        mp.cut_epoch = epoch if partition is None else effective_cut_epoch(partition.log, epoch)
        self._schedule_step(now, mp)

    def _persist_uncut(self, now: Instant, mp: MirrorPartition, partition: Partition) -> None:
        """Persist the list of replicas that must be cut, before anything is cut (D30)."""
        uncut = uncut_before_cut(mp, partition)
        settled = NEVER_MIRRORED if mp.last_mirrored_epoch == NOT_SETTLED else NOT_SETTLED
        self._writer.write_state(now, mp, MirrorState.PREPARING, settled, uncut=uncut)

    def cut(self, now: Instant, mp: MirrorPartition, partition: Partition) -> None:
        """Cut this leader's log where the first epoch above the decided one begins."""
        assert mp.cut_epoch is not None, "decided"
        log, epoch = partition.log, mp.cut_epoch
        if epoch < 0 and log.log_end_offset > 0:
            restart(self._context, now, mp, partition, 0, "no LME")
        else:
            cut(self._context, now, mp, partition, cut_offset(log, epoch), f"LME {epoch}")
        mp.cut_at = log.log_end_offset
        partition.on_log_cut(now)  # Even if nothing was removed: earlier fetches do not confirm this cut (D35).
        self._context.replicas.changes.mark_changed(mp.tp)

    def _unconfirmed_reason(self, mp: MirrorPartition, partition: Partition) -> str:
        """Return a reason that names the replicas that have yet to confirm the cut; empty if there are none (D11).

        The ISR must confirm, and with `mirror.support.unclean.leader.election` every assigned replica.
        """
        topic = mp.tp.topic
        configs = Configs(Scope.TOPIC, self._context.broker.image.configs.topic(topic), self._context.broker.configs)
        return unconfirmed_reason(mp, partition, all_replicas=configs.flag("mirror.support.unclean.leader.election"))


def facts_of(mp: MirrorPartition, partition: Partition, missing: str) -> PrepareFacts:
    """Return the facts that decide the next step; `missing` is empty if every required replica has confirmed."""
    is_cut = mp.cut_at is not None
    return PrepareFacts(
        is_decided=mp.cut_epoch is not None,
        is_listed=mp.cut_epoch is not None and _is_cut_listed(mp, partition, mp.cut_epoch),
        is_cut=is_cut,
        is_confirmed=is_cut and not missing,
    )


def uncut_before_cut(mp: MirrorPartition, partition: Partition) -> Uncut:
    """Return the list to persist before the leader cuts its log to the decided epoch (D30)."""
    assert mp.cut_epoch is not None, "decided"
    return with_all_replicas(mp.uncut, partition.image.replicas, mp.cut_epoch)


def unconfirmed_reason(mp: MirrorPartition, partition: Partition, *, all_replicas: bool) -> str:
    """Return which ISR members have not confirmed the cut; with `all_replicas` every replica must be in the ISR."""
    isr = partition.isr
    if all_replicas:
        missing = [b for b in partition.image.replicas if b not in isr]
        if missing:
            return f"replicas {missing} are not in the ISR"
    if isr_reason := partition.short_isr_reason():
        return isr_reason
    uncut = partition.unconfirmed_members(isr)
    if uncut:
        return f"members {uncut} of ISR {list(isr)} have not confirmed the cut to {mp.cut_at}"
    return ""


def has_pending_cut(mp: MirrorPartition, partition: Partition) -> bool:
    """Return whether this leader has persisted a list with itself on it, and has not cut its log since.

    The followers on the list already get the order to cut, ISR members among them. So the leader's own log and high
    watermark must be cut before anything else, even before a removal from the mirror (D30).
    """
    return mp.cut_at is None and partition.broker_id in mp.uncut


def _is_cut_listed(mp: MirrorPartition, partition: Partition, epoch: int) -> bool:
    """Return whether the persisted list has every replica with this cut or a deeper one, if a cut is needed."""
    if cut_offset(partition.log, epoch) >= partition.log.log_end_offset:
        return True
    return all(mp.uncut.get(row, epoch + 1) <= epoch for row in (SESSION, *partition.image.replicas))


def _is_empty(partition: Partition | None) -> bool:
    """Return whether the log holds no record, so that no cut can lose any."""
    return partition is None or partition.log.log_end_offset <= partition.log.log_start_offset
