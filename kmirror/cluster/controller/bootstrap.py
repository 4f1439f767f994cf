"""What does an empty metadata log begin with? What its folder was formatted with, and what the cluster is to have.

And what is added to one that is there? Only `mirror.version`, if the cluster is to have it: no tool of Kafka sets it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kmirror.protocol.gen.config_record import ConfigRecord
from kmirror.protocol.gen.feature_level_record import FeatureLevelRecord
from kmirror.protocol.message import Message
from kmirror.spec.features import MIRROR_VERSION
from kmirror.spec.wire_values import ResourceType

ELIGIBLE_LEADER_REPLICAS = "eligible.leader.replicas.version"


def bootstrap_records(formatted: Sequence[Message], wanted: Sequence[Message], min_insync: int) -> list[Message]:
    """Return `formatted` and what is new in `wanted`: the folder was formatted with feature levels that count.

    With eligible leader replicas a controller of Kafka wants `min.insync.replicas` in the log, where no restart with
    other configs changes it: `min_insync` is what it is now.
    """
    known = {record.name: record.feature_level for record in formatted if isinstance(record, FeatureLevelRecord)}
    records = [*formatted]
    records += [r for r in wanted if not (isinstance(r, FeatureLevelRecord) and r.name in known)]
    if known.get(ELIGIBLE_LEADER_REPLICAS, 0) > 0:
        name, value = "min.insync.replicas", str(min_insync)
        records.append(ConfigRecord(resource_type=ResourceType.BROKER, resource_name="", name=name, value=value))
    return records


def raised_records(features: Mapping[str, int], wanted: Sequence[Message]) -> list[Message]:
    """Return the record in `wanted` that raises mirror.version above what it is in `features`, if there is one."""
    return [
        record
        for record in wanted
        if isinstance(record, FeatureLevelRecord)
        and record.name == MIRROR_VERSION
        and record.feature_level > features.get(MIRROR_VERSION, 0)
    ]
