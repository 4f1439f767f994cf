"""What would a failback remove, as two live clusters tell it? They are asked; nothing is changed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from dataclasses import dataclass

from kmirror.assembly.mirrors import MirrorRow, keep_newest
from kmirror.errors import KafkaError
from kmirror.kernel.ids import TopicPartition
from kmirror.mirror.failback import (
    Cut,
    FailbackFacts,
    LogOutline,
    Removed,
    Waits,
    failback_cut,
    removed_from,
    why_it_waits,
)
from kmirror.mirror.lineage import Stretches, shared_epoch
from kmirror.mirror.source_answers import Described
from kmirror.mirror.topic_ids import was_copied_without_id
from kmirror.net.admin import AsyncAdmin, TopicInfo
from kmirror.net.leader_reader import LeaderReader
from kmirror.net.mirror import list_mirrors
from kmirror.protocol.gen.describe_mirrors_request import DescribeMirrorsRequest, LineageTopic
from kmirror.protocol.gen.describe_mirrors_response import DescribeMirrorsResponse
from kmirror.records.legacy import AnyBatch
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import OffsetSpec


@dataclass(slots=True)
class _Told:
    """What the brokers of one cluster tell of a mirror and of some logs."""

    topics: dict[str, TopicInfo]
    rows: dict[TopicPartition, MirrorRow]
    lineages: dict[TopicPartition, Stretches]


class FailbackPreview:
    """Previews mirroring `mirror` from `source` back to `destination`; KafkaError where a cluster does not answer."""

    def __init__(self, mirror: str, *, source: AsyncAdmin, destination: AsyncAdmin) -> None:
        self.mirror = mirror
        self.source = source
        self.destination = destination
        self._told: dict[str, _Told] = {}
        self._cluster_id = ""
        self._is_of_us = False

    async def load(self, partitions: Collection[TopicPartition]) -> None:
        """Ask both clusters what they know of the mirror, and of the logs of these partitions."""
        for name, admin in (("source", self.source), ("destination", self.destination)):
            self._told[name] = await self._ask(admin, partitions)
        self._cluster_id = await self.destination.cluster_id()
        # A mirror of the same name may be of a third cluster: then its epochs are not for us (D25).
        self._is_of_us = (await self._sources()).get(self.mirror, "") in ("", self._cluster_id)

    async def removed(self, tp: TopicPartition) -> Removed | Waits:
        """Return what a failback would remove from a partition that was loaded, or why it would wait."""
        facts = await self._facts(tp)
        if isinstance(facts, Waits):
            return facts
        cut = failback_cut(facts)
        return await removed_from(cut, _batches_near(self._reader("destination", tp), facts.ours, cut))

    def _reader(self, which: str, tp: TopicPartition) -> LeaderReader:
        admin = self.source if which == "source" else self.destination
        return LeaderReader(admin, tp, self._told[which].topics.get(tp.topic))

    async def _facts(self, tp: TopicPartition) -> FailbackFacts | Waits:
        theirs, ours = self._told["source"], self._told["destination"]
        row = theirs.rows.get(tp) if self._is_of_us else None
        outline = await _outline(self._reader("destination", tp))
        why = "" if row is None else why_it_waits(row.state, row.last_mirrored_epoch, outline)
        if why:
            return Waits(why)
        their_outline = await _outline(self._reader("source", tp))
        ids = {told.topics[tp.topic].topic_id for told in (theirs, ours)}
        own = ours.rows.get(tp)
        own_epoch = -1 if own is None else own.last_mirrored_epoch
        told_epoch = None if row is None else row.last_mirrored_epoch
        if (
            len(ids) > 1
            and own_epoch < 0
            and was_copied_without_id(theirs.topics[tp.topic].topic_id, self._cluster_id, tp.topic)
        ):
            told_epoch = -1  # It may be about another topic (D53).
        shared = None
        if tp in theirs.lineages and tp in ours.lineages:
            shared = shared_epoch(ours.lineages[tp], theirs.lineages[tp])
        return FailbackFacts(
            outline,
            their_outline,
            told_epoch,
            own_epoch if len(ids) == 1 else -1,
            shared,
        )

    async def _ask(self, admin: AsyncAdmin, partitions: Collection[TopicPartition]) -> _Told:
        topics: dict[str, list[int]] = {}
        for tp in sorted(partitions):
            topics.setdefault(tp.topic, []).append(tp.partition)
        request = DescribeMirrorsRequest(
            mirror_names=[self.mirror],
            lineages=[LineageTopic(topic_name=name, partitions=numbers) for name, numbers in topics.items()],
            named_only=True,
        )
        told = _Told(await admin.topics(topics), {}, {})
        try:
            answers = await admin.ask_each(request)
        except KafkaError as error:
            if error.code is ErrorCode.UNSUPPORTED_VERSION:
                return told  # It has no KIP-1279 and knows nothing of mirrors.
            raise
        for reply in answers.values():
            assert isinstance(reply, DescribeMirrorsResponse), "the answer to its request"
            described = Described(reply, self.mirror)
            for mirror in reply.mirrors:
                keep_newest(told.rows, mirror)
            for tp in partitions:
                row = described.lineage(tp)
                if row is not None and not row.error_code and (stretches := described.stretches(row)) is not None:
                    told.lineages[tp] = stretches
        return told

    async def _sources(self) -> dict[str, str]:
        """Return which cluster each mirror of the source mirrors; none if it has no KIP-1279."""
        try:
            return {row.name: row.source_cluster_id for row in await list_mirrors(self.source)}
        except KafkaError as error:
            if error.code is ErrorCode.UNSUPPORTED_VERSION:
                return {}
            raise


async def _batches_near(reader: LeaderReader, ours: LogOutline, cut: Cut) -> AsyncIterator[AnyBatch]:
    """Yield the batches below the new log start and those from the cut on; what lies between them is not read."""
    read_to = ours.log_start_offset
    for start, until in ((read_to, min(cut.start, cut.offset)), (cut.offset, ours.log_end_offset)):
        async for batch in reader.batches(max(start, read_to), until):
            yield batch
            read_to = batch.next_offset


async def _outline(reader: LeaderReader) -> LogOutline:
    epochs, end = await reader.epochs()
    return LogOutline(epochs, await reader.offset(OffsetSpec.EARLIEST), end)
