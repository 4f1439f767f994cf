"""ApiVersions responses beyond the served versions; tests/interop/admin compares them with Kafka."""

from __future__ import annotations

import struct

import pytest

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.protocol.gen.api_versions_request import ApiVersionsRequest
from kmirror.protocol.gen.api_versions_response import ApiVersionsResponse
from kmirror.sim.cluster import Cluster
from kmirror.sim.simulation import Simulation
from kmirror.spec.apis import ROWS_BY_KEY
from kmirror.spec.error_codes import ErrorCode
from tests.sim.cluster.random_requests import RawClient
from tests.sim.stage import SMALL

PRODUCE = 0


@pytest.fixture(scope="module")
def raw() -> tuple[Cluster, RawClient]:
    cluster = Cluster(Simulation(2), "a", configs=SMALL, mirror_version=0)
    cluster.start()
    return cluster, RawClient(cluster)


def ask(raw: tuple[Cluster, RawClient], version: int, node_id: int = 1, name: str = "c") -> ApiVersionsResponse:
    cluster, client = raw
    request = ApiVersionsRequest(client_software_name=name, client_software_version="1.0-x")
    answer = client.ask(cluster.endpoint(node_id), request, version)
    assert isinstance(answer, ApiVersionsResponse)
    return answer


@pytest.mark.parametrize("version", range(5))
def test_only_produce_is_advertised_below_its_served_versions(raw: tuple[Cluster, RawClient], version: int) -> None:
    told = {row.api_key: row.min_version for row in ask(raw, version).api_keys}
    assert told.pop(PRODUCE) == 0
    assert told == {key: ROWS_BY_KEY[key].first for key in told}


@pytest.mark.parametrize("version", range(3))
def test_an_old_produce_costs_its_client_the_connection(raw: tuple[Cluster, RawClient], version: int) -> None:
    cluster, client = raw
    head = struct.pack(">hhih", PRODUCE, version, 7, 1) + b"c"
    assert client.send(cluster.endpoint(1), head + struct.pack(">hii", 1, 1000, 0)) is None


@pytest.mark.parametrize("version", [5, 99, -1, 32767])
def test_an_unknown_version_gets_a_response_in_version_0(raw: tuple[Cluster, RawClient], version: int) -> None:
    cluster, client = raw
    links = client.channel
    frame = client.send(cluster.endpoint(1), struct.pack(">hhih", 18, version, 7, 1) + b"c\0")
    assert frame == struct.pack(">ihihhh", 7, ErrorCode.UNSUPPORTED_VERSION, 1, 18, 0, 4)
    assert ask(raw, 4).error_code == 0 and client.channel == links


def test_a_feature_beginning_at_0_is_returned_from_version_4_on(raw: tuple[Cluster, RawClient]) -> None:
    every = ["metadata.version", "transaction.version", "eligible.leader.replicas.version", "mirror.version"]
    for version, features in ((2, []), (3, ["metadata.version"]), (4, every)):
        assert [row.name for row in ask(raw, version).supported_features] == features
    answer = ask(raw, 4)
    levels = {row.name: row.max_version_level for row in answer.finalized_features}
    assert levels == {"metadata.version": 30, "transaction.version": 2, "eligible.leader.replicas.version": 1}
    assert answer.finalized_features_epoch > 0


@pytest.mark.parametrize("node_id", [1, CONTROLLER_ID])
@pytest.mark.parametrize("name", ["", "a b", "-a", "a.", "\u00e9"])
def test_an_invalid_client_name_is_an_error_from_version_3_on(
    raw: tuple[Cluster, RawClient], name: str, node_id: int
) -> None:
    assert ask(raw, 2, node_id).error_code == 0
    for version in (3, 4):
        answer = ask(raw, version, node_id, name)
        assert (answer.error_code, answer.api_keys) == (ErrorCode.INVALID_REQUEST, [])
        assert ask(raw, version, node_id, "a.b-c").error_code == 0
