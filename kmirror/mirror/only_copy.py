"""Check whether a log is the only copy of its records, or the source has all of them (D25).

The check is for a source whose mirror of us has settled no last mirrored epoch, while we have one of our own (D31). We
mirrored everything up to that epoch from this source. So nothing is lost if two conditions hold: the cut to it removes
only markers, such as those of our own stop, and the source's log has everything that the cut leaves. The second may
fail if the source's topic was deleted and created again with the same id.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.log.epochs import EndOffset
from kmirror.mirror.context import MirrorContext
from kmirror.mirror.cut_rules import NOTHING_KEPT, are_markers, has_kept_records, kept_after_cut
from kmirror.mirror.source_query import SourceQuery
from kmirror.mirror.source_requests import SourceRequests
from kmirror.mirror.source_responses import OffsetsResult

OnSafeCut = Callable[[Instant, SourceQuery, int], None]
"""(now, query, the cut epoch that loses nothing)"""


class OnlyCopyCheck:
    """Checks that the source's log has everything that a cut of ours would leave."""

    def __init__(self, context: MirrorContext, source_requests: SourceRequests, on_safe_cut: OnSafeCut) -> None:
        self._context = context
        self._source_requests = source_requests
        self._on_safe_cut = on_safe_cut

    def check(self, now: Instant, query: SourceQuery, epoch: int) -> None:
        """Call `on_safe_cut` if a cut to `epoch` loses nothing; else the partition waits for the operator."""
        partition = self._context.replicas.partitions.find_led(query.mp.tp)
        if partition is None:
            return
        log = partition.log
        kept = kept_after_cut(log, epoch)
        taken_from = max(kept.end_offset, log.log_start_offset)
        if kept == NOTHING_KEPT or not are_markers(log.any_batches(taken_from), taken_from, log.log_end_offset):
            self._wait_for_operator(now, query)
        elif kept.end_offset <= log.log_start_offset:
            self._on_safe_cut(now, query, epoch)  # There are only markers.
        else:
            query.kept = kept
            self._source_requests.epoch_ends(query, partial(self._on_epoch_ends, epoch))

    def _on_epoch_ends(
        self, epoch: int, now: Instant, query: SourceQuery, ends: Mapping[TopicPartition, EndOffset] | None
    ) -> None:
        source_end = None if ends is None else ends.get(query.mp.tp)
        if source_end is None:
            self._retry_later(now, query, f"the source returned no end offset of leader epoch {query.kept.epoch}")
        elif has_kept_records(query.kept, source_end):
            self._source_requests.log_starts(query, partial(self._on_log_starts, epoch))
        else:
            self._wait_for_operator(now, query)

    def _on_log_starts(self, epoch: int, now: Instant, query: SourceQuery, starts: OffsetsResult | None) -> None:
        start = None if starts is None else starts.offset(query.mp.tp)
        if start is None:
            self._retry_later(now, query, "the source returned no log start offset")
        elif start < query.kept.end_offset:
            self._on_safe_cut(now, query, epoch)
        else:  # For an epoch that ended below the log start, another log would return the same.
            self._wait_for_operator(now, query)

    def _wait_for_operator(self, now: Instant, query: SourceQuery) -> None:
        reason = (
            f"the source's mirror {query.mp.assignment.mirror} of us has no last mirrored epoch: it was stopped "
            "before it mirrored anything, or its state was lost, so our log may be the only copy: to have it cut, "
            "delete that mirror at the source"
        )
        self._context.retry_later(now, query.mp, reason)

    def _retry_later(self, now: Instant, query: SourceQuery, reason: str) -> None:
        mp = query.mp
        self._context.refresh_soon(now, mp.assignment.mirror, mp.tp.topic)
        self._context.retry_later(now, mp, reason)
