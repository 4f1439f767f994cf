"""Configs of a mirror: their place in the metadata image (D3), and a check of those of its connection."""

from __future__ import annotations

from collections.abc import Mapping

from kmirror.client.security import security_of
from kmirror.cluster.images import MetadataImage
from kmirror.errors import UsageError
from kmirror.spec.configs import Configs, Scope
from kmirror.spec.wire_values import ResourceType

SOURCE_CLUSTER_ID = "source.cluster.id"
BOOTSTRAP_SERVERS = "bootstrap.servers"


def mirror_configs(image: MetadataImage, mirror: str) -> Configs | None:
    """Return the configs of a mirror, or None if there is no such mirror."""
    values = image.configs.get((ResourceType.MIRROR, mirror))
    return None if values is None else Configs(Scope.MIRROR, values)


def mirror_names(image: MetadataImage) -> list[str]:
    """Return the names of all mirrors, sorted."""
    return sorted(image.configs.names(ResourceType.MIRROR))


def problem_with_security(values: Mapping[str, str]) -> str | None:
    """Return why these configs of a mirror cannot secure a connection to the source: the wrong key, and the value to
    set.
    """
    try:
        security_of(values)
    except UsageError as error:
        return str(error)
    return None
