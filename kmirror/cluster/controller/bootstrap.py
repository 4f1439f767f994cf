"""Bootstrap records: the first records of an empty metadata log.

They are the records that its folder was formatted with, and the feature levels requested at the start. A log that is
not empty only gets a higher `mirror.version`, as no Kafka tool can set that feature.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kmirror.cluster.controller import min_insync
from kmirror.protocol.gen.feature_level_record import FeatureLevelRecord
from kmirror.protocol.message import Message
from kmirror.spec.features import ELIGIBLE_VERSION, MIRROR_VERSION


def bootstrap_records(
    formatted: Sequence[Message], requested: Sequence[Message], static_min_insync: int
) -> list[Message]:
    """Return `formatted` and the new records of `requested`; feature levels in `formatted` take precedence.

    With eligible leader replicas, `min.insync.replicas` is set to the value of the properties file.
    """
    known = {record.name: record.feature_level for record in formatted if isinstance(record, FeatureLevelRecord)}
    records = [*formatted, *(record for record in requested if _is_added(record, known))]
    levels = {record.name: record.feature_level for record in records if isinstance(record, FeatureLevelRecord)}
    if levels.get(ELIGIBLE_VERSION, 0) > 0:
        records.append(min_insync.cluster_wide_record(static_min_insync))
    return records


def _is_added(record: Message, formatted: Mapping[str, int]) -> bool:
    """Return whether to add a record; of the features, a formatted folder can only lack `mirror.version`.

    Other features that are missing in `formatted` are at level 0; no Kafka tool can format `mirror.version`.
    """
    if not formatted or not isinstance(record, FeatureLevelRecord):
        return True
    return record.name == MIRROR_VERSION and MIRROR_VERSION not in formatted


def raising_records(features: Mapping[str, int], requested: Sequence[Message]) -> list[Message]:
    """Return the record in `requested` that raises mirror.version above its level in `features`, if any."""
    return [
        record
        for record in requested
        if isinstance(record, FeatureLevelRecord)
        and record.name == MIRROR_VERSION
        and record.feature_level > features.get(MIRROR_VERSION, 0)
    ]
