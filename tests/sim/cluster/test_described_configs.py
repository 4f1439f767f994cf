"""DescribeConfigs and AlterConfigs in a cluster that mirrors."""

from __future__ import annotations

import pytest

from kmirror.mirror.states import MirrorState
from kmirror.protocol.gen.alter_configs_request import AlterableConfig, AlterConfigsRequest, AlterConfigsResource
from kmirror.protocol.gen.alter_configs_response import AlterConfigsResponse
from kmirror.protocol.gen.describe_configs_request import DescribeConfigsRequest, DescribeConfigsResource
from kmirror.protocol.gen.describe_configs_response import DescribeConfigsResponse, DescribeConfigsResult
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import ResourceType
from tests.sim.cluster.random_requests import RawClient
from tests.sim.stage import TOPIC, TP, Pair, pair


@pytest.fixture(scope="module")
def mirrored() -> tuple[Pair, RawClient]:
    made = pair()
    made.a.create_topic(TOPIC)
    made.begin()
    return made, RawClient(made.b)


def describe(client: RawClient, made: Pair, kind: int, name: str, version: int) -> DescribeConfigsResult:
    resource = DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=None)
    answer = client.ask(made.b.endpoint(2), DescribeConfigsRequest(resources=[resource]), version)
    assert isinstance(answer, DescribeConfigsResponse)
    return answer.results[0]


@pytest.mark.decision("D1")
def test_a_mirror_is_described_from_version_5_on(mirrored: tuple[Pair, RawClient]) -> None:
    made, client = mirrored
    result = describe(client, made, ResourceType.MIRROR, "m", 5)
    values = {entry.name: entry.value for entry in result.configs}
    assert result.error_code == 0 and values["bootstrap.servers"] and "source.cluster.id" not in values
    assert describe(client, made, ResourceType.MIRROR, "n", 5).error_code == ErrorCode.UNKNOWN_MIRROR
    assert describe(client, made, ResourceType.MIRROR, "m", 4).error_code == ErrorCode.INVALID_REQUEST


@pytest.mark.decision("D7")
def test_an_empty_alteration_does_not_remove_a_topic_from_its_mirror(
    mirrored: tuple[Pair, RawClient],
) -> None:
    made, client = mirrored

    def alter(*values: tuple[str, str]) -> int:
        configs = [AlterableConfig(name=name, value=value) for name, value in values]
        resource = AlterConfigsResource(resource_type=ResourceType.TOPIC, resource_name=TOPIC, configs=configs)
        answer = client.ask(made.b.endpoint(2), AlterConfigsRequest(resources=[resource]), 2)
        assert isinstance(answer, AlterConfigsResponse)
        return answer.responses[0].error_code

    assert alter(("retention.ms", "-1")) == 0
    assert made.b.image.configs.topic(TOPIC) == {"mirror.name": "m", "retention.ms": "-1"}
    assert alter() == 0
    assert made.b.image.configs.topic(TOPIC) == {"mirror.name": "m"}
    assert alter(("mirror.name", "m.removed")) == ErrorCode.INVALID_CONFIG
    made.there.wait_for_state(MirrorState.MIRRORING, [TP])
    assert "mirror.name" not in {row.name for row in describe(client, made, ResourceType.TOPIC, TOPIC, 5).configs}
