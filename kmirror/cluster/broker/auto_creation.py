"""Automatic topic creation on Metadata requests (`auto.create.topics.enable`).

The broker returns an error for the unknown topic at once, and the client retries. The CreateTopics request is forwarded
in the client's name, so the controller authorizes it with the client's own rights.
"""

from __future__ import annotations

from collections.abc import Sequence

from kmirror.cluster.broker import internal_topics
from kmirror.cluster.broker.forwarding import envelope
from kmirror.cluster.node.context import BrokerContext
from kmirror.kernel.clock import Instant
from kmirror.kernel.events import LinkOpened
from kmirror.protocol.gen.create_topics_request import CreatableTopic, CreateTopicsRequest
from kmirror.protocol.headers import encode_request
from kmirror.protocol.message import Message
from kmirror.spec.configs import Configs
from kmirror.spec.wire_values import USE_DEFAULT


class AutoCreation:
    """Sends CreateTopics to the controller, with at most one request in flight per topic."""

    def __init__(self, context: BrokerContext) -> None:
        self._context = context
        self._in_flight: dict[str, None] = {}
        """Topics whose CreateTopics response is pending."""

    def create(self, now: Instant, names: Sequence[str], client: LinkOpened) -> None:
        """Create the topics of these names, which must be legal, for `client`; skip those already requested."""
        new_names = [name for name in names if name not in self._in_flight]
        if not new_names:
            return
        self._in_flight.update(dict.fromkeys(new_names))

        def on_reply(_: Instant, reply: Message | None) -> None:
            for name in new_names:
                del self._in_flight[name]

        context = self._context
        request = CreateTopicsRequest(
            topics=[_creatable(name, context.configs) for name in new_names],
            timeout_ms=context.configs.integer("request.timeout.ms"),
        )
        frame = encode_request(request, context.version_of(request), correlation_id=0, client_id=None)
        context.ask_controller(now, envelope(frame, client), on_reply)


def _creatable(name: str, configs: Configs) -> CreatableTopic:
    """Return the CreateTopics row of a topic: with this broker's sizes if set, else the controller's defaults."""
    if name in internal_topics.ROWS:
        return internal_topics.creatable(name, configs)

    def size(key: str) -> int:
        return configs.integer(key) if configs.is_set(key) else USE_DEFAULT

    return CreatableTopic(
        name=name, num_partitions=size("num.partitions"), replication_factor=size("default.replication.factor")
    )
