"""Broker sessions: a broker without a heartbeat for `broker.session.timeout.ms` is fenced (KIP-631)."""

from __future__ import annotations

from collections.abc import Sequence

from kmirror.cluster.controller.context import Commit, ControllerContext
from kmirror.cluster.controller.elections import elect_leaderless, fence_records, offline_records
from kmirror.cluster.controller.facts import BrokerFenced, BrokerUnfenced
from kmirror.cluster.controller.heartbeats import BrokerState, Heartbeats
from kmirror.cluster.images import BrokerImage
from kmirror.kernel.clock import MILLISECOND, SECOND, Duration, Instant
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.broker_heartbeat_request import BrokerHeartbeatRequest
from kmirror.protocol.gen.broker_registration_change_record import BrokerRegistrationChangeRecord
from kmirror.protocol.message import Message

TIMER = "sessions"
SHUTS_DOWN = "it shuts down"
"""Reason for fencing a broker that may stop."""

UNCLEAN_ELECTION_INTERVAL_MS = 300_000
"""Interval of elections for leaderless partitions in ms, as Kafka's internal `unclean.leader.election.interval.ms`."""


class BrokerSessions:
    """The sessions of unfenced brokers with one controller."""

    def __init__(self, context: ControllerContext, commit: Commit) -> None:
        self._context = context
        self._commit = commit
        self._last_heartbeats: dict[int, Instant] = {}
        """Unfenced broker -> time of its last heartbeat."""
        self._heartbeats = Heartbeats()
        self._elected_at: Instant = 0
        """Time of the last elections for leaderless partitions."""

    def start(self, now: Instant) -> None:
        """Start a full session for every unfenced broker, after the controller has replayed its log.

        The log may end between the batches of an unfencing: the missing elections are done now.
        """
        for broker in self._context.image.brokers.values():
            if not broker.fenced:
                self._extend_session(now, broker.broker_id)
                self._heartbeats.record_heartbeat(
                    broker.broker_id, BrokerState.UNFENCED, -1, self._context.image.offset
                )
        self._elect_leaderless(now)
        self._set_timer(now)

    def on_timer(self, now: Instant) -> None:
        """Fence the brokers whose session has ended; elect leaders where a changed config allows it."""
        for broker_id, last_heartbeat in list(self._last_heartbeats.items()):
            if now - last_heartbeat > self._timeout:
                self.fence(now, broker_id, "its session has ended")
        if now - self._elected_at >= UNCLEAN_ELECTION_INTERVAL_MS * MILLISECOND:
            self._elect_leaderless(now)
        self._set_timer(now)

    def on_heartbeat(self, now: Instant, broker: BrokerImage, request: BrokerHeartbeatRequest) -> BrokerState:
        """Handle a heartbeat: persist the resulting changes, and return the new state of the broker."""
        broker_id = broker.broker_id
        before = self._heartbeats.state_of(broker)
        state = self._heartbeats.next_state(self._context.image, broker, request)
        if state is BrokerState.SHUTDOWN_NOW:
            self.fence(now, broker_id, SHUTS_DOWN)
        elif state is not before:
            handlers = {
                BrokerState.UNFENCED: self.unfence,
                BrokerState.FENCED: lambda now, broker_id: self.fence(now, broker_id, "it asked to be"),
                BrokerState.CONTROLLED_SHUTDOWN: self._begin_controlled_shutdown,
            }
            handlers[state](now, broker_id)
        if not self._context.image.brokers[broker_id].fenced:
            self._extend_session(now, broker_id)
        replayed, end = request.current_metadata_offset, self._context.image.offset
        self._heartbeats.record_heartbeat(broker_id, state, replayed, end)
        self._take_offline(now, broker_id, request.offline_log_dirs)
        return state

    def _take_offline(self, now: Instant, broker_id: int, offline_dirs: Sequence[Uuid]) -> None:
        """Remove the replicas in failed directories from ISR and leadership (handleDirectoriesOffline).

        The last record marks the directories as offline, so that a controller that restarts before it repeats the
        changes.
        """
        image, broker = self._context.image, self._context.image.brokers[broker_id]
        failed = [directory for directory in broker.directories if directory in offline_dirs]
        if not failed or not image.features.has_directories:
            return
        online = [directory for directory in broker.directories if directory not in failed]
        self._context.outbox.note(f"broker {broker_id} has lost {len(failed)} log directories, {len(online)} are left")
        records = offline_records(image, self._context.configs, broker_id, failed)
        records.append(BrokerRegistrationChangeRecord(broker_id=broker_id, broker_epoch=broker.epoch, log_dirs=online))
        self._commit(now, records)

    def record_fetch(self, broker_id: int, fetch_offset: int) -> None:
        """Record that a broker has replayed the metadata log below `fetch_offset`; this does not extend its session."""
        self._heartbeats.record_fetch(broker_id, fetch_offset)

    def _extend_session(self, now: Instant, broker_id: int) -> None:
        self._last_heartbeats[broker_id] = now

    def forget(self, broker_id: int) -> None:
        """End the session of a broker that registers again: it is fenced until it has caught up."""
        self._last_heartbeats.pop(broker_id, None)
        self._heartbeats.forget(broker_id)

    def ends_at(self, broker_id: int) -> Instant | None:
        """Return when the session of a broker ends without another heartbeat; None if it has none."""
        last_heartbeat = self._last_heartbeats.get(broker_id)
        return None if last_heartbeat is None else last_heartbeat + self._timeout

    @property
    def _timeout(self) -> Duration:
        return self._context.configs.integer("broker.session.timeout.ms") * MILLISECOND

    def fence(self, now: Instant, broker_id: int, reason: str) -> None:
        """Fence a broker: it loses its leaderships and leaves every ISR, until it is unfenced by a heartbeat.

        This may take several batches. The last record fences the broker, so that a controller that starts in between
        still has a session to end (handleBrokerFenced).
        """
        self.forget(broker_id)
        broker = self._context.image.brokers[broker_id]
        self._context.outbox.note(f"fencing broker {broker_id}: {reason}", BrokerFenced(broker_id, reason))
        records = fence_records(self._context.image, self._context.configs, broker_id)
        records.append(BrokerRegistrationChangeRecord(broker_id=broker_id, broker_epoch=broker.epoch, fenced=1))
        self._commit(now, records)

    def unfence(self, now: Instant, broker_id: int) -> None:
        """Unfence a broker, and elect leaders for leaderless partitions where possible."""
        self._extend_session(now, broker_id)
        broker = self._context.image.brokers[broker_id]
        self._context.outbox.note(f"unfencing broker {broker_id}", BrokerUnfenced(broker_id))
        records: list[Message] = [
            BrokerRegistrationChangeRecord(broker_id=broker_id, broker_epoch=broker.epoch, fenced=-1)
        ]
        records += elect_leaderless(self._context.image, self._context.configs, broker_id)
        self._commit(now, records)

    def _begin_controlled_shutdown(self, now: Instant, broker_id: int) -> None:
        """Remove a broker that wants to stop from every ISR and leadership, as far as others can take over."""
        broker = self._context.image.brokers[broker_id]
        self._context.outbox.note(f"broker {broker_id} begins its controlled shutdown")
        records: list[Message] = []
        if not broker.in_controlled_shutdown:
            records.append(
                BrokerRegistrationChangeRecord(broker_id=broker_id, broker_epoch=broker.epoch, in_controlled_shutdown=1)
            )
        records += fence_records(self._context.image, self._context.configs, broker_id)
        self._commit(now, records)

    def _elect_leaderless(self, now: Instant) -> None:
        self._elected_at = now
        self._commit(now, elect_leaderless(self._context.image, self._context.configs))

    def _set_timer(self, now: Instant) -> None:
        self._context.outbox.set_timer((TIMER,), now + SECOND // 2)
