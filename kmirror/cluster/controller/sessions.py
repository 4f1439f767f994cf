"""Which brokers are alive? Whoever reports in time; who does not is fenced (KIP-631)."""

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
        """The controller has replayed its log: every unfenced broker has a whole session to report in."""
        for broker in self._context.image.brokers.values():
            if not broker.fenced:
                self.heard(now, broker.broker_id)
        self._watch(now)

    def on_timer(self, now: Instant) -> None:
        """Fence those that were silent for too long."""
        timeout = self._context.configs.integer("broker.session.timeout.ms") * MILLISECOND
        for broker_id, heard in list(self._heard_from.items()):
            if now - heard > timeout:
                self.fence(now, broker_id)
        self._watch(now)

    def heard(self, now: Instant, broker_id: int) -> None:
        """An unfenced broker reported."""
        self._heard_from[broker_id] = now

    def forget(self, broker_id: int) -> None:
        """A broker registers anew: it is fenced until it reports."""
        self._heard_from.pop(broker_id, None)

    def fence(self, now: Instant, broker_id: int) -> None:
        """Take a broker out: no leaderships, no ISR membership, until it reports again."""
        self.forget(broker_id)
        broker = self._context.image.brokers[broker_id]
        self._context.outbox.note(f"fencing broker {broker_id}")
        records: list[Message] = [
            BrokerRegistrationChangeRecord(broker_id=broker_id, broker_epoch=broker.epoch, fenced=1)
        ]
        records += fence_records(self._context.image, self._context.configs, broker_id)
        self._commit(now, records)

    def unfence(self, now: Instant, broker_id: int) -> None:
        """Let a broker in; partitions without a leader may get one."""
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
