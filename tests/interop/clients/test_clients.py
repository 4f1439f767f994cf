"""Third-party clients get the same results from kmirror as from Apache Kafka.

Each script is run against Kafka 4.3.1 and against kmirror, and its results are compared: values, offsets, error codes
and error messages.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kmirror.net.cluster import TcpCluster
from tests.interop.clients.conftest import SIZES, Seen
from tests.interop.clients.families import FAMILIES, differences, unknown


@pytest.mark.parametrize("brokers", SIZES)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_client_has_the_same_results_as_with_kafka(
    family: str, brokers: int, observe: Callable[[str, int], Seen], our_clusters: dict[int, TcpCluster]
) -> None:
    seen = observe(family, brokers)
    found = unknown(family, differences(seen.kafka, seen.kmirror))
    assert not found, f"{len(found)} differences\n" + "\n".join(found)
    assert not our_clusters[brokers].failures
