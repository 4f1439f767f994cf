"""What a broker's heartbeat makes of it: in, out, or on its way out (BrokerHeartbeatManager).

A broker that wants to stop is in controlled shutdown until it leads nothing and every other living broker has
replayed the record that took its last leadership away. Then it may go.
"""

from __future__ import annotations

from enum import Enum

from kmirror.cluster.images import BrokerImage, MetadataImage
from kmirror.protocol.gen.broker_heartbeat_request import BrokerHeartbeatRequest


class BrokerState(Enum):
    """What a broker is to the controller; each names the states that a heartbeat may lead to."""

    FENCED = "fenced"
    """-> UNFENCED, SHUTDOWN_NOW"""
    UNFENCED = "unfenced"
    """-> FENCED, CONTROLLED_SHUTDOWN, SHUTDOWN_NOW"""
    CONTROLLED_SHUTDOWN = "controlled shutdown"
    """It has lost its leaderships, or will soon -> SHUTDOWN_NOW"""
    SHUTDOWN_NOW = "shutdown now"
    """It may stop, and counts as fenced from then on."""


class Heartbeats:
    """What living brokers reported."""

    def __init__(self) -> None:
        self._replayed: dict[int, int] = {}
        """How far brokers that are neither fenced nor shutting down have replayed the metadata log."""
        self._shutdown_offsets: dict[int, int] = {}
        """What others must have replayed before a broker in controlled shutdown may go."""

    def state_of(self, broker: BrokerImage) -> BrokerState:
        """Return what the broker is before its next heartbeat."""
        if broker.broker_id in self._shutdown_offsets:
            return BrokerState.CONTROLLED_SHUTDOWN
        return BrokerState.FENCED if broker.fenced else BrokerState.UNFENCED

    def next_state(self, image: MetadataImage, broker: BrokerImage, request: BrokerHeartbeatRequest) -> BrokerState:
        """Return what the broker is to be after `request`."""
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
            leads = has_leaderships(image, broker.broker_id)
            return BrokerState.CONTROLLED_SHUTDOWN if leads else BrokerState.SHUTDOWN_NOW
        if has_leaderships(image, broker.broker_id):
            return BrokerState.CONTROLLED_SHUTDOWN
        needed = self._shutdown_offsets[broker.broker_id]
        may_go = all(replayed >= needed for replayed in self._replayed.values())
        return BrokerState.SHUTDOWN_NOW if may_go else BrokerState.CONTROLLED_SHUTDOWN

    def reported(self, broker_id: int, state: BrokerState, replayed: int, log_end: int) -> None:
        """A heartbeat led to `state`; `log_end` is the last offset of the metadata log after what it changed there."""
        self._replayed.pop(broker_id, None)
        match state:
            case BrokerState.UNFENCED:
                self._replayed[broker_id] = replayed
            case BrokerState.CONTROLLED_SHUTDOWN:
                self._shutdown_offsets.setdefault(broker_id, log_end)
            case BrokerState.FENCED | BrokerState.SHUTDOWN_NOW:
                self._shutdown_offsets.pop(broker_id, None)

    def forget(self, broker_id: int) -> None:
        """The broker was fenced, or begins anew."""
        self._replayed.pop(broker_id, None)
        self._shutdown_offsets.pop(broker_id, None)


def has_leaderships(image: MetadataImage, broker_id: int) -> bool:
    """Does a broker lead any partition?"""
    return any(
        partition.leader == broker_id for topic in image.topics.values() for partition in topic.partitions.values()
    )
