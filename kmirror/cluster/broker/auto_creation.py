"""Topics come into being when a client asks Metadata for them (`auto.create.topics.enable`).

The broker answers at once that there is no such topic, and the client asks again. Whether it may be created, the
controller decides by the client's own rights, for the order goes to it in the client's name.
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
    """Orders topics of the controller, one request at a time for each topic."""

    def __init__(self, context: BrokerContext) -> None:
        self._context = context
        self._ordered: dict[str, None] = {}
        """Topics of which the answer is awaited."""

    def order(self, now: Instant, names: Sequence[str], client: LinkOpened) -> None:
        """Order the topics of these names, which have to be legal, for `client`; none that is ordered already."""
        wanted = [name for name in names if name not in self._ordered]
        if not wanted:
            return
        self._ordered.update(dict.fromkeys(wanted))

        def on_reply(_: Instant, reply: Message | None) -> None:
            for name in wanted:
                del self._ordered[name]

        context = self._context
        request = CreateTopicsRequest(
            topics=[_creatable(name, context.configs) for name in wanted],
            timeout_ms=context.configs.integer("request.timeout.ms"),
        )
        frame = encode_request(request, context.version_of(request), correlation_id=0, client_id=None)
        context.ask_controller(now, envelope(frame, client), on_reply)


def _creatable(name: str, configs: Configs) -> CreatableTopic:
    """Return the row of a topic: the size that this broker's configs set, else the controller's default."""
    if name in internal_topics.ROWS:
        return internal_topics.creatable(name, configs)

    def size(key: str) -> int:
        return configs.integer(key) if configs.sets(key) else USE_DEFAULT

    return CreatableTopic(
        name=name, num_partitions=size("num.partitions"), replication_factor=size("default.replication.factor")
    )
