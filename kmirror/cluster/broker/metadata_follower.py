"""How a broker learns the cluster's metadata: it fetches the controller's log and replays it.

The image is published once for each answer, after all of its records, and not at all before the
broker has caught up with its own registration: until then the log may name it the leader that it was
before it died, in an epoch in which it knows nothing of what it promised. Nor does it serve anybody until then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kmirror.cluster.images import METADATA_TOPIC_ID, Delta
from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, FetchTopic, ReplicaState
from kmirror.protocol.gen.fetch_response import FetchResponse
from kmirror.protocol.keyed_records import decode_metadata_record
from kmirror.protocol.message import Message
from kmirror.records.batch import iter_batches
from kmirror.spec.error_codes import ErrorCode

if TYPE_CHECKING:
    from kmirror.cluster.broker.broker import Broker

TIMER = "metadata"
CHANNEL = "metadata"
RETRY_MS = 100
WAIT_MAX_MS = 500
BYTES_MAX = 8 * 1024 * 1024


class MetadataFollower:
    """Keeps the broker's image up to date."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._delta = Delta()
        self._epoch = -1
        self.caught_up = False

    def fetch(self, now: Instant) -> None:
        broker = self._broker
        request = FetchRequest(
            cluster_id=broker.cluster_id,
            replica_state=ReplicaState(replica_id=broker.node_id),
            max_wait_ms=WAIT_MAX_MS,
            max_bytes=BYTES_MAX,
            session_epoch=-1,
            topics=[
                FetchTopic(
                    topic_id=METADATA_TOPIC_ID,
                    partitions=[
                        FetchPartition(
                            partition=0,
                            fetch_offset=broker.image.offset + 1,
                            last_fetched_epoch=self._epoch,
                            partition_max_bytes=BYTES_MAX,
                        )
                    ],
                )
            ],
        )
        broker.ask_controller(now, request, broker.version_of(request), self._on_reply, channel=CHANNEL)

    def _on_reply(self, now: Instant, reply: Message | None) -> None:
        data = None
        if isinstance(reply, FetchResponse) and reply.error_code == ErrorCode.NONE and reply.responses:
            data = reply.responses[0].partitions[0]
        if data is None or data.error_code or data.diverging_epoch.epoch != -1:
            # A controller never loses committed records here, so there is nothing to cut: try again.
            self._broker.outbox.set_timer((TIMER,), now + RETRY_MS * MILLISECOND)
            return
        image = self._broker.image
        for batch in iter_batches(data.records or b""):
            self._epoch = batch.partition_leader_epoch
            if not batch.is_control:
                for record in batch.records():
                    if record.offset > image.offset and record.value is not None:
                        image.apply(decode_metadata_record(record.value)[0], self._delta)
            image.offset = batch.last_offset
        if not self.caught_up and image.offset + 1 >= data.high_watermark:
            registered = self._broker.lifecycle.epoch
            self.caught_up = 0 <= registered <= image.offset
            if self.caught_up:
                self._broker.server.accept()
        if self.caught_up and not self._delta.is_empty():
            delta, self._delta = self._delta, Delta()
            self._broker.publish(now, delta)
        self.fetch(now)
