"""Comparison of the logs in two brokers' folders."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kmirror.logdir.compare.pairs import pair_folders
from kmirror.logdir.compare.partitions import CompareOptions, compare
from kmirror.net.cluster import TcpCluster


def assert_equal(left: Path, right: Path, topics: Sequence[str], *, until_lso: bool = True) -> int:
    """Compare the folders' logs, byte by byte, up to the last stable offset; return the number of batches.

    That is not above the checkpointed high watermark; without `until_lso` the whole logs are compared.
    """
    result = compare(pair_folders(left, right, topics=topics), CompareOptions(until_lso=until_lso))
    assert result.is_equal, [str(difference) for difference in result.differences]
    return sum(found.shares.common.batches for found in result.partitions)


def logs(top: Path, cluster: TcpCluster, broker_id: int) -> Path:
    """Return the folder of a kmirror broker."""
    return top if len(cluster.broker_ids) == 1 else top / f"broker-{broker_id}"
