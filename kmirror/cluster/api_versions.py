"""The ApiVersions response: the versions that a node currently serves, and the features of the cluster.

The APIs and raised versions of KIP-1279 are included only while feature mirror.version is 1 (D1). An unsupported
feature level, read from the metadata log of a Kafka cluster, is left out: a client would rely on it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from kmirror.cluster.images import MetadataImage
from kmirror.protocol.gen.api_versions_request import ApiVersionsRequest
from kmirror.protocol.gen.api_versions_response import (
    ApiVersion,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)
from kmirror.spec.apis import ROWS
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.features import FEATURES, is_supported

_REPORTED_FROM = {row.key: row.reported_from for row in ROWS if row.reported_from is not None}
ZERO_FROM = 4
"""First version whose clients support features with minimum level 0 (KAFKA-17011)."""


SOFTWARE_FROM = 3
"""First version in which a client sends its software name and version (KIP-511)."""
_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")


def api_versions_response(
    versions: Mapping[int, tuple[int, int]], image: MetadataImage, request: ApiVersionsRequest, version: int
) -> ApiVersionsResponse:
    """Return the response of a node that serves `versions`; INVALID_REQUEST for an invalid software name or version."""
    if version >= SOFTWARE_FROM:
        for text in (request.client_software_name, request.client_software_version):
            if not _SOFTWARE.fullmatch(text):
                return ApiVersionsResponse(error_code=ErrorCode.INVALID_REQUEST)
    return ApiVersionsResponse(
        api_keys=[
            ApiVersion(api_key=key, min_version=_REPORTED_FROM.get(key, first), max_version=last)
            for key, (first, last) in sorted(versions.items())
        ],
        supported_features=[
            SupportedFeatureKey(name=row.name, min_version=row.minimum, max_version=row.maximum)
            for row in FEATURES
            if version >= ZERO_FROM or row.minimum > 0
        ],
        finalized_features_epoch=max(image.offset, 0),
        finalized_features=[
            FinalizedFeatureKey(name=name, max_version_level=level, min_version_level=level)
            for name, level in image.features.items()
            if level > 0 and is_supported(name, level)
        ],
    )
