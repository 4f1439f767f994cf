"""Scripts about topics: create them, add partitions, copy the source's configs, and stop deleted ones."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from math import ceil
from typing import Any

from kmirror.client.remote_cluster import code_of
from kmirror.mirror.facts import UncleanSource
from kmirror.mirror.naming import MIRROR_NAME
from kmirror.mirror.sync_errors import SyncKind
from kmirror.mirror.syncs import configs, deleted_topics, topics
from kmirror.mirror.syncs.batches import in_batches
from kmirror.mirror.syncs.mirror_view import MirrorView
from kmirror.mirror.syncs.report import Reports
from kmirror.mirror.syncs.scripts import ControllerRequest, Script, ScriptRequest
from kmirror.mirror.syncs.source_configs import RESPONSES_KEPT, TOPICS_MAX, ResponseCache, describe
from kmirror.mirror.syncs.unclean_source import not_supported, unclean_warning
from kmirror.protocol.gen.create_partitions_request import CreatePartitionsRequest
from kmirror.protocol.gen.create_partitions_response import CreatePartitionsResponse, CreatePartitionsTopicResult
from kmirror.protocol.gen.create_topics_request import CreateTopicsRequest
from kmirror.protocol.gen.create_topics_response import CreatableTopicResult, CreateTopicsResponse
from kmirror.protocol.gen.incremental_alter_configs_request import AlterableConfig, IncrementalAlterConfigsRequest
from kmirror.protocol.gen.incremental_alter_configs_response import IncrementalAlterConfigsResponse
from kmirror.protocol.gen.remove_topics_from_mirror_request import RemoveTopicsFromMirrorRequest, TopicData
from kmirror.protocol.gen.remove_topics_from_mirror_response import RemoveTopicsFromMirrorResponse
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import ConfigOp

PARTITIONS_MAX = 1000
"""Bounds the work of the controller for one request."""
RESOURCES_MAX = 100
PLANNED_MAX = 500
"""Topics whose configs are compared within one event."""
TIMEOUT_MS = 30_000
NO_RESPONSE = "the controller did not respond"
DONE_ERRORS = {
    ErrorCode.NONE,
    ErrorCode.TOPIC_ALREADY_EXISTS,
    ErrorCode.INVALID_PARTITIONS,
    ErrorCode.TOPIC_NOT_IN_MIRROR,
}
"""The errors mean that the controller is ahead of this broker's image: it has done this, or the topic was removed."""


def create_and_grow(view: MirrorView, reports: Reports, unanswered: list[str]) -> Script:
    """Create the topics that are missing here, and add the partitions that topics have at the source.

    Adds to `unanswered` the topics for which a response is missing.
    """
    facts = view.facts(view.to_be_mirrored())
    missing = [topic.name for topic in facts if topic.local_topic is None and not topic.unsynced_reason(view.source_id)]
    found = yield from describe(missing, view.source)
    rules, broker = view.rules(), view.context.broker.configs
    values = {
        topic: configs.configs_to_copy(source_configs, {}, rules, broker).values
        for topic, source_configs in found.values.items()
    }
    plan = topics.plan(view.facts(view.to_be_mirrored()), view.mirror, view.source_id, values)
    problems = {f"topic {topic}": text for topic, text in found.problems.items()}
    creations = in_batches(plan.create, PARTITIONS_MAX, lambda topic: topic.num_partitions)
    growths = in_batches(plan.grow, PARTITIONS_MAX, lambda topic: topic.count)
    requests = [CreateTopicsRequest(topics=batch, timeout_ms=TIMEOUT_MS) for batch in creations]
    responses = yield [
        *(ControllerRequest(request) for request in requests),
        *(ControllerRequest(CreatePartitionsRequest(topics=batch, timeout_ms=TIMEOUT_MS)) for batch in growths),
    ]
    unanswered += found.unanswered
    names = [[topic.name for topic in batch] for batch in creations]
    names += [[topic.name for topic in batch] for batch in growths]
    for topic_names, response in zip(names, responses, strict=True):
        if not isinstance(response, CreateTopicsResponse | CreatePartitionsResponse):
            unanswered += topic_names
            problems.update({f"topic {name}": NO_RESPONSE for name in topic_names})
            continue
        problems.update(_errors_in(response))
    not_created = {name: problems[f"topic {name}"] for name in missing if f"topic {name}" in problems}
    view.context.not_created[view.mirror] = not_created
    reports.report(SyncKind.METADATA, "topics", problems)


def sync_configs(view: MirrorView, reports: Reports, known: ResponseCache) -> Script:
    """Make the configs of the topics that exist here equal to the source's."""
    problems: dict[str, str] = {}
    unclean: list[str] = []
    topics_here = [topic.name for topic in view.synced()]
    for batch in in_batches(topics_here, PLANNED_MAX):
        problems |= yield from _sync_configs_of(batch, view, known, unclean)
    view.context.unclean_topics[view.mirror] = unclean
    unsupported = not_supported(view.context, unclean)
    if unsupported:
        fact = UncleanSource(view.mirror, tuple(unsupported))
        view.context.broker.outbox.note(f"mirror {view.mirror}: {unclean_warning(unsupported)}", fact)
    known.shrink(RESPONSES_KEPT * ceil(len(topics_here) / TOPICS_MAX))
    reports.report(SyncKind.CONFIGS, "configs", problems)


def _sync_configs_of(
    names: Sequence[str], view: MirrorView, known: ResponseCache, unclean: list[str]
) -> Generator[Sequence[ScriptRequest], Sequence[Any], dict[str, str]]:
    """Sync some of the topics and return the problems; `unclean` gets those that may have unclean elections."""
    found = yield from describe(names, view.source, known)
    unclean += found.unclean
    local_topics = [topic.name for topic in view.synced(names)]  # Topics paused or removed meanwhile are left alone.
    image = view.context.broker.image
    local_configs = {topic: image.configs.topic(topic) for topic in local_topics}
    plan = configs.plan(local_topics, found.values, local_configs, view.rules(), view.context.broker.configs)
    problems = {f"topic {topic}": text for topic, text in found.problems.items()}
    for topic, rejected in plan.rejected.items():
        problems.update({f"config {name} of topic {topic}": text for name, text in rejected.items()})
    for resource in plan.alter:
        resource.configs.append(AlterableConfig(MIRROR_NAME, ConfigOp.SET, view.mirror))  # While it is that (D75).
    batches = in_batches(plan.alter, RESOURCES_MAX)
    responses = yield [ControllerRequest(IncrementalAlterConfigsRequest(resources=batch)) for batch in batches]
    for batch, response in zip(batches, responses, strict=True):
        if not isinstance(response, IncrementalAlterConfigsResponse):
            problems.update({f"topic {resource.resource_name}": NO_RESPONSE for resource in batch})
            continue
        for row in response.responses:
            if row.error_code not in DONE_ERRORS:
                problems[f"topic {row.resource_name}"] = _error_text(row.error_code, row.error_message)
    return problems


def remove_deleted_topics(view: MirrorView, reports: Reports, counts: Mapping[str, int]) -> Script:
    """Remove topics that the source has deleted from the mirror (D16); `counts` are those of `count_missing`."""
    image, mirrored_topics = view.context.broker.image.topics, view.to_be_mirrored()
    deleted = [name for name in deleted_topics.plan(counts) if name in mirrored_topics and name in image]
    if not deleted:
        return
    request = RemoveTopicsFromMirrorRequest(
        mirror_name=view.mirror, topics=[TopicData(image[name].topic_id, name) for name in deleted]
    )
    response = (yield [ControllerRequest(request)])[0]
    problems: dict[str, str] = {}
    if not isinstance(response, RemoveTopicsFromMirrorResponse):
        problems = {f"topic {name}": NO_RESPONSE for name in deleted}
    elif response.error_code:
        problems = {f"topic {name}": _error_text(response.error_code, response.error_message) for name in deleted}
    else:
        problems = {f"topic {r.name}": _error_text(r.error_code, None) for r in response.topics if r.error_code}
        removed = [row.name for row in response.topics if not row.error_code]
        text = f"mirror {view.mirror}: the source has deleted {', '.join(removed)}: removed from the mirror (D16)"
        view.context.broker.outbox.note(text)
    reports.report(SyncKind.METADATA, "deleted topics", problems)


def _errors_in(response: CreateTopicsResponse | CreatePartitionsResponse) -> dict[str, str]:
    """Return why topics were not created, or not given partitions."""
    rows: Sequence[CreatableTopicResult | CreatePartitionsTopicResult]
    rows = response.topics if isinstance(response, CreateTopicsResponse) else response.results
    return {
        f"topic {row.name}": _error_text(row.error_code, row.error_message)
        for row in rows
        if row.error_code not in DONE_ERRORS
    }


def _error_text(error_code: int, message: str | None) -> str:
    error = code_of(error_code)
    return f"{error.name} {message or error.text}"
