"""Source of valid responses for a client: a kmirror cluster with a topic and some records."""

from __future__ import annotations

from typing import Protocol

from kmirror.fuzz.clients.response_interceptor import ResponseInterceptor
from kmirror.fuzz.clients.stored_responses import Names
from kmirror.fuzz.requests import PARTITIONS, TOPIC
from kmirror.net.cluster import TcpCluster

RECORDS = 20
"""Records in each partition of the topic."""
_CONFIGS = {
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
    "group.initial.rebalance.delay.ms": "0",
}


class Servers(Protocol):
    """The servers that clients connect to."""

    @property
    def bootstrap_servers(self) -> str:
        """Return the servers as text for a client's config."""
        ...

    def names(self) -> Names:
        """Return the names that stored responses use for the ports and ids of this run."""
        ...


class OwnCluster(TcpCluster):
    """A kmirror broker in memory, with the topic `TOPIC`, listening at `host` and `port`."""

    def __init__(self, interceptor: ResponseInterceptor, *, host: str = "127.0.0.1", port: int = 0) -> None:
        super().__init__(
            brokers=1,
            host=host,
            port=port,
            configs=_CONFIGS,
            topics={TOPIC: PARTITIONS},
            interpose=interceptor.interpose,
        )

    def start(self) -> None:
        """Start listening, and write the records."""
        super().start()
        for partition in range(PARTITIONS):
            self.produce(TOPIC, partition, [b"record %d" % number for number in range(RECORDS)])

    def names(self) -> Names:
        """Return the names of the port and of the topic's id."""
        return Names([self.endpoint(1)], [self.image.topics[TOPIC].topic_id])
