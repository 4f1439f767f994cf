"""Lifecycle of a broker: registration, heartbeats, fencing, controlled shutdown (KIP-631).

A broker registers when it starts and gets a broker epoch. It sends heartbeats, and the controller unfences it once it
has replayed the metadata log up to its own registration. While an earlier incarnation counts as alive, the registration
is rejected. A broker whose heartbeats stop is fenced and loses its leaderships; when heartbeats resume, it is unfenced
again.

A stopping broker requests shutdown in its heartbeats, continues to serve, and stops when the controller allows it: by
then other brokers lead its partitions, and every living broker knows that (controlled shutdown).
"""

from __future__ import annotations

from kmirror.cluster.node.context import BrokerContext
from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.kernel.failures import GaveUp
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.broker_heartbeat_request import BrokerHeartbeatRequest
from kmirror.protocol.gen.broker_heartbeat_response import BrokerHeartbeatResponse
from kmirror.protocol.gen.broker_registration_request import BrokerRegistrationRequest, Feature, Listener
from kmirror.protocol.gen.broker_registration_response import BrokerRegistrationResponse
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.features import FEATURES

TIMER = "heartbeat"
STOP_TIMER = "stop"
DIRECTORIES_TIMER = "directories"
RETRY_MS = 100
STOP_RETRY_MS = 50
"""Pause in ms after the first heartbeat that requests shutdown; doubled after each further one."""
STOP_WITHIN_MS = 5 * 60 * 1000
"""Maximum wait in ms for the controller's permission to stop (BrokerServer.shutdown)."""


class Lifecycle:
    """Registers the broker and sends its heartbeats."""

    def __init__(self, context: BrokerContext) -> None:
        self._context = context
        self._incarnation = Uuid(context.rng.split("incarnation").octets(16))
        self.epoch = -1
        self.fenced = True
        self.caught_up = False
        """True once this broker has replayed the metadata log up to its own registration."""
        self.recovered = False
        """True once its logs are open after that; until then it asks to stay fenced."""
        self.may_stop = False
        """True if this broker should stop and need not wait for the controller."""
        self.registration_error = ErrorCode.NONE
        """Error of the newest registration."""
        self._was_unfenced = False
        """True if this process was ever unfenced."""
        self.is_stopping = False
        """True once this broker's controlled shutdown has begun."""
        self._stop_pause_ms = STOP_RETRY_MS
        """Pause in ms after the next heartbeat that requests shutdown and gets no permission."""
        self._resumed_at: Instant | None = None
        """Time when the controller responded again after the session may have ended; None once all is replayed."""
        self._resumed_until: Instant = 0
        """Value of `in_session_until` once all is replayed."""
        self._in_flight = False
        self._reported_directories = 0
        """Number of failed log directories that the controller knows of."""
        self._is_urgent = False
        """True if the next heartbeat must follow at once after the one in flight."""

    def stop(self, now: Instant) -> None:
        """Begin a controlled shutdown; `may_stop` becomes true at once if this broker was never unfenced."""
        if not self._was_unfenced:
            self.may_stop = True
        elif not self.is_stopping:
            self.is_stopping = True
            self._context.outbox.set_timer((STOP_TIMER,), now + STOP_WITHIN_MS * MILLISECOND)
            self._report_at_once(now)

    def on_recovered(self, now: Instant) -> None:
        """Record that the broker's logs are open, and report to the controller that it may be unfenced."""
        self.recovered = True
        self._report_at_once(now)

    def _report_at_once(self, now: Instant) -> None:
        """Send a heartbeat at once, or as soon as none is in flight."""
        if self._in_flight:
            self._is_urgent = True
        else:
            self.on_timer(now)

    def on_stop_timeout(self) -> None:
        """Allow the broker to stop after the controller did not permit it in time."""
        self._context.outbox.note("the controller did not let this broker go in time")
        self.may_stop = True

    def start(self, now: Instant) -> None:
        """Register with the controller; repeated until it succeeds."""
        context = self._context
        request = BrokerRegistrationRequest(
            broker_id=context.node_id,
            cluster_id=context.cluster_id,
            incarnation_id=self._incarnation,
            rack=context.configs.text("broker.rack") or None,
            listeners=[
                Listener(
                    name=each.name,
                    host=each.advertised.host,
                    port=each.advertised.port,
                    security_protocol=each.protocol,
                )
                for each in context.listeners
            ],
            features=[
                Feature(name=row.name, min_supported_version=row.minimum, max_supported_version=row.maximum)
                for row in FEATURES
            ],
            log_dirs=context.log_dirs.ids,
            previous_broker_epoch=-1 if context.previous_epoch is None else context.previous_epoch,
        )
        context.ask_controller(
            now, request, self._on_registered, channel="lifecycle", within_ms=self._request_timeout_ms()
        )

    def on_replayed(self, offset: int) -> bool:
        """Record that the metadata log is replayed through `offset`; return whether that includes our registration."""
        self.caught_up = 0 <= self.epoch <= offset
        return self.caught_up

    def on_timer(self, now: Instant) -> None:
        """Send a heartbeat, or register if that has not succeeded yet."""
        if self.epoch < 0:
            self.start(now)
            return
        request = BrokerHeartbeatRequest(
            broker_id=self._context.node_id,
            broker_epoch=self.epoch,
            current_metadata_offset=self._context.image.offset,
            want_fence=not self.recovered,
            want_shut_down=self.is_stopping,
            offline_log_dirs=self._context.log_dirs.offline_ids[:],
        )
        self._in_flight = True
        reported = len(request.offline_log_dirs)

        def on_reply(later: Instant, reply: Message | None) -> None:
            self._on_heartbeat(later, reply, reported, sent_at=now)

        self._context.ask_controller(now, request, on_reply, channel="lifecycle", within_ms=self._request_timeout_ms())

    def report_failed_directories(self, now: Instant) -> None:
        """Report failed log directories to the controller soon: it moves the leaderships away.

        Like Kafka's, a broker stops if it cannot report them within `log.dir.failure.timeout.ms`.
        """
        within_ms = self._context.configs.integer("log.dir.failure.timeout.ms")
        self._context.outbox.set_timer(
            (DIRECTORIES_TIMER, len(self._context.log_dirs.offline_ids)), now + within_ms * MILLISECOND
        )
        if self.epoch >= 0:  # Else the first heartbeat reports it.
            self._report_at_once(now)

    def on_directories_timer(self, count: int) -> None:
        """Stop the broker if fewer than `count` failed directories have been reported to the controller."""
        if self._reported_directories < count:
            reason = "could not report a failed log directory to the controller in time"
            self._context.stop_on_error(reason, TimeoutError(reason))

    def _on_registered(self, now: Instant, reply: Message | None) -> None:
        if isinstance(reply, BrokerRegistrationResponse) and reply.error_code == ErrorCode.NONE:
            self.epoch = reply.broker_epoch
            self._context.outbox.note(f"registered with broker epoch {self.epoch}")
            self.registration_error = ErrorCode.NONE
            self.on_timer(now)
            return
        if isinstance(reply, BrokerRegistrationResponse):
            self.registration_error = ErrorCode(reply.error_code)
        if self.registration_error == ErrorCode.INCONSISTENT_CLUSTER_ID:
            context, endpoint = self._context, self._context.controllers.leader
            reason = (
                f"the controller at {endpoint} belongs to another cluster than this broker ({context.cluster_id}): "
            )
            reason += f"{self.registration_error.name}, see the controller's log for its cluster"
            context.outbox.note(reason, GaveUp(reason))
            self.may_stop = True
            return
        self._schedule(now, RETRY_MS)

    def _on_heartbeat(self, now: Instant, reply: Message | None, reported: int, *, sent_at: Instant) -> None:
        urgent, self._in_flight, self._is_urgent = self._is_urgent, False, False
        if not isinstance(reply, BrokerHeartbeatResponse):
            self._schedule(now, RETRY_MS)
            return
        if reply.error_code in (ErrorCode.STALE_BROKER_EPOCH, ErrorCode.BROKER_ID_NOT_REGISTERED):
            self.epoch = -1
            self._schedule(now, RETRY_MS)
            return
        if reply.error_code == ErrorCode.NONE:
            self._reported_directories = max(self._reported_directories, reported)
            self.fenced = reply.is_fenced
            if not self.fenced:
                self._extend_session(now, sent_at)
            self._was_unfenced = self._was_unfenced or not self.fenced
            self.may_stop = reply.should_shut_down
        # A fenced broker sends heartbeats more often, so that it is unfenced soon after it has caught up.
        interval = RETRY_MS if self.fenced else self._context.configs.integer("broker.heartbeat.interval.ms")
        if urgent:
            interval = 0
        elif self.is_stopping:
            interval = min(interval, self._stop_pause_ms)
            self._stop_pause_ms *= 2
        self._schedule(now, interval)

    def _extend_session(self, now: Instant, sent_at: Instant) -> None:
        """Extend the session: the controller counts it from a time not before `sent_at`.

        If the session may have ended in between, other brokers may lead now. It counts again once everything that the
        controller had decided before its response is replayed.
        """
        until = sent_at + self._context.configs.integer("broker.session.timeout.ms") * MILLISECOND
        if now < self._context.in_session_until:
            self._context.in_session_until = until
            return
        if self._resumed_at is None or now >= self._resumed_until:
            self._resumed_at = now
        self._resumed_until = until

    def on_replayed_all(self, sent_at: Instant) -> None:
        """Record that the metadata log has been replayed up to its end at `sent_at`, the time of the fetch."""
        if self._resumed_at is not None and sent_at >= self._resumed_at:
            self._resumed_at = None
            self._context.in_session_until = self._resumed_until

    def _request_timeout_ms(self) -> int:
        """Return the heartbeat timeout: if one is lost, the next one still arrives in time (KAFKA-14392)."""
        return self._context.configs.integer("broker.session.timeout.ms") // 2

    def _schedule(self, now: Instant, after_ms: int) -> None:
        self._context.outbox.set_timer((TIMER,), now + after_ms * MILLISECOND)
