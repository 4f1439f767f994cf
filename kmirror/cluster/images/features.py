"""Aspect of the metadata image: finalized feature levels."""

from __future__ import annotations

from collections.abc import Iterable

from kmirror.cluster.images.aspect import KeyedAspect, LatestTable, Replays, changed
from kmirror.cluster.images.delta import Delta
from kmirror.protocol.gen.feature_level_record import FeatureLevelRecord
from kmirror.protocol.keyed_records import VersionedMessage
from kmirror.spec.features import DIRECTORIES_FROM, ELIGIBLE_VERSION, METADATA_VERSION, MIRROR_VERSION


class Features(dict[str, int]):
    """Feature -> finalized level, never 0."""

    has_mirrors: bool = False
    """Whether topics may be mirrored (KIP-1279). A separate field, because each request reads it."""

    def replays(self) -> Replays:
        return {FeatureLevelRecord: self._set_level}

    def _set_level(self, record: FeatureLevelRecord, delta: Delta) -> None:
        if record.feature_level:
            self[record.name] = record.feature_level
        else:
            self.pop(record.name, None)
        if record.name == MIRROR_VERSION:
            self.has_mirrors = record.feature_level >= 1
        delta.features[record.name] = None

    def add_difference(self, before: Features, delta: Delta) -> None:
        delta.features.update(changed(before, self))

    @property
    def has_eligible_replicas(self) -> bool:
        """Whether replicas that leave an ISR below the minimum stay eligible as leaders (KIP-966)."""
        return self.get(ELIGIBLE_VERSION, 0) >= 1

    @property
    def has_directories(self) -> bool:
        """Whether records may contain log directories: from metadata.version 3.7-IV2 on."""
        return self.get(METADATA_VERSION, DIRECTORIES_FROM) >= DIRECTORIES_FROM


FEATURES = KeyedAspect({FeatureLevelRecord: lambda record: record.name})


class FeatureRecords(LatestTable):
    """The latest level of each feature, even if it is 0."""

    def __init__(self) -> None:
        super().__init__(FEATURES)

    def level(self, name: str) -> int:
        """Return the level of a feature; 0 if it was never set."""
        if name not in self.latest:
            return 0
        record = self.latest[name].message
        assert isinstance(record, FeatureLevelRecord), "a feature"
        return record.feature_level

    def records(self) -> Iterable[VersionedMessage]:
        """Return the records, metadata.version first, as in Kafka."""
        return [self.latest[name] for name in sorted(self.latest, key=lambda name: name != METADATA_VERSION)]
