"""Feature levels that a node can run at, one row each."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Feature:
    name: str
    minimum: int
    maximum: int
    doc: str


METADATA_VERSION = "metadata.version"
MIRROR_VERSION = "mirror.version"
TRANSACTION_VERSION = "transaction.version"
EPOCH_BUMPS_FROM = 2
"""The level of transaction.version from which on the end of a transaction raises its producer's epoch."""

DIRECTORIES_FROM = 17
"""The metadata.version, 3.7-IV2, from which on the controller knows where replicas lie (KIP-858)."""

FEATURES: tuple[Feature, ...] = (
    Feature(METADATA_VERSION, 7, 30, "Format of the metadata records; 30 is 4.3."),
    Feature(
        TRANSACTION_VERSION,
        0,
        2,
        "2 raises the producer epoch with each transaction, and has leaders add partitions (KIP-890); 1 writes the "
        "records of `__transaction_state` in their flexible version.",
    ),
    Feature(MIRROR_VERSION, 0, 1, "1 enables Cluster Mirroring (KIP-1279); 0 hides its APIs (D1)."),
)

FORMATTED: dict[str, int] = {
    METADATA_VERSION: 30,
    "eligible.leader.replicas.version": 1,
    "group.version": 1,
    "share.version": 1,
    "streams.version": 1,
    TRANSACTION_VERSION: 2,
}
"""The levels that `kafka-storage format` of 4.3.1 sets, in the order in which it writes them. Those that are not among
FEATURES are for the brokers of Kafka that open the folder later."""


METADATA_CHANGED_AT = (7, 8, 11, 13, 14, 15, 17, 23, 30)
"""Levels of metadata.version that brought new records or fields (MetadataVersion.didMetadataChange)."""


def changes_metadata(lower: int, higher: int) -> bool:
    """Return whether metadata that a level allows cannot be written at a lower one."""
    return any(lower < level <= higher for level in METADATA_CHANGED_AT)


def is_supported(name: str, level: int) -> bool:
    """Return whether a node here can run at this level of a feature."""
    return any(row.name == name and row.minimum <= level <= row.maximum for row in FEATURES)


def supported_text(name: str) -> str:
    """Return which levels of a feature are supported here, as a part of a sentence."""
    found = next((row for row in FEATURES if row.name == name), None)
    return "this is none that is known here" if found is None else f"{found.minimum} to {found.maximum} are supported"
