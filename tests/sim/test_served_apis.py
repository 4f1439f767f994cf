"""What a cluster serves, with Cluster Mirroring and without; who coordinates a mirror (D1)."""

from __future__ import annotations

import pytest

from kmirror.mirror.state_records import mirror_partition
from kmirror.protocol.gen.api_versions_request import ApiVersionsRequest
from kmirror.protocol.gen.api_versions_response import ApiVersionsResponse
from kmirror.protocol.gen.find_coordinator_request import FindCoordinatorRequest
from kmirror.protocol.gen.find_coordinator_response import Coordinator, FindCoordinatorResponse
from kmirror.protocol.gen.list_mirrors_request import ListMirrorsRequest
from kmirror.protocol.gen.list_mirrors_response import ListMirrorsResponse
from kmirror.sim.cluster import CONTROLLER_ID, Cluster
from kmirror.sim.mirror import Mirror
from kmirror.sim.simulation import Simulation
from kmirror.spec.error_codes import ErrorCode
from tests.sim.stage import SMALL

NEW = {94, 95, 96, 98, 99, 100, 101, 105}
BUMPED = {1: 19, 10: 7, 19: 8, 44: 2}


def make(mirror_version: int) -> Cluster:
    cluster = Cluster(Simulation(1), "b", configs=SMALL, mirror_version=mirror_version)
    cluster.start()
    return cluster


def versions(cluster: Cluster, node_id: int) -> dict[int, int]:
    """Return the newest version of every API that a node tells."""
    reply = cluster.client.call(cluster.endpoint(node_id), ApiVersionsRequest(), 0)
    assert isinstance(reply, ApiVersionsResponse)
    return {row.api_key: row.max_version for row in reply.api_keys}


@pytest.mark.decision("D1")
def test_new_apis_and_bumps_are_told_with_the_feature() -> None:
    cluster = make(1)
    broker, controller = versions(cluster, 1), versions(cluster, CONTROLLER_ID)
    assert set(broker) & NEW == NEW - {105}, "leader epochs are bumped by the controller"
    assert set(controller) & NEW == {94, 95, 96, 105}
    assert {key: broker[key] for key in BUMPED} == BUMPED


@pytest.mark.decision("D1")
def test_new_apis_and_bumps_are_hidden_without_the_feature() -> None:
    cluster = make(0)
    for node_id in (1, CONTROLLER_ID):
        told = versions(cluster, node_id)
        assert not set(told) & NEW
        for key, version in BUMPED.items():
            assert told.get(key, 0) < version


@pytest.mark.decision("D1")
def test_a_hidden_api_costs_its_client_the_connection() -> None:
    """As a broker does that meets a request it never advertised."""
    assert make(0).client.call(make(0).endpoint(1), ListMirrorsRequest(), 0) is None
    cluster = make(1)
    assert isinstance(cluster.client.call(cluster.endpoint(1), ListMirrorsRequest(), 0), ListMirrorsResponse)


def find(cluster: Cluster, key: str, version: int = 7, key_type: int = 3) -> Coordinator | None:
    request = FindCoordinatorRequest(key_type=key_type, coordinator_keys=[key])
    reply = cluster.client.call(cluster.endpoint(1), request, version)
    if not isinstance(reply, FindCoordinatorResponse):
        return None
    return reply.coordinators[0]


@pytest.mark.decision("D1")
@pytest.mark.decision("D8")
def test_the_coordinator_of_a_mirror_leads_its_partition_of_the_state_topic() -> None:
    cluster = make(1)
    Mirror("m", source=cluster, destination=cluster).create()
    cluster.simulation.run_until(cluster.is_settled, what="the state topic")
    for name in ("m", "n", "another.mirror"):
        found = find(cluster, name)
        partition = cluster.image.topics["__mirror_state"].partitions[mirror_partition(name, 2)]
        assert found is not None and found.error_code == 0
        assert (found.key, found.node_id, found.host) == (name, partition.leader, f"b-{partition.leader}")


@pytest.mark.decision("D1")
def test_asking_for_a_coordinator_brings_the_state_topic_into_being() -> None:
    cluster = make(1)
    first = find(cluster, "m")
    assert first is not None and first.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    cluster.simulation.run_until(
        lambda: (found := find(cluster, "m")) is not None and found.error_code == 0, what="a coordinator"
    )
    assert len(cluster.image.topics["__mirror_state"].partitions) == 2


def test_coordinators_of_other_types_are_refused() -> None:
    found = find(make(1), "g", key_type=0)
    assert found is not None and found.error_code == ErrorCode.INVALID_REQUEST
