"""Feature levels that a node can run at, one row each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Feature:
    name: str
    minimum: int
    maximum: int
    doc: str


METADATA_VERSION = "metadata.version"
MIRROR_VERSION = "mirror.version"
TRANSACTION_VERSION = "transaction.version"
ELIGIBLE_VERSION = "eligible.leader.replicas.version"
EPOCH_BUMPS_FROM = 2
"""The level of transaction.version from which on the end of a transaction raises its producer's epoch."""

DIRECTORIES_FROM = 17
"""The metadata.version, 3.7-IV2, from which on the controller knows the log directories of replicas (KIP-858)."""

FEATURES: tuple[Feature, ...] = (
    Feature(METADATA_VERSION, 7, 30, "Format of the metadata records; 30 is 4.3."),
    Feature(
        TRANSACTION_VERSION,
        0,
        2,
        "2 raises the producer epoch with each transaction, and has leaders add partitions (KIP-890); 1 writes the "
        "records of `__transaction_state` in their flexible version.",
    ),
    Feature(
        ELIGIBLE_VERSION,
        0,
        1,
        "1 keeps replicas that left a too small ISR with all that is committed, and elects them (KIP-966 part 1).",
    ),
    Feature(MIRROR_VERSION, 0, 1, "1 enables Cluster Mirroring (KIP-1279); 0 hides its APIs (D1)."),
)

FORMAT_LEVELS: dict[str, int] = {
    METADATA_VERSION: 30,
    ELIGIBLE_VERSION: 1,
    "group.version": 1,
    "share.version": 1,
    "streams.version": 1,
    TRANSACTION_VERSION: 2,
}
"""The levels that `kafka-storage format` of 4.3.1 sets, in the order in which it writes them. Those that are not in
FEATURES are for Kafka brokers that open the folder later."""


_METADATA_LEVELS = (
    (7, "3.3-IV3"),
    (8, "3.4-IV0"),
    (9, "3.5-IV0 3.5-IV1 3.5-IV2"),
    (12, "3.6-IV0 3.6-IV1 3.6-IV2"),
    (15, "3.7-IV0 3.7-IV1 3.7-IV2 3.7-IV3 3.7-IV4"),
    (20, "3.8-IV0"),
    (21, "3.9-IV0"),
    (22, "4.0-IV0 4.0-IV1 4.0-IV2 4.0-IV3"),
    (26, "4.1-IV0 4.1-IV1"),
    (28, "4.2-IV0 4.2-IV1"),
    (30, "4.3-IV0"),
    (31, "4.4-IV0"),
)
METADATA_LEVELS: Mapping[int, str] = {
    level: name for first, names in _METADATA_LEVELS for level, name in enumerate(names.split(), first)
}
"""Each level of metadata.version that 4.3.1 knows, with its name; the last one belongs to a future release."""
METADATA_LATEST = 30
"""The last one that is part of a release."""


@dataclass(frozen=True, slots=True)
class ReleasedFeature:
    """A feature as Kafka's feature tool knows it."""

    name: str
    metadata_levels: tuple[int, ...]
    """For each level from 0 on the metadata.version from which on a cluster is formatted with it."""
    requirements: Mapping[int, Mapping[str, int]] = field(default_factory=dict)
    """Level to the other features that it needs, with their levels."""

    def level_at(self, metadata_level: int) -> int:
        """Return the level with which a cluster of this metadata.version is formatted."""
        return max(level for level, first in enumerate(self.metadata_levels) if first <= metadata_level)


RELEASED_FEATURES = (
    ReleasedFeature("kraft.version", (7, 21)),
    ReleasedFeature(TRANSACTION_VERSION, (7, 24, 24)),
    ReleasedFeature("group.version", (7, 22)),
    ReleasedFeature(ELIGIBLE_VERSION, (7, 26), {1: {METADATA_VERSION: 23}}),
    ReleasedFeature("share.version", (7, 28)),
    ReleasedFeature("streams.version", (7, 29)),
)
"""Features of Kafka 4.3.1 besides metadata.version, in the order of its tool."""

METADATA_CHANGE_LEVELS = (7, 8, 11, 13, 14, 15, 17, 23, 30)
"""Levels of metadata.version that brought new records or fields (MetadataVersion.didMetadataChange)."""


def changes_metadata(lower: int, higher: int) -> bool:
    """Return whether metadata of the higher level cannot be written at the lower one."""
    return any(lower < level <= higher for level in METADATA_CHANGE_LEVELS)


def metadata_level(text: str) -> int | None:
    """Return the level of metadata.version for its name, or for a release such as 3.9 or 4.3.1; None if unknown."""
    parts = text.split(".")
    name = text if len(parts) <= 2 else ".".join(parts[:2])
    levels = {known: level for level, known in METADATA_LEVELS.items()}
    for level in range(min(METADATA_LEVELS), METADATA_LATEST + 1):
        levels[METADATA_LEVELS[level].partition("-")[0]] = level
    return levels.get(name)


def requirements_of(name: str, level: int) -> Mapping[str, int]:
    """Return the other features that a level of a feature needs, with their levels."""
    found = next((row for row in RELEASED_FEATURES if row.name == name), None)
    return {} if found is None else found.requirements.get(level, {})


def is_supported(name: str, level: int) -> bool:
    """Return whether a node here can run at this level of a feature."""
    return any(row.name == name and row.minimum <= level <= row.maximum for row in FEATURES)


def supported_levels_text(name: str) -> str:
    """Return the supported levels of a feature, as a part of a sentence."""
    found = next((row for row in FEATURES if row.name == name), None)
    return "the feature is unknown here" if found is None else f"{found.minimum} to {found.maximum} are supported"
