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

FEATURES: tuple[Feature, ...] = (
    Feature(METADATA_VERSION, 7, 30, "Format of the metadata records; 30 is 4.3."),
    Feature(MIRROR_VERSION, 0, 1, "1 enables Cluster Mirroring (KIP-1279); 0 hides its APIs (D1)."),
)
