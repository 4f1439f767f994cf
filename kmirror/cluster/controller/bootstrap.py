"""What does an empty metadata log begin with? What its folder was formatted with, and what the cluster is to have.

And what is added to one that is there? Only `mirror.version`, if the cluster is to have it: no tool of Kafka sets it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kmirror.cluster.controller import min_insync
from kmirror.protocol.gen.feature_level_record import FeatureLevelRecord
from kmirror.protocol.message import Message
from kmirror.spec.features import ELIGIBLE_VERSION, MIRROR_VERSION


def bootstrap_records(formatted: Sequence[Message], wanted: Sequence[Message], static_min_insync: int) -> list[Message]:
    """Return `formatted` and what is new in `wanted`: the folder was formatted with feature levels that count.

    With eligible leader replicas they set `min.insync.replicas` to what the properties file says.
    """
    known = {record.name: record.feature_level for record in formatted if isinstance(record, FeatureLevelRecord)}
    records = [*formatted, *(record for record in wanted if _is_added(record, known))]
    levels = {record.name: record.feature_level for record in records if isinstance(record, FeatureLevelRecord)}
    if levels.get(ELIGIBLE_VERSION, 0) > 0:
        records.append(min_insync.of_all_brokers(static_min_insync))
    return records


def _is_added(record: Message, formatted: Mapping[str, int]) -> bool:
    """Of what was formatted, features that are absent are at level 0; `mirror.version` alone is none of Kafka's."""
    if not formatted or not isinstance(record, FeatureLevelRecord):
        return True
    return record.name == MIRROR_VERSION and MIRROR_VERSION not in formatted


def raised_records(features: Mapping[str, int], wanted: Sequence[Message]) -> list[Message]:
    """Return the record in `wanted` that raises mirror.version above what it is in `features`, if there is one."""
    return [
        record
        for record in wanted
        if isinstance(record, FeatureLevelRecord)
        and record.name == MIRROR_VERSION
        and record.feature_level > features.get(MIRROR_VERSION, 0)
    ]
