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
from kmirror.mirror.cut_rules import NOTHING_KEPT, are_markers, has_kept, kept_by
from kmirror.mirror.inquiry import Inquiry
from kmirror.mirror.source_answers import Offsets
from kmirror.mirror.source_questions import SourceQuestions

OnShared = Callable[[Instant, Inquiry, int], None]
"""(now, inquiry, the cut epoch that loses nothing)"""


class OnlyCopy:
    """Checks that the source's log has everything that a cut of ours would leave."""

    def __init__(self, context: MirrorContext, questions: SourceQuestions, on_shared: OnShared) -> None:
        self._context = context
        self._questions = questions
        self._on_shared = on_shared

    def ask(self, now: Instant, inquiry: Inquiry, epoch: int) -> None:
        """Call `on_shared` if a cut to `epoch` loses nothing; else the partition waits for the operator."""
        partition = self._context.replicas.partitions.led(inquiry.mp.tp)
        if partition is None:
            return
        log = partition.log
        kept = kept_by(log, epoch)
        taken_from = max(kept.end_offset, log.log_start_offset)
        if kept == NOTHING_KEPT or not are_markers(log.any_batches(taken_from), taken_from, log.log_end_offset):
            self._wait(now, inquiry)
        elif kept.end_offset <= log.log_start_offset:
            self._on_shared(now, inquiry, epoch)  # There are only markers.
        else:
            inquiry.kept = kept
            self._questions.epoch_ends(inquiry, partial(self._on_epoch_ends, epoch))

    def _on_epoch_ends(
        self, epoch: int, now: Instant, inquiry: Inquiry, ends: Mapping[TopicPartition, EndOffset] | None
    ) -> None:
        theirs = None if ends is None else ends.get(inquiry.mp.tp)
        if theirs is None:
            self._try_again(now, inquiry, "the source did not tell where its leader epochs end")
        elif has_kept(inquiry.kept, theirs):
            self._questions.log_starts(inquiry, partial(self._on_log_starts, epoch))
        else:
            self._wait(now, inquiry)

    def _on_log_starts(self, epoch: int, now: Instant, inquiry: Inquiry, starts: Offsets | None) -> None:
        start = None if starts is None else starts.offset(inquiry.mp.tp)
        if start is None:
            self._try_again(now, inquiry, "the source did not tell where its log begins")
        elif start < inquiry.kept.end_offset:
            self._on_shared(now, inquiry, epoch)
        else:  # For an epoch that ended below the log start, another log would return the same.
            self._wait(now, inquiry)

    def _wait(self, now: Instant, inquiry: Inquiry) -> None:
        reason = (
            f"the source's mirror {inquiry.mp.assignment.mirror} of us has no last mirrored epoch: it was stopped "
            "before it mirrored anything, or its state was lost, so ours may be the only copy: delete that mirror over "
            "there to have ours cut"
        )
        self._context.retry_later(now, inquiry.mp, reason)

    def _try_again(self, now: Instant, inquiry: Inquiry, reason: str) -> None:
        mp = inquiry.mp
        self._context.refresh_soon(now, mp.assignment.mirror, mp.tp.topic)
        self._context.retry_later(now, mp, reason)
