"""Effect checks: after a request answered with NONE, a second request must show that it took effect.

One row for each API compares the parts that were answered with NONE with the response to another request. Everything
goes over the wire, so any broker can be checked. A part named twice in a request is left out, as the protocol does not
say which one holds. An effect may take a moment to reach the broker; the caller retries.
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


def check_effect(request: bytes, answer: bytes, ask: Ask, waits: Callable[[], bool]) -> None:
    """Raise `Fault` if a part answered with NONE still has no effect when `waits` returns False."""
    while problem := missing_effect(request, answer, ask):
        if not waits():
            name = by_key(peek_request(request).api_key).name
            told = f"{name} is answered with NONE, and {problem}"
            raise Fault(FaultKind.STATE, told, f"no effect of {name}", "the effect of the answer")


def missing_effect(request: bytes, answer: bytes, ask: Ask) -> str:
    """Return a description of a part that was answered with NONE and has no effect; "" if there is none."""
    head = peek_request(request)
    api = find_key(head.api_key)
    check = None if api is None else EFFECTS.get(api.name)
    if api is None or check is None:
        return ""
    try:
        asked, _ = api.request.decode_prefix(request, head.api_version, head.body_position)
    except ProtocolError:
        return ""  # A broker that reads more than we do may find something in it.
    at = peek_response(answer, head.api_key, head.api_version).body_position
    told, _ = api.response.decode_prefix(answer, head.api_version, at)
    return next(iter(check(asked, told, head.api_version, ask)), "")


def _once(names: Iterable[Any]) -> frozenset[Any]:
    return frozenset(name for name, times in Counter(names).items() if times == 1)


def _partitions_of(ask: Ask, name: str) -> int | None:
    """Return the partition count of a topic; None if it does not exist."""
    body = MetadataRequest(topics=[MetadataRequestTopic(name=name)], allow_auto_topic_creation=False)
    found = ask(body, 8).topics[0]
    return None if found.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION else len(found.partitions)


def _create_topics(asked: Any, told: Any, version: int, ask: Ask) -> Iterator[str]:
    wanted = {topic.name: topic for topic in asked.topics}
    for topic in told.topics:
        if topic.error_code == _NONE and not asked.validate_only and topic.name in wanted:
            count = _partitions_of(ask, topic.name)
            number = len(wanted[topic.name].assignments) or wanted[topic.name].num_partitions
            if count is None or number not in (count, -1):
                yield f"topic {topic.name:.40} has {count} partitions, {number} were wanted"


def _delete_topics(asked: Any, told: Any, version: int, ask: Ask) -> Iterator[str]:
    for topic in told.responses:
        if topic.error_code == _NONE and topic.name and _partitions_of(ask, topic.name) is not None:
            yield f"topic {topic.name:.40} is still there"


def _create_partitions(asked: Any, told: Any, version: int, ask: Ask) -> Iterator[str]:
    counts = {topic.name: topic.count for topic in asked.topics}
    for topic in told.results:
        if (
            topic.error_code == _NONE
            and not asked.validate_only
            and _partitions_of(ask, topic.name) != counts[topic.name]
        ):
            yield f"topic {topic.name:.40} has not {counts[topic.name]} partitions"


def _committed(ask: Ask, group: str, name: str, topic_id: Uuid, index: int) -> Any:
    topic = OffsetFetchRequestTopics(name=name, topic_id=topic_id, partition_indexes=[index])
    version = _BY_NAME if topic_id == Uuid.ZERO else _BY_ID
    body = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=group, topics=[topic])])
    return ask(body, version).groups[0].topics[0].partitions[0].committed_offset


def _parts(topics: Any, of: str = "partitions") -> Iterator[tuple[tuple[str, Uuid, int], Any]]:
    """Yield (name, topic id, partition index) and the struct of each partition in an array of topics."""
    for topic in topics:
        for part in getattr(topic, of):
            index = part.index if of in ("partition_data", "partition_responses") else part.partition_index
            yield (topic.name, getattr(topic, "topic_id", Uuid.ZERO), index), part


def _offset_commit(asked: Any, told: Any, version: int, ask: Ask) -> Iterator[str]:
    once = _once(key for key, _ in _parts(asked.topics))
    wanted = {key: part.committed_offset for key, part in _parts(asked.topics)}
    for key, part in _parts(told.topics):
        if part.error_code == _NONE and key in once:
            found = _committed(ask, asked.group_id, *key)
            if found != wanted[key]:
                yield f"offset {wanted[key]} was committed, and {found} is fetched"


def _offset_delete(asked: Any, told: Any, version: int, ask: Ask) -> Iterator[str]:
    if told.error_code == _NONE:
        for key, part in _parts(told.topics):
            if part.error_code == _NONE and _committed(ask, asked.group_id, *key) != -1:
                yield "an offset that was deleted is fetched"


def _delete_groups(asked: Any, told: Any, version: int, ask: Ask) -> Iterator[str]:
    gone = {group.group_id for group in told.results if group.error_code == _NONE}
    left = [group.group_id for group in ask(ListGroupsRequest(), 2).groups if group.group_id in gone]
    if left:
        yield f"group {left[0]:.40} is still listed"


def _configs(asked: Any, told: Any, version: int, ask: Ask) -> Iterator[str]:
    names = _once((resource.resource_type, resource.resource_name) for resource in asked.resources)
    wanted = {(each.resource_type, each.resource_name): each.configs for each in asked.resources}
    for resource in () if asked.validate_only else told.responses:
        of = (resource.resource_type, resource.resource_name)
        if resource.error_code != _NONE or of not in names or of[0] != _TOPIC_RESOURCE:
            continue
        once = _once(config.name for config in wanted[of])
        values = {
            config.name: config.value
            for config in wanted[of]
            if config.name in once and config.value is not None and getattr(config, "config_operation", _SET) == _SET
        }
        keys = DescribeConfigsResource(resource_type=of[0], resource_name=of[1], configuration_keys=[*values])
        found = {
            config.name: config.value for config in ask(DescribeConfigsRequest(resources=[keys]), 4).results[0].configs
        }
        for name, value in values.items():
            if (found.get(name) or "").strip() != value.strip():
                yield f"config {name:.40} is {found.get(name)!r:.40}, {value!r:.40} was set"


def _produce(asked: Any, told: Any, version: int, ask: Ask) -> Iterator[str]:
    for (name, topic_id, index), part in _parts(told.responses, "partition_responses"):
        if asked.acks != Acks.NONE and part.error_code == _NONE and part.base_offset >= 0:
            wanted = FetchPartition(partition=index, fetch_offset=part.base_offset, partition_max_bytes=1)
            topic = FetchTopic(topic=name, topic_id=topic_id, partitions=[wanted])
            body = FetchRequest(max_bytes=1 << 20, session_epoch=-1, topics=[topic])
            found = ask(body, 12 if topic_id == Uuid.ZERO else 13).responses[0].partitions[0]
            if found.error_code == ErrorCode.OFFSET_OUT_OF_RANGE and found.log_start_offset > part.base_offset:
                continue
            if not found.records:
                yield f"nothing is fetched at offset {part.base_offset}, where a batch was written"


def _delete_records(asked: Any, told: Any, version: int, ask: Ask) -> Iterator[str]:
    for (name, _, index), part in _parts(told.topics):
        if part.error_code == _NONE:
            wanted = ListOffsetsPartition(partition_index=index, timestamp=_EARLIEST)
            body = ListOffsetsRequest(topics=[ListOffsetsTopic(name=name, partitions=[wanted])])
            found = ask(body, 7).topics[0].partitions[0].offset
            if found != part.low_watermark:
                yield f"the log begins at {found}, not at {part.low_watermark}"


def _init_producer_id(asked: Any, told: Any, version: int, ask: Ask) -> Iterator[str]:
    if told.error_code == _NONE and asked.transactional_id:
        body = DescribeTransactionsRequest(transactional_ids=[asked.transactional_id])
        found = ask(body, 0).transaction_states[0]
        if (found.producer_id, found.producer_epoch) != (told.producer_id, told.producer_epoch):
            yield f"the transactional id has producer {found.producer_id}, epoch {found.producer_epoch}"


def _create_mirror(asked: Any, told: Any, version: int, ask: Ask) -> Iterator[str]:
    names = [mirror.mirror_name for mirror in ask(ListMirrorsRequest(), 0).mirrors]
    if told.error_code == _NONE and asked.mirror_name not in names:
        yield f"mirror {asked.mirror_name:.40} is not listed"


def _delete_mirror(asked: Any, told: Any, version: int, ask: Ask) -> Iterator[str]:
    names = [mirror.mirror_name for mirror in ask(ListMirrorsRequest(), 0).mirrors]
    if told.error_code == _NONE and asked.mirror_name in names:
        yield f"mirror {asked.mirror_name:.40} is still listed"


EFFECTS: Mapping[str, Check] = {
    "CreateTopics": _create_topics,
    "DeleteTopics": _delete_topics,
    "CreatePartitions": _create_partitions,
    "OffsetCommit": _offset_commit,
    "OffsetDelete": _offset_delete,
    "DeleteGroups": _delete_groups,
    "AlterConfigs": _configs,
    "IncrementalAlterConfigs": _configs,
    "Produce": _produce,
    "DeleteRecords": _delete_records,
    "InitProducerId": _init_producer_id,
    "CreateMirror": _create_mirror,
    "DeleteMirror": _delete_mirror,
}
"""API name to the check of its effect."""
