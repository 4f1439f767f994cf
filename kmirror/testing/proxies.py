"""How does a test let a real cluster fail? Through a proxy before it, which does what the test orders.

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
    """Yield a proxy before the cluster at `bootstrap_servers`, on free ports; it ends with the block.

    It is transparent until it is told otherwise: `inject` an error, choose requests by `on`, `cap` versions. `seed`
    names what happens with a probability. UsageError for a host that is not loopback, unless `own_host`.
    AssertionError at the end of the block if the proxy failed within: that is a bug of kmirror's.
    """
    with Proxy(bootstrap_servers, seed=seed, own_host=own_host) as made:
        yield made
        assert not made.given_up, f"kmirror failed; please report it: {made.given_up}"
