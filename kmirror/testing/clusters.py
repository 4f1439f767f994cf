"""Kafka clusters for tests, as context managers, with free ports and logs in memory.

with kmirror.testing.cluster(brokers=3, topics={"orders": 6}) as cluster:
    client = confluent_kafka.Producer({"bootstrap.servers": cluster.bootstrap_servers})
    cluster.kill(2)
"""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from kmirror.kernel.names import counted, few
from kmirror.kernel.wrapping import WrapNode
from kmirror.net.cluster import TcpCluster
from kmirror.net.profile import SERVED


@contextmanager
def cluster(
    *,
    brokers: int = 1,
    topics: Mapping[str, int] | Iterable[str] = (),
    configs: Mapping[str, str] | None = None,
    racks: Mapping[int, str] | None = None,
    replication_factor: int | None = None,
    interpose: WrapNode | None = None,
    name: str = "kafka",
) -> Iterator[TcpCluster]:
    """Yield a running cluster, configured like `kmirror serve`; it stops at the end of the block.

    `topics` are names, or names with numbers of partitions. `configs` are static broker configs; `racks` maps broker
    ids to `broker.rack`. Topics have three replicas, or as many as there are brokers, unless `replication_factor` is
    given. `interpose` wraps each node, for example `kmirror.Hooks()`. Raises UsageError for invalid arguments, and
    AssertionError at the end of the block if a node failed: this is a bug of kmirror and may have affected the test.
    """
    all_configs = {**SERVED, **(configs or {})}
    with TcpCluster(
        brokers=brokers,
        topics=topics,
        configs=all_configs,
        racks=racks,
        replication_factor=replication_factor,
        interpose=interpose,
        name=name,
    ) as running:
        yield running
        assert not running.failures, f"kmirror failed; please report it\n{state_of(running)}"


def state_of(running: TcpCluster) -> str:
    """Return a report on a cluster for a failed test: addresses, running nodes, partition states and failures."""
    lines = [f"{running.name}: bootstrap.servers={running.bootstrap_servers}"]
    for node_id in (*running.broker_ids, running.controller_id):
        node_text = (
            "controller" if node_id == running.controller_id else f"broker {node_id} at {running.endpoint(node_id)}"
        )
        lines.append(f"  {node_text}: {'running' if running.runs(node_id) else 'down'}")
    lines += _topic_lines(running)
    for failure in running.failures:
        lines.append(f"  failed during {failure.operation}:")
        lines += ["    " + line for line in "".join(traceback.format_exception(failure.error)).splitlines()]
    return "\n".join(lines)


def _topic_lines(running: TcpCluster) -> list[str]:
    """Return a line per topic, which lists the partitions without a leader or with replicas out of sync."""
    image = running.image
    lines = []
    for topic in running.topics():
        partitions = image.topics[topic].partitions
        out_of_sync = [
            f"{topic}-{index} (leader {row.leader}, ISR {list(row.isr)} of {list(row.replicas)})"
            for index, row in sorted(partitions.items())
            if row.leader < 0 or len(row.isr) < len(row.replicas)
        ]
        health = f"degraded: {few(out_of_sync, 'partitions')}" if out_of_sync else "every replica in sync"
        lines.append(f"  topic {topic}, {counted(len(partitions), 'partition')}: {health}")
    return lines
