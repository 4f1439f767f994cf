"""The state of a broker after a heartbeat: fenced, unfenced, or in controlled shutdown (BrokerHeartbeatManager).

A broker that asks to shut down is in controlled shutdown until it leads no partition and every other live broker has
replayed the record that moved its last leadership. Then it may stop. The progress of a broker is known from its
heartbeats and, between them, from its fetches: a broker fetches the metadata log from the end of the records that it
has replayed. Without the fetches a shutdown would wait for the next heartbeat of every broker, as in Kafka.
"""

from __future__ import annotations

from enum import Enum

from kmirror.cluster.images import BrokerImage, MetadataImage
from kmirror.protocol.gen.broker_heartbeat_request import BrokerHeartbeatRequest


class BrokerState(Enum):
    """The state of a broker at the controller. The note of each member names the states that may follow a heartbeat."""

    FENCED = "fenced"
    """-> UNFENCED, SHUTDOWN_NOW"""
    UNFENCED = "unfenced"
    """-> FENCED, CONTROLLED_SHUTDOWN, SHUTDOWN_NOW"""
    CONTROLLED_SHUTDOWN = "controlled shutdown"
    """-> SHUTDOWN_NOW. Its leaderships are being moved."""
    SHUTDOWN_NOW = "shutdown now"
    """It may stop, and is treated as fenced from now on."""


class Heartbeats:
    """The progress reported by live brokers."""

    def __init__(self) -> None:
        self._replayed: dict[int, int] = {}
        """Unfenced broker -> the last offset of the metadata log that it has replayed (inclusive)."""
        self._shutdown_offsets: dict[int, int] = {}
        """Broker in controlled shutdown -> the offset that all others must have replayed before it may shut down."""

    def state_of(self, broker: BrokerImage) -> BrokerState:
        """Return the state of a broker before its next heartbeat."""
        if broker.broker_id in self._shutdown_offsets:
            return BrokerState.CONTROLLED_SHUTDOWN
        return BrokerState.FENCED if broker.fenced else BrokerState.UNFENCED

    def next_state(self, image: MetadataImage, broker: BrokerImage, request: BrokerHeartbeatRequest) -> BrokerState:
        """Return the state of a broker after `request`."""
        state = self.state_of(broker)
        if state is BrokerState.FENCED:
            if request.want_shut_down:
                return BrokerState.SHUTDOWN_NOW
            caught_up = request.current_metadata_offset >= broker.epoch
            return BrokerState.UNFENCED if caught_up and not request.want_fence else BrokerState.FENCED
        if state is BrokerState.UNFENCED:
            if request.want_fence:
                return BrokerState.SHUTDOWN_NOW if request.want_shut_down else BrokerState.FENCED
            if not request.want_shut_down:
                return BrokerState.UNFENCED
            leads = image.topics.leads(broker.broker_id)
            return BrokerState.CONTROLLED_SHUTDOWN if leads else BrokerState.SHUTDOWN_NOW
        if image.topics.leads(broker.broker_id):
            return BrokerState.CONTROLLED_SHUTDOWN
        shutdown_offset = self._shutdown_offsets[broker.broker_id]
        may_stop = all(replayed >= shutdown_offset for replayed in self._replayed.values())
        return BrokerState.SHUTDOWN_NOW if may_stop else BrokerState.CONTROLLED_SHUTDOWN

    def record_heartbeat(self, broker_id: int, state: BrokerState, replayed: int, log_end: int) -> None:
        """Record that a heartbeat led to `state`; `log_end` is the last offset of the metadata log after that."""
        self._replayed.pop(broker_id, None)
        match state:
            case BrokerState.UNFENCED:
                self._replayed[broker_id] = replayed
            case BrokerState.CONTROLLED_SHUTDOWN:
                self._shutdown_offsets.setdefault(broker_id, log_end)
            case BrokerState.FENCED | BrokerState.SHUTDOWN_NOW:
                self._shutdown_offsets.pop(broker_id, None)

    def record_fetch(self, broker_id: int, fetch_offset: int) -> None:
        """Record that a broker fetches the metadata log from `fetch_offset`; ignored for a fenced one."""
        if broker_id in self._replayed:
            self._replayed[broker_id] = max(self._replayed[broker_id], fetch_offset - 1)

    def forget(self, broker_id: int) -> None:
        """Remove a broker that was fenced or registers again."""
        self._replayed.pop(broker_id, None)
        self._shutdown_offsets.pop(broker_id, None)
