"""Internal topics, created when they are first needed."""

from __future__ import annotations

from dataclasses import dataclass

from kmirror.cluster.node.context import BrokerContext
from kmirror.kernel.clock import Instant
from kmirror.protocol.gen.create_topics_request import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from kmirror.protocol.message import Message
from kmirror.spec.configs import Configs
from kmirror.spec.topics import GROUP_TOPIC, MIRROR_STATE_TOPIC, TRANSACTION_TOPIC


@dataclass(frozen=True, slots=True)
class InternalTopic:
    """An internal topic, and the broker configs that determine its size."""

    name: str
    partitions_key: str
    replication_key: str
    configs: tuple[tuple[str, str], ...]
    configs_from: tuple[tuple[str, str], ...] = ()
    """Topic configs taken from broker configs: (topic config key, broker config key)."""


ROWS: dict[str, InternalTopic] = {
    TRANSACTION_TOPIC: InternalTopic(
        TRANSACTION_TOPIC,
        "transaction.state.log.num.partitions",
        "transaction.state.log.replication.factor",
        (
            ("cleanup.policy", "compact"),
            ("compression.type", "uncompressed"),
            ("unclean.leader.election.enable", "false"),
        ),
        (("min.insync.replicas", "transaction.state.log.min.isr"),),
    ),
    GROUP_TOPIC: InternalTopic(
        GROUP_TOPIC,
        "offsets.topic.num.partitions",
        "offsets.topic.replication.factor",
        (("cleanup.policy", "compact"), ("compression.type", "producer")),
        (("segment.bytes", "offsets.topic.segment.bytes"),),
    ),
    MIRROR_STATE_TOPIC: InternalTopic(
        MIRROR_STATE_TOPIC,
        "mirror.topic.num.partitions",
        "mirror.topic.replication.factor",
        (("cleanup.policy", "compact"), ("compression.type", "producer")),
    ),
}


def creatable(name: str, configs: Configs) -> CreatableTopic:
    """Return the CreateTopics row of internal topic `name` for a node with `configs`."""
    row = ROWS[name]
    pairs = [*row.configs, *((key, configs.text(broker_key)) for key, broker_key in row.configs_from)]
    return CreatableTopic(
        name=name,
        num_partitions=configs.integer(row.partitions_key),
        replication_factor=configs.integer(row.replication_key),
        configs=[CreatableTopicConfig(name=key, value=value) for key, value in pairs],
    )


class InternalTopics:
    """Creates internal topics through the controller, with at most one request in flight per topic."""

    def __init__(self, context: BrokerContext) -> None:
        self._context = context
        self._in_flight: dict[str, None] = {}

    def create(self, now: Instant, name: str) -> None:
        """Ask the controller to create `name` unless a request is in flight; the caller checks the image later."""
        if name in self._in_flight:
            return
        self._in_flight[name] = None

        def on_reply(_: Instant, reply: Message | None) -> None:
            self._in_flight.pop(name, None)

        request = CreateTopicsRequest(topics=[creatable(name, self._context.configs)], timeout_ms=30000)
        self._context.ask_controller(now, request, on_reply)
