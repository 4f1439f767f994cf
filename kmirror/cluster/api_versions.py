"""The answer to ApiVersions: the versions that a node serves now, and the features of the cluster.

The APIs and raised versions of KIP-1279 are in it only while feature mirror.version is 1 (D1). A level in the metadata
log of a real cluster that is not supported here is not told: a client would rely on it.
"""

from __future__ import annotations

from collections.abc import Mapping

from kmirror.cluster.images import MetadataImage
from kmirror.protocol.gen.api_versions_response import (
    ApiVersion,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)
from kmirror.spec.features import FEATURES, is_supported


def describe(versions: Mapping[int, tuple[int, int]], image: MetadataImage, version: int) -> ApiVersionsResponse:
    """Return the answer, in `version`, of a node that serves `versions`."""
    return ApiVersionsResponse(
        api_keys=[
            ApiVersion(api_key=key, min_version=first, max_version=last)
            for key, (first, last) in sorted(versions.items())
        ],
        supported_features=[
            # Before v4 a minimum of 0 is not allowed (KAFKA-17011); older clients get 1.
            SupportedFeatureKey(
                name=row.name, min_version=row.minimum if version >= 4 else max(row.minimum, 1), max_version=row.maximum
            )
            for row in FEATURES
        ],
        finalized_features_epoch=max(image.offset, 0),
        finalized_features=[
            FinalizedFeatureKey(name=name, max_version_level=level, min_version_level=level)
            for name, level in image.features.items()
            if level > 0 and is_supported(name, level)
        ],
    )
