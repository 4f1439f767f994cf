"""Replay of the metadata log: the broker fetches the controller's log and applies its records to its image.

The image is published once per fetch response, after all of its records, but not before the broker has replayed its own
registration and recovered its logs. Until then the metadata log may name it as a leader in the epoch in which it died,
and it does not know which records it acknowledged in that epoch. Requests are not handled until then either.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from kmirror.client.empty_responses import EmptyResponseMatcher
from kmirror.client.requester import Sent
from kmirror.cluster.broker.snapshot_fetcher import fetch_snapshot
from kmirror.cluster.images import METADATA_TOPIC_ID, Delta, MetadataImage
from kmirror.cluster.metadata.transactions import MetadataTransactions
from kmirror.cluster.node.context import BrokerContext
from kmirror.cluster.node.lifecycle import Lifecycle
from kmirror.cluster.replication.log_recovery import LogRecovery
from kmirror.cluster.server import Server
from kmirror.errors import CorruptBatch, ProtocolError
from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.kernel.events import Chunk
from kmirror.kernel.failures import GaveUp
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, FetchTopic, ReplicaState
from kmirror.protocol.gen.fetch_response import FetchResponse, SnapshotId
from kmirror.protocol.keyed_records import decode_metadata_record
from kmirror.protocol.message import Message
from kmirror.protocol.repeated_fetch import RepeatedFetch
from kmirror.records.batch import iter_batches
from kmirror.spec.error_codes import ErrorCode

TIMER = "metadata"
CHANNEL = "metadata"
RETRY_MS = 100
WAIT_MAX_MS = 500
BYTES_MAX = 8 * 1024 * 1024
EMPTY_RESPONSE_BYTES_MAX = 128
"""Maximum size in bytes of a fetch response without records, in any version."""

Publish = Callable[[Instant, Delta], None]
"""(now, the change of the image)"""


class MetadataFollower:
    """Keeps the broker's image up to date."""

    def __init__(
        self, context: BrokerContext, lifecycle: Lifecycle, server: Server, recovery: LogRecovery, publish: Publish
    ) -> None:
        self._context = context
        self._lifecycle = lifecycle
        self._server = server
        self._recovery = recovery
        self._publish = publish
        self._delta = Delta()
        self._transactions = MetadataTransactions()
        self._epoch = -1
        self._poll: tuple[RepeatedFetch, Sent] | None = None
        """The repeated fetch from the end of the replayed log, and its sent request."""
        self._empty_responses = EmptyResponseMatcher(EMPTY_RESPONSE_BYTES_MAX)
        self._sent_at: Instant = 0
        """Time when the newest fetch was sent."""

    def fetch(self, now: Instant) -> None:
        """Fetch from the end of the replayed log; each response triggers the next fetch."""
        self._sent_at = now
        poll = self._poll
        if poll is not None and poll[1].pending.version == self._context.version_of(poll[0].request):
            poll[1].resend(now, poll[0])
            return
        request = self._request()
        within_ms = self._context.configs.integer("controller.quorum.request.timeout.ms")
        sent = self._context.ask_controller(
            now, request, self._on_reply, channel=CHANNEL, within_ms=within_ms, on_frame=self._handle_empty_response
        )
        self._poll = RepeatedFetch(request), sent

    def _request(self) -> FetchRequest:
        context = self._context
        return FetchRequest(
            cluster_id=context.cluster_id,
            replica_state=ReplicaState(replica_id=context.node_id),
            max_wait_ms=WAIT_MAX_MS,
            max_bytes=BYTES_MAX,
            session_epoch=-1,
            topics=[
                FetchTopic(
                    topic_id=METADATA_TOPIC_ID,
                    partitions=[
                        FetchPartition(
                            partition=0,
                            fetch_offset=context.image.offset + 1,
                            last_fetched_epoch=self._epoch,
                            partition_max_bytes=BYTES_MAX,
                        )
                    ],
                )
            ],
        )

    def _handle_empty_response(self, now: Instant, frame: Chunk) -> bool:
        """Return whether `frame` repeats a response without new data; if so, send the next fetch."""
        if not self._empty_responses.matches(frame):
            return False
        self._lifecycle.on_replayed_all(self._sent_at)
        self.fetch(now)
        return True

    def _on_reply(self, now: Instant, reply: Message | None) -> None:
        data = None
        if isinstance(reply, FetchResponse) and reply.error_code == ErrorCode.NONE and reply.responses:
            data = reply.responses[0].partitions[0]
        if data is None or data.error_code or data.diverging_epoch.epoch != -1:
            # A controller never loses committed records here, so there is nothing to truncate: retry.
            self._context.outbox.set_timer((TIMER,), now + RETRY_MS * MILLISECOND)
            return
        if data.snapshot_id.epoch != -1:
            snapshot_id = data.snapshot_id
            on_end = partial(self._on_snapshot, snapshot_id)
            fetch_snapshot(self._context, now, CHANNEL, snapshot_id, BYTES_MAX, on_end)
            return
        image = self._context.image
        before = image.offset, self._epoch
        try:
            self._replay(data.records or b"")
        except ProtocolError as error:
            self._stop_broker(f"the metadata log cannot be read from offset {image.offset + 1} on: {error}")
            return
        self._empty_responses.forget()
        if (image.offset, self._epoch) != before:
            self._poll = None
        elif self._lifecycle.recovered and self._delta.is_empty():
            self._empty_responses.record_newest()
        at_end = image.offset + 1 >= data.high_watermark
        if at_end and not self._lifecycle.caught_up and self._lifecycle.on_replayed(image.offset):
            self._recovery.begin(now, self._on_recovered)
            return
        sent_at = self._sent_at
        self._publish_and_fetch(now)
        if at_end:
            self._lifecycle.on_replayed_all(sent_at)

    def _replay(self, records: Chunk) -> None:
        """Apply fetched log records; raise `ProtocolError` for unreadable ones, such as those of a later release."""
        image = self._context.image
        for batch in iter_batches(records):
            self._epoch = batch.partition_leader_epoch
            for record in () if batch.is_control else batch.records():
                if record.offset > image.offset and record.value is not None:
                    for valid in self._transactions.add(decode_metadata_record(record.value)):
                        self._apply(record.offset, valid.message)
            image.offset = batch.last_offset

    def _apply(self, offset: int, record: Message) -> None:
        """Apply a record; log and skip one that does not fit those before it, as Kafka's broker does."""
        try:
            self._context.image.apply(record, self._delta)
        except CorruptBatch as error:
            self._context.outbox.note(f"error loading metadata log record from offset {offset}: {error}")

    def _stop_broker(self, reason: str) -> None:
        """Stop the broker: without the metadata log it would continue with outdated metadata."""
        self._context.outbox.note(reason, GaveUp(reason))
        self._lifecycle.may_stop = True

    def _on_snapshot(self, snapshot_id: SnapshotId, now: Instant, data: bytes | None) -> None:
        """Replace the image by the snapshot, and continue with the log after it."""
        if data is None:
            self._context.outbox.set_timer((TIMER,), now + RETRY_MS * MILLISECOND)
            return
        image, delta = MetadataImage(), Delta()
        try:
            for batch in iter_batches(data):
                for record in () if batch.is_control else batch.records():
                    image.apply(decode_metadata_record(record.value or b"").message, delta)
        except ProtocolError as error:
            self._stop_broker(
                f"the metadata snapshot that ends at offset {snapshot_id.end_offset} cannot be read: {error}"
            )
            return
        image.offset, self._epoch = snapshot_id.end_offset - 1, snapshot_id.epoch
        self._delta.add(self._context.image.replace_by(image))
        self._transactions = MetadataTransactions()  # A transaction open here has ended below the snapshot's end.
        self._poll = None
        self._empty_responses.forget()
        self._publish_and_fetch(now)

    def _on_recovered(self, now: Instant) -> None:
        self._lifecycle.on_recovered(now)
        self._server.accept()
        self._publish_and_fetch(now)

    def _publish_and_fetch(self, now: Instant) -> None:
        if self._lifecycle.recovered and not self._delta.is_empty():
            delta, self._delta = self._delta, Delta()
            self._publish(now, delta)
        self.fetch(now)
