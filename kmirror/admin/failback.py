"""Preview of the records that a failback would remove, from the state of two live clusters, which is not changed.

No broker reports how far its log has been compacted. So if a copy from scratch depends on that (D63), the preview says
that it may happen, if the topic is compacted now: in any other log the search for a missing offset would read
everything. The check for missed deletions (D64) covers every topic, as in the mirror itself: it reads no more than a
failback copies.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Collection, Mapping
from dataclasses import dataclass, field, replace

from kmirror.admin.client import AsyncAdmin, TopicInfo
from kmirror.admin.leader_reader import LeaderReader
from kmirror.admin.mirror import list_mirrors
from kmirror.assembly.mirrors import MirrorRow, keep_newest
from kmirror.errors import KafkaError, UsageError
from kmirror.kernel.ids import TopicPartition
from kmirror.log.batch_iteration import HoleFinder
from kmirror.mirror.cut_rules import are_markers
from kmirror.mirror.failback import (
    TRANSIENT_STATES,
    Cut,
    FailbackFacts,
    FailbackWait,
    LogOutline,
    Removal,
    failback_cut,
    markers_from,
    no_mirror_message,
    read_removal,
    waits_for_source,
)
from kmirror.mirror.lineage import Stretches, shared_epoch
from kmirror.mirror.missed_deletions import tombstones_may_be_gone
from kmirror.mirror.source_responses import DescribeResult
from kmirror.mirror.upstream import Upstream, ring, ring_reason, unknown_upstream_reason
from kmirror.protocol.gen.describe_configs_request import DescribeConfigsRequest, DescribeConfigsResource
from kmirror.protocol.gen.describe_configs_response import DescribeConfigsResponse
from kmirror.protocol.gen.describe_mirrors_request import DescribeMirrorsRequest, LineageTopic
from kmirror.protocol.gen.describe_mirrors_response import DescribeMirrorsResponse
from kmirror.records.legacy import AnyBatch
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import OffsetSpec, ResourceType

RETRIES_MAX, PAUSE_S = 5, 0.5
"""The number of repeated requests to a source that will soon report more, and the pause before each."""
POLICY, TOMBSTONES_STAY = "cleanup.policy", "delete.retention.ms"


@dataclass(slots=True)
class _ClusterReport:
    """The reports of one cluster's brokers on a mirror and on some logs."""

    topics: dict[str, TopicInfo]
    rows: dict[TopicPartition, MirrorRow]
    lineages: dict[TopicPartition, Stretches]
    upstream: dict[TopicPartition, Upstream] = field(default_factory=dict)
    """Where the logs are mirrored from."""

    @property
    def will_report_more(self) -> bool:
        """Whether a mirror is about to be STOPPED, or the cluster is asking its own source because of us (D58)."""
        is_passing = any(row.state in TRANSIENT_STATES for row in self.rows.values())
        return is_passing or not all(known.is_complete for known in self.upstream.values())


class FailbackPreview:
    """Previews mirroring `mirror` from `source` back to `destination`; KafkaError if a cluster does not respond."""

    def __init__(self, mirror: str, *, source: AsyncAdmin, destination: AsyncAdmin) -> None:
        self.mirror = mirror
        self.source = source
        self.destination = destination
        self._reports: dict[str, _ClusterReport] = {}
        self._is_from_destination = False
        self._ids = ("", "")
        """Of the destination and of the source."""
        self._configs: dict[str, Mapping[str, str]] = {}
        """Topic to its configs at the destination that matter for compaction."""

    async def load(self, partitions: Collection[TopicPartition]) -> None:
        """Request the state of the mirror, and of the logs of these partitions, from both clusters.

        UsageError if neither cluster has a mirror of that name.
        """
        source_mirrors, destination_mirrors = await _sources(self.source), await _sources(self.destination)
        known = {**source_mirrors, **destination_mirrors}
        if self.mirror not in known:
            raise UsageError(no_mirror_message(self.mirror, known))
        for name, admin in (("source", self.source), ("destination", self.destination)):
            self._reports[name] = await self._request_report(admin, partitions)
        for _ in range(RETRIES_MAX):
            if not self._reports["source"].will_report_more:
                break
            await asyncio.sleep(PAUSE_S)
            self._reports["source"] = await self._request_report(self.source, partitions)
        self._ids = await self.destination.cluster_id(), await self.source.cluster_id()
        self._configs = await self._compaction(dict.fromkeys(tp.topic for tp in partitions))
        # A mirror of the same name may be of a third cluster: then its epochs are not for us (D25).
        self._is_from_destination = source_mirrors.get(self.mirror, "") in ("", self._ids[0])

    async def removed(self, tp: TopicPartition) -> Removal | FailbackWait:
        """Return the records that a failback would remove from a loaded partition, or why it would wait."""
        facts = await self._facts(tp)
        if isinstance(facts, FailbackWait):
            return facts
        cut, full_removal_reason = await self._with_copies(tp, facts, failback_cut(facts))
        removed = await read_removal(cut, _batches_near(self._reader("destination", tp), facts.own_log, cut))
        removed.full_removal_reason = full_removal_reason
        return removed

    async def _with_copies(self, tp: TopicPartition, facts: FailbackFacts, cut: Cut) -> tuple[Cut, str]:
        """Return the cut, a full one if the log is copied again, and why everything may go instead (D63, D64)."""
        outline, reader, configs = facts.own_log, self._reader("destination", tp), self._configs.get(tp.topic, {})
        if cut.offset <= outline.log_start_offset:
            return cut, ""
        last_ms = -1
        async for batch in reader.batches(cut.offset - 1, cut.offset):
            last_ms = batch.max_timestamp
        stay_ms = int(configs.get(TOMBSTONES_STAY, "0"))
        if tombstones_may_be_gone(last_ms, time.time_ns() // 1_000_000, stay_ms):
            end = facts.source_log.log_end_offset
            if await _first_hole(self._reader("source", tp), cut.offset, end) < end:
                deletions_reason = f"deletions may have been missed, since tombstones stay for {stay_ms} ms"
                return Cut(
                    outline.log_start_offset,
                    outline.log_start_offset,
                    f"{deletions_reason}: everything is copied again",
                ), ""
        worst_case = replace(facts, cleaned_offset=outline.log_end_offset)
        if "compact" in configs.get(POLICY, "") and worst_case.depends_on_holes:
            hole = await _first_hole(reader, outline.log_start_offset, outline.log_end_offset)
            if replace(worst_case, first_hole=hole).depends_on_holes:
                return (
                    cut,
                    f"everything would be removed and copied again if the log was compacted above offset {cut.offset}",
                )
        return cut, ""

    async def _compaction(self, topics: Collection[str]) -> dict[str, Mapping[str, str]]:
        """Return the configs of topics at the destination that matter for compaction."""
        resources = [
            DescribeConfigsResource(ResourceType.TOPIC, topic, [POLICY, TOMBSTONES_STAY]) for topic in sorted(topics)
        ]
        reply = await self.destination.ask(DescribeConfigsRequest(resources=resources))
        assert isinstance(reply, DescribeConfigsResponse), "the answer to its request"
        return {row.resource_name: {each.name: each.value or "" for each in row.configs} for row in reply.results}

    def _reader(self, cluster: str, tp: TopicPartition) -> LeaderReader:
        admin = self.source if cluster == "source" else self.destination
        return LeaderReader(admin, tp, self._reports[cluster].topics.get(tp.topic))

    async def _facts(self, tp: TopicPartition) -> FailbackFacts | FailbackWait:
        source, destination = self._reports["source"], self._reports["destination"]
        row = source.rows.get(tp) if self._is_from_destination else None
        outline = await _outline(self._reader("destination", tp))
        wait = None if row is None else waits_for_source(row.state, row.last_mirrored_epoch, outline)
        if wait is not None and not wait.unless_shared:
            return wait
        ring_wait = self._ring_wait(tp, outline)
        if ring_wait is not None:
            return wait or ring_wait
        their_outline = await _outline(self._reader("source", tp))
        ids = {report.topics[tp.topic].topic_id for report in (source, destination)}
        destination_row = destination.rows.get(tp)
        own_epoch = -1 if destination_row is None else destination_row.last_mirrored_epoch
        shared = None
        if tp in source.lineages and tp in destination.lineages:
            shared = shared_epoch(destination.lineages[tp], source.lineages[tp])
        facts = FailbackFacts(
            outline,
            their_outline,
            None if row is None else row.last_mirrored_epoch,
            own_epoch if len(ids) == 1 else -1,
            shared,
        )
        return facts if wait is None or await self._removes_markers_only(tp, facts) else wait

    async def _removes_markers_only(self, tp: TopicPartition, facts: FailbackFacts) -> bool:
        """Return whether only markers would be removed from our log, and the source has the rest (D25)."""
        expected, end = markers_from(facts), facts.own_log.log_end_offset
        if expected is None:
            return False
        async for batch in self._reader("destination", tp).batches(expected, end):
            if not are_markers([batch], expected, batch.next_offset):
                return False
            expected = batch.next_offset
        return expected >= end

    def _ring_wait(self, tp: TopicPartition, outline: LogOutline) -> FailbackWait | None:
        """Return why PREPARING waits if the destination feeds the source, or may feed it; else None (D58)."""
        upstream = self._reports["source"].upstream.get(tp)
        clusters = ring(*self._ids, upstream)
        if clusters:
            return FailbackWait(ring_reason(clusters))
        is_known = upstream is None or upstream.is_complete or outline.log_end_offset <= outline.log_start_offset
        return (
            None if is_known or upstream is None else FailbackWait(unknown_upstream_reason(upstream), is_transient=True)
        )

    async def _request_report(self, admin: AsyncAdmin, partitions: Collection[TopicPartition]) -> _ClusterReport:
        topics: dict[str, list[int]] = {}
        for tp in sorted(partitions):
            topics.setdefault(tp.topic, []).append(tp.partition)
        request = DescribeMirrorsRequest(
            mirror_names=[self.mirror],
            lineages=[LineageTopic(topic_name=name, partitions=numbers) for name, numbers in topics.items()],
            named_only=True,
        )
        report = _ClusterReport(await admin.topics(topics), {}, {})
        try:
            answers = await admin.ask_each(request)
        except KafkaError as error:
            if error.code is ErrorCode.UNSUPPORTED_VERSION:
                return report  # It has no KIP-1279 and knows no mirrors.
            raise
        for reply in answers.values():
            assert isinstance(reply, DescribeMirrorsResponse), "the answer to its request"
            result = DescribeResult(reply, self.mirror)
            for mirror in reply.mirrors:
                keep_newest(report.rows, mirror)
            for tp in partitions:
                row = result.lineage(tp)
                if row is not None and not row.error_code and (stretches := result.stretches(row)) is not None:
                    report.lineages[tp] = stretches
                    report.upstream[tp] = result.upstream(row, 0) or Upstream()
        return report


async def _sources(admin: AsyncAdmin) -> dict[str, str]:
    """Return the source cluster id of each mirror of a cluster; none if the cluster has no KIP-1279."""
    try:
        return {row.name: row.source_cluster_id for row in await list_mirrors(admin)}
    except KafkaError as error:
        if error.code is ErrorCode.UNSUPPORTED_VERSION:
            return {}
        raise


async def _batches_near(reader: LeaderReader, outline: LogOutline, cut: Cut) -> AsyncIterator[AnyBatch]:
    """Yield the batches below the new log start and those from the cut on; batches in between are not read."""
    read_to = outline.log_start_offset
    for start, until in ((read_to, min(cut.start, cut.offset)), (cut.offset, outline.log_end_offset)):
        async for batch in reader.batches(max(start, read_to), until):
            yield batch
            read_to = batch.next_offset


async def _first_hole(reader: LeaderReader, start: int, end: int) -> int:
    """Return the first offset at or above `start` that is in no record, or `end`."""
    finder = HoleFinder(start)
    async for batch in reader.batches(start, end):
        if finder.add_batch(batch):
            break
    return finder.expected


async def _outline(reader: LeaderReader) -> LogOutline:
    epochs, end = await reader.epochs()
    return LogOutline(epochs, await reader.offset(OffsetSpec.EARLIEST), end)
