"""Effect checks: after a request answered with NONE, a second request must show that it took effect.

One row for each API compares the parts that were answered with NONE with the response to another request. Everything
goes over the wire, so any broker can be checked. A part named twice in a request is left out, as the protocol does not
define which one counts. An effect may take a moment to reach the broker; the caller retries.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from kmirror.errors import ProtocolError
from kmirror.fuzz.findings import Fault, FaultKind
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.describe_configs_request import DescribeConfigsRequest, DescribeConfigsResource
from kmirror.protocol.gen.describe_transactions_request import DescribeTransactionsRequest
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kmirror.protocol.gen.list_groups_request import ListGroupsRequest
from kmirror.protocol.gen.list_mirrors_request import ListMirrorsRequest
from kmirror.protocol.gen.list_offsets_request import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kmirror.protocol.gen.metadata_request import MetadataRequest, MetadataRequestTopic
from kmirror.protocol.gen.offset_fetch_request import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from kmirror.protocol.headers import peek_request, peek_response
from kmirror.protocol.message import Message
from kmirror.protocol.registry import by_key, find_key
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import Acks

Ask = Callable[[Message, int], Any]
"""Sends a request in a version, and returns its response."""
Check = Callable[[Any, Any, int, Ask], Iterable[str]]
"""(request, response, version, ask) -> descriptions of parts without effect."""

_NONE = ErrorCode.NONE
_BY_NAME, _BY_ID = 9, 10  # Versions of OffsetFetch: the last with topic names, the first with topic ids.
_EARLIEST = -2
_SET = 0  # In IncrementalAlterConfigs.
_TOPIC_RESOURCE = 2


def check_effect(request: bytes, response: bytes, ask: Ask, wait: Callable[[], bool]) -> None:
    """Raise `Fault` if a part answered with NONE still has no effect when `wait` returns False."""
    while problem := missing_effect(request, response, ask):
        if not wait():
            name = by_key(peek_request(request).api_key).name
            description = f"{name} is answered with NONE, and {problem}"
            raise Fault(FaultKind.STATE, description, f"no effect of {name}", "the effect of the answer")


def missing_effect(request: bytes, response: bytes, ask: Ask) -> str:
    """Return a description of a part that was answered with NONE and has no effect; "" if there is none."""
    head = peek_request(request)
    api = find_key(head.api_key)
    check = None if api is None else EFFECTS.get(api.name)
    if api is None or check is None:
        return ""
    try:
        request_body, _ = api.request.decode_prefix(request, head.api_version, head.body_position)
    except ProtocolError:
        return ""  # A broker that reads more than we do may find something in it.
    at = peek_response(response, head.api_key, head.api_version).body_position
    response_body, _ = api.response.decode_prefix(response, head.api_version, at)
    return next(iter(check(request_body, response_body, head.api_version, ask)), "")


def _unique_names(names: Iterable[Any]) -> frozenset[Any]:
    return frozenset(name for name, times in Counter(names).items() if times == 1)


def _partition_count(ask: Ask, name: str) -> int | None:
    """Return the partition count of a topic; None if it does not exist."""
    body = MetadataRequest(topics=[MetadataRequestTopic(name=name)], allow_auto_topic_creation=False)
    found = ask(body, 8).topics[0]
    return None if found.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION else len(found.partitions)


def _check_create_topics(request: Any, response: Any, version: int, ask: Ask) -> Iterator[str]:
    requested = {topic.name: topic for topic in request.topics}
    for topic in response.topics:
        if topic.error_code == _NONE and not request.validate_only and topic.name in requested:
            count = _partition_count(ask, topic.name)
            number = len(requested[topic.name].assignments) or requested[topic.name].num_partitions
            if count is None or number not in (count, -1):
                yield f"topic {topic.name:.40} has {count} partitions, {number} were requested"


def _check_delete_topics(request: Any, response: Any, version: int, ask: Ask) -> Iterator[str]:
    for topic in response.responses:
        if topic.error_code == _NONE and topic.name and _partition_count(ask, topic.name) is not None:
            yield f"topic {topic.name:.40} is still there"


def _check_create_partitions(request: Any, response: Any, version: int, ask: Ask) -> Iterator[str]:
    counts = {topic.name: topic.count for topic in request.topics}
    for topic in response.results:
        if (
            topic.error_code == _NONE
            and not request.validate_only
            and _partition_count(ask, topic.name) != counts[topic.name]
        ):
            yield f"topic {topic.name:.40} has not {counts[topic.name]} partitions"


def _committed_offset(ask: Ask, group: str, name: str, topic_id: Uuid, index: int) -> Any:
    topic = OffsetFetchRequestTopics(name=name, topic_id=topic_id, partition_indexes=[index])
    version = _BY_NAME if topic_id == Uuid.ZERO else _BY_ID
    body = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=group, topics=[topic])])
    return ask(body, version).groups[0].topics[0].partitions[0].committed_offset


def _partitions(topics: Any, array: str = "partitions") -> Iterator[tuple[tuple[str, Uuid, int], Any]]:
    """Yield (name, topic id, partition index) and the struct of each partition in an array of topics."""
    for topic in topics:
        for part in getattr(topic, array):
            index = part.index if array in ("partition_data", "partition_responses") else part.partition_index
            yield (topic.name, getattr(topic, "topic_id", Uuid.ZERO), index), part


def _check_offset_commit(request: Any, response: Any, version: int, ask: Ask) -> Iterator[str]:
    unique = _unique_names(key for key, _ in _partitions(request.topics))
    requested = {key: part.committed_offset for key, part in _partitions(request.topics)}
    for key, part in _partitions(response.topics):
        if part.error_code == _NONE and key in unique:
            found = _committed_offset(ask, request.group_id, *key)
            if found != requested[key]:
                yield f"offset {requested[key]} was committed, and {found} is fetched"


def _check_offset_delete(request: Any, response: Any, version: int, ask: Ask) -> Iterator[str]:
    if response.error_code == _NONE:
        for key, part in _partitions(response.topics):
            if part.error_code == _NONE and _committed_offset(ask, request.group_id, *key) != -1:
                yield "an offset that was deleted is fetched"


def _check_delete_groups(request: Any, response: Any, version: int, ask: Ask) -> Iterator[str]:
    deleted = {group.group_id for group in response.results if group.error_code == _NONE}
    still_listed = [group.group_id for group in ask(ListGroupsRequest(), 2).groups if group.group_id in deleted]
    if still_listed:
        yield f"group {still_listed[0]:.40} is still listed"


def _check_configs(request: Any, response: Any, version: int, ask: Ask) -> Iterator[str]:
    names = _unique_names((resource.resource_type, resource.resource_name) for resource in request.resources)
    requested = {(each.resource_type, each.resource_name): each.configs for each in request.resources}
    for resource in () if request.validate_only else response.responses:
        resource_key = (resource.resource_type, resource.resource_name)
        if resource.error_code != _NONE or resource_key not in names or resource_key[0] != _TOPIC_RESOURCE:
            continue
        unique = _unique_names(config.name for config in requested[resource_key])
        values = {
            config.name: config.value
            for config in requested[resource_key]
            if config.name in unique and config.value is not None and getattr(config, "config_operation", _SET) == _SET
        }
        keys = DescribeConfigsResource(
            resource_type=resource_key[0], resource_name=resource_key[1], configuration_keys=[*values]
        )
        found = {
            config.name: config.value for config in ask(DescribeConfigsRequest(resources=[keys]), 4).results[0].configs
        }
        for name, value in values.items():
            if (found.get(name) or "").strip() != value.strip():
                yield f"config {name:.40} is {found.get(name)!r:.40}, {value!r:.40} was set"


def _check_produce(request: Any, response: Any, version: int, ask: Ask) -> Iterator[str]:
    for (name, topic_id, index), part in _partitions(response.responses, "partition_responses"):
        if request.acks != Acks.NONE and part.error_code == _NONE and part.base_offset >= 0:
            requested = FetchPartition(partition=index, fetch_offset=part.base_offset, partition_max_bytes=1)
            topic = FetchTopic(topic=name, topic_id=topic_id, partitions=[requested])
            body = FetchRequest(max_bytes=1 << 20, session_epoch=-1, topics=[topic])
            found = ask(body, 12 if topic_id == Uuid.ZERO else 13).responses[0].partitions[0]
            if found.error_code == ErrorCode.OFFSET_OUT_OF_RANGE and found.log_start_offset > part.base_offset:
                continue
            if not found.records:
                yield f"nothing is fetched at offset {part.base_offset}, where a batch was written"


def _check_delete_records(request: Any, response: Any, version: int, ask: Ask) -> Iterator[str]:
    for (name, _, index), part in _partitions(response.topics):
        if part.error_code == _NONE:
            requested = ListOffsetsPartition(partition_index=index, timestamp=_EARLIEST)
            body = ListOffsetsRequest(topics=[ListOffsetsTopic(name=name, partitions=[requested])])
            found = ask(body, 7).topics[0].partitions[0].offset
            if found != part.low_watermark:
                yield f"the log begins at {found}, not at {part.low_watermark}"


def _check_init_producer_id(request: Any, response: Any, version: int, ask: Ask) -> Iterator[str]:
    if response.error_code == _NONE and request.transactional_id:
        body = DescribeTransactionsRequest(transactional_ids=[request.transactional_id])
        found = ask(body, 0).transaction_states[0]
        if (found.producer_id, found.producer_epoch) != (response.producer_id, response.producer_epoch):
            yield f"the transactional id has producer {found.producer_id}, epoch {found.producer_epoch}"


def _check_create_mirror(request: Any, response: Any, version: int, ask: Ask) -> Iterator[str]:
    names = [mirror.mirror_name for mirror in ask(ListMirrorsRequest(), 0).mirrors]
    if response.error_code == _NONE and request.mirror_name not in names:
        yield f"mirror {request.mirror_name:.40} is not listed"


def _check_delete_mirror(request: Any, response: Any, version: int, ask: Ask) -> Iterator[str]:
    names = [mirror.mirror_name for mirror in ask(ListMirrorsRequest(), 0).mirrors]
    if response.error_code == _NONE and request.mirror_name in names:
        yield f"mirror {request.mirror_name:.40} is still listed"


EFFECTS: Mapping[str, Check] = {
    "CreateTopics": _check_create_topics,
    "DeleteTopics": _check_delete_topics,
    "CreatePartitions": _check_create_partitions,
    "OffsetCommit": _check_offset_commit,
    "OffsetDelete": _check_offset_delete,
    "DeleteGroups": _check_delete_groups,
    "AlterConfigs": _check_configs,
    "IncrementalAlterConfigs": _check_configs,
    "Produce": _check_produce,
    "DeleteRecords": _check_delete_records,
    "InitProducerId": _check_init_producer_id,
    "CreateMirror": _check_create_mirror,
    "DeleteMirror": _check_delete_mirror,
}
"""API name to the check of its effect."""
