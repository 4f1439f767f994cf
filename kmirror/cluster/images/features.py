"""Aspect of the metadata image: finalized feature levels."""

from __future__ import annotations

from collections.abc import Iterable

from kmirror.cluster.images.aspect import Latest, LatestTable, Replays, changed
from kmirror.cluster.images.delta import Delta
from kmirror.protocol.gen.feature_level_record import FeatureLevelRecord
from kmirror.protocol.keyed_records import VersionedMessage
from kmirror.spec.features import DIRECTORIES_FROM, ELIGIBLE_VERSION, METADATA_VERSION, MIRROR_VERSION


class Features(dict[str, int]):
    """Feature to its finalized level, which is never 0."""

    has_mirrors: bool = False
    """Whether topics may be mirrored (KIP-1279); kept apart, for it is asked with each request."""

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
        """Return whether replicas that leave a too small ISR stay eligible as leaders (KIP-966)."""
        return self.get(ELIGIBLE_VERSION, 0) >= 1

    @property
    def has_directories(self) -> bool:
        """Return whether records may name log directories: from metadata.version 3.7-IV2 on."""
        return self.get(METADATA_VERSION, DIRECTORIES_FROM) >= DIRECTORIES_FROM


FEATURES = Latest({FeatureLevelRecord: lambda record: record.name})


class FeatureRecords(LatestTable):
    """The latest level of each feature, also where it is 0."""

    def __init__(self) -> None:
        super().__init__(FEATURES)

    def level(self, name: str) -> int:
        """Return the level of a feature, 0 if none was written."""
        if name not in self.latest:
            return 0
        record = self.latest[name].message
        assert isinstance(record, FeatureLevelRecord), "a feature"
        return record.feature_level

    def records(self) -> Iterable[VersionedMessage]:
        """Return metadata.version first, as Kafka does."""
        return [self.latest[name] for name in sorted(self.latest, key=lambda name: name != METADATA_VERSION)]
