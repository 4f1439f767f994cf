"""Test tools for Kafka code: clusters for any client, mirrors between them, a fault-injecting proxy, strategies.

with kmirror.testing.cluster(brokers=3, topics={"orders": 6}) as cluster:
    Producer({"bootstrap.servers": cluster.bootstrap_servers})

The proxy works with any cluster; the strategies are for messages, batches and logs. `kmirror.testing.pytest_plugin`
offers the same as fixtures. Names are imported on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kmirror.testing.clusters import cluster, state_of
    from kmirror.testing.pairs import MirrorPair, mirror_pair
    from kmirror.testing.proxies import proxy

_MODULES = {
    "cluster": "kmirror.testing.clusters",
    "state_of": "kmirror.testing.clusters",
    "MirrorPair": "kmirror.testing.pairs",
    "mirror_pair": "kmirror.testing.pairs",
    "proxy": "kmirror.testing.proxies",
}

__all__ = ["MirrorPair", "cluster", "mirror_pair", "proxy", "state_of"]


def __getattr__(name: str) -> object:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module 'kmirror.testing' has no attribute {name!r}")
    return getattr(import_module(module), name)


def __dir__() -> list[str]:
    return sorted(__all__)
