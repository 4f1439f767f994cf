"""Producer ids, which a broker takes from blocks allocated by the controller (KIP-730)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from kmirror.cluster.node.context import BrokerContext
from kmirror.cluster.node.lifecycle import Lifecycle
from kmirror.cluster.producer_id_range import first_producer_id
from kmirror.kernel.clock import Instant
from kmirror.protocol.gen.allocate_producer_ids_request import AllocateProducerIdsRequest
from kmirror.protocol.gen.allocate_producer_ids_response import AllocateProducerIdsResponse
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode

OnProducerId = Callable[[Instant, int | None], None]


class ProducerIds:
    """The remaining ids of the current block, and the callers that wait for the next block."""

    def __init__(self, context: BrokerContext, lifecycle: Lifecycle) -> None:
        self._context = context
        self._lifecycle = lifecycle
        self._next = 0
        self._end = 0
        self._waiting: deque[OnProducerId] = deque()
        self._is_requesting = False

    def request_id(self, now: Instant, on_producer_id: OnProducerId) -> None:
        """Call `on_producer_id` with an unused id, or with None if the controller did not allocate a block."""
        context = self._context
        if context.mirror_enabled and self._end <= first_producer_id(context.cluster_id):
            self._next = self._end  # The block is from before mirroring was turned on (D55).
        self._return_id(now, on_producer_id)

    def _return_id(self, now: Instant, on_producer_id: OnProducerId) -> None:
        if self._next < self._end:
            self._next += 1
            on_producer_id(now, self._next - 1)
            return
        self._waiting.append(on_producer_id)
        if self._is_requesting:
            return
        self._is_requesting = True
        request = AllocateProducerIdsRequest(broker_id=self._context.node_id, broker_epoch=self._lifecycle.epoch)
        self._context.ask_controller(now, request, self._on_reply)

    def _on_reply(self, now: Instant, reply: Message | None) -> None:
        self._is_requesting = False
        waiting, self._waiting = self._waiting, deque()
        if not isinstance(reply, AllocateProducerIdsResponse) or reply.error_code != ErrorCode.NONE:
            for on_producer_id in waiting:
                on_producer_id(now, None)
            return
        self._next = reply.producer_id_start
        self._end = reply.producer_id_start + reply.producer_id_len
        for on_producer_id in waiting:
            self._return_id(now, on_producer_id)
