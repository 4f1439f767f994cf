"""A broker's standing with the controller: registered, fenced, alive (KIP-631).

A broker registers when it starts and gets an epoch; it reports by heartbeats, and the controller
lifts the fence once the broker has replayed the metadata log up to its own registration and says that it
is ready. As long as an earlier incarnation counts as alive, the registration is refused. A broker
whose heartbeats stop is fenced and loses its leaderships; when they come back it is let in again.
"""

from __future__ import annotations

from kmirror.cluster.broker.context import BrokerContext
from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.broker_heartbeat_request import BrokerHeartbeatRequest
from kmirror.protocol.gen.broker_heartbeat_response import BrokerHeartbeatResponse
from kmirror.protocol.gen.broker_registration_request import BrokerRegistrationRequest, Feature, Listener
from kmirror.protocol.gen.broker_registration_response import BrokerRegistrationResponse
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.features import FEATURES

TIMER = "heartbeat"
RETRY_MS = 100


class Lifecycle:
    """Registers the broker and keeps it alive."""

    def __init__(self, context: BrokerContext) -> None:
        self._context = context
        self._incarnation = Uuid(context.rng.split("incarnation").octets(16))
        self.epoch = -1
        self.fenced = True
        self.caught_up = False
        """Has this broker replayed the metadata log up to its own registration?"""

    def start(self, now: Instant) -> None:
        context = self._context
        request = BrokerRegistrationRequest(
            broker_id=context.node_id,
            cluster_id=context.cluster_id,
            incarnation_id=self._incarnation,
            listeners=[Listener(name="PLAINTEXT", host=context.endpoint.host, port=context.endpoint.port)],
            features=[
                Feature(name=row.name, min_supported_version=row.minimum, max_supported_version=row.maximum)
                for row in FEATURES
            ],
        )
        context.ask_controller(now, request, self._on_registered, channel="lifecycle")

    def on_replayed(self, offset: int) -> bool:
        """Learn that the metadata log was replayed through `offset`, its end; True if our registration is in there."""
        self.caught_up = 0 <= self.epoch <= offset
        return self.caught_up

    def on_timer(self, now: Instant) -> None:
        if self.epoch < 0:
            self.start(now)
            return
        request = BrokerHeartbeatRequest(
            broker_id=self._context.node_id,
            broker_epoch=self.epoch,
            current_metadata_offset=self._context.image.offset,
            want_fence=not self.caught_up,
        )
        self._context.ask_controller(now, request, self._on_heartbeat, channel="lifecycle")

    def _on_registered(self, now: Instant, reply: Message | None) -> None:
        if isinstance(reply, BrokerRegistrationResponse) and reply.error_code == ErrorCode.NONE:
            self.epoch = reply.broker_epoch
            self._context.outbox.note(f"registered with broker epoch {self.epoch}")
            self.on_timer(now)
            return
        self._again(now, RETRY_MS)

    def _on_heartbeat(self, now: Instant, reply: Message | None) -> None:
        if not isinstance(reply, BrokerHeartbeatResponse):
            self._again(now, RETRY_MS)
            return
        if reply.error_code in (ErrorCode.STALE_BROKER_EPOCH, ErrorCode.BROKER_ID_NOT_REGISTERED):
            self.epoch = -1
            self._again(now, RETRY_MS)
            return
        if reply.error_code == ErrorCode.NONE:
            self.fenced = reply.is_fenced
        # While fenced a broker reports often, to be let in soon after it caught up.
        interval = RETRY_MS if self.fenced else self._context.configs.integer("broker.heartbeat.interval.ms")
        self._again(now, interval)

    def _again(self, now: Instant, after_ms: int) -> None:
        self._context.outbox.set_timer((TIMER,), now + after_ms * MILLISECOND)
