"""A Kafka cluster of three brokers with the proxy in front of it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from kmirror.kernel.events import Node
from kmirror.proxy.proxy import Proxy
from kmirror.proxy.traffic import Exchange, TrafficNode
from tests.interop.clients.families import FAMILIES
from tests.interop.clients.real import real_clusters

BROKERS = 3
FEW = ("franz-go", "java")
"""The stories use a third stack, librdkafka; with KMIRROR_PROXY_FAMILIES=all every family's script is run."""
CHOSEN = tuple(FAMILIES) if os.environ.get("KMIRROR_PROXY_FAMILIES") == "all" else FEW


@dataclass
class Proxied:
    """The proxy, its exchanges, and the cluster behind it."""

    proxy: Proxy
    direct: str
    """The cluster's own bootstrap servers."""
    exchanges: list[Exchange] = field(default_factory=list)


@contextlib.contextmanager
def proxied_cluster(class_path: str, folder: Path) -> Iterator[Proxied]:
    """Yield a Kafka cluster with the proxy in front of it."""
    seen: list[Exchange] = []

    def interpose(name: str, node: Node) -> Node:
        return TrafficNode(name, node, seen.append)

    with (
        real_clusters(class_path, folder, (BROKERS,)) as addresses,
        Proxy(addresses[BROKERS], interpose=interpose) as proxy,
    ):
        yield Proxied(proxy, addresses[BROKERS], seen)
