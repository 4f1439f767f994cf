"""The sessions of brokers: a broker without a heartbeat for `broker.session.timeout.ms` is fenced (KIP-631)."""

from __future__ import annotations

from kmirror.cluster.controller.context import Commit, ControllerContext
from kmirror.cluster.controller.elections import fence_records, unfence_records
from kmirror.kernel.clock import MILLISECOND, SECOND, Instant
from kmirror.protocol.gen.broker_registration_change_record import BrokerRegistrationChangeRecord
from kmirror.protocol.message import Message

TIMER = "sessions"


class BrokerSessions:
    """The sessions of unfenced brokers with one controller."""

    def __init__(self, context: ControllerContext, commit: Commit) -> None:
        self._context = context
        self._commit = commit
        self._heard_from: dict[int, Instant] = {}
        """When each unfenced broker last reported."""

    def start(self, now: Instant) -> None:
        """Begin a whole session for every unfenced broker, after the controller has replayed its log."""
        for broker in self._context.image.brokers.values():
            if not broker.fenced:
                self.heard(now, broker.broker_id)
        self._watch(now)

    def on_timer(self, now: Instant) -> None:
        """Fence the brokers whose session has ended."""
        timeout = self._context.configs.integer("broker.session.timeout.ms") * MILLISECOND
        for broker_id, heard in list(self._heard_from.items()):
            if now - heard > timeout:
                self.fence(now, broker_id)
        self._watch(now)

    def heard(self, now: Instant, broker_id: int) -> None:
        """Begin the session of an unfenced broker anew: it has sent a heartbeat."""
        self._heard_from[broker_id] = now

    def forget(self, broker_id: int) -> None:
        """End the session of a broker that registers anew: it is fenced until it has caught up."""
        self._heard_from.pop(broker_id, None)

    def fence(self, now: Instant, broker_id: int) -> None:
        """Fence a broker: it loses its leaderships and leaves every ISR, until it reports again."""
        self.forget(broker_id)
        broker = self._context.image.brokers[broker_id]
        self._context.outbox.note(f"fencing broker {broker_id}")
        records: list[Message] = [
            BrokerRegistrationChangeRecord(broker_id=broker_id, broker_epoch=broker.epoch, fenced=1)
        ]
        records += fence_records(self._context.image, self._context.configs, broker_id)
        self._commit(now, records)

    def unfence(self, now: Instant, broker_id: int) -> None:
        """Unfence a broker; partitions without a leader may get one."""
        self.heard(now, broker_id)
        broker = self._context.image.brokers[broker_id]
        self._context.outbox.note(f"unfencing broker {broker_id}")
        records: list[Message] = [
            BrokerRegistrationChangeRecord(broker_id=broker_id, broker_epoch=broker.epoch, fenced=-1)
        ]
        records += unfence_records(self._context.image, self._context.configs, broker_id)
        self._commit(now, records)

    def _watch(self, now: Instant) -> None:
        self._context.outbox.set_timer((TIMER,), now + SECOND // 2)
