"""A proxy that injects faults into the traffic of a real cluster, for tests.

with kmirror.testing.proxy("localhost:9092") as proxy:
    client = confluent_kafka.Producer({"bootstrap.servers": proxy.bootstrap_servers})
    proxy.inject(ErrorCode.NOT_LEADER_OR_FOLLOWER, api="Produce", times=1)
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from kmirror.proxy.proxy import Proxy


@contextmanager
def proxy(bootstrap_servers: str, *, seed: int = 0, own_host: bool = False) -> Iterator[Proxy]:
    """Yield a proxy in front of the cluster at `bootstrap_servers`, on free ports; it stops at the end of the block.

    By default it is transparent: `inject` adds errors, `on` selects requests, `cap` limits versions. `seed` determines
    random events. Raises UsageError for a host that is not loopback unless `own_host` is set, and AssertionError at the
    end of the block if the proxy failed: this is a bug of kmirror.
    """
    with Proxy(bootstrap_servers, seed=seed, own_host=own_host) as running_proxy:
        yield running_proxy
        assert not running_proxy.ended_nodes, f"kmirror failed; please report it: {running_proxy.ended_nodes}"
