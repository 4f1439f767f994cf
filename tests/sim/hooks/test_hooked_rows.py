"""A hook on a topic affects that topic alone, in the response of every API and version."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from kmirror.hooks.hooks import Hooks
from kmirror.hooks.requests import names_partitions, names_topics
from kmirror.hooks.responses import can_have_row_errors
from kmirror.kernel.rng import Rng
from kmirror.protocol.gen.describe_log_dirs_request import DescribableLogDirTopic, DescribeLogDirsRequest
from kmirror.protocol.gen.describe_log_dirs_response import DescribeLogDirsResponse
from kmirror.protocol.registry import by_key
from kmirror.protocol.structs import Struct
from kmirror.sim.cluster import Cluster
from kmirror.sim.simulation import Simulation
from kmirror.spec.apis import ROWS, ApiRow
from kmirror.spec.error_codes import ErrorCode
from tests.sim.cluster.random_requests import Generator, RawClient
from tests.sim.stage import ONE_BROKER


def rows_of(struct: Struct, topic: str | None = None) -> Iterator[tuple[str | None, int | None, int]]:
    """Yield the rows of a response with topics, each with its error; nested partitions after their topic."""
    for field in type(struct).FIELDS:
        if not (field.is_array and field.type == "struct"):
            continue
        for element in getattr(struct, field.attribute) or ():
            names: list[Any] = [getattr(element, attribute, None) for attribute in ("name", "topic", "topic_name")]
            by_id = TOPIC_NAMES.get(getattr(element, "topic_id", None))
            found: str | None = next((name for name in names if name), by_id or topic)
            index = next(
                (getattr(element, a) for a in ("index", "partition", "partition_index") if hasattr(element, a)), None
            )
            error = getattr(element, "error_code", getattr(element, "partition_error_code", None))
            if error is not None:
                yield found, index, error
            yield from rows_of(element, found)


TOPIC_NAMES: dict[Any, str] = {}


@pytest.mark.parametrize(
    "row",
    [
        row
        for row in ROWS
        if "broker" in row.roles
        and names_topics(by_key(row.key).request)
        and can_have_row_errors(by_key(row.key).response, row.last)
    ],
    ids=lambda r: r.name,
)
def test_a_hook_on_a_topic_touches_no_other_row_in_any_api_and_version(row: ApiRow) -> None:
    hooks = Hooks()
    request = by_key(row.key).request
    partition = 0 if names_partitions(request) else None
    code = ErrorCode.TELEMETRY_TOO_LARGE  # No broker returns this by itself.
    with (
        Simulation(row.key) as simulation,
        Cluster(simulation, "a", brokers=1, configs=ONE_BROKER, interpose=hooks) as a,
    ):
        for topic in ("plain", "other"):
            a.create_topic(topic, 2)
        TOPIC_NAMES.update({topic.topic_id: topic.name for topic in a.image.topics.values()})
        hook = hooks.on(request, topic="plain", partition=partition).answer(code)
        raw, generator = RawClient(a), Generator(Rng(row.key), a, well_meant=True)
        seen = 0
        for version in range(row.first, row.last + 1):
            for _ in range(12):
                body: Any = generator.message(request, version)
                if getattr(body, "acks", 1) == 0:
                    continue
                before = hook.count
                response = raw.ask(a.endpoint(1), body, version)
                if response is None:
                    continue
                if not can_have_row_errors(type(response), version):
                    continue
                for topic, index, error in rows_of(response):
                    hooked = topic == "plain" and (partition is None or index == partition)
                    assert (error == code) == (hooked and hook.count > before), (version, body, response)
                    seen += error == code
        assert seen and hook.count


def test_a_response_without_topic_errors_has_one_error_for_all() -> None:
    """A log folder of DescribeLogDirs has an error, and its topics have none."""
    hooks = Hooks()
    with Simulation(3) as simulation, Cluster(simulation, "a", brokers=1, configs=ONE_BROKER, interpose=hooks) as a:
        a.create_topic("plain")
        hooks.on(DescribeLogDirsRequest, topic="plain", partition=0).answer(ErrorCode.KAFKA_STORAGE_ERROR)
        for topic, code in (("plain", ErrorCode.KAFKA_STORAGE_ERROR), ("other", ErrorCode.NONE)):
            request = DescribeLogDirsRequest(topics=[DescribableLogDirTopic(topic=topic, partitions=[0])])
            response = a.client.call(a.endpoint(1), request, 4)
            assert isinstance(response, DescribeLogDirsResponse) and response.error_code == code
