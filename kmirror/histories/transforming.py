"""Applications that consume, transform and produce: outputs and offsets in one transaction, so each input counts once.

A member reads its partitions, writes one output for each record to the topic of option `output`, and commits its
position in the same transaction. After any error it aborts, and starts again from the committed offsets.
"""

from __future__ import annotations

from kmirror.histories.group_account import SentOffset, TransformedRange
from kmirror.histories.grouping import GroupApplication, Process
from kmirror.histories.positions import Position
from kmirror.histories.producing import RETRY_MS, Producer
from kmirror.histories.scripts import Script, Sleep
from kmirror.histories.values import ValueRow
from kmirror.kernel.ids import TopicPartition
from kmirror.protocol.gen.add_offsets_to_txn_request import AddOffsetsToTxnRequest
from kmirror.protocol.gen.add_offsets_to_txn_response import AddOffsetsToTxnResponse
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.features import EPOCH_BUMPS_FROM

COMMIT_TRIES = 8


class TransformApp(GroupApplication):
    """An application whose members write."""

    def process(self, name: str) -> Script[None]:
        return Transformer(self, name).run()


class OffsetProducer(Producer):
    """A producer whose transactions include the offsets of a group."""

    def add_offsets(self, group: str) -> Script[bool]:
        """Add the group's offsets to the transaction; send nothing if the group coordinator adds them."""
        if self.bumps_epoch:
            return True
        request = AddOffsetsToTxnRequest(self.transactional_id, self.producer_id, self.epoch, group)

        def error_of(reply: Message) -> int:
            return reply.error_code if isinstance(reply, AddOffsetsToTxnResponse) else -1

        reply = yield from self._send_to_coordinator(request, error_of)
        return reply is not None and not error_of(reply)


class Transformer(Process):
    """A member that writes an output for each record that it reads."""

    def __init__(self, app: GroupApplication, name: str) -> None:
        super().__init__(app, name, committed_only=True)
        self._records: dict[TopicPartition, list[ValueRow]] = {}
        self._number = 0
        self._is_ready = False
        self._producer = self._make_producer()

    def _make_producer(self) -> OffsetProducer:
        options, cluster = self.application.plan.options, self.application.cluster
        levels = {row.name: row.transaction_version for row in self.application.scene.plan.clusters}
        return OffsetProducer(
            self.application,
            self.name,
            cluster,
            transactional_id=self.name,
            bumps_epoch=min(levels[cluster], int(options.get("transaction_version", 0))) >= EPOCH_BUMPS_FROM,
        )

    def is_running(self) -> bool:
        return self.application.is_writing()

    def on_record(self, tp: TopicPartition, row: ValueRow) -> None:
        self._records.setdefault(tp, []).append(row)

    def work(self, cluster: str) -> Script[None]:
        """Read, and write the outputs in a transaction; start again from the committed offsets if that fails."""
        if self._producer.has_moved:
            self._producer, self._is_ready = self._make_producer(), False
        if not self._is_ready:
            # This aborts a transaction left open by an earlier instance; known positions precede it.
            self._is_ready = yield from self._producer.init()
            self.positions.clear()
            return
        before = {tp: self.positions[tp].offset for tp in self.member.partitions}
        self._records.clear()
        yield from self.read(cluster, self.member.partitions)
        changed = {tp: self.positions[tp] for tp, offset in before.items() if self.positions[tp].offset != offset}
        if not changed:
            return
        succeeded = yield from self._transform(cluster, before, changed)
        if not succeeded:
            self.positions.clear()

    def _transform(
        self, cluster: str, before: dict[TopicPartition, int], changed: dict[TopicPartition, Position]
    ) -> Script[bool]:
        """Return whether the transaction is known to be committed."""
        producer = self._producer
        self._number += 1
        transaction = producer.begin(f"{self.name}/{self._number}")
        outputs = yield from self._write()
        rows: list[SentOffset] = []
        succeeded = outputs is not None and (yield from producer.add_offsets(self.app.group))
        if succeeded:
            yield from self.stall()
            succeeded, rows = yield from self._commit_offsets(changed)
            yield from self.stall()
        if producer.has_moved:
            producer.transaction = None  # Given up: the coordinator will time it out.
            return False
        commit = succeeded and not self.rng.chance(1, 6)
        if commit:
            self._record_transformed(cluster, before, rows, outputs or {})
        ended = yield from producer.end(commit=commit)
        self._is_ready = ended and (succeeded or producer.bumps_epoch)
        if ended and commit:
            for row in rows:
                row.ended_at = self.application.scene.now
        assert transaction.requested_end, "ended"
        return ended and commit

    def _write(self) -> Script[dict[TopicPartition, dict[int, str]] | None]:
        """Write an output for each record, and return them by input; None if a batch was not acknowledged."""
        application = self.application
        targets = application.scene.metadata_caches[self._producer.cluster].partitions(
            str(application.plan.options["output"])
        )
        if not targets:
            return None
        found: dict[TopicPartition, dict[int, str]] = {}
        values: dict[TopicPartition, list[str]] = {}
        for tp, records in self._records.items():
            for row, value in zip(records, application.values(len(records)), strict=True):
                found.setdefault(tp, {})[row.offset] = value
                values.setdefault(self.rng.choice(targets), []).append(value)
        added = not values or (yield from self._producer.add_partitions(list(values)))
        for target, some in values.items():
            if not added or (yield from self._producer.send(target, some)) is not ErrorCode.NONE:
                return None
        return found

    def _commit_offsets(self, changed: dict[TopicPartition, Position]) -> Script[tuple[bool, list[SentOffset]]]:
        """Commit the positions in the transaction, with retries."""
        rows: list[SentOffset] = []
        for _ in range(COMMIT_TRIES):
            error, rows = yield from self.requests.commit_in_transaction(self._producer, changed, self.member.sender)
            if error is ErrorCode.NONE:
                return True, rows
            if (error is not None and not error.retriable) or self._producer.has_moved:
                break
            yield Sleep(RETRY_MS)
        return False, rows

    def _record_transformed(
        self,
        cluster: str,
        before: dict[TopicPartition, int],
        rows: list[SentOffset],
        outputs: dict[TopicPartition, dict[int, str]],
    ) -> None:
        groups = self.application.scene.account.groups
        for row in rows:
            groups.transformed_ranges.append(
                TransformedRange(
                    self.app.group,
                    cluster,
                    row.tp,
                    before[row.tp],
                    row.offset,
                    row.token,
                    row.transaction,
                    outputs.get(row.tp, {}),
                    self.application.scene.now,
                )
            )
