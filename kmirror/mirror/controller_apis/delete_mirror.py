"""DeleteMirror, decided by the controller: deletes the mirror's configs and its topics' `mirror.name` (D51).

Only brokers know states. The broker that forwards the request adds the partitions that it found STOPPED and the
lineages of their logs. The lineages go into a topic config, as the persisted states that hold them are deleted with the
mirror.
"""

from __future__ import annotations

from collections.abc import Mapping

from kmirror.cluster.authorizer import Rights
from kmirror.cluster.controller.context import ControllerContext
from kmirror.cluster.controller.decisions import ApiError, Decision
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.names import few
from kmirror.mirror.controller_apis.membership import check_mirror, mirror_configs
from kmirror.mirror.lineage import Stretches, parse_lineages, stretches_from, to_text
from kmirror.mirror.naming import MIRROR_LINEAGE, MIRROR_NAME, parse
from kmirror.mirror.states import Wish
from kmirror.protocol.gen.config_record import ConfigRecord
from kmirror.protocol.gen.delete_mirror_request import DeleteMirrorRequest
from kmirror.protocol.gen.delete_mirror_response import DeleteMirrorResponse
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import ResourceType

StoppedLineages = Mapping[str, Mapping[int, Stretches]]
"""Topic to partition to lineage."""


def decide(
    context: ControllerContext, now: Instant, request: DeleteMirrorRequest, version: int, rights: Rights
) -> Decision:
    """Return tombstones for all configs of the mirror and its topics' `mirror.name`, or why it cannot be deleted.

    MIRROR_NOT_EMPTY while a topic is not removed, or a partition of a removed topic is not known to be STOPPED.
    """
    mirror = request.mirror_name
    stopped = {
        topic.topic_name: {row.partition_index: stretches_from(row.lineage) for row in topic.partitions}
        for topic in request.stopped_topics
    }
    try:
        check_mirror(context, rights, mirror)
        records = _topic_records(context, mirror, stopped)
    except ApiError as api_error:
        return Decision((), DeleteMirrorResponse(error_code=api_error.error, error_message=str(api_error)))
    records += [_record(ResourceType.MIRROR, mirror, key, None) for key in mirror_configs(context, mirror)]
    # The mirror's own configs come last: a crash in between leaves a mirror with fewer topics, which can be deleted
    # again.
    return Decision(records, DeleteMirrorResponse(error_message=None), atomic=False)


def _topic_records(context: ControllerContext, mirror: str, stopped: StoppedLineages) -> list[Message]:
    """Return the records for the mirror's topics; raises ApiError MIRROR_NOT_EMPTY."""
    records: list[Message] = []
    active: list[str] = []
    unknown: list[str] = []
    for topic in context.image.configs.names(ResourceType.TOPIC):
        configs = context.image.configs.topic(topic)
        assignment = parse(configs.get(MIRROR_NAME, ""))
        if assignment is None or assignment.mirror != mirror:
            continue
        if assignment.wish is not Wish.REMOVE:
            active.append(topic)
            continue
        image, found = context.image.topics.get(topic), stopped.get(topic, {})
        unknown += [
            str(TopicPartition(topic, index)) for index in (image.partitions if image else ()) if index not in found
        ]
        new_lineages = {index: stretches for index, stretches in found.items() if stretches}
        if new_lineages:
            lineages = {**parse_lineages(configs.get(MIRROR_LINEAGE, "")), **new_lineages}
            records.append(_record(ResourceType.TOPIC, topic, MIRROR_LINEAGE, to_text(lineages)))
        records.append(_record(ResourceType.TOPIC, topic, MIRROR_NAME, None))
    if active:
        raise ApiError(
            ErrorCode.MIRROR_NOT_EMPTY,
            f"Remove these topics from mirror '{mirror}' first: {few(sorted(active), 'topics')}.",
        )
    if unknown:
        raise ApiError(
            ErrorCode.MIRROR_NOT_EMPTY,
            f"These partitions are not known to be STOPPED: {few(sorted(unknown), 'partitions')}.",
        )
    return records


def _record(kind: ResourceType, name: str, key: str, value: str | None) -> ConfigRecord:
    return ConfigRecord(resource_type=kind, resource_name=name, name=key, value=value)
