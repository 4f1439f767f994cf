"""What has the source set for its topics? DescribeConfigs, in the versions that Kafka 2.1 and later have."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from kmirror.client.remote_cluster import code_of
from kmirror.mirror.syncs.batches import in_batches
from kmirror.mirror.syncs.conversation import AskSource, Question
from kmirror.protocol.gen.describe_configs_request import DescribeConfigsRequest, DescribeConfigsResource
from kmirror.protocol.gen.describe_configs_response import DescribeConfigsResponse, DescribeConfigsResult
from kmirror.spec.wire_values import ConfigSource, ResourceType

TOPICS_MAX = 100
"""Topics in one request: a topic has some forty configs."""
VERSION_MAX = 4
"""The next one is KIP-1279's, or somebody else's."""


@dataclass(frozen=True, slots=True)
class SourceConfigs:
    """What is set for topics at the source, and why it is not known of others."""

    values: dict[str, dict[str, str]] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    unanswered: list[str] = field(default_factory=list)


def describe(topics: Sequence[str]) -> Generator[Sequence[Question], Sequence[Any], SourceConfigs]:
    """Ask for the configs of `topics`; a part of a script."""
    asked = in_batches(topics, TOPICS_MAX)
    answers = yield [AskSource(_request(names), version_max=VERSION_MAX) for names in asked]
    found = SourceConfigs()
    for names, answer in zip(asked, answers, strict=True):
        if not isinstance(answer, DescribeConfigsResponse):
            found.unanswered.extend(names)
            found.problems.update(dict.fromkeys(names, "the source did not answer DescribeConfigs"))
            continue
        for result in answer.results:
            if result.error_code:
                found.problems[result.resource_name] = _problem(result)
            else:
                found.values[result.resource_name] = _set_for_the_topic(result)
    return found


def _request(topics: Iterable[str]) -> DescribeConfigsRequest:
    return DescribeConfigsRequest(
        resources=[
            DescribeConfigsResource(resource_type=ResourceType.TOPIC, resource_name=name, configuration_keys=None)
            for name in topics
        ]
    )


def _problem(result: DescribeConfigsResult) -> str:
    error = code_of(result.error_code).name
    return f"the source answers {error} to DescribeConfigs; its principal needs DescribeConfigs on the topic"


def _set_for_the_topic(result: DescribeConfigsResult) -> dict[str, str]:
    return {
        entry.name: entry.value
        for entry in result.configs
        if entry.config_source == ConfigSource.TOPIC and entry.value is not None
    }
